# SPDX-License-Identifier: Apache-2.0
"""The record: history, outcomes, promises, events, state, journal and replay."""
