# SPDX-License-Identifier: Apache-2.0
"""What many exact observations take off a variance, against dense formulas and many digits."""

from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from stopwise.core.beliefs.extending import extended
from stopwise.core.beliefs.gp import condition
from stopwise.core.beliefs.hyperparameters import Hyperparameters
from stopwise.core.beliefs.interpolation import MANY, Interpolation
from stopwise.core.numerics import cholesky
from tests.support.dense import DenseGP
from tests.support.gradients import differences

HYPER = Hyperparameters([0.2, 0.3, 0.4], 1.5, 1e-3, 0.1)
NUGGET = 1e-11


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def some_data(rng, n):
    X = rng.random((n, 3))
    return X, 40.0 + 7.0 * np.sin(5.0 * X).sum(axis=1)


@pytest.mark.parametrize("since", [0, 1, 15])
def test_moments_and_gradients_are_the_textbook_s(rng, since):
    X, y = some_data(rng, MANY + since)
    first = condition(X[:MANY], y[:MANY], HYPER, interpolate=True)
    posterior = extended(first, X, y, first.fit)
    assert len(posterior.interpolation.rows) == since
    Q = np.vstack([rng.random((20, 3)), X[:3], X[-3:]])
    dense = DenseGP(X, y, HYPER)
    normal, d_mean, d_std = posterior.with_gradient(Q)
    for mean, std in (posterior(Q), normal):
        assert_allclose(mean, dense.mean(Q), rtol=1e-11)
        assert_allclose(std, dense.std(Q, exact_data=True), rtol=1e-9)
    assert_allclose(d_mean, differences(lambda at: posterior(at).mean, Q), rtol=1e-5, atol=1e-6)
    slopes = differences(lambda at: posterior(at).std, Q)
    assert_allclose(d_std[:20], slopes[:20], rtol=1e-5, atol=1e-6)


def test_one_observation_less_than_many_has_none(rng):
    X, y = some_data(rng, MANY)
    assert condition(X[1:], y[1:], HYPER, interpolate=True).interpolation is None
    assert condition(X, y, HYPER).interpolation is None
    assert condition(X, y, HYPER, interpolate=True).interpolation is not None


def test_first_observations_answer_as_if_there_were_no_more(rng):
    X, y = some_data(rng, MANY + 5)
    posterior = condition(X, y, HYPER, interpolate=True)
    Q = rng.random((9, 3))
    for k in (MANY + 2, MANY - 2):
        std = DenseGP(X[:k], y[:k], HYPER, scale=posterior.standardiser.scale)
        assert_allclose(posterior.prefix(k)(Q).std, std.std(Q, exact_data=True), rtol=1e-9)


def test_one_after_the_other_is_all_at_once_to_the_last_bit(rng):
    X, y = some_data(rng, MANY + 6)
    first = condition(X[:MANY], y[:MANY], HYPER, interpolate=True)
    at_once, in_steps = extended(first, X, y, first.fit), first
    for n in range(MANY + 1, MANY + 7):
        in_steps = extended(in_steps, X[:n], y[:n], first.fit)
    Q = rng.random((9, 3))
    for ours, theirs in zip(at_once.with_gradient(Q), in_steps.with_gradient(Q), strict=True):
        assert_array_equal(ours, theirs)


def test_a_duplicate_that_takes_a_new_factor_begins_anew(rng):
    X, y = some_data(rng, MANY)
    posterior = condition(X, y, replace(HYPER, noise=0.0), interpolate=True)
    assert posterior.jitter == 0.0
    grown = posterior.append(X[0], float(y[0]))
    assert grown.interpolation.nugget == grown.jitter > 0.0
    assert len(grown.interpolation.rows) == 0
    assert_allclose(grown(X).mean, y, rtol=1e-6)


@pytest.mark.parametrize("since", [0, 8])
def test_as_accurate_as_products_with_the_factor_where_it_is_almost_singular(since):
    """The rest of the variance and the gradient, at a condition of 4e12, in 40 digits.

    Rounding is luck: on one set of points either way may err twenty times as much as the other,
    and which of them does differs between processors. So medians over sets are compared.
    """
    errors = np.median([_errors(np.random.default_rng(seed), since) for seed in range(30)], axis=0)
    (of_value, of_pull), products = errors
    assert of_value <= 4.0 * products[0]
    assert of_pull <= 4.0 * products[1]


def _errors(rng, since):
    """The largest errors of reduction and pull, ours and those of products with the factor."""
    n, points = 48, 8
    X = rng.random((n, 2))
    X[n // 2 :] = X[0] + rng.standard_normal((n // 2, 2)) * 10.0 ** rng.uniform(-5, -1, (24, 1))
    at = np.vstack([rng.random((4, 2)), X[-4:] + 1e-5])
    prior = DenseGP(X, np.arange(n), Hyperparameters([1.0, 1.0], 1.0, NUGGET))
    K, k = prior.K, np.asfortranarray(prior.kernel(X, at))
    lower, jitter = cholesky.factorise(np.asfortranarray(K))
    assert jitter == 0.0
    whitener = cholesky.inverse_factor(lower)
    block = np.asfortranarray(whitener[: n - since, : n - since])
    ours = Interpolation.of(block, NUGGET)
    for i in range(n - since, n):
        before = np.asfortranarray(whitener[:i, :i])
        ours = ours.grown(before, whitener[i, :i], float(whitener[i, i]))
    value, pull = ours.reduction_with_pull(k)
    assert_allclose(ours.reduction(k), value, rtol=1e-15)
    u = cholesky.times_lower(whitener, k)
    w = cholesky.times_upper(whitener, u)
    again = cholesky.times_upper(whitener, cholesky.times_lower(whitener, w))
    products = (u * u).sum(axis=0) + NUGGET * (w * w).sum(axis=0), w + NUGGET * again
    exact = [_exactly(whitener, k[:, i]) for i in range(points)]
    values = np.array([v for v, _ in exact])
    pulls = np.array([p for _, p in exact]).T
    along = prior.kernel(X, at + 1e-3) - k  # what a step changes
    return [
        [np.abs(v - values).max(), np.abs(((p - pulls) * along).sum(axis=0)).max()]
        for v, p in ((value, pull), products)
    ]


def _exactly(whitener, k):
    """The form and its pull, from the same factor."""
    with mp.workdps(40):
        W, column = mp.matrix(whitener.tolist()), mp.matrix(k.tolist())
        w = W.T * (W * column)
        pull = w + mp.mpf(NUGGET) * (W.T * (W * w))
        form = (column.T * pull)[0]
        return float(form), [float(entry) for entry in pull]
