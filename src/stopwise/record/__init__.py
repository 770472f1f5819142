# SPDX-License-Identifier: Apache-2.0
"""The record: history, events, state, journal and replay."""
