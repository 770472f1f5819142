# SPDX-License-Identifier: Apache-2.0
"""The record: history, outcomes, events, state, journal and replay."""
