# SPDX-License-Identifier: Apache-2.0
"""Stages: what is accepted, what it means, and what is refused."""

from typing import Any

import pytest

import stopwise as sw
from stopwise.core.stages import Stages, checked_stages
from stopwise.errors import InputError, InputTypeError


def test_geometric_and_explicit_steps() -> None:
    assert sw.Stages(81, eta=3) == Stages([1, 3, 9, 27, 81])  # type: ignore[arg-type]
    assert Stages(81).after(0) == 1  # type: ignore[arg-type]
    assert Stages(81).after(9) == 27  # type: ignore[arg-type]
    assert Stages(1).steps == (1,)  # type: ignore[arg-type]
    stages = Stages([5, 20], usable=True)  # type: ignore[arg-type]
    assert (len(stages), stages.last, stages.index(20), str(stages)) == (2, 20, 1, "5, 20")


@pytest.mark.parametrize(
    ("steps", "options", "said"),
    [
        ([], {}, "steps that grow"),
        ([3, 3], {}, "steps that grow"),
        ([9, 3], {}, "steps that grow"),
        ([0, 3], {}, "at least 1"),
        (0, {}, "at least 1"),
        ("81", {}, "whole number"),
        (81, {"eta": 1}, "above 1"),
        (81, {"eta": "3x"}, "above 1"),
        (81, {"first": 100}, "at most 81"),
        (10**9, {"eta": 1.2}, "at most 50"),
        (81, {"usable": 1}, "usable=1"),
    ],
)
def test_what_is_refused(steps: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises((InputError, InputTypeError), match=said):
        Stages(steps, **options)


def test_the_option() -> None:
    assert checked_stages(None) is None
    assert checked_stages([1, 4]) == Stages([1, 4])  # type: ignore[arg-type]
    assert checked_stages(9) == Stages([1, 3, 9])  # type: ignore[arg-type]
    for wrong in ("81", True, 3.5):
        with pytest.raises(InputTypeError, match=r"sw\.Stages"):
            checked_stages(wrong)
