# SPDX-License-Identifier: Apache-2.0
"""A fit takes a bounded number of likelihoods, whatever the data, and ends at the best of them."""

import numpy as np
import pytest

from stopwise.core.beliefs import fit as fitting
from stopwise.core.beliefs.fit import MOST_LIKELIHOODS, NUGGET, fit
from stopwise.core.beliefs.priors import priors


def standardised(X, y):
    return X, (y - y.mean()) / (y.std(ddof=1) or 1.0)


def bowl(n, d, seed=0):
    """Exact values of a quadratic: long length scales, a nearly singular covariance, an edge."""
    X = np.random.default_rng(seed).random((n, d))
    return standardised(X, ((X - 0.3) ** 2).sum(axis=1))


def rough(n, d):
    rng = np.random.default_rng(1)
    X = rng.random((n, d))
    return standardised(X, np.sin(60.0 * X).sum(axis=1) + rng.standard_normal(n))


def constant(n, d):
    rng = np.random.default_rng(2)
    return standardised(rng.random((n, d)), 1.0 + 1e-12 * rng.standard_normal(n))


def tied(n, d):
    X = np.round(4.0 * np.random.default_rng(3).random((n, d))) / 4.0
    return standardised(X, np.sin(3.0 * X).sum(axis=1))


def diverged(n, d):
    X, y = bowl(n, d)
    return standardised(X, np.where(np.arange(n) % 7 == 0, 1e4, 1.0) * (y + 3.0))


@pytest.fixture
def seen(monkeypatch):
    """Length scales, and minus the log posterior density there, of every evaluation."""
    found, at = [], fitting._Problem.at

    def noted(problem, theta):
        evaluation = at(problem, theta)
        found.append((problem.unpack(theta).lengthscales, evaluation.value))
        return evaluation

    monkeypatch.setattr(fitting._Problem, "at", noted)
    return found


def lead_over(hyper, seen):
    """How much better than a fit the best evaluation was."""
    values = [value for _, value in seen]
    ended = [v for scales, v in seen if np.array_equal(scales, hyper.lengthscales)]
    return min(ended) - min(values)


@pytest.mark.parametrize("prior", ["lognormal", "gamma", None])
@pytest.mark.parametrize("noise", [NUGGET, None], ids=["exact", "learned"])
@pytest.mark.parametrize("data", [bowl, rough, constant, tied, diverged])
@pytest.mark.parametrize(("n", "d"), [(12, 2), (150, 2), (60, 12)])
def test_a_fit_keeps_to_its_likelihoods(data, n, d, noise, prior, seen):
    X, y = data(n, d)
    cold = fit(X[:-1], y[:-1], noise=noise, prior=prior)
    assert len(seen) <= MOST_LIKELIHOODS
    seen.clear()
    warm = fit(X, y, noise=noise, prior=prior, start=cold)
    assert len(seen) <= MOST_LIKELIHOODS
    # A try that gains less than a ten-thousandth of what it promised is not taken.
    assert lead_over(warm, seen) <= 1e-3


def test_a_smooth_bowl_takes_tens_of_likelihoods_and_not_thousands(seen):
    hyper = fit(*bowl(200, 2))
    assert len(seen) < MOST_LIKELIHOODS
    assert min(value for _, value in seen) < -1395.0  # where 9,289 had led, but for rounding
    assert hyper.outputscale == pytest.approx(1e4)


@pytest.mark.parametrize("most", [0, 1, 3, 10])
def test_the_best_point_is_kept_when_the_likelihoods_run_out(seen, most, monkeypatch):
    monkeypatch.setattr(fitting, "_SEARCHED", most)
    hyper = fit(*bowl(60, 12), noise=None, prior=None)
    assert len(seen) == most + 3  # and the three beginnings
    assert lead_over(hyper, seen) == 0.0


def is_checked(seen, X, y, start):
    """Whether a fit begins further searches."""
    seen.clear()
    fit(X, y, start=start)
    further = 4.0 * np.exp(priors("lognormal", X.shape[1]).lengthscale.log_mode)
    return any(np.allclose(scales, further, rtol=1e-12) for scales, _ in seen)


def test_an_edge_is_checked_once_where_data_are_many(seen, monkeypatch):
    X, y = bowl(201, 4)
    inside, at_edge = fit(X[:60], y[:60]), fit(X[:-1], y[:-1])
    assert inside.outputscale < 9e3
    assert at_edge.outputscale == pytest.approx(1e4)
    assert is_checked(seen, X, y, None)
    assert is_checked(seen, X, y, inside)
    assert not is_checked(seen, X, y, at_edge)
    monkeypatch.setattr(fitting, "_FEW", len(y))
    assert is_checked(seen, X, y, at_edge)


def test_an_edge_that_is_not_checked_again_leads_to_the_same():
    X, y = bowl(201, 4)
    later = fit(X, y, start=fit(X[:-1], y[:-1]))
    np.testing.assert_allclose(later.lengthscales, fit(X, y).lengthscales, rtol=1e-2)
