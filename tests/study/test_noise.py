# SPDX-License-Identifier: Apache-2.0
"""Noisy evaluations: which is the best, what can be gained on it, and what is reported."""

import numpy as np
import pytest

import stopwise as sw
from stopwise.acquisition import ACQUISITIONS, EIC, PBGI, LogEIPC
from stopwise.core.beliefs.paths import exact_values
from stopwise.errors import InputError
from stopwise.math import log_ei
from stopwise.stopping import FixedTrials
from tests.support import noisy
from tests.support.dense import DenseGP
from tests.support.small_studies import LINE, bowl

GRID = sw.Candidates([{"x": i / 40} for i in range(41)], {"x": sw.Real(0.0, 1.0)})
FEW = sw.Candidates([{"x": i} for i in range(5)])
DRAWS = 400_000


def wavy(x):
    return np.sin(7.0 * x) + x


def told(space, n=16, *, deviation=0.3, seed=0, **options):
    """A study of one Gaussian process that was told n noisy values of a wave."""
    study = sw.Study(space, **{"lam": 0.01, "noise": "learn", "surrogate": "plain", **options})
    rng = np.random.default_rng(seed)
    for i in rng.permutation(41)[:n]:
        study.tell({"x": i / 40}, wavy(i / 40) + deviation * rng.standard_normal())
    study.should_stop()
    return study


# ------------------------------------------------------------------------------ the incumbent


@pytest.mark.parametrize("seed", range(4))
def test_the_best_is_the_one_with_the_best_posterior_mean_and_its_deviation(seed):
    study = told(GRID, seed=seed)
    values = np.array([o.value for o in study.history])
    posterior = study.snapshot().belief.objective
    X = study.domain.encode([o.params for o in study.history])
    dense = DenseGP(X, values, posterior.hyper)
    means = dense.mean(X)
    best = int(np.argmin(means))
    assert study.best.params == study.history[best].params
    assert study.best.number == best
    assert study.best.value == pytest.approx(means[best], rel=1e-8)
    variance = np.diag(dense.covariance(X, X))[best]
    assert study.best.std == pytest.approx(np.sqrt(variance), rel=1e-6)
    assert 0.0 < study.best.std < values.std()


def test_the_lowest_observation_is_not_the_best_if_it_was_luck():
    rng = np.random.default_rng(5)
    study = sw.Study(GRID, lam=0.01, noise="learn")
    for i in range(41):
        study.tell({"x": i / 40}, wavy(i / 40) + 0.2 * rng.standard_normal())
    study.tell({"x": 0.0}, -0.9)  # where the truth is 0
    lowest = min(study.history, key=lambda o: o.value)
    assert study.best.number != lowest.number
    assert study.best.value > lowest.value + 0.2
    assert abs(study.best.params["x"] - 0.65) < 0.1


def test_without_noise_the_best_is_what_was_observed_and_certain():
    study = told(GRID, noise=None)
    assert study.best.value == min(o.value for o in study.history)
    assert study.best.std == 0.0


def test_maximising_the_negative_reports_the_same_best():
    study = told(LINE, 20)
    mirrored = sw.Study(LINE, lam=0.01, noise="learn", surrogate="plain", direction="maximize")
    for o in study.history:
        mirrored.tell(o.params, -o.value)
    assert mirrored.best.params == study.best.params
    assert (mirrored.best.value, mirrored.best.std) == (-study.best.value, study.best.std)


@pytest.mark.parametrize("noise", [None, 1e-4, "learn"])
@pytest.mark.parametrize("prior", ["lognormal", "gamma", None])
def test_every_noise_and_prior_reaches_an_end(noise, prior):
    result = sw.minimize(
        bowl, LINE, lam=0.01, noise=noise, prior=prior, max_trials=25, surrogate="plain"
    )
    assert result.verdict.rule in {"pbgi", "max-trials"}
    assert abs(result.best.params["x"] - 0.3) < 0.15


def test_a_result_reports_the_best_with_its_uncertainty():
    rng = np.random.default_rng(0)
    result = sw.minimize(
        lambda p: wavy(p["x"]) + 0.2 * rng.standard_normal(),
        LINE, lam=0.01, noise="learn", stopping=FixedTrials(12),
    )  # fmt: skip
    assert 0.0 < result.best.std < 0.5
    assert abs(result.best.value - wavy(result.best.params["x"])) < 4 * result.best.std


# ------------------------------------------------------------------- what can be gained on it


@pytest.fixture(scope="module")
def moment():
    """A noisy moment, its free candidates, and joint draws of f there and at the incumbent."""
    study = told(GRID, 12, deviation=0.6, noise=0.36)
    now = study.snapshot()
    points = now.domain.points[~now.taken(now.domain.points)]
    rows = np.vstack([points, now.X[now.incumbent]])
    values = exact_values(now.belief.objective, rows, np.random.default_rng(1), DRAWS)
    return now, points, values[:, -1:] - values[:, :-1]  # f(x*) - f(x)


def test_expected_improvement_is_that_on_the_incumbents_true_value(moment):
    now, points, gains = moment
    simulated = np.maximum(gains, 0.0)
    error = simulated.std(axis=0) / np.sqrt(DRAWS)
    found = np.exp(LogEIPC().bind(now)(points))  # every cost is 1
    assert (np.abs(found - simulated.mean(axis=0)) < 5 * error + 1e-5).all()
    assert (found > 1e-3).sum() > 10
    net = EIC(0.01).bind(now)(points)
    np.testing.assert_allclose(net, found - 0.01, rtol=1e-9)


