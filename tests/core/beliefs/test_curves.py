# SPDX-License-Identifier: Apache-2.0
"""The belief in final values of curves: covariances, gradients, and what follows from them."""

import math

import numpy as np
import pytest

from stopwise.core.beliefs.curves import (
    CurveData,
    CurveFit,
    CurveHyperparameters,
    condition_curves,
    fit_curves,
)
from stopwise.core.beliefs.curves.data import stage_times
from stopwise.core.beliefs.curves.fit import _expected_growth, _Problem
from stopwise.core.beliefs.curves.hyperparameters import stage_covariances
from stopwise.core.beliefs.curves.likelihood import NUGGET, CurveCovariance, curve_likelihood
from stopwise.core.beliefs.curves.standardised import StageScales
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.beliefs.warps import DEFAULT_WARP, Clipped, SoftWarp
from stopwise.core.numerics.arrays import Array

TIMES = stage_times([1, 3, 9, 27])
HYPER = CurveHyperparameters(np.array([0.4, 0.9]), 0.2, 0.1, 0.5, np.array([0.3, -0.2, 0.4]))
PLAIN = StageScales((DEFAULT_WARP,) * 4, Standardiser(0.0, 1.0))


def _data(trials: int = 9, seed: int = 0) -> CurveData:
    rng = np.random.default_rng(seed)
    X = rng.random((trials, 2))
    rows = [(i, s) for i in range(trials) for s in range(1 + i % 4)]
    trial, stage = np.array(rows).T
    y = ((X[trial] - 0.4) ** 2).sum(axis=1) + 0.5 * 0.5**stage + 0.05 * rng.random(len(rows))
    return CurveData(X[trial], trial, stage, y, TIMES, np.arange(2))


def test_times_are_logarithms_of_steps() -> None:
    np.testing.assert_allclose(TIMES, [0.0, 1.0, 2.0, 3.0])
    np.testing.assert_allclose(stage_times([4]), [0.0])


def test_the_covariance_is_written_out() -> None:
    data = _data(3)
    K = CurveCovariance(data, HYPER).matrix
    scale = np.exp([0.0, 0.3, 0.1, 0.5])
    for a in range(len(data)):
        for b in range(len(data)):
            i, j = data.stage[a], data.stage[b]
            r = math.sqrt(5.0 * float((((data.X[a] - data.X[b]) / HYPER.lengthscales) ** 2).sum()))
            k = (1.0 + r + r * r / 3.0) * math.exp(-r)
            apart = abs(TIMES[i] - TIMES[j])
            near = 0.8 * math.exp(-0.1 * apart) * k
            own = 0.2 * math.exp(-0.5 * apart) if data.trial[a] == data.trial[b] else 0.0
            expected = scale[i] * scale[j] * (near + own) + 4.0 + 0.09 * min(TIMES[i], TIMES[j])
            assert K[a, b] == pytest.approx(expected + NUGGET * (a == b), rel=1e-12)


def test_the_gradient_is_that_of_differences() -> None:
    data = _data()
    problem = _Problem(data, PLAIN.forward(data), 0.1)
    theta = problem.priors[:, 0] + 0.1 * np.random.default_rng(1).standard_normal(8)
    steps = 1e-5 * np.eye(theta.size)
    differences = [
        (problem.at(theta + step).value - problem.at(theta - step).value) / 2e-5 for step in steps
    ]
    np.testing.assert_allclose(problem.at(theta).gradient, differences, rtol=1e-5, atol=1e-6)


def test_the_likelihood_is_the_density_of_a_normal() -> None:
    data = _data(4)
    K = CurveCovariance(data, HYPER).matrix
    sign, log_determinant = np.linalg.slogdet(K)
    quadratic = float(data.y @ np.linalg.solve(K, data.y))
    expected = -0.5 * (quadratic + log_determinant + len(data) * math.log(2.0 * math.pi))
    assert sign == 1.0
    assert curve_likelihood(data, data.y, HYPER).value == pytest.approx(expected, rel=1e-9)


def _joint(data: CurveData, x: Array, stages: list[int], trial: int) -> tuple[Array, Array]:
    """Mean and covariance of reports to come, from the covariance of all reports together."""
    more = data.with_(np.array([x] * len(stages)), np.full(len(stages), trial), np.array(stages))
    K = CurveCovariance(more, HYPER).matrix
    n = len(data)
    gain = np.linalg.solve(K[:n, :n], K[:n, n:])
    covariance = K[n:, n:] - NUGGET * np.eye(len(stages)) - K[n:, :n] @ gain
    return gain.T @ data.y, covariance


def test_final_values_are_conditioned_by_the_book() -> None:
    data = _data()
    posterior = condition_curves(data, CurveFit(HYPER, PLAIN))
    x = np.array([0.3, 0.8])
    mean, covariance = _joint(data, x, [3], 99)
    law = posterior.law(x[None, :])
    assert law.mean[0] == pytest.approx(mean[0], rel=1e-8)
    assert law.std[0] ** 2 == pytest.approx(covariance[0, 0], rel=1e-6)
    mean, covariance = _joint(data, data.X[0], [3], 0)  # trial 0, which has reported
    law = posterior.law_of_trials(data.X[:1], np.array([0]))
    assert law.mean[0] == pytest.approx(mean[0], rel=1e-8)
    assert law.std[0] ** 2 == pytest.approx(covariance[0, 0], rel=1e-6)


