# SPDX-License-Identifier: Apache-2.0
"""Paths through exact draws at a net: their distribution, and each is one smooth function."""

import math

import numpy as np
import pytest

from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs.conditioned_paths import PathConditioner
from tests.support.draws import assert_drawn_from
from tests.support.gradients import differences

GROUPS = np.array([0, 1, 1])
FINE = 1e-7


def some_posterior(*, interpolate):
    rng = np.random.default_rng(80)
    X = rng.random((8, 3))
    y = 20.0 + 6.0 * np.sin(4.0 * X).sum(axis=1)
    noise = 1e-9 if interpolate else 0.05
    hyper = Hyperparameters([0.5, 0.8], outputscale=1.6, noise=noise, mean=0.3)
    return condition(X, y, hyper, groups=GROUPS, interpolate=interpolate)


def some_points(n, seed=81):
    return np.random.default_rng(seed).random((n, 3))


KINDS = pytest.mark.parametrize("interpolate", [False, True], ids=["noisy", "exact"])


@KINDS
def test_values_at_the_net_have_the_posterior_s_mean_and_covariance(interpolate):
    posterior, X = some_posterior(interpolate=interpolate), some_points(12)
    net = PathConditioner.at(posterior, X, np.full(12, FINE))
    np.testing.assert_allclose(net.mean, posterior(X).mean)
    np.testing.assert_allclose(
        net.factor @ net.factor.T, posterior.covariance(X, X), rtol=1e-9, atol=1e-9
    )
    values = net.values(net.normals(np.random.default_rng(82), 100_000))
    std = posterior(X).std
    assert np.all(np.abs(values.mean(axis=0) - net.mean) < 5.0 * std / math.sqrt(100_000))


@KINDS
def test_a_coarse_net_leaves_out_no_more_than_its_tolerance(interpolate):
    posterior, X = some_posterior(interpolate=interpolate), some_points(60)
    tolerance = np.linspace(0.1, 2.0, 60)
    net = PathConditioner.at(posterior, X, tolerance)
    assert net.factor.shape[1] < 60
    left = posterior(X).std ** 2 - np.sum(net.factor**2, axis=1)
    assert np.all(left <= tolerance**2 * (1.0 + 1e-9))
    assert np.all(left > -1e-6)


@KINDS
def test_paths_go_through_their_draws(interpolate):
    posterior, X = some_posterior(interpolate=interpolate), some_points(12)
    net = PathConditioner.at(posterior, X, np.full(12, FINE))
    rng = np.random.default_rng(83)
    normals = net.normals(rng, 5)
    paths = net.paths(normals, rng)
    assert len(paths) == 5
    for path, wanted in enumerate(net.values(normals)):
        found, _ = paths.with_gradient(X, np.full(12, path))
        np.testing.assert_allclose(found, wanted, rtol=1e-7)


@KINDS
def test_between_the_points_paths_have_the_posterior_s_mean_and_covariance(interpolate):
    posterior, Q = some_posterior(interpolate=interpolate), some_points(4, seed=84)
    net = PathConditioner.at(posterior, some_points(6), np.full(6, FINE))
    rng = np.random.default_rng(85)
    calls, n = 150, 60
    found = np.empty((calls, n, len(Q)))
    for call in range(calls):  # each has its own features
        paths = net.paths(net.normals(rng, n), rng)
        for i, q in enumerate(Q):
            found[call, :, i] = paths.with_gradient(np.tile(q, (n, 1)), np.arange(n))[0]
    assert assert_drawn_from(posterior(Q).mean, posterior.covariance(Q, Q), found) < 0.1


@KINDS
def test_gradients_are_those_of_differences(interpolate):
    posterior = some_posterior(interpolate=interpolate)
    net = PathConditioner.at(posterior, some_points(10), np.full(10, FINE))
    rng = np.random.default_rng(86)
    paths = net.paths(net.normals(rng, 3), rng)
    Q, which = some_points(7, seed=87), np.array([0, 1, 2, 2, 1, 0, 2])
    _, gradient = paths.with_gradient(Q, which)
    rises = differences(lambda X: paths.with_gradient(X, which)[0], Q)
    np.testing.assert_allclose(gradient, rises, rtol=1e-5, atol=1e-4)
