# SPDX-License-Identifier: Apache-2.0
"""Parameters, spaces and params that are refused, with what is allowed."""

import math
import sys

import numpy as np
import pytest

from stopwise.core.space import Categorical, Integer, Mixed, Real, as_domain
from stopwise.errors import InputError, InputTypeError, StopwiseError
from tests.support.spaces import SPACE


@pytest.mark.parametrize("kind", [Real, Integer])
@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((2, 1), InputError, "low must be below high; swap them"),
        ((1, 1), InputError, "leaves nothing to vary; leave the parameter out"),
        ((0, math.inf), InputError, "high must be finite"),
        ((math.nan, 1), InputError, "low must be finite"),
        ((0, 10**400), InputError, "high must be finite"),
        ((False, 1), InputTypeError, "low is of type bool; it must be a number"),
        ((0, np.True_), InputTypeError, "high is of type bool"),
        (("0", 1), InputTypeError, "low is of type str; it must be a number"),
        ((None, 1), InputTypeError, "low is of type NoneType"),
        ((0, 10, True), InputError, "a log scale needs low above 0"),
        ((-5, 10, True), InputError, "a log scale needs low above 0"),
        ((-5, -1, True), InputError, "a log scale needs low above 0"),
        ((1, 10, "log"), InputTypeError, "log must be True or False"),
    ],
)
def test_bad_bounds(kind, arguments, error, match):
    with pytest.raises(error, match=match) as caught:
        kind(*arguments)
    assert isinstance(caught.value, StopwiseError)
    assert kind.__name__ in str(caught.value)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: Integer(0.5, 3), InputError, "low is not a whole number; round it, or use Real"),
        (lambda: Integer(1, 10**13), InputError, r"high is beyond 10\*\*12"),
        (lambda: Real(-1.7e308, 1.7e308), InputError, "too large for a float; narrow"),
        (lambda: Real(1e10, math.nextafter(1e10, 2e10), log=True), InputError, "too close for"),
        (lambda: Categorical([]), InputError, "at least one choice"),
        (lambda: Categorical("relu"), InputTypeError, "choices must be a list"),
        (lambda: Categorical(3), InputTypeError, "choices must be a list"),
        (lambda: Categorical({"a": 1}), InputTypeError, "choices must be a list"),
        (lambda: Categorical({"a", "b"}), InputTypeError, "a set has no fixed order"),
        (lambda: Categorical(["a", "b", "a"]), InputError, "'a' is listed twice"),
        (lambda: Categorical([1, 1.0]), InputError, "1.0 is listed twice"),
        (lambda: Categorical([[64], [32]]), InputTypeError, r"\[64\] is of type list.*a tuple"),
        (lambda: Categorical([0.5, math.nan]), InputError, "nan is not equal to itself"),
    ],
)
def test_bad_parameters(make, error, match):
    with pytest.raises(error, match=match):
        make()


@pytest.mark.parametrize(
    ("space", "error", "match"),
    [
        ({}, InputError, "an empty dict; name at least one parameter"),
        ({1: Real(0, 1)}, InputTypeError, "name 1 is of type int; names must be strings"),
        ({"x": (0, 1)}, InputTypeError, r"'x' is \(0, 1\); it must be Real\(low, high\)"),
        ({"x": Real}, InputTypeError, "must be Real"),
        ([{"x": 1}], InputTypeError, "the space is of type list.*Candidates"),
        (None, InputTypeError, "the space is of type NoneType"),
    ],
)
def test_bad_spaces(space, error, match):
    with pytest.raises(error, match=match):
        as_domain(space)


GOOD = {"lr": 0.01, "layers": 2, "act": "relu"}


@pytest.mark.parametrize(
    ("params", "error", "match"),
    [
        ({**GOOD, "lrr": 1}, InputError, "have 'lrr', which the space does not.*mean 'lr'"),
        ({**GOOD, 3: 1}, InputError, "have 3, which the space does not"),
        ({"lr": 0.01}, InputError, "lack 'layers', 'act'; give every parameter a value"),
        ({**GOOD, "lr": 1.0}, InputError, "'lr' is 1.0, outside its bounds; allowed is 0.0001 to"),
        ({**GOOD, "lr": math.nan}, InputError, "'lr' is nan, outside its bounds"),
        ({**GOOD, "lr": "0.1"}, InputTypeError, "'lr' is '0.1', of type str; it must be a number"),
        ({**GOOD, "lr": True}, InputTypeError, "'lr' is True, of type bool"),
        ({**GOOD, "lr": 10**400}, InputError, "'lr' holds a number too large"),
        ({**GOOD, "layers": 2.5}, InputError, "2.5, not a whole number; allowed are.* 1 to 6"),
        ({**GOOD, "layers": math.nan}, InputError, "nan, not a whole number"),
        ({**GOOD, "layers": 7}, InputError, "'layers' is 7, outside its bounds; .*1 to 6"),
        ({**GOOD, "layers": True}, InputTypeError, "'layers' is True, of type bool"),
        ({**GOOD, "act": "elu"}, InputError, "'elu', which is not one.*'relu', 'tanh', 'gelu'"),
        ({**GOOD, "act": ["relu"]}, InputError, "not one of its choices"),
        ([GOOD, GOOD, {**GOOD, "lr": 1.0}], InputError, "'lr' in row 2 is 1.0"),
        ([GOOD, 3], InputTypeError, "params 1 are 3, of type int; give a dict"),
        (3, InputTypeError, "params are of type int; give a dict"),
        ("lr", InputTypeError, "params are of type str; give a dict"),
    ],
)
def test_bad_params(params, error, match):
    with pytest.raises(error, match=match):
        Mixed.of(SPACE).encode(params)


def test_an_infinite_value_is_refused_even_at_the_largest_float():
    with pytest.raises(InputError, match="inf, outside"):
        Real(0, sys.float_info.max).encode([math.inf], "x")


def test_long_lists_of_choices_are_cut_short():
    with pytest.raises(InputError, match=r"0, 1, 2, 3, 4, 5, 6, 7, \.\.\. \(92 more\)$"):
        Categorical(range(100)).encode(["x"], "c")


@pytest.mark.parametrize("X", [[0.5] * 5, [[0.5]], np.zeros((2, 2, 2))])
def test_points_of_a_wrong_shape_are_refused(X):
    for domain in (Mixed.of(SPACE), Mixed.of({"a": Real(0, 1), "b": Real(0, 1)})):
        with pytest.raises(InputError, match=r"it must be \(m, "):
            domain.snap(X)