def test_steps_of_the_mean_are_what_each_stage_will_tell() -> None:
    data = _data()
    posterior = condition_curves(data, CurveFit(HYPER, PLAIN))
    trial = 4  # at stage 0
    [row] = np.flatnonzero(data.trial == trial)
    _, covariance = _joint(data, data.X[row], [1, 2, 3], trial)
    expected, known = [], covariance[2, 2]
    for k in (1, 2, 3):  # the variance that is left after the first k stages to come
        block = covariance[:k, :k] + NUGGET * np.eye(k)
        left = covariance[2, 2] - covariance[2, :k] @ np.linalg.solve(block, covariance[:k, 2])
        expected.append(math.sqrt(max(known - left, 0.0)))
        known = left
    found = posterior.steps(data.X[row], 0, trial)
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_gradients_of_the_law_are_those_of_differences() -> None:
    posterior = condition_curves(_data(), CurveFit(HYPER, PLAIN))
    X = np.random.default_rng(3).random((4, 2))
    law, gradients = posterior.law_with_gradient(X)
    np.testing.assert_allclose(law.mean, posterior.law(X).mean, rtol=1e-12)
    for j, step in enumerate(1e-6 * np.eye(2)):
        above, below = posterior.law(X + step), posterior.law(X - step)
        for gradient, high, low in zip(gradients, above.parameters, below.parameters, strict=True):
            np.testing.assert_allclose(gradient[:, j], (high - low) / 2e-6, atol=1e-6)


def test_believing_moves_no_mean_and_takes_doubt_away() -> None:
    data = _data()
    posterior = condition_curves(data, CurveFit(HYPER, PLAIN))
    x = np.array([[0.3, 0.8]])
    before = posterior.law(x)
    believing = posterior.believing(x, np.array([77]), np.array([3]))
    assert len(believing) == len(posterior) + 1
    after = believing.law(x)
    assert after.mean[0] == pytest.approx(before.mean[0], abs=1e-6)
    assert after.std[0] < before.std[0]


def test_what_acquisitions_ask_of_it() -> None:
    posterior = condition_curves(_data(), CurveFit(HYPER, PLAIN))
    covariances = stage_covariances(HYPER, TIMES)
    variance = covariances.neighbours[-1, -1] + covariances.own[-1, -1]
    assert posterior.exact
    assert posterior.unit == pytest.approx(math.sqrt(variance))
    assert posterior.resolution == pytest.approx(math.sqrt(NUGGET))
    assert posterior.relative_to(np.zeros(2), 0.0) is posterior


def test_bad_values_are_compressed_stage_by_stage() -> None:
    stage = np.array([0, 0, 0, 0, 1, 1])
    y = np.array([1.0, 2.0, 3.0, np.nan, 5.0, np.nan])
    data = CurveData(np.zeros((6, 1)), np.arange(6), stage, y, TIMES[:3], np.arange(1))
    scales = StageScales.of(data, (0.0, math.inf))
    assert scales.warps[0] == SoftWarp(2.0, 1.0)
    assert scales.warps[1] == DEFAULT_WARP  # too few
    assert isinstance(scales.warps[2], Clipped)
    z = scales.forward(data)
    assert z[1] == 0.0  # the median of the first stage
    assert z[3] == z[2] == z[:4].max()  # what diverged is as bad as the worst
    assert z[5] == z[4]


def test_equal_values_are_not_compressed_and_a_stage_without_any_is_as_bad_as_the_worst() -> None:
    stage = np.array([1, 1, 1, 2])
    y = np.array([1.0, 1.0, 1.0, np.nan])
    data = CurveData(np.zeros((4, 1)), np.arange(4), stage, y, TIMES[:3], np.arange(1))
    scales = StageScales.of(data, (-math.inf, math.inf))
    assert scales.warps[1] == DEFAULT_WARP
    assert scales.forward(data)[3] == 0.0


def test_a_fit_is_a_function_of_the_reports() -> None:
    data = _data(12)
    one, two = fit_curves(data), fit_curves(data.first(len(data)))
    assert one.scales == two.scales
    np.testing.assert_array_equal(one.hyper.lengthscales, two.hyper.lengthscales)
    np.testing.assert_array_equal(one.hyper.growth, two.hyper.growth)
    z = one.scales.forward(data)
    begin = _Problem(data, z, 0.0)
    at_prior = begin.at(begin.priors[:, 0].copy())
    assert curve_likelihood(data, z, one.hyper).value > at_prior.likelihood.value


def test_the_price_says_by_how_much_final_values_should_differ() -> None:
    assert _expected_growth(0.0, 3) == 0.0
    assert _expected_growth(0.1, 3) == 0.0
    assert _expected_growth(10.0, 0) == 0.0
    assert _expected_growth(10.0, 4) == pytest.approx(math.log(60.0) / 4)
    assert _expected_growth(1e30, 1) == 2.0
