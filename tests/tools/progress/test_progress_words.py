# SPDX-License-Identifier: Apache-2.0
"""Ratios and configurations in words, and what a terminal would obey."""

import pytest

from stopwise.tools.progress.words import configuration, printable, shortened, times


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (3.21, "3.2 times"),
        (321.4, "321 times"),
        (1e9, "more than 1000 times"),
        (0.0, "less than 0.001 times"),
    ],
)
def test_ratios_in_words(ratio, words):
    assert times(ratio) == words


def test_long_and_wild_values_are_shortened():
    params = {"lr": 0.00123456, "layers": 3, "name": "x" * 500 + "end", "evil": "a\nb\x1b[2J"}
    line = configuration(params)
    assert line.startswith("lr=0.001235 layers=3 name=xxx")
    assert "end evil=a b [2J" in line
    assert len(line) < 100
    assert len(shortened("y" * 99, 10)) == 10


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb\tc", "a\nb\tc"),
        ("naïve 東京 \u3000 \xa0", "naïve 東京 \u3000 \xa0"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\x9b31m\x7f\x00\r", "\\x9b31m\\x7f\\x00\\r"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped(text, shown):
    assert printable(text) == shown
