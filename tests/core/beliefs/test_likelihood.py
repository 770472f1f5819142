# SPDX-License-Identifier: Apache-2.0
"""The likelihood of hyper-parameters, its gradient and its information, against dense algebra."""

import numpy as np
import pytest

from stopwise.core.beliefs import Hyperparameters, Standardiser, condition
from stopwise.core.beliefs.fit import fit
from stopwise.core.beliefs.likelihood import log_likelihood
from tests.support.dense import DenseGP
from tests.support.fitted_data import GROUPS, HYPER, UNGROUPED, moved, some_data


@pytest.fixture
def rng():
    return np.random.default_rng(30)


@pytest.mark.parametrize("groups", [UNGROUPED, GROUPS], ids=["ungrouped", "grouped"])
def test_likelihood_and_gradient_are_the_textbook_s(rng, groups):
    X, y = some_data(rng, width=groups.size)

    def dense(theta):
        at = moved(HYPER, theta)
        return DenseGP(X, y, at, groups=groups, shift=0.0, scale=1.0).log_likelihood()

    found = log_likelihood(X, y, HYPER, groups)
    assert found.mean == HYPER.mean
    assert found.value == pytest.approx(dense(np.zeros(6)), rel=1e-12)
    expected = [(dense(step) - dense(-step)) / 2e-5 for step in 1e-5 * np.eye(6)]
    gradient = [
        *found.d_log_lengthscales,
        found.d_log_outputscale,
        found.d_log_noise,
        found.d_mean,
    ]
    np.testing.assert_allclose(gradient, expected, atol=1e-6)


def test_the_profiled_mean_is_where_the_likelihood_is_largest(rng):
    X, y = some_data(rng)
    profiled = log_likelihood(X, y, HYPER, UNGROUPED, profile_mean=True)
    assert profiled.d_mean == pytest.approx(0.0, abs=1e-10)
    at_it = moved(HYPER, np.array([0, 0, 0, 0, 0, profiled.mean - HYPER.mean]))
    plain = log_likelihood(X, y, at_it, UNGROUPED)
    assert profiled.value == pytest.approx(plain.value, rel=1e-13)
    assert profiled.value > log_likelihood(X, y, HYPER, UNGROUPED).value
    # By the envelope theorem the other gradients are those at a mean that stays.
    np.testing.assert_allclose(profiled.d_log_lengthscales, plain.d_log_lengthscales, atol=1e-9)
    assert profiled.d_log_outputscale == pytest.approx(plain.d_log_outputscale, abs=1e-9)
    assert profiled.d_log_noise == pytest.approx(plain.d_log_noise, abs=1e-9)


def test_the_likelihood_is_that_of_the_posterior_with_or_without_jitter(rng):
    X, y = some_data(rng)
    twice, values = np.vstack([X, X]), np.tile(y, 2)
    for inputs, outputs, hyper in [
        (X, y, HYPER),
        (twice, values, Hyperparameters(HYPER.lengthscales, 1.3, noise=0.0)),
    ]:
        found = log_likelihood(inputs, outputs, hyper, UNGROUPED)
        posterior = condition(inputs, outputs, hyper, standardiser=Standardiser())
        assert (posterior.jitter > 0) == (inputs is twice)
        assert found.value == pytest.approx(posterior.log_likelihood, rel=1e-5)


def test_the_gradient_is_right_where_jitter_is_needed(rng):
    X, y = some_data(rng, n=8)
    twice, values = np.vstack([X, X]), np.tile(y, 2)
    exact = Hyperparameters(HYPER.lengthscales, 1.3, noise=0.0)

    def value(theta):
        return log_likelihood(twice, values, moved(exact, theta), UNGROUPED).value

    found = log_likelihood(twice, values, exact, UNGROUPED)
    steps = 1e-2 * np.eye(6)[[0, 1, 2, 3, 5]]
    expected = [(value(step) - value(-step)) / 2e-2 for step in steps]
    gradient = [*found.d_log_lengthscales, found.d_log_outputscale, found.d_mean]
    np.testing.assert_allclose(gradient, expected, atol=0.05)  # what a condition of 1e12 leaves


@pytest.mark.parametrize("groups", [UNGROUPED, GROUPS], ids=["ungrouped", "grouped"])
def test_the_information_is_the_textbook_s(rng, groups):
    X, y = some_data(rng, width=groups.size)
    at = Hyperparameters(HYPER.lengthscales, HYPER.outputscale, HYPER.noise)
    likelihood = log_likelihood(X, y, at, groups, profile_mean=True)

    def covariance(theta):
        return DenseGP(X, y, moved(at, theta), groups=groups).K

    steps = 1e-5 * np.eye(6)[:5]
    changes = [(covariance(step) - covariance(-step)) / 2e-5 for step in steps]
    inverse, ones = np.linalg.inv(covariance(np.zeros(6))), np.ones((y.size, 1))
    projected = inverse - inverse @ ones @ ones.T @ inverse / (ones.T @ inverse @ ones)
    pushes = np.column_stack([change @ (projected @ y) for change in changes])
    expected = 0.5 * pushes.T @ projected @ pushes
    np.testing.assert_allclose(likelihood.information(), expected, atol=1e-6 * expected.max())


def test_the_information_is_about_the_curvature_at_a_fit(rng):
    X, y = some_data(rng, n=200, noise=0.2)
    hyper = fit(X, y, noise=None, prior=None)
    likelihood = log_likelihood(X, y, hyper, UNGROUPED, profile_mean=True)

    def gradient(theta):
        found = log_likelihood(X, y, moved(hyper, theta), UNGROUPED, profile_mean=True)
        return np.array([found.d_log_lengthscales[0], found.d_log_noise])

    which = [0, 4]
    steps = 1e-4 * np.eye(6)[which]
    observed = np.array([(gradient(-step) - gradient(step)) / 2e-4 for step in steps])
    average = likelihood.information()[np.ix_(which, which)]
    np.testing.assert_allclose(average, observed, atol=0.3 * observed.max())
