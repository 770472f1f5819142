# SPDX-License-Identifier: Apache-2.0
"""Utilities: what they make of values, and what they refuse."""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stopwise.core.beliefs.laws import Normal, Valued
from stopwise.core.beliefs.utilities import (
    UTILITIES,
    Custom,
    Linear,
    Piecewise,
    Sigmoid,
    Threshold,
    checked_utility,
    utility_from_table,
    worth_of_unit,
)
from stopwise.errors import InputError, InputTypeError
from tests.support.strategies import reals


def worth(utility, value, direction):
    sign = 1.0 if direction == "minimize" else -1.0
    return -float(utility.loss(sign)(np.array([sign * value]))[0])


def test_a_sigmoid_is_half_its_height_at_its_level_whichever_way_is_better():
    utility = Sigmoid(at=90, width=2, height=1000)
    assert worth(utility, 90, "maximize") == worth(utility, 90, "minimize") == 500
    assert worth(utility, 96, "maximize") == pytest.approx(952.6, abs=0.1)
    assert worth(utility, 96, "minimize") == pytest.approx(47.4, abs=0.1)


def test_nothing_below_a_threshold_counts():
    good_enough = Threshold(at=0.05, slope=100)
    assert worth(good_enough, 0.05, "minimize") == worth(good_enough, 0.01, "minimize") == 0
    assert worth(good_enough, 0.07, "minimize") == pytest.approx(-2)
    assert worth(good_enough, 0.07, "maximize") == pytest.approx(2)
    assert worth(good_enough, 0.01, "maximize") == 0
    below = Threshold(at=0.05, slope=100, counts="below")
    assert worth(below, 0.03, "minimize") == pytest.approx(2)
    assert worth(below, 0.08, "minimize") == 0
    assert worth(below, 0.03, "maximize") == pytest.approx(-2)


def test_points_are_joined_by_lines_and_flat_beyond():
    bonus = Piecewise([(0.95, 1000), (0.9, 0)])
    values = [0.2, 0.9, 0.91, 0.95, 0.99]
    assert [worth(bonus, v, "maximize") for v in values] == pytest.approx([0, 0, 200, 1000, 1000])
    assert bonus.points == ((0.9, 0.0), (0.95, 1000.0))


def test_a_line_is_a_price_for_a_unit():
    assert worth(Linear(3), 2.0, "minimize") == -6.0
    assert worth(Linear(3), 2.0, "maximize") == 6.0


@given(
    st.sampled_from(
        [
            Sigmoid(0.5, 0.2, 3.0).loss(1.0),
            Threshold(0.5, 2.0).loss(1.0),
            Threshold(0.5, 2.0).loss(-1.0),
            Piecewise([(0.0, 5.0), (0.5, 1.0), (0.8, 1.0), (1.0, 0.0)]).loss(1.0),
            Linear(2.0).loss(1.0),
            Custom(np.tanh, lambda v: np.cosh(v) ** -2, between=(-2, 2)).loss(-1.0),
        ]
    ),
    reals(-3.0, 3.0),
)
@example(Sigmoid(0.5, 0.2, 3.0).loss(1.0), -2.96875)  # its slope is 5e-7: a rounding is 1e-9 in y
def test_the_inverse_is_the_largest_value_of_at_most_this_loss(loss, y):
    level = loss(np.array([y]))
    there, slope = loss.inverse(level)[0], np.exp(loss.log_slope(np.array([y])))[0]
    rounding = 4 * np.spacing(abs(level[0])) / slope if slope else 0.0  # of the level, in y
    assert there >= y - 1e-9 - rounding
    if np.isfinite(there):
        assert loss(np.array([there]))[0] == pytest.approx(level[0], abs=1e-9)
        assert loss(np.array([there + 1e-6]))[0] > level[0]
    else:
        assert level[0] == pytest.approx(loss.high, abs=1e-12)


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_a_utility_that_goes_the_wrong_way_is_refused_with_a_sentence(direction):
    better = "lower" if direction > 0 else "higher"
    values = (0.9, 0.95) if direction > 0 else (0.95, 0.9)
    with pytest.raises(InputError, match=f"a {better} value is better and must not be worth less"):
        Piecewise([(values[0], 0), (values[1], 1000)]).loss(direction)
    wrong = Custom(lambda v: direction * v, lambda v: np.full_like(v, direction))
    with pytest.raises(InputError, match="Turn the utility round"):
        wrong.loss(direction)


