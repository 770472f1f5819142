# SPDX-License-Identifier: Apache-2.0
"""Sample paths: their distribution is the posterior's, and each is one smooth function.

The statistical tests compare estimates with the posterior's own mean and covariance
(`tests.support.draws`). Seeds are fixed.
"""

import dataclasses
import math

import numpy as np
import pytest

from stopwise.core.beliefs import Hyperparameters, Standardiser, condition
from stopwise.core.beliefs.paths import JointDraws, Paths, exact_values, sample_paths
from tests.support.draws import assert_drawn_from
from tests.support.gradients import differences

GROUPS = np.array([0, 1, 1])
HYPER = Hyperparameters([0.5, 0.8], outputscale=1.6, noise=0.05, mean=0.3)


def some_posterior(n=8, *, interpolate=False, hyper=HYPER):
    rng = np.random.default_rng(60)
    X = rng.random((n, 3))
    y = 20.0 + 6.0 * np.sin(4.0 * X).sum(axis=1)
    return condition(X, y, hyper, groups=GROUPS, interpolate=interpolate)


def some_points(n=5):
    return np.random.default_rng(61).random((n, 3))


def check(posterior, X, calls):
    """Compare draws with the posterior; returns the largest error of a covariance."""
    return assert_drawn_from(posterior(X).mean, posterior.covariance(X, X), calls)


# ---------------------------------------------------------------------- their distribution


@pytest.mark.parametrize("interpolate", [False, True])
def test_paths_have_the_posterior_s_mean_and_covariance(interpolate):
    posterior, X = some_posterior(interpolate=interpolate), some_points()
    rng = np.random.default_rng(62)
    # Unbiased for any number of frequencies, so few will do; each call draws its own.
    calls = np.array([sample_paths(posterior, rng, 50, frequencies=64)(X) for _ in range(2000)])
    assert check(posterior, X, calls) < 0.02
    other = dataclasses.replace(posterior, interpolate=not interpolate)
    with pytest.raises(AssertionError):  # and the test tells the two kinds apart
        check(other, X, calls)


def test_paths_of_no_data_have_the_prior_s_mean_and_covariance():
    prior, X = some_posterior().prefix(0), some_points()
    rng = np.random.default_rng(63)
    calls = np.array([sample_paths(prior, rng, 50, frequencies=64)(X) for _ in range(2000)])
    assert check(prior, X, calls) < 0.02


@pytest.mark.parametrize("interpolate", [False, True])
def test_exact_values_have_the_posterior_s_mean_and_covariance(interpolate):
    posterior, X = some_posterior(interpolate=interpolate), some_points()
    rng = np.random.default_rng(64)
    calls = exact_values(posterior, X, rng, 100_000).reshape(1000, 100, 5)
    assert check(posterior, X, calls) < 0.02
    other = dataclasses.replace(posterior, interpolate=not interpolate)
    with pytest.raises(AssertionError):
        check(other, X, calls)


def test_one_draw_of_features_errs_by_about_three_per_cent_of_the_prior_covariance():
    prior = some_posterior().prefix(0)
    X = some_points(40)
    exact = prior.covariance(X, X) / prior.covariance(X[:1], X[:1])
    errors = []
    for seed in range(30):
        drawn = sample_paths(prior, np.random.default_rng(seed), 1).features.frequencies
        angles = X / HYPER.lengthscales[GROUPS] @ drawn
        features = np.hstack([np.cos(angles), np.sin(angles)])
        errors.append(features @ features.T / drawn.shape[1] - exact)
    errors = np.array(errors)[:, *np.triu_indices(40, 1)]
    assert 0.01 < np.sqrt(np.mean(errors**2)) < 0.03
    assert 0.03 < np.abs(errors).max(axis=1).mean() < 0.08
    # It averages out over calls: nothing systematic is left.
    assert np.sqrt(np.mean(errors.mean(axis=0) ** 2)) < 0.01


# ----------------------------------------------------------------------------- exact values


def test_equal_points_have_equal_values():
    X = some_points()
    values = exact_values(some_posterior(), np.vstack([X, X]), np.random.default_rng(65), 10)
    np.testing.assert_allclose(values[:, :5], values[:, 5:], atol=1e-5)
    assert np.ptp(values[:, 0]) > 0.1


@pytest.mark.parametrize("noise", [1e-11, 1e-9])
def test_values_that_are_known_are_drawn_as_known(noise):
    hyper = dataclasses.replace(HYPER, noise=noise)
    posterior = some_posterior(30, interpolate=True, hyper=hyper)
    y = posterior(posterior.X).mean
    assert JointDraws.at(posterior, posterior.X).factor.shape[1] <= 1  # the rest is rounding
    for X in (posterior.X, posterior.X[:1]):
        values = exact_values(posterior, X, np.random.default_rng(66), 10)
        np.testing.assert_allclose(values, np.tile(y[: len(X)], (10, 1)), atol=1e-4)
    both = np.vstack([posterior.X, some_points()])
    values = exact_values(posterior, both, np.random.default_rng(66), 10)
    np.testing.assert_allclose(values[:, :30], np.tile(y, (10, 1)), atol=1e-4)
    assert np.all(np.ptp(values[:, 30:], axis=0) > 1e-2)


