# SPDX-License-Identifier: Apache-2.0
"""Amounts of a cost in words: durations, money, percentages."""

import math

import pytest

from stopwise.core.units import SECONDS, amount


@pytest.mark.parametrize(
    ("cost", "unit", "words"),
    [
        (32.0, "", "32"),
        (4.5, "hours", "4.5 hours"),
        (0.01234, SECONDS, "0.0123 s"),
        (12.34, SECONDS, "12.3 s"),
        (59.97, SECONDS, "1 min"),
        (125.0, "seconds", "2 min 5 s"),
        (3599.9, SECONDS, "1 h"),
        (4320.0, SECONDS, "1 h 12 min"),
        (200000.0, SECONDS, "2 d 7 h"),
        (-4320.0, SECONDS, "-1 h 12 min"),
        (12.5, "$", "$12.50"),
        (3.0, "$", "$3"),
        (1234.5, "€", "€1,234"),
        (0.004, "$", "$0.004"),
        (-2.0, "$", "-$2"),
        (20.0, "%", "20 %"),
        *((-0.0, unit, words) for unit, words in (("", "0"), ("$", "$0"), (SECONDS, "0 s"))),
        (math.nan, SECONDS, "nan s"),
    ],
)
def test_costs_in_words(cost, unit, words):
    assert amount(cost, unit) == words