def test_one_that_turns_round_far_away_is_refused_when_it_is_met():
    bump = Custom(lambda v: v - v**2 / 2e8, lambda v: 1 - v / 1e8).loss(-1.0)
    with pytest.raises(InputError, match="falls at 3e"):
        bump.log_slope(np.array([-3e8]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sigmoid(at="x", width=1), "sigmoid"),
        (lambda: Sigmoid(at=1e101, width=1), "a value that the objective can have"),
        (lambda: Sigmoid(at=1, width=0), "over how many units"),
        (lambda: Sigmoid(at=1, width=1, height=-1), "a positive number"),
        (lambda: Sigmoid(at=1, width=1, unit=3), "the name of a currency"),
        (lambda: Threshold(at=1, slope=np.inf), "a positive number"),
        (lambda: Threshold(at=1, counts="around"), "nothing below counts"),
        (lambda: Piecewise(3), "these are no points"),
        (lambda: Piecewise([(1, 2)]), "not two or more points"),
        (lambda: Piecewise([(1, 2, 3), (2, 3, 4)]), "not two or more points"),
        (lambda: Piecewise([(1, 0), (1, 5)]), "put the two points a little apart"),
        (lambda: Piecewise([(1, 0), (2, np.inf)]), "a worth is 1e\\+300 at most"),
        (lambda: Piecewise([(1, -1e308), (2, 1e308)]), "a worth is 1e\\+300 at most"),
        (lambda: Piecewise([(1, 2), (2, 2)]), "nothing is to gain"),
        (lambda: Linear(0), "what a unit of the objective is worth"),
        (lambda: Custom(3, np.cos), "give a function"),
        (lambda: checked_utility("sigmoid"), "is no utility: give sw.utility.sigmoid"),
        (lambda: checked_utility(Sigmoid), "is no utility"),
        (lambda: utility_from_table({"kind": "step"}), "give one of sigmoid, threshold"),
        (lambda: utility_from_table({"kind": "linear", "high": 3}), "it has slope, unit"),
        (
            lambda: utility_from_table({"kind": "sigmoid", "at": 3}),
            "needs more: width is missing",
        ),
        (
            lambda: utility_from_table({"kind": "threshold", "at": "90"}),
            r"^threshold\(at\) must be a real number, got '90' \(str\)",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(make, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        make()


def test_functions_that_fail_or_give_no_number_are_refused():
    root = Custom(np.sqrt, lambda v: 0.5 / np.sqrt(v))
    with pytest.raises(InputError, match=r"no number at .* between=\(low, high\)"):
        root.loss(-1.0)
    Custom(np.sqrt, lambda v: 0.5 / np.sqrt(v), between=(0, 100)).loss(-1.0)
    with pytest.raises(InputError, match="elementwise"):
        Custom(np.tanh, lambda v: 1.0 if v > 0 else 0.0).loss(-1.0)
    undefined = Custom(np.log, lambda v: 1.0 / np.abs(v)).loss(-1.0)
    with pytest.raises(InputError, match=r"custom\(function=\): it is no number at -1"):
        undefined(np.array([1.0]))


def _smooth(at, width, height):
    def far(v):
        return (v - at) / width

    def z(v):
        return np.clip(far(v), -300.0, 300.0)

    return {
        "cube": (lambda v: height * (v - at) ** 3, lambda v: 3.0 * height * (v - at) ** 2),
        "exp": (
            lambda v: height * np.exp(v / width),
            lambda v: height / width * np.exp(v / width),
        ),
        "arctan": (
            lambda v: height * np.arctan(far(v)),
            lambda v: height / width / (1 + far(v) ** 2),
        ),
        "single": (
            lambda v: (height * np.tanh(z(v).astype(np.float32))).astype(np.float32),
            lambda v: height / width * np.cosh(z(v)) ** -2,
        ),
        "offset": (lambda v: 1e9 * height + np.tanh(z(v)), lambda v: np.cosh(z(v)) ** -2 / width),
    }


def _bent(at, width, height):
    xs, ys = at + width * np.array([0.0, 0.1, 0.7, 1.0]), height * np.array([0.0, 1.0, 1.1, 9.0])
    slopes = np.array([0.0, *np.diff(ys) / np.diff(xs), 0.0])
    return {
        "ramp": (
            lambda v: height * np.clip((v - at) / width, 0.0, 1.0),
            lambda v: np.where((v >= at) & (v < at + width), height / width, 0.0),
        ),
        "points": (
            lambda v: np.interp(v, xs, ys),
            lambda v: slopes[np.searchsorted(xs, v, side="right")],
        ),
        "step": (lambda v: np.where(v >= at, height, 0.0), np.zeros_like),
        "rounded": (
            lambda v: np.round(np.clip(v, at, at + width), 9),
            lambda v: 1.0 * (abs(v - at - width / 2) < width / 2),
        ),
    }


SIZES = st.floats(-3.0, 3.0).map(lambda power: 10.0**power)


@example(at=1e-12, width=1.0, height=1.0, kind="rounded", between=True)
@given(
    at=st.floats(-1e3, 1e3), width=SIZES, height=SIZES,
    kind=st.sampled_from([*_smooth(0, 1, 1), *_bent(0, 1, 1)]), between=st.booleans(),
)  # fmt: skip
def test_a_right_derivative_is_never_refused(at, width, height, kind, between):
    function, derivative = {**_smooth(at, width, height), **_bent(at, width, height)}[kind]
    ends = (at - 3 * width, at + 5 * width) if between else None
    Custom(function, derivative, between=ends).loss(-1.0)


@given(
    at=st.floats(-1e2, 1e2), width=SIZES, height=SIZES,
    kind=st.sampled_from(["cube", "exp", "arctan"]), factor=st.sampled_from([0.0, 0.01, 0.5, 2.0]),
)  # fmt: skip
def test_a_wrong_derivative_is_refused_with_what_was_measured(at, width, height, kind, factor):
    at *= width
    function, derivative = _smooth(at, width, height)[kind]
    wrong = Custom(
        function, lambda v: factor * derivative(v), between=(at - 3 * width, at + 5 * width)
    )
    with pytest.raises(InputError, match=r"derivative=\): at .* has the slope .* differences"):
        wrong.loss(-1.0)


def test_a_wrong_derivative_is_found_where_the_function_grows():
    """Nothing grows at the sizes that are looked at first: 10 and 100."""
    ramp = Custom(
        lambda v: 200.0 * np.clip(v, 90.0, 95.0),
        lambda v: np.where((v >= 90.0) & (v < 95.0), 100.0, 0.0),
    )
    with pytest.raises(InputError, match=r"it is 100, but .* slope 200 "):
        ramp.loss(-1.0)
    cube = Custom(lambda v: (v / 100.0) ** 3 * 1e4, lambda v: np.full_like(v, 1e-3))
    with pytest.raises(InputError, match=r"it is 0\.001, but"):
        cube.loss(-1.0)


@pytest.mark.parametrize("y", [-300.0, -40.0, -20.0, -1.0, 0.0, 5.0, 80.0])
def test_the_inverse_is_precise_where_next_to_nothing_is_left_to_lose(y):
    """The loss exp(y): in 50 digits its inverse is the logarithm, of however small a level."""
    loss = Custom(lambda v: -np.exp(v), lambda v: -np.exp(v), between=(None, 500)).loss(1.0)
    level = float(loss(np.array([y]))[0])
    with mpmath.workdps(50):
        exact = float(mpmath.log(mpmath.mpf(level)))
    assert loss.inverse(np.array([level]))[0] == pytest.approx(exact, rel=1e-14, abs=1e-14)


@given(y=reals(-3.0, 3.0), size=st.integers(-300, 300).map(lambda k: 2.0**k))
def test_the_inverse_does_not_depend_on_the_unit_of_worth(y, size):
    def cube(c):
        return Custom(lambda v: -c * v**3, lambda v: -3.0 * c * v**2).loss(1.0)

    [plain] = cube(1.0).inverse(cube(1.0)(np.array([y])))
    [other] = cube(size).inverse(cube(size)(np.array([y])))
    assert other == pytest.approx(plain, rel=1e-13, abs=1e-50)


@given(at=st.floats(-50.0, 50.0), power=st.sampled_from([1, 3, 5]))
def test_the_inverse_needs_few_rounds_however_far_the_ends_are(at, power):
    asked = []

    def function(v):
        asked.append(v.size)
        return v**power

    loss = Custom(function, lambda v: power * v ** (power - 1.0)).loss(-1.0)
    asked.clear()
    [y] = loss.inverse(np.array([-(at**power)]))
    # Beside 0 a power is flat, and Newton's method comes closer by a part of the way only.
    assert len(asked) < (60 if at == 0.0 or abs(at) > 1e-3 else 330)
    np.testing.assert_allclose(y**power, -(at**power), rtol=1e-14, atol=1e-12)


def test_a_table_gives_the_utility_that_was_written():
    tables = [
        {"kind": "sigmoid", "at": 1.0, "width": 2.0, "height": 3.0, "unit": "euros"},
        {"kind": "threshold", "at": 1.0, "slope": 2.0, "counts": "below", "unit": ""},
        {"kind": "piecewise", "points": [[0, 1], [1, 3]]},
        {"kind": "linear", "slope": 2.0},
    ]
    assert {table["kind"] for table in tables} == set(UTILITIES)
    for table in tables:
        utility = utility_from_table(table)
        assert (type(utility), utility.kind) == (UTILITIES[table["kind"]], table["kind"])
        assert checked_utility(utility) is utility


def test_an_object_of_ones_own_is_a_utility():
    class Own:
        unit = "marks"

        def worth(self, values):
            return 2.0 * values

        def derivative(self, values):
            return np.full_like(values, 2.0)

    utility = checked_utility(Own())
    assert (worth(utility, 3.0, "maximize"), utility.unit) == (6.0, "marks")
    assert checked_utility(None) is None


@pytest.mark.parametrize("knots", [(), (0.25, 0.75)])
def test_a_function_with_sharp_bends_is_integrated_with_and_without_its_knots(knots):
    """A ramp as a function: its improvements are those of the piecewise utility."""
    ramp = Custom(
        lambda v: np.clip(v, 0.25, 0.75),
        lambda v: np.where((v >= 0.25) & (v < 0.75), 1.0, 0.0),
        knots=knots,
    )
    law = Normal(np.array([-0.4, 0.3]), np.array([0.3, 0.05]))
    same = Valued(law, Piecewise([(0.25, 0.25), (0.75, 0.75)]).loss(-1.0))
    got, want = Valued(law, ramp.loss(-1.0)).log_ei(-0.3), same.log_ei(-0.3)
    np.testing.assert_allclose(got.value, want.value, atol=1e-6)
    np.testing.assert_allclose(got.slopes, want.slopes, rtol=1e-5, atol=1e-6)


def test_a_step_is_not_overlooked():
    """A derivative of 0 everywhere: what the function gains is found all the same."""
    step = Custom(lambda v: np.where(v >= 0.123, 5.0, 0.0), np.zeros_like).loss(-1.0)
    law = Valued(Normal(np.array([-0.1]), np.array([0.2])), step)
    reached = float(np.exp(Normal(np.array([-0.1]), np.array([0.2])).log_cdf(-0.123)[0]))
    assert np.exp(law.log_ei(0.0).value[0]) == pytest.approx(5.0 * reached, rel=1e-6)


def test_the_worth_of_a_unit_is_by_the_mean_slope():
    assert worth_of_unit(Linear(3.0).loss(1.0), 0.5, 1.0, 4.0) == pytest.approx(1.5)
    flat = Threshold(at=50.0).loss(1.0)
    assert worth_of_unit(flat, 0.5, 1.0, 4.0) == 1.0
