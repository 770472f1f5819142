# SPDX-License-Identifier: Apache-2.0
"""Descent within bounds: where it ends, what it costs, and where it gives up."""

import dataclasses

import numpy as np
import pytest

from stopwise.core.beliefs import active_set_bfgs as descent
from stopwise.core.beliefs.active_set_bfgs import descend

WIDE = np.array([[-50.0, 50.0]] * 2)


@dataclasses.dataclass
class Place:
    x: np.ndarray
    value: float
    slope: object
    asked: list

    @property
    def gradient(self):
        self.asked.append(self.x)
        return self.slope(self.x)


class Landscape:
    """A function that counts its evaluations, and where gradients are asked for."""

    def __init__(self, value, slope):
        self.value, self.slope, self.tried, self.asked = value, slope, [], []

    def __call__(self, x):
        self.tried.append(x)
        return Place(x, self.value(x), self.slope, self.asked)


def quadratic(hessian, bottom):
    hessian, bottom = np.array(hessian), np.array(bottom)
    return Landscape(
        lambda x: 0.5 * (x - bottom) @ hessian @ (x - bottom), lambda x: hessian @ (x - bottom)
    )


STRETCHED = [[2.0, 0.3], [0.3, 500.0]]
COUPLED = [[1.0, 0.95], [0.95, 1.0]]
WALLED = [[1.0, -30.0], [-30.0, 1000.0]]


def end(landscape, start, curvature, bounds=WIDE):
    return descend(landscape, landscape(np.array(start)), np.array(curvature), bounds).end.x


def test_a_descent_that_is_told_the_curvature_needs_few_steps():
    told, untold = (quadratic(STRETCHED, [1.0, 0.5]) for _ in range(2))
    np.testing.assert_allclose(end(told, [0.0, 0.0], STRETCHED), [1.0, 0.5], atol=1e-3)
    np.testing.assert_allclose(end(untold, [0.0, 0.0], np.eye(2)), [1.0, 0.5], atol=2e-3)
    assert len(told.tried) <= 3 < len(untold.tried)


