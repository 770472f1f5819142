# SPDX-License-Identifier: Apache-2.0
"""Stopping rules on exact and noisy data, asked about one signal."""

import pytest

from stopwise.core.traces import Trace

NOISY = 0.05  # a standardised variance
KINDS = pytest.mark.parametrize("noise", [None, NOISY], ids=["exact", "noisy"])


def verdict_of(rule, signal):
    """The verdict of a rule whose record has this signal alone."""
    return rule.verdict(Trace.of((signal,)))
