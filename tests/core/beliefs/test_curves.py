# SPDX-License-Identifier: Apache-2.0
"""The belief in final values: covariances and conditioning against dense algebra, gradients."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from stopwise.core.beliefs.curves import (
    CurveData,
    CurveFit,
    CurveHyperparameters,
    condition_curves,
    fit_curves,
)
from stopwise.core.beliefs.curves.data import stage_times
from stopwise.core.beliefs.curves.fit import _expected_growth, _Problem
from stopwise.core.beliefs.curves.likelihood import NUGGET, CurveCovariance, curve_likelihood
from stopwise.core.beliefs.curves.standardised import StageScales
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.beliefs.warps import DEFAULT_WARP, SoftWarp
from tests.support.gradients import differences

TIMES = stage_times([1, 3, 12])
GROUPS = np.array([0, 1, 1])
HYPER = CurveHyperparameters(
    np.array([0.4, 0.9]), 0.2, 0.3, 0.7, -0.15, growth=np.array([0.3, -0.1])
)
PLAIN = StageScales((DEFAULT_WARP,) * 3, Standardiser(0.5, 2.0))
FIT = CurveFit(HYPER, PLAIN)


def reports(*stages, seed=0, times=TIMES):
    """Trial i has reported at the first ``stages[i]`` stages."""
    rng = np.random.default_rng(seed)
    points = rng.random((len(stages), 3))
    trial = np.repeat(np.arange(len(stages)), stages)
    stage = np.concatenate([np.arange(n) for n in stages])
    y = np.sin(3 * points.sum(axis=1))[trial] + 0.2 * rng.standard_normal(len(trial))
    return CurveData(points[trial], trial, stage, y, times, GROUPS)


def matern52(r):
    return (1 + math.sqrt(5) * r + 5 * r * r / 3) * math.exp(-math.sqrt(5) * r)


def covariance(hyper, times, x, y, *, stages, same):
    """The formula of the module, written out for one pair of reports."""
    i, j = stages
    scales = np.exp(np.concatenate([[0.0], np.cumsum(hyper.growth)]))
    r = np.linalg.norm((x - y) / hyper.lengthscales[GROUPS])
    apart = abs(times[i] - times[j])
    shared = (1 - hyper.own) * math.exp(-hyper.forgetting * apart) * matern52(r)
    grown = hyper.own_growth * (times[i] + times[j])
    own = hyper.own * math.exp(grown - hyper.own_forgetting * apart) * same
    return scales[i] * scales[j] * (shared + own) + 4.0 + 0.09 * min(times[i], times[j])


def dense(data, others=None):
    """Covariances of all reports with others, by loops."""
    others = others or data
    return np.array(
        [
            [
                covariance(HYPER, data.times, x, y, stages=(i, j), same=float(a == b))
                for y, j, b in zip(others.X, others.stage, others.trial, strict=True)
            ]
            for x, i, a in zip(data.X, data.stage, data.trial, strict=True)
        ]
    )


def finals(X, trial):
    """Reports of trials at the last stage, without values."""
    n = len(X)
    last = np.full(n, TIMES.size - 1)
    return CurveData(X, np.asarray(trial), last, np.full(n, np.nan), TIMES, GROUPS)


def conditioned(data, asked):
    """Mean and covariance of other reports given the data, standardised, by dense algebra."""
    K = dense(data) + NUGGET * np.eye(len(data))
    cross = dense(data, asked)
    z = PLAIN.forward(data)
    return cross.T @ np.linalg.solve(K, z), dense(asked) - cross.T @ np.linalg.solve(K, cross)


DATA = reports(3, 1, 2, 1, 3, 2)


def test_times_are_logarithms_of_steps():
    np.testing.assert_allclose(stage_times([2, 6, 18]), [0.0, 1.0, 2.0])


def test_the_covariance_of_reports():
    expected = dense(DATA) + NUGGET * np.eye(len(DATA))
    np.testing.assert_allclose(CurveCovariance(DATA, HYPER).matrix, expected, rtol=1e-12)


def test_the_likelihood_is_that_of_a_normal_vector():
    z = PLAIN.forward(DATA)
    K = dense(DATA) + NUGGET * np.eye(len(DATA))
    expected = multivariate_normal(np.zeros(len(z)), K).logpdf(z)
    assert curve_likelihood(DATA, z, HYPER).value == pytest.approx(expected, abs=1e-8)


def test_the_gradient_of_the_likelihood():
    problem = _Problem(DATA, PLAIN.forward(DATA), 0.1)
    theta = problem.priors[:, 0] + np.linspace(-0.3, 0.3, len(problem.priors))
    here = problem.at(theta)
    for i, along in enumerate(1e-5 * np.eye(len(theta))):
        ahead, behind = problem.at(theta + along), problem.at(theta - along)
        rise = (ahead.likelihood.value - behind.likelihood.value) / 2e-5
        assert here.likelihood.gradient[i] == pytest.approx(rise, rel=1e-5, abs=1e-5)
        assert here.gradient[i] == pytest.approx((ahead.value - behind.value) / 2e-5, abs=1e-4)


def test_the_law_of_a_new_trial():
    X = np.random.default_rng(3).random((4, 3))
    mean, covariance_ = conditioned(DATA, finals(X, range(100, 104)))
    law = condition_curves(DATA, FIT).law(X)
    np.testing.assert_allclose(law.mean, 0.5 + 2.0 * mean, rtol=1e-8)
    np.testing.assert_allclose(law.std, 2.0 * np.sqrt(np.diag(covariance_)), rtol=1e-8)


@pytest.mark.parametrize("stages", [(1,), (3,), (1, 1, 1, 1), (3, 2, 1, 3), (1, 2, 3, 3, 3, 2)])
@pytest.mark.parametrize("twins", [False, True])
def test_configurations_with_any_number_of_reports(stages, twins):
    data = reports(*stages, seed=6)
    if twins:  # the first and the last trial
        data.X[data.trial == len(stages) - 1] = data.X[0]
    X = np.vstack([np.random.default_rng(7).random((3, 3)), data.X[:1]])
    mean, covariance_ = conditioned(data, finals(X, range(100, 104)))
    posterior = condition_curves(data, FIT)
    law = posterior.law(X)
    np.testing.assert_allclose(law.mean, 0.5 + 2.0 * mean, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(law.std, 2.0 * np.sqrt(np.diag(covariance_)), rtol=1e-8)
    _, (d_mean, d_std) = posterior.law_with_gradient(X[:3])
    of_mean = differences(lambda at: posterior.law(at).mean, X[:3], step=1e-5)
    of_std = differences(lambda at: posterior.law(at).std, X[:3], step=1e-5)
    np.testing.assert_allclose(d_mean, of_mean, atol=1e-6)
    np.testing.assert_allclose(d_std, of_std, atol=1e-6)


def test_the_law_of_many_candidates_is_that_of_each():
    posterior = condition_curves(DATA, FIT)
    X = np.random.default_rng(4).random((700, 3))  # more than one block
    several, one = posterior.law(X), posterior.law(X[[650]])
    assert several.mean[650] == pytest.approx(one.mean[0], rel=1e-12)


def test_the_gradients_of_the_law():
    posterior = condition_curves(DATA, FIT)
    X = np.random.default_rng(5).random((3, 3))
    law, (d_mean, d_std) = posterior.law_with_gradient(X)
    np.testing.assert_allclose(law.mean, posterior.law(X).mean, rtol=1e-10)
    of_mean = differences(lambda at: posterior.law(at).mean, X, step=1e-5)
    of_std = differences(lambda at: posterior.law(at).std, X, step=1e-5)
    np.testing.assert_allclose(d_mean, of_mean, atol=1e-6)
    np.testing.assert_allclose(d_std, of_std, atol=1e-6)


def test_the_law_of_trials_that_were_begun():
    begun = np.array([1, 2, 5])
    rows = np.array([np.flatnonzero(DATA.trial == t)[0] for t in begun])
    mean, covariance_ = conditioned(DATA, finals(DATA.X[rows], begun))
    law = condition_curves(DATA, FIT).law_of_trials(DATA.X[rows], begun)
    np.testing.assert_allclose(law.mean, 0.5 + 2.0 * mean, rtol=1e-8)
    np.testing.assert_allclose(law.std, 2.0 * np.sqrt(np.diag(covariance_)), rtol=1e-7)


def test_a_trial_that_has_finished_is_known():
    posterior = condition_curves(DATA, FIT)
    row = np.flatnonzero((DATA.trial == 0) & (DATA.stage == 2))[0]
    law = posterior.law_of_trials(DATA.X[[row]], np.array([0]))
    assert law.mean[0] == pytest.approx(DATA.y[row], abs=1e-3)
    assert law.std[0] <= 1.1 * posterior.resolution


@pytest.mark.parametrize(("trial", "stage"), [(1, 0), (2, 1), (-1, -1)])
def test_steps_of_the_mean_use_up_the_variance_of_the_final_value(trial, stage):
    posterior = condition_curves(DATA, FIT)
    begun = trial >= 0
    x = DATA.X[DATA.trial == trial][0] if begun else np.array([0.2, 0.9, 0.4])
    law = posterior.law_of_trials(x[None], np.array([trial])) if begun else posterior.law(x[None])
    [steps] = posterior.steps(x[None], stage, np.array([trial]))
    assert len(steps) == 2 - stage
    assert (steps**2).sum() == pytest.approx(law.std[0] ** 2 + 4.0 * NUGGET, rel=1e-6)


def test_steps_of_several_trials_are_those_of_each():
    data = reports(2, 1, 2, 3, 2, seed=8)
    posterior, trial = condition_curves(data, FIT), np.array([0, 2, 4])
    X = np.array([data.X[data.trial == t][0] for t in trial])
    several = posterior.steps(X, 0, trial)
    assert several.shape == (3, 2)
    for row in range(3):
        [one] = posterior.steps(X[[row]], 0, trial[[row]])
        np.testing.assert_allclose(several[row], one, rtol=1e-10)


def test_the_first_step_is_what_the_next_report_takes_from_the_variance():
    posterior = condition_curves(DATA, FIT)
    x, trial = DATA.X[DATA.trial == 1][0], np.array([1])
    before = posterior.law_of_trials(x[None], trial).std[0]
    after = posterior.believing(x[None], trial, np.array([1])).law_of_trials(x[None], trial).std[0]
    step = posterior.steps(x[None], 0, trial)[0, 0]
    assert before**2 - after**2 == pytest.approx(step**2, rel=1e-3)


def test_a_report_that_is_as_expected_moves_no_mean():
    posterior = condition_curves(DATA, FIT)
    x = DATA.X[[0]]
    trial, stage = np.array([3]), np.array([1])
    believed = posterior.believing(DATA.X[DATA.trial == 3], trial, stage)
    assert len(believed) == len(DATA) + 1
    np.testing.assert_allclose(believed.law(x).mean, posterior.law(x).mean, rtol=1e-6)
    assert believed.law(x).std[0] <= posterior.law(x).std[0]


def test_what_acquisitions_ask_of_a_model():
    posterior = condition_curves(DATA, FIT)
    assert posterior.exact
    assert posterior.relative_to(DATA.X[0], 1.0) is posterior
    np.testing.assert_allclose(posterior.column_lengthscales, [0.4, 0.9, 0.9])
    scale = math.exp(HYPER.growth.sum())
    own = HYPER.own * math.exp(2 * HYPER.own_growth * DATA.times[-1])
    assert posterior.unit == pytest.approx(2.0 * scale * math.sqrt(1 - HYPER.own + own))
    assert posterior.resolution == pytest.approx(2.0 * math.sqrt(NUGGET))


# ------------------------------------------------------------------------------- standardised


def staged(*values, stages=2):
    """Reports of separate trials: (stage, value)."""
    stage, y = (np.array(column) for column in zip(*values, strict=True))
    n = len(y)
    times = stage_times([3**i for i in range(stages)])
    return CurveData(np.zeros((n, 3)), np.arange(n), stage, y.astype(float), times, GROUPS)


def test_bad_values_of_a_stage_are_compressed_and_good_ones_are_not():
    data = staged((0, 1.0), (0, 2.0), (0, 1e9), (1, 5.0), (1, 6.0))
    scales = StageScales.of(data, (-np.inf, np.inf))
    assert scales.warps == (SoftWarp(2.0, 1.0), DEFAULT_WARP)  # of two values nothing is known
    z = scales.forward(data)
    assert z[1] - z[0] == pytest.approx(1.0 / scales.standardiser.scale)
    assert z[2] - z[1] < 25.0 / scales.standardiser.scale


def test_equal_values_are_left_as_they_are():
    scales = StageScales.of(staged((0, 2.0), (0, 2.0), (0, 2.0)), (-np.inf, np.inf))
    assert scales.warps == (DEFAULT_WARP, DEFAULT_WARP)


def test_a_diverged_report_counts_as_the_worst_of_its_stage():
    data = staged((0, 1.0), (0, 3.0), (0, np.nan), (1, 7.0), (1, np.nan))
    z = StageScales.of(data, (-np.inf, np.inf)).forward(data)
    assert z[2] == z[:2].max()
    assert z[4] == z[3]


def test_where_a_whole_stage_has_diverged_the_worst_of_all_counts():
    data = staged((0, 1.0), (0, 3.0), (1, np.nan))
    z = StageScales.of(data, (-np.inf, np.inf)).forward(data)
    assert z[2] == z[1]


def test_what_is_believed_of_final_values_keeps_their_bounds():
    data = staged((0, 1.0), (0, 3.0), (1, 0.2), (1, 0.4))
    fit = fit_curves(data, (0.0, np.inf))
    law = condition_curves(data, fit).law(np.full((1, 3), 0.5))
    assert law.log_ei(0.0).value[0] == -np.inf
    assert law.quantile(-9.0).value[0] == 0.0


# ------------------------------------------------------------------------------- fits


def test_the_same_reports_give_the_same_fit():
    first, again = (fit_curves(reports(3, 2, 1, 3, 1, 2, seed=1)).hyper for _ in range(2))
    assert first.lengthscales.tolist() == again.lengthscales.tolist()
    assert first.growth.tolist() == again.growth.tolist()


def test_a_fit_is_more_probable_than_where_it_began():
    data = reports(3, 2, 1, 3, 3, 2, 1, 1, seed=2)
    scales = StageScales.of(data, (-np.inf, np.inf))
    problem = _Problem(data, scales.forward(data), 0.0)
    hyper = fit_curves(data).hyper
    theta = np.concatenate(
        [
            np.log(hyper.lengthscales),
            [math.log(hyper.own / (1 - hyper.own))],
            np.log([hyper.forgetting, hyper.own_forgetting]),
            [hyper.own_growth],
            hyper.growth,
        ]
    )
    end = problem.at(theta)
    assert end.value < problem.at(problem.priors[:, 0]).value
    free = (theta > problem.priors[:, 2] + 1e-6) & (theta < problem.priors[:, 3] - 1e-6)
    assert np.abs(end.gradient[free]).max() < 0.05


def test_the_price_says_by_how_much_final_values_differ():
    assert _expected_growth(0.0, 2) == 0.0
    assert _expected_growth(1 / 6, 2) == 0.0
    assert _expected_growth(1.0, 2) == pytest.approx(math.log(6.0) / 2)
    assert _expected_growth(1e9, 2) == 2.0
    assert _expected_growth(1.0, 0) == 0.0
    plateau = staged((0, 1.0), (0, 1.0001), (0, 1.0002), stages=3)
    modest, dear = (fit_curves(plateau, price=price).hyper.growth for price in (0.0, 1.0))
    assert dear.sum() > modest.sum() + 1.0


def test_the_first_reports_are_the_data_of_then():
    early = DATA.first(4)
    assert len(early) == 4
    assert early.last == DATA.last == 2
    np.testing.assert_array_equal(early.y, DATA.y[:4])