def test_no_points_have_no_values():
    posterior = some_posterior()
    assert exact_values(posterior, np.empty((0, 3)), np.random.default_rng(67), 4).shape == (4, 0)


def test_joint_draws_are_prepared_once_and_drawn_at_will():
    posterior, X = some_posterior(), some_points()
    draws = JointDraws.at(posterior, X)
    np.testing.assert_allclose(
        draws.factor @ draws.factor.T, posterior.covariance(X, X), rtol=1e-10
    )
    np.testing.assert_array_equal(
        draws(np.random.default_rng(1), 3), exact_values(posterior, X, np.random.default_rng(1), 3)
    )


# ------------------------------------------------------------------------------- one path


@pytest.mark.parametrize("interpolate", [False, True])
def test_gradients_of_paths_are_those_of_differences(interpolate):
    posterior, X = some_posterior(interpolate=interpolate), some_points(6)
    paths = sample_paths(posterior, np.random.default_rng(68), 6)
    value, gradient = paths.with_gradient(X)
    np.testing.assert_allclose(value, np.diag(paths(X)), rtol=1e-11)
    rises = differences(lambda X: np.diag(paths(X)), X)
    np.testing.assert_allclose(gradient, rises, rtol=1e-6, atol=1e-6)


def test_rows_may_be_of_any_path():
    paths = sample_paths(some_posterior(), np.random.default_rng(69), 3)
    X, which = some_points(5), np.array([2, 2, 0, 1, 2])
    value, gradient = paths.with_gradient(X, which)
    np.testing.assert_allclose(value, paths(X)[which, np.arange(5)], rtol=1e-11)
    for row, path in enumerate(which):
        alone = paths.with_gradient(np.tile(X[row], (3, 1)))[1][path]
        np.testing.assert_allclose(gradient[row], alone, rtol=1e-10)


def test_gradients_of_paths_of_no_data():
    paths = sample_paths(some_posterior().prefix(0), np.random.default_rng(70), 4)
    X = some_points(4)
    value, gradient = paths.with_gradient(X)
    np.testing.assert_allclose(value, np.diag(paths(X)), rtol=1e-11)
    rises = differences(lambda X: np.diag(paths(X)), X)
    np.testing.assert_allclose(gradient, rises, rtol=1e-5, atol=1e-6)


def test_paths_of_exact_data_go_through_them_and_others_do_not():
    hyper = dataclasses.replace(HYPER, noise=1e-9)
    exact = some_posterior(interpolate=True, hyper=hyper)
    values = sample_paths(exact, np.random.default_rng(71), 5)(exact.X)
    y = exact(exact.X).mean
    np.testing.assert_allclose(values, np.tile(y, (5, 1)), rtol=1e-6)
    noisy = some_posterior()
    assert np.ptp(sample_paths(noisy, np.random.default_rng(71), 50)(noisy.X), axis=0).min() > 0.1


def test_jitter_counts_as_noise():
    # Ten copies of one point without any noise: what is observed there is jitter alone.
    hyper = Hyperparameters([0.5], noise=0.0)
    posterior = condition(np.full((10, 1), 0.5), np.zeros(10), hyper, standardiser=Standardiser())
    assert posterior.jitter > 0
    values = sample_paths(posterior, np.random.default_rng(72), 400)(np.array([[0.5]]))[:, 0]
    assert values.std() == pytest.approx(math.sqrt(posterior.jitter / 10), rel=0.2)


def test_many_points_are_answered_in_blocks_without_a_seam():
    paths = sample_paths(some_posterior(), np.random.default_rng(73), 3, frequencies=16)
    X = some_points(4500)
    whole = paths(X)
    assert whole.shape == (3, 4500)
    for rows in (slice(2040, 2060), slice(4090, 4100), slice(4490, 4500)):
        np.testing.assert_allclose(whole[:, rows], paths(X[rows]), rtol=1e-12)


def test_single_precision_moves_a_path_by_rounding_alone():
    posterior, X = some_posterior(), some_points(4500)
    exact, rough = (
        sample_paths(posterior, np.random.default_rng(75), 3, single=single)
        for single in (False, True)
    )
    error = np.abs(rough(X) - exact(X)).max() / exact(X).std()
    assert 0.0 < error < 1e-5
    assert rough(X).dtype == np.float64
    np.testing.assert_allclose(rough.with_gradient(X[:3])[0], np.diag(rough(X[:3])), rtol=1e-5)


def test_the_same_seed_draws_the_same_paths_and_another_does_not():
    posterior, X = some_posterior(), some_points()
    first, again, other = (
        sample_paths(posterior, np.random.default_rng(seed), 2)(X) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_paths_cannot_be_changed():
    paths = sample_paths(some_posterior(), np.random.default_rng(74), 2)
    assert isinstance(paths, Paths)
    assert len(paths) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        paths.updates = None
    for array in (paths.features.frequencies, paths.features.weights, paths.updates):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    assert {paths: 1}[paths] == 1
