# SPDX-License-Identifier: Apache-2.0
"""A surrogate that is extended is the one that is conditioned on all data."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from stopwise.core.beliefs.ensemble import Ensemble
from stopwise.core.beliefs.extending import can_extend, extended
from stopwise.core.beliefs.gp import condition
from stopwise.core.beliefs.hyperparameters import Hyperparameters, ObjectiveFit
from stopwise.core.beliefs.warps.soft import SoftWarp

RNG = np.random.default_rng(0)
X = RNG.random((40, 3))
Y = np.sin(5.0 * X).sum(axis=1)
HYPER = Hyperparameters([0.4, 0.6, 0.8], 1.5, 1e-11, 0.1)
WARPED = replace(HYPER, warp=SoftWarp(0.5, 0.3))
NEW = RNG.random((6, 3))


def ensemble(n, *hypers):
    posteriors = {h: condition(X[:n], Y[:n], h, interpolate=True) for h in hypers}
    weights = np.full(len(hypers), 1.0 / len(hypers))
    return Ensemble(tuple(posteriors[h] for h in hypers), weights, tuple("abc"[: len(hypers)]))


@pytest.mark.parametrize("hyper", [HYPER, WARPED, replace(HYPER, noise=0.1)])
def test_a_posterior_is_that_of_all_data(hyper):
    first = condition(X[:30], 100.0 * Y[:30], hyper, interpolate=hyper.noise < 1e-3)
    whole = condition(X, Y, hyper, interpolate=hyper.noise < 1e-3)
    more = extended(first, X, Y, first.fit)
    assert more.standardiser == whole.standardiser
    assert more.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-9)
    assert_allclose(more(NEW).mean, whole(NEW).mean, rtol=1e-6)
    assert_allclose(more(NEW).std, whole(NEW).std, rtol=1e-4)


def test_one_after_the_other_is_all_at_once_to_the_last_bit():
    first = condition(X[:30], Y[:30], HYPER, interpolate=True)
    at_once, in_steps = extended(first, X, Y, first.fit), first
    for n in range(31, 41):
        in_steps = extended(in_steps, X[:n], Y[:n], first.fit)
    for name in ("lower", "whitener", "residual"):
        assert_array_equal(getattr(at_once, name), getattr(in_steps, name))


def test_an_ensemble_takes_the_weights_and_extends_what_is_shared_once():
    first = ensemble(30, HYPER, WARPED, HYPER)
    fit = ObjectiveFit((HYPER, WARPED, HYPER), (0.2, 0.3, 0.5), 0.7)
    more = extended(first, X, Y, fit)
    assert len(more) == 40
    assert more.fit == fit
    assert more.components[0] is more.components[2]
    for each in more.components:
        assert_array_equal(each.X, X)


def test_only_the_first_of_the_points_at_the_same_hyper_parameters_can_be_extended():
    first = condition(X[:30], Y[:30], HYPER, interpolate=True)
    assert can_extend(first, X, first.fit)
    assert can_extend(first, X[:30], first.fit)
    assert not can_extend(first, X[:29], first.fit)
    assert not can_extend(first, X[::-1], first.fit)
    assert not can_extend(first, X, ObjectiveFit((WARPED,)))
    several = ensemble(30, HYPER, WARPED)
    assert can_extend(several, X, ObjectiveFit((HYPER, WARPED), (0.9, 0.1), 0.5))
