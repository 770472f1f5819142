# SPDX-License-Identifier: Apache-2.0
"""The classifier: probabilities against integrals over the latent process, and its laws."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr

from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs import classifier as module
from stopwise.core.beliefs.classifier import choose_hyperparameters, fit_classifier
from stopwise.core.beliefs.kernels import DEFAULT_KERNEL
from tests.support.gradients import differences

LINE = np.array([0])
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(48)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def chance(classifier, *points):
    return np.exp(classifier.log_chance(np.atleast_2d(np.array(points, dtype=float).T).T))


def by_quadrature(X, succeeded, hyper, mean):
    """P(all outcomes) by a Gauss-Hermite rule over the latent process at the rows of X."""
    scaled = X / hyper.lengthscales
    squares = ((scaled[:, None] - scaled) ** 2).sum(axis=2)
    covariance = hyper.outputscale * DEFAULT_KERNEL.value(squares) + 1e-12 * np.eye(len(X))
    lower = np.linalg.cholesky(covariance)
    at = np.array(list(itertools.product(range(len(NODES)), repeat=len(X))))
    latent = mean + NODES[at] @ lower.T
    chances = ndtr(np.where(succeeded, latent, -latent)).prod(axis=1)
    return WEIGHTS[at].prod(axis=1) @ chances


@pytest.mark.parametrize("variance", [1.0, 4.0])
@pytest.mark.parametrize("outcomes", [(True, False), (False, False), (True, True)])
def test_probabilities_are_those_of_the_latent_process(variance, outcomes):
    X, x = np.array([[0.2], [0.5]]), np.array([[0.4]])
    succeeded, hyper = np.array(outcomes), Hyperparameters([0.3], variance)
    mean = module._mean(succeeded, variance)
    together = by_quadrature(np.vstack([X, x]), np.append(succeeded, True), hyper, mean)
    alone = by_quadrature(X, succeeded, hyper, mean)
    classifier = fit_classifier(X, succeeded, LINE, hyper)
    assert chance(classifier, 0.4)[0] == pytest.approx(together / alone, abs=0.01)
    signs = np.where(succeeded, 1.0, -1.0)
    covariance = module._covariance(X, LINE, hyper)
    found = module._propagated(covariance, mean, signs, None, 50).log_likelihood
    assert found == pytest.approx(np.log(alone), abs=0.01)


def test_one_outcome_has_its_exact_likelihood():
    for mean, variance in ((0.0, 4.0), (1.3, 1.0)):
        found = module._propagated(np.array([[variance]]), mean, np.ones(1), None, 50)
        wanted = log_ndtr(mean / np.sqrt(1.0 + variance))
        assert found.log_likelihood == pytest.approx(wanted, abs=1e-6)


def test_far_from_all_data_the_chance_is_the_observed_rate():
    X = np.linspace(0.0, 0.2, 8)[:, None]
    succeeded = np.arange(8) > 1
    classifier = fit_classifier(X, succeeded, LINE, Hyperparameters([0.02], 16.0))
    assert chance(classifier, 1.0)[0] == pytest.approx(7 / 10, abs=1e-6)


def test_repeated_failures_make_it_ever_surer():
    chances = []
    for count in (1, 3, 10, 30):
        X = np.vstack([np.full((count, 1), 0.1), [[0.9]]])
        succeeded = np.append(np.zeros(count, dtype=bool), True)
        classifier = fit_classifier(X, succeeded, LINE, Hyperparameters([0.3], 16.0))
        chances.append(chance(classifier, 0.1)[0])
    assert all(b < a for a, b in itertools.pairwise(chances))
    assert chances[-1] < 0.03


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 16.0, 64.0]))
def test_failures_and_successes_are_treated_alike(seed, variance):
    rng = np.random.default_rng(seed)
    X, x = rng.random((7, 2)), rng.random((4, 2))
    succeeded, hyper = rng.random(7) < 0.5, Hyperparameters([0.3, 0.6], variance)
    one, other = (fit_classifier(X, s, np.arange(2), hyper) for s in (succeeded, ~succeeded))
    np.testing.assert_allclose(
        np.exp(one.log_chance(x)), 1.0 - np.exp(other.log_chance(x)), atol=1e-6
    )
    order = rng.permutation(7)
    again = fit_classifier(X[order], succeeded[order], np.arange(2), hyper)
    np.testing.assert_allclose(again.log_chance(x), one.log_chance(x), atol=1e-5)


def test_gradients_are_those_of_differences():
    rng = np.random.default_rng(3)
    X = rng.random((12, 3))
    classifier = fit_classifier(X, X[:, 0] > 0.4, np.array([0, 1, 1]))
    x = rng.random((5, 3))
    value, gradient = classifier.log_chance_with_gradient(x)
    np.testing.assert_allclose(value, classifier.log_chance(x), rtol=1e-12)
    rises = differences(classifier.log_chance, x)
    np.testing.assert_allclose(gradient, rises, rtol=1e-5, atol=1e-6)


def test_length_scales_say_which_parameter_matters():
    X = np.random.default_rng(0).random((60, 3))
    chosen = choose_hyperparameters(X, X[:, 1] > 1 / 3, np.arange(3))
    assert chosen.lengthscales[1] < 0.5 * chosen.lengthscales[[0, 2]].min()
    inside = np.random.default_rng(1).random((200, 3))
    classifier = fit_classifier(X, X[:, 1] > 1 / 3, np.arange(3))
    right = (np.exp(classifier.log_chance(inside)) > 0.5) == (inside[:, 1] > 1 / 3)
    assert right.mean() > 0.93


def test_many_points_are_thinned(monkeypatch):
    monkeypatch.setattr(module, "MOST_POINTS", 20)
    X = np.linspace(0.0, 1.0, 90)[:, None]
    classifier = fit_classifier(X, X[:, 0] < 0.5, LINE)
    assert len(classifier.latent.X) == 20
    np.testing.assert_array_equal(classifier.latent.X[[0, -1]], X[[0, -1]])
    assert (chance(classifier, 0.2, 0.8) > 0.5).tolist() == [True, False]


def test_the_latent_process_is_a_posterior_of_pseudo_observations():
    """With equal precisions it is that of a regression with their noise."""
    X, succeeded = np.array([[0.1], [0.9]]), np.array([True, True])
    hyper = Hyperparameters([0.05], 4.0)
    latent = fit_classifier(X, succeeded, LINE, hyper).latent
    noises = np.diag(latent.lower @ latent.lower.T) - 4.0
    assert noises[0] == pytest.approx(noises[1], rel=1e-6)
    targets = latent.lower @ latent.residual + latent.hyper.mean
    regression = condition(
        X,
        targets,
        Hyperparameters([0.05], 4.0, noise=noises[0], mean=latent.hyper.mean),
        standardiser=latent.standardiser,
    )
    x = np.array([[0.13], [0.5]])
    for one, other in zip(latent(x), regression(x), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