def test_the_marginal_deviation_alone_would_promise_something_else(moment):
    now, points, gains = moment
    simulated = np.maximum(gains, 0.0).mean(axis=0)
    marginal = np.exp(log_ei(*now.belief.objective(points), now.best))
    assert (np.abs(marginal - simulated) > 0.1 * marginal).mean() > 0.5


@pytest.mark.parametrize("lam", [0.1, 0.01])
def test_a_fair_value_is_that_of_the_difference(moment, lam):
    """At the fair value g, the gain on f(x*) - (best - g) is worth exactly the price."""
    now, points, gains = moment
    fair = -PBGI(lam).bind(now)(points)
    simulated = np.maximum(gains - (now.best - fair), 0.0)
    error = simulated.std(axis=0) / np.sqrt(DRAWS)
    assert (np.abs(simulated.mean(axis=0) - lam) < 5 * error + 1e-5).all()


def test_what_cannot_be_told_from_the_incumbent_gains_nothing():
    study = told(LINE, noise=0.09, replicates=True)
    now = study.snapshot()
    at = now.X[[now.incumbent]]
    assert np.exp(LogEIPC().bind(now)(at)[0]) < 1e-7
    assert EIC(0.01).bind(now)(at)[0] == pytest.approx(-0.01, rel=1e-4)
    assert -PBGI(0.01).bind(now)(at)[0] == pytest.approx(now.best + 0.01)  # dearer by its price
    # Beside it nothing is gained but what the mean promises, however uncertain the value is.
    near = at + 1e-3
    mean, std = now.belief.objective(near)
    promised = max(now.best - mean[0], 0.0)
    assert std[0] > 0.05
    assert np.exp(LogEIPC().bind(now)(near)[0]) - promised < 0.01 * std[0]
    assert np.exp(log_ei(mean, std, now.best)[0]) - promised > 0.3 * std[0]  # if it were certain


# ---------------------------------------------------------------------------------- replicates


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_rows_are_not_repeated_unless_that_is_asked_for(acquisition):
    def asked(*, replicates):
        rng = np.random.default_rng(0)
        study = sw.Study(
            FEW, lam=1e-6, noise=4.0, acquisition=acquisition, n_initial=3,
            replicates=replicates, stopping=FixedTrials(9), surrogate="plain",
        )  # fmt: skip
        while not study.should_stop().stop:
            trial = study.ask()
            study.tell(trial, trial.params["x"] + 2.0 * rng.standard_normal())
        return [o.params["x"] for o in study.history], study.should_stop().rule

    once, rule = asked(replicates=False)
    assert (len(once), len(set(once)), rule) == (5, 5, "exhausted")
    again, rule = asked(replicates=True)
    assert (len(again), rule) == (12, "fixed")
    assert len(set(again)) <= 5


def test_on_a_box_nothing_is_repeated_either():
    rng = np.random.default_rng(0)
    result = sw.minimize(
        lambda p: wavy(p["x"]) + rng.standard_normal(),
        LINE, lam=1e-6, noise="learn", stopping=FixedTrials(14),
    )  # fmt: skip
    x = np.sort([o.params["x"] for o in result.history])
    assert np.diff(x).min() > 1e-6


def test_replicates_of_exact_evaluations_are_refused():
    with pytest.raises(InputError, match=r"replicates=True, but noise=None says .* exact"):
        sw.Study(LINE, lam=0.1, replicates=True)


def test_replicates_make_the_reported_value_more_certain():
    def std(times):
        rng = np.random.default_rng(1)
        study = sw.Study(FEW, lam=0.1, noise=1.0, replicates=True)
        for _ in range(times):
            for x in range(5):
                study.tell({"x": x}, 5.0 * x + rng.standard_normal())
        return study.best.std

    assert std(16) < 0.5 * std(2)


def test_a_single_candidate_can_be_evaluated_again_and_again():
    rng = np.random.default_rng(0)
    for acquisition in ACQUISITIONS:
        study = sw.Study(
            sw.Candidates([{"x": 1}]), lam=1e-9, noise="learn", replicates=True,
            acquisition=acquisition, stopping=FixedTrials(3),
        )  # fmt: skip
        while not study.should_stop().stop:
            study.tell(study.ask(), rng.standard_normal())
        assert len(study.history) == 4


# --------------------------------------------------------------------- does it pay to know noise


@pytest.mark.slow
@pytest.mark.parametrize("name", noisy.RANGES)
def test_what_is_reported_is_nearer_to_the_truth_than_the_lowest_observation(name):
    """And no worse a configuration, both by two standard errors over 20 studies."""
    studies = np.array([noisy.found(name, "learn", seed) for seed in range(20)])
    reported, lowest = np.moveaxis(studies, 1, 0)
    nearer = np.abs(lowest[:, 0] - lowest[:, 1]) - np.abs(reported[:, 0] - reported[:, 1])
    better = lowest[:, 1] - reported[:, 1]
    assert nearer.mean() > 2.0 * nearer.std(ddof=1) / np.sqrt(20)
    assert better.mean() > -2.0 * better.std(ddof=1) / np.sqrt(20)