def test_a_narrow_bent_valley_is_followed_to_its_end():
    rosenbrock = Landscape(
        lambda x: (1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2,
        lambda x: np.array(
            [
                -2.0 * (1.0 - x[0]) - 400.0 * x[0] * (x[1] - x[0] ** 2),
                200.0 * (x[1] - x[0] ** 2),
            ]
        ),
    )
    np.testing.assert_allclose(end(rosenbrock, [-1.2, 1.0], np.eye(2)), [1.0, 1.0], atol=5e-3)
    assert len(rosenbrock.tried) < 60
    # A try that gains nothing costs no gradient.
    assert len({tuple(x) for x in rosenbrock.asked}) < len(rosenbrock.tried)


@pytest.mark.parametrize(
    ("bottom", "start", "expected"),
    [
        ([3.0, 0.5], [0.5, 0.5], [1.0, 0.5 + 0.3 * 2.0 / 500.0]),
        ([-3.0, 0.5], [0.5, 0.5], [0.0, 0.5 - 0.3 * 3.0 / 500.0]),
        ([-3.0, -3.0], [0.0, 0.0], [0.0, 0.0]),
        ([3.0, 3.0], [1.0, 1.0], [1.0, 1.0]),
    ],
    ids=["high", "low", "in the lower corner", "in the upper corner"],
)
def test_bounds_are_kept_and_the_rest_is_minimised(bottom, start, expected):
    landscape = quadratic(STRETCHED, bottom)
    cube = np.array([[0.0, 1.0]] * 2)
    np.testing.assert_allclose(end(landscape, start, STRETCHED, cube), expected, atol=1e-3)
    assert all(np.all((x >= 0.0) & (x <= 1.0)) for x in landscape.tried)


def test_what_is_fixed_stays():
    landscape = quadratic(STRETCHED, [3.0, 3.0])
    bounds = np.array([[0.25, 0.25], [-50.0, 50.0]])
    found = end(landscape, [0.25, 0.0], STRETCHED, bounds)
    assert found[0] == 0.25
    assert found[1] == pytest.approx(3.0 + 0.3 * 2.75 / 500.0, abs=1e-4)


def test_a_coordinate_that_others_push_out_rests_too():
    # The first would go in by itself; the second, which goes far, pushes it back out.
    landscape = quadratic(COUPLED, [-0.5, 1.5])
    bounds = np.array([[0.0, 5.0], [0.0, 5.0]])
    begin = landscape(np.zeros(2))
    assert np.all(begin.gradient < 0.0)
    np.testing.assert_allclose(
        descend(landscape, begin, np.array(COUPLED), bounds).end.x,
        [0.0, 1.5 - 0.5 * 0.95],
        atol=1e-2,
    )


def test_steps_are_at_most_two_long():
    landscape = quadratic([[1e-3, 0.0], [0.0, 1e-3]], [40.0, 0.0])
    np.testing.assert_allclose(end(landscape, [0.0, 0.0], np.zeros((2, 2))), [40.0, 0.0], atol=0.1)
    lengths = np.abs(np.diff([x[0] for x in landscape.tried]))
    assert lengths.max() == pytest.approx(2.0)


def test_where_nothing_is_better_the_search_ends():
    misleading = Landscape(lambda x: float(x @ x), lambda x: -2.0 * x - 1.0)
    begin = misleading(np.zeros(2))
    assert descend(misleading, begin, np.eye(2), WIDE) == (begin, 20)
    assert len(misleading.tried) == 21


def test_the_number_of_steps_is_bounded(monkeypatch):
    monkeypatch.setattr(descent, "_STEPS", 3)
    endless = Landscape(lambda x: -float(x[0]), lambda x: np.array([-1.0, 0.0 * x[1]]))
    assert end(endless, [0.0, 0.0], np.eye(2))[0] == pytest.approx(3 / 1.01)


@pytest.mark.parametrize("at_most", [0, 1, 2, 5, 30])
def test_a_descent_ends_within_its_evaluations_at_the_best_point(at_most):
    landscape = quadratic(STRETCHED, [1.0, 0.5])
    begin = landscape(np.array([0.0, 3.0]))
    found, evaluations = descend(landscape, begin, np.eye(2), WIDE, at_most=at_most)
    assert evaluations == len(landscape.tried) - 1 <= at_most
    assert found.value == min(landscape.value(x) for x in landscape.tried)


def test_a_step_so_short_that_it_moves_nothing_ends_the_search():
    # A value that rounding errors raise wherever one goes, as near a singular covariance.
    start = np.array([0.7, 0.7])
    rough = Landscape(lambda x: float(not np.array_equal(x, start)), lambda x: 2.0 * x)
    begin = rough(start)
    assert descend(rough, begin, 2e3 * np.eye(2), WIDE).end is begin
    assert 2 <= len(rough.tried) <= 20
    assert not any(np.array_equal(x, start) for x in rough.tried[1:])


def test_a_bound_is_reached_in_one_step_from_close_by():
    # To pass the bound is to climb the wall that is coupled to it.
    walled = quadratic(WALLED, [5.0, 0.2])
    bounds = np.array([[0.0, 1.0], [-50.0, 50.0]])
    begin = np.array([1.0 - 1e-5, 0.09])
    found, evaluations = descend(walled, walled(begin), np.array(WALLED), bounds)
    assert found.x[0] == 1.0
    assert found.x[1] == pytest.approx(0.2 + 30.0 * (1.0 - 5.0) / 1000.0, abs=1e-4)
    assert evaluations <= 3


@pytest.mark.parametrize("side", [-1.0, 1.0], ids=["low", "high"])
def test_one_near_its_bound_that_others_push_out_stays_where_it_is(side):
    landscape = quadratic(COUPLED, [-0.5 * side, 1.5 * side])
    bounds = np.sort(np.array([[0.0, 5.0], [0.0, 5.0]]) * side)
    begin = landscape(np.array([1e-4, 0.0]) * side)
    step = descent._newton_step(begin, np.array(COUPLED), bounds)
    assert step[0] == 0.0
    assert step[1] * side == pytest.approx(1.5 - 0.95 * 0.5, abs=1e-3)


# ------------------------------------------------------- Hessians that cannot be inverted


@pytest.mark.parametrize("scale", [1.0, 1e20], ids=["small", "huge"])
def test_a_singular_hessian_is_damped_until_the_step_goes_downhill(scale):
    singular = scale * np.array([[1.0, 1.0], [1.0, 1.0]])
    gradient = np.array([1.0, -3.0])
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.solve(singular, -gradient)
    step = descent._solved(singular, gradient)
    assert np.isfinite(step).all()
    assert gradient @ step < 0.0


def test_an_invertible_hessian_is_not_damped():
    hessian, gradient = np.array(STRETCHED), np.array([1.0, -3.0])
    np.testing.assert_array_equal(
        descent._solved(hessian, gradient), np.linalg.solve(hessian, -gradient)
    )


def test_an_indefinite_singular_hessian_is_damped_beyond_its_negative_part():
    step = descent._solved(np.diag([-1.0, 0.0]), np.array([1.0, 0.0]))
    assert step[0] < 0.0


def test_without_a_downhill_direction_there_is_no_step():
    np.testing.assert_array_equal(descent._solved(np.zeros((2, 2)), np.zeros(2)), [0.0, 0.0])
    unusable = descent._solved(np.full((2, 2), np.nan), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(unusable, [0.0, 0.0])


@pytest.mark.parametrize(
    "curvature",
    [np.full((2, 2), np.nan), np.diag([np.inf, 1.0]), np.ones((2, 2)), np.zeros((2, 2))],
    ids=["nan", "infinite", "singular", "none"],
)
def test_the_search_goes_on_under_a_curvature_that_is_of_no_use(curvature, monkeypatch):
    monkeypatch.setattr(descent, "_DAMPING", 0.0)
    landscape = quadratic([[2.0, 0.3], [0.3, 1.0]], [1.0, 0.5])
    begin = landscape(np.array([0.0, 2.0]))
    assert descend(landscape, begin, curvature, WIDE).end.value < 0.1 * begin.value


def test_a_gradient_that_is_no_number_ends_the_search():
    lost = Landscape(lambda x: float(x @ x), lambda x: np.nan * x)
    begin = lost(np.ones(2))
    assert descend(lost, begin, np.eye(2), WIDE) == (begin, 0)


def test_an_update_that_overflows_is_left_out():
    hessian = np.eye(2)
    s, y = np.array([1e-160, 0.0]), np.array([1e160, 0.0])
    assert descent._updated(hessian, s, y) is hessian
