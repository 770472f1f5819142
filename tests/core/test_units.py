# SPDX-License-Identifier: Apache-2.0
"""Names and units: every number that has one is written in one place."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.quantity import measured, quantity
from stopwise.core.traces import Signal, Trace
from stopwise.core.units import PLAIN, AnswerUnits, checked_name, settings, sounds_better_larger
from stopwise.errors import InputError, InputTypeError
from stopwise.stopping import (
    GSS,
    PBGI,
    UCBLCB,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    SRGapMedian,
)


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


def test_a_price_that_was_a_logarithm_is_whole_again():
    assert AnswerUnits("", "$").cost(math.exp(math.log(39.0))) == "$39"
    assert AnswerUnits("", "$").cost(39.01) == "$39.01"


def test_lam_and_axes():
    assert AnswerUnits("loss", "$").lam == "loss per $"
    assert PLAIN.lam == "objective units per unit of cost"
    assert AnswerUnits("", "s").for_axis(100.0) == (1.0, "s")
    assert AnswerUnits("", "s").for_axis(3000.0) == (60.0, "min")
    assert AnswerUnits("", "s").for_axis(1e5) == (3600.0, "h")
    assert AnswerUnits("", "$").for_axis(1e5) == (1.0, "$")


@pytest.mark.parametrize(
    ("value", "std", "words"),
    [
        (18.550098781996915, 0.0, "18.55"),
        (18.550098781996915, 0.2317, "18.55 +- 0.23"),
        (18.550098781996915, 12.0, "19 +- 12"),
        (18.550098781996915, 1234.0, "18.55 +- 1.2e+03"),
        (18.550098781996915, 0.0996, "18.55 +- 0.10"),
        (12345.678, 0.0, "12,346"),
    ],
)
def test_as_many_digits_as_deserved(value, std, words):
    assert measured(value, std) == words


@given(st.floats(-1e300, 1e300))
def test_a_quantity_is_right_to_four_digits(value):
    said = float(quantity(value).replace(",", ""))
    assert said == pytest.approx(value, rel=5.1e-4)


@given(st.floats(0.0, 1e12))
def test_durations_are_right_to_their_last_unit(seconds):
    scale = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
    words = AnswerUnits("", "s").cost(seconds).split()
    said = sum(float(n) * scale[unit] for n, unit in zip(words[::2], words[1::2], strict=True))
    last = scale[words[-1]]
    assert abs(said - seconds) <= max(last, 0.006 * seconds) + 1.0


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


@given(
    st.floats(1e-12, 1e12),
    st.floats(1e-8, 0.1) | st.just(0.0),
)
def test_numbers_that_are_compared_look_different_unless_they_are_equal(number, by):
    other = number * (1.0 + by)
    texts = quantity(number, other), quantity(other, number)
    assert (texts[0] == texts[1]) == (number == other)
    for text, value in zip(texts, (number, other), strict=True):
        assert float(text.replace(",", "")) == pytest.approx(value, rel=1e-3)
    assert quantity(number, 3.0 * number, math.nan, math.inf) == quantity(number)


def test_a_stop_by_a_hair_shows_the_hair():
    """A gain of 0.1500004 for a price of 0.15 is worth it, and both are to be read."""
    facts = {"gain": 0.1500004, "cost": 3.0, "cost_spread": 0.0, "spread": 0.0}
    now = Signal(1, 5, math.log(0.1500004 / 3.0), facts)
    verdict = PBGI(0.05).verdict(Trace.of((now,)))
    assert not verdict.stop
    assert "gain 0.1500004 and costs 3, worth 0.15 at lam = 0.05" in verdict.reason
    bound = ProbabilisticRegretBound(0.01)
    for rule in (UCBLCB(1e-3), GSS(), SRGapMedian(), LogEIPCMedian(), bound):
        now = Signal(30, 40, _on_scale(rule, 0.250003), facts)
        said = rule.sentence(now, _on_scale(rule, 0.25))
        assert "0.250003" in said
        assert re.search(r"0\.25($|[^0])", said)


def _on_scale(rule, number):
    return math.log(number) if rule.signal_scale == "log" else number
