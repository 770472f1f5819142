# SPDX-License-Identifier: Apache-2.0
"""Stages: what is understood, and what is refused in words."""

import pytest

from stopwise.core.stages import Stages, checked_stages
from stopwise.errors import InputError, InputTypeError


def test_stages_are_divided_down_from_the_last():
    assert Stages(81).steps == (1, 3, 9, 27, 81)
    assert Stages(100, eta=10, first=5).steps == (10, 100)
    assert Stages(1).steps == (1,)
    assert Stages([5, 50]) == Stages((5, 50))


def test_what_follows_a_step():
    stages = Stages([2, 4, 9])
    assert [stages.after(step) for step in (0, 2, 4)] == [2, 4, 9]
    assert [stages.index(step) for step in (2, 4, 9)] == [0, 1, 2]
    assert (len(stages), stages.last, str(stages)) == (3, 9, "2, 4, 9")


@pytest.mark.parametrize(
    ("given", "options", "error", "words"),
    [
        ([], {}, InputError, "give steps that grow"),
        ([3, 3], {}, InputError, "give steps that grow"),
        ([9, 3], {}, InputError, "give steps that grow"),
        ([0, 3], {}, InputError, "a stage"),
        ([1, 2.5], {}, InputError, "a stage"),
        ([1, 3, 9], {"eta": 3}, InputError, "eta is for the last step alone"),
        ([1, 3, 9], {"first": 1}, InputError, "first is for the last step alone"),
        ("81", {}, InputError, "the last stage"),
        (0, {}, InputError, "the last stage"),
        (81, {"eta": 1}, InputError, "a factor above 1"),
        (81, {"eta": True}, InputError, "a factor above 1"),
        (81, {"eta": "3"}, InputError, "a factor above 1"),
        (81, {"first": 100}, InputError, "first"),
        ([1, 3, 9], {"eta": 3}, InputError, "eta=3 beside a list of steps"),
        ([1, 3, 9], {"first": 1}, InputError, "Leave out first, or give the last step"),
        (81, {"usable": 1}, InputTypeError, "usable"),
        (list(range(1, 60)), {}, InputError, "at most 50"),
        (10**9, {"eta": 1.1}, InputError, "at most 50"),
    ],
)
def test_stages_that_cannot_be_are_refused(given, options, error, words):
    with pytest.raises(error, match=words):
        Stages(given, **options)


def test_the_option_takes_what_stages_take():
    assert checked_stages(None) is None
    assert checked_stages(Stages(9)) == checked_stages(9) == Stages([1, 3, 9])
    assert checked_stages([2, 5]).steps == (2, 5)
    for wrong in (True, "81", 2.5):
        with pytest.raises(InputTypeError, match="a list of steps"):
            checked_stages(wrong)
