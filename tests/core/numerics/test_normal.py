# SPDX-License-Identifier: Apache-2.0
"""Expected improvement and fair values, against E max(y - f, 0) itself."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stopwise.core.numerics import standard_improvement
from stopwise.core.numerics.normal import log_ei, log_ei_partials, pbgi, pbgi_partials
from stopwise.core.numerics.standard_improvement import d_log_h, log_h
from tests.support import oracles
from tests.support.doubles import (
    LARGEST,
    LEVELS,
    PHI_0,
    SMALLEST,
    SMALLEST_NORMAL,
    both_sides,
    error,
)
from tests.support.oracles import mp
from tests.support.strategies import boxes, costs, dyadics, magnitudes, normals

pytestmark = pytest.mark.usefixtures("no_floating_point_errors")


def test_a_warning_would_be_noticed():
    with pytest.raises(FloatingPointError):
        np.log(np.zeros(1))
    with pytest.raises(UserWarning):
        warnings.warn("noticed", stacklevel=1)


# ------------------------------------------------------------------------------------- log EI


def test_log_ei_by_simulation():
    mean, std, best = 1.3, 0.8, 0.9
    gains = np.maximum(best - np.random.default_rng(5).normal(mean, std, 400_000), 0.0)
    assert abs(np.exp(log_ei(mean, std, best)) - gains.mean()) < 4 * gains.std() / 400_000**0.5


def gains():
    """(mean, std, best) over all levels, at scales from 1e-300 to 1e290."""
    scales = itertools.cycle([1.0, 1e-300, 3e-7, 1e290, 20.0, 7e120])
    shifts = itertools.cycle([0.0, 1.0, 0.0, -0.3])
    for z, std in zip(LEVELS[::2], scales, strict=False):
        mean = next(shifts) * std
        yield mean, std, mean + float(z) * std


@pytest.mark.parametrize("case", list(gains()))
def test_log_ei_and_its_partials(case):
    mean, std, best = case
    value, d_mean, d_std = oracles.log_ei_partials(mean, std, best)
    got = log_ei_partials(mean, std, best)
    assert log_ei(mean, std, best) == got[0]
    # log s and log h may cancel: each is right to rounding.
    assert error(got[0], value, per=1 + 2 * abs(mp.log(std)) + abs(value)) <= 1e-13
    # phi underflows beyond z = 38, before its quotient by a small deviation would.
    lost = SMALLEST_NORMAL * max(1.0, 1.0 / std)
    for partial, want in zip(got[1:], (d_mean, d_std), strict=True):
        if abs(want) > LARGEST:
            assert math.isinf(partial)
            assert partial * want > 0
        else:
            assert error(partial, want, per=abs(want) + lost / 1e-10) <= 1e-10


EDGES = [-np.inf, -1e308, -1.0, 0.0, SMALLEST, 1.0, 1e308, np.inf, np.nan]
NOT_NEGATIVE = [edge for edge in EDGES if not edge < 0]
FINITE = [edge for edge in EDGES if math.isfinite(edge)]
FINITE_POSITIVE = [edge for edge in FINITE if edge > 0]


@pytest.mark.parametrize("std", NOT_NEGATIVE)
def test_log_ei_is_nan_only_for_nan(std):
    for mean, best in itertools.product(EDGES, EDGES):
        for number in log_ei_partials(mean, std, best):
            assert math.isnan(number) == any(map(math.isnan, (mean, std, best))), (mean, best)


@pytest.mark.parametrize("std", FINITE_POSITIVE)
def test_log_ei_is_infinite_only_where_it_overflows(std):
    for mean, best in itertools.product(FINITE, FINITE):
        want = oracles.log_ei_partials(mean, std, best)
        for number, exact in zip(log_ei_partials(mean, std, best), want, strict=True):
            if abs(exact) > LARGEST:
                assert number == math.copysign(math.inf, exact), (mean, best)
            else:
                assert error(number, exact, per=1 + abs(exact)) <= 1e-12, (mean, best)


def test_log_ei_of_a_certain_value_is_the_log_of_its_gain():
    best = [2.0, 1.0, 0.5, 1e308]
    value, d_mean, d_std = log_ei_partials([1.0, 1.0, 1.0, -1e308], 0.0, best)
    # The last gain overflows, its logarithm does not.
    assert value == pytest.approx([0.0, -np.inf, -np.inf, math.log(2e307) + math.log(10.0)])
    assert d_mean == pytest.approx([-1.0, 0.0, 0.0, -5e-309], rel=1e-12)
    assert d_std.tolist() == [0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("mean", "std", "best", "expected"),
    [
        (0.0, 1.0, np.inf, np.inf),  # everything is gained
        (-np.inf, 1.0, 0.0, np.inf),
        (np.inf, 1.0, 0.0, -np.inf),  # nothing is
        (0.0, 1.0, -np.inf, -np.inf),
        (0.0, np.inf, 0.0, np.inf),  # doubt without end
        (0.0, np.inf, np.inf, np.inf),
        (0.0, np.inf, -np.inf, -np.inf),  # no answer: nothing is promised
        (np.inf, 1.0, np.inf, -np.inf),
    ],
)
def test_log_ei_at_infinity(mean, std, best, expected):
    assert log_ei(mean, std, best) == expected


@given(normals(), dyadics(-100, 100), dyadics(-1000, 1000), magnitudes(-6, 6))
def test_log_ei_shifts_and_scales(belief, best, shift, scale):
    (mean, std), value = belief, log_ei(*belief, best)
    assert log_ei(mean + shift, std, best + shift) == value
    scaled = log_ei(scale * mean, scale * std, scale * best)
    # best - mean is rounded anew: by eps of its terms, times the slope.
    slope = log_ei_partials(mean, std, best)[1]
    rounding = 1e-15 * abs(slope) * (abs(mean) + abs(best)) + 1e-13 * (1.0 + abs(value))
    assert scaled - math.log(scale) == pytest.approx(value, abs=rounding)


@pytest.mark.parametrize("z", [1.8, 3.0, 20.0])
def test_log_ei_where_the_gap_overflows_and_the_deviation_is_as_large(z):
    m, y = -1.5e308, 1.5e308
    s = y / z - m / z
    value, d_mean, d_std = log_ei_partials(m, s, y)
    with mp.workdps(40):
        h = mp.mpf(z) * mp.ncdf(z) + mp.npdf(z)
        assert value == pytest.approx(float(mp.log(mp.mpf(s)) + mp.log(h)), rel=1e-15)
        assert d_mean * s == pytest.approx(-float(mp.ncdf(z) / h), rel=1e-12)
        assert d_std * s == pytest.approx(float(mp.npdf(z) / h), rel=1e-12)


# --------------------------------------------------------------------------------- fair values


def test_opening_at_the_fair_value_breaks_even_in_simulation():
    mean, std, cost = -2.0, 3.0, 0.4
    level = pbgi(mean, std, cost)
    gains = np.maximum(level - np.random.default_rng(6).normal(mean, std, 400_000), 0.0)
    assert abs(gains.mean() - cost) < 4 * gains.std() / 400_000**0.5


def assert_fair(mean, std, cost):
    want = oracles.fair_value_partials(mean, std, cost)
    got = pbgi_partials(mean, std, cost)
    assert pbgi(mean, std, cost) == got[0]
    if abs(want[0]) > LARGEST:
        assert got[0] == math.copysign(math.inf, want[0])
    else:
        scale = abs(mp.mpf(mean)) + abs(want[0] - mp.mpf(mean))
        assert error(got[0], want[0], per=scale + SMALLEST / 1e-12) <= 1e-12
    assert got[1] == 1.0
    # phi underflows beyond z = 38; the other derivative is of the size of the cost or larger.
    assert error(got[2], want[2], per=abs(want[2]) + SMALLEST_NORMAL / 1e-10) <= 1e-10
    assert error(got[3], want[3], per=want[3] + SMALLEST / 1e-10) <= 1e-10


# log(cost/std), over all that costs and deviations from 1e-300 to 1e300 can make of it.
LOG_RATIOS = np.concatenate(
    [
        -np.logspace(-1, math.log10(1380.0), 24),
        np.logspace(-1, math.log10(1380.0), 10),
        [-671.0, -665.0, 665.0, 671.0],  # where the ratio itself is close to its limits
        both_sides(
            standard_improvement._GAUSSIAN,
            math.log(standard_improvement._LINEAR),
            math.log(standard_improvement.CERTAIN),
        )[::2],
    ]
)


@pytest.mark.parametrize("log_ratio", LOG_RATIOS)
def test_fair_value_and_its_partials(log_ratio):
    share = np.random.default_rng(int(1e6 * abs(log_ratio))).uniform()
    lowest, highest = max(-690.0, -690.0 - log_ratio), min(690.0, 690.0 - log_ratio)
    std = math.exp(lowest + share * (highest - lowest))
    cost = math.exp(math.log(std) + log_ratio)
    assert_fair(0.0, std, cost)
    assert_fair(-3.0 * std, std, cost)
    assert_fair(1e17 * max(std, cost), std, cost)


@pytest.mark.parametrize("std", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("cost", [1e-300, 1.0, 1e300])
def test_fair_value_at_extreme_prices_and_deviations(std, cost):
    for mean in (0.0, 1.0, -1e300):
        assert_fair(mean, std, cost)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("closeness", [0.0, *np.logspace(-16, -1, 11)])
def test_fair_value_close_to_the_mean(sign, closeness):
    """z is near 0: g - m keeps its relative precision, although log(cost/std) does not."""
    for std in (1.0, 0.7, 3.1e-300, 9.7e299):
        assert_fair(0.0, std, std * PHI_0 * (1.0 + sign * closeness))


@pytest.mark.parametrize(
    "z", both_sides(standard_improvement._NEAR_ZERO, -standard_improvement._NEAR_ZERO)
)
def test_fair_value_where_its_refinement_begins(z):
    assert_fair(0.0, 1.0, math.exp(log_h(z)))


def test_subnormal_deviations_and_prices():
    for std, cost in [(SMALLEST, SMALLEST), (1e-310, 3e-311), (1.0, SMALLEST), (SMALLEST, 1.0)]:
        assert_fair(0.0, std, cost)


def test_the_sum_of_two_huge_terms():
    """m and s z are of opposite sign; s z overflows where g does not."""
    mean, std = 1.5e308, 1.2e308
    assert math.isinf(-std * 2.0)
    assert_fair(mean, std, std * math.exp(log_h(-2.0)))
    assert_fair(-mean, std, std * math.exp(log_h(-2.0)))


@pytest.mark.parametrize("std", NOT_NEGATIVE)
def test_fair_value_is_nan_only_for_nan(std):
    for mean, cost in itertools.product(EDGES, NOT_NEGATIVE):
        numbers = pbgi_partials(mean, std, cost)
        assert pbgi(mean, std, cost) == numbers[0] or math.isnan(numbers[0])
        for number in numbers:
            assert math.isnan(number) == any(map(math.isnan, (mean, std, cost))), (mean, cost)


@pytest.mark.parametrize("std", FINITE_POSITIVE)
@pytest.mark.parametrize("cost", FINITE_POSITIVE)
def test_fair_value_is_infinite_only_where_it_overflows(std, cost):
    for mean in FINITE:
        assert_fair(mean, std, cost)


def test_fair_value_of_a_certain_box_is_mean_plus_cost():
    value, d_mean, d_std, d_log_cost = pbgi_partials([1.0, -2.0, 0.1], 0.0, [0.5, 0.0, 1e300])
    assert value.tolist() == [1.5, -2.0, 1e300]
    assert d_mean.tolist() == [1.0, 1.0, 1.0]
    assert d_std.tolist() == [0.0, 0.0, 0.0]
    assert d_log_cost.tolist() == [0.5, 0.0, 1e300]


def test_fair_value_of_a_free_box_is_minus_infinity():
    value, d_mean, d_std, d_log_cost = pbgi_partials([1.0, -1e308], [SMALLEST, 1e308], 0.0)
    assert value.tolist() == [-np.inf, -np.inf]
    assert d_mean.tolist() == [1.0, 1.0]
    assert d_std.tolist() == [-np.inf, -np.inf]
    assert d_log_cost.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("mean", "std", "cost", "expected"),
    [
        (np.inf, 1.0, 1.0, np.inf),  # the mean decides first
        (-np.inf, 1.0, np.inf, -np.inf),
        (np.inf, 1.0, 0.0, np.inf),
        (np.inf, np.inf, 1.0, np.inf),
        (0.0, 1.0, np.inf, np.inf),  # then the price
        (0.0, np.inf, np.inf, np.inf),
        (0.0, np.inf, 0.0, -np.inf),
        (0.0, np.inf, 1.0, -np.inf),  # then the deviation
    ],
)
def test_fair_value_at_infinity(mean, std, cost, expected):
    assert pbgi(mean, std, cost) == expected


@given(boxes(), dyadics(-1000, 1000), magnitudes(-6, 6))
def test_fair_value_shifts_and_scales(box, shift, scale):
    (mean, std, cost), value = box, pbgi(*box)
    moved = pbgi(scale * (mean + shift), scale * std, scale * cost)
    size = abs(mean) + abs(shift) + abs(value - mean)
    assert moved / scale == pytest.approx(value + shift, rel=0, abs=1e-13 * size)


@given(boxes(), magnitudes(-3, 3))
def test_fair_value_increases_with_mean_and_cost_and_falls_with_doubt(box, step):
    mean, std, cost = box
    value = pbgi(mean, std, cost)
    assert pbgi(mean + (abs(mean) + abs(value)) * step + step, std, cost) > value
    # Without a mean that swallows them, even small changes show.
    value = pbgi(0.0, std, cost)
    assert pbgi(0.0, std, cost * (1.0 + step)) > value
    if cost < 4.0 * std:
        assert pbgi(0.0, std * (1.0 + step), cost) < value
    else:  # practically certain: the fair value is the cost
        assert pbgi(0.0, std * (1.0 + step), cost) <= value * (1.0 + 1e-15)


@given(normals(), costs(), magnitudes(-8, 3), st.sampled_from([-1.0, 1.0]))
def test_closed_boxes_and_stopping_are_one_question(belief, cost, distance, side):
    """The fair value is at least y if and only if log EI over y is at most log cost."""
    mean, std = belief
    value = pbgi(mean, std, cost)
    best = value + side * distance * std
    assume(abs(best - value) > 1e-11 * (abs(mean) + abs(value - mean)))
    assert (value >= best) == (log_ei(mean, std, best) <= math.log(cost))


def test_a_fair_value_close_to_the_mean_is_as_precise_among_others():
    # c = s h(z) for small z, together with prices far from it: each is what it is alone.
    close = 0.3989422804014327 * (1.0 + np.array([1e-13, -1e-10, 1e-6]))
    prices = np.concatenate([close, [1e-8, 5.0]])
    together = pbgi(0.0, 1.0, prices)
    assert together.tolist() == [float(pbgi(0.0, 1.0, price)) for price in prices]


# ---------------------------------------------------------------------------------- gradients


def log_cost_pbgi(mean, std, log_cost):
    return pbgi(mean, std, math.exp(log_cost))


GRADIENTS = {  # name: (function, arguments, which of them moves, its derivative)
    "log_h": (log_h, (-2.3,), 0, d_log_h),
    "log_h, far": (log_h, (-40.0,), 0, d_log_h),
    "log_h, above": (log_h, (1.7,), 0, d_log_h),
    "log_ei in mean": (log_ei, (1.0, 0.5, 0.2), 0, lambda *a: log_ei_partials(*a)[1]),
    "log_ei in std": (log_ei, (1.0, 0.5, 0.2), 1, lambda *a: log_ei_partials(*a)[2]),
    "log_ei in best": (log_ei, (1.0, 0.5, 0.2), 2, lambda *a: -log_ei_partials(*a)[1]),
    "log_ei in mean, gained": (log_ei, (-1.0, 0.5, 0.2), 0, lambda *a: log_ei_partials(*a)[1]),
    "log_ei in std, gained": (log_ei, (-1.0, 0.5, 0.2), 1, lambda *a: log_ei_partials(*a)[2]),
    "log_ei in mean, certain": (log_ei, (-1.0, 0.0, 0.2), 0, lambda *a: log_ei_partials(*a)[1]),
    **{
        f"pbgi in {name}, {case}": (
            log_cost_pbgi,
            (mean, std, math.log(cost)),
            which,
            lambda m, s, t, which=which: pbgi_partials(m, s, math.exp(t))[1 + which],
        )
        for which, name in enumerate(["mean", "std", "log cost"])
        for case, (mean, std, cost) in {
            "cheap": (0.3, 0.8, 1e-9),
            "near the mean": (0.3, 0.8, 0.32),
            "dear": (-2.0, 0.5, 1.1),
            "practically certain": (0.3, 0.01, 1.0),
        }.items()
    },
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_by_finite_differences(name):
    function, arguments, which, derivative = GRADIENTS[name]

    def moved(step):
        return function(*(a + step * (i == which) for i, a in enumerate(arguments)))

    step = 1e-3
    coarse, fine = ((moved(d) - moved(-d)) / (2.0 * d) for d in (2.0 * step, step))
    extrapolated = (4.0 * fine - coarse) / 3.0  # error of order step^4
    assert derivative(*arguments) == pytest.approx(extrapolated, rel=1e-7, abs=1e-10)
