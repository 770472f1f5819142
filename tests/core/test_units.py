# SPDX-License-Identifier: Apache-2.0
"""Names and units: numbers as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.units import PLAIN, AnswerUnits, checked_name, settings, sounds_better_larger
from stopwise.errors import InputError, InputTypeError


@pytest.mark.parametrize(
    ("name", "value", "bare"),
    [
        ("misread %", "misread 1.78 %", "1.78 %"),
        ("latency (ms)", "latency 1.78 ms", "1.78 ms"),
        ("loss [nats]", "loss 1.78 nats", "1.78 nats"),
        ("loss", "loss 1.78", "1.78"),
        ("", "1.78", "1.78"),
        ("%", "% 1.78", "1.78"),
    ],
)
def test_a_value_with_its_name_and_unit(name, value, bare):
    assert AnswerUnits(name).value(1.78) == value
    assert AnswerUnits(name).number(1.78) == bare


def test_a_gain_says_its_direction():
    assert AnswerUnits("misread %").gain(0.12) == "lower misread % by 0.12"
    assert AnswerUnits("yield %", rises=True).gain(0.12) == "raise yield % by 0.12"
    assert PLAIN.gain(0.12) == "gain 0.12"


def test_a_whole_price_that_went_through_a_logarithm_is_shown_whole():
    assert AnswerUnits("", "$").cost(math.exp(math.log(39.0))) == "$39"
    assert AnswerUnits("", "$").cost(39.01) == "$39.01"


def test_the_unit_of_lam_and_of_an_axis_of_costs():
    assert AnswerUnits("loss", "$").lam == "loss per $"
    assert PLAIN.lam == "objective units per unit of cost"
    assert AnswerUnits("", "s").for_axis(100.0) == (1.0, "s")
    assert AnswerUnits("", "s").for_axis(3000.0) == (60.0, "min")
    assert AnswerUnits("", "s").for_axis(1e5) == (3600.0, "h")
    assert AnswerUnits("", "$").for_axis(1e5) == (1.0, "$")


@given(st.floats(0.0, 1e12))
def test_durations_are_right_to_the_unit_that_is_left_out(seconds):
    scale = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
    words = AnswerUnits("", "s").cost(seconds).split()
    said = sum(float(n) * scale[unit] for n, unit in zip(words[::2], words[1::2], strict=True))
    if seconds < 59.9:
        assert said == pytest.approx(seconds, rel=0.005, abs=0.0)
    else:
        left_out = 0.0 if seconds < 3599.0 else 60.0 if seconds < 48 * 3600 - 1 else 3600.0
        assert -0.5 <= seconds - said <= left_out + 0.5  # to whole seconds, then rounded down


@pytest.mark.parametrize("given", ["", "  ", "x" * 61, "two\nlines", "\x1b[2J"])
def test_a_name_is_short_and_on_one_line(given):
    with pytest.raises(InputError, match="value_name="):
        checked_name("value_name", given)


def test_a_name_is_a_text():
    with pytest.raises(InputTypeError, match="cost_unit=3: give a text"):
        checked_name("cost_unit", 3)
    assert checked_name("cost_unit", None) is None
    assert checked_name("cost_unit", " $ ") == "$"


@pytest.mark.parametrize(
    ("name", "larger"),
    [
        ("accuracy", True),
        ("val_acc", True),
        ("Test AUC", True),
        ("mean reward", True),
        ("accuracy_loss", False),
        ("1-accuracy", False),
        ("loss", False),
        ("access", False),
    ],
)
def test_names_of_what_is_mostly_maximised(name, larger):
    assert sounds_better_larger(name) == larger


def test_a_configuration_in_words():
    assert (
        settings({"lr": 0.0012345678, "n": 3, "act": "relu"}) == "lr = 0.001235, n = 3, act = relu"
    )
