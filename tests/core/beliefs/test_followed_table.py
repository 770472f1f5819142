# SPDX-License-Identifier: Apache-2.0
"""A followed table has the moments of a posterior that computes them from scratch."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from stopwise.core.beliefs import followed_table
from stopwise.core.beliefs.extending import extended
from stopwise.core.beliefs.gp import condition
from stopwise.core.beliefs.hyperparameters import Hyperparameters

RNG = np.random.default_rng(0)
TABLE = RNG.random((5000, 3))
TABLE.flags.writeable = False
X = RNG.random((48, 3))
Y = np.sin(5.0 * X).sum(axis=1)
HYPER = Hyperparameters([0.4, 0.6, 0.8], 1.5, 1e-11, 0.1)


def grown(first, n, hyper=HYPER, *, exact=True):
    posterior = condition(X[:first], Y[:first], hyper, interpolate=exact)
    return extended(posterior, X[:n], Y[:n], posterior.fit)


@pytest.mark.parametrize(("noise", "exact"), [(1e-11, True), (0.05, False)])
def test_moments_are_those_from_scratch(noise, exact):
    hyper = Hyperparameters([0.4, 0.6, 0.8], 1.5, noise, 0.1)
    followed = grown(30, 48, hyper, exact=exact)
    scratch = condition(X, Y, hyper, interpolate=exact)
    assert followed.followed.is_at(TABLE, 48)
    assert_allclose(followed(TABLE).mean, scratch(TABLE).mean, rtol=1e-7, atol=1e-9)
    assert_allclose(followed(TABLE).std, scratch(TABLE).std, rtol=1e-6, atol=1e-7)


def test_moments_do_not_depend_on_who_asked_before():
    asked_at_every_step = grown(30, 31)
    for n in range(31, 49):
        fit = asked_at_every_step.fit
        asked_at_every_step = extended(asked_at_every_step, X[:n], Y[:n], fit)
        law = asked_at_every_step(TABLE)
    at_once = grown(30, 48)
    assert_array_equal(law.mean, at_once(TABLE).mean)
    assert_array_equal(law.std, at_once(TABLE).std)
    earlier = grown(30, 40)
    table_of_all = at_once.followed
    mean, variance = table_of_all.moments(earlier, TABLE)
    again = earlier.followed.moments(earlier, TABLE)
    assert_array_equal(mean, again[0])
    assert_array_equal(variance, again[1])


def test_points_that_are_not_the_table_are_not_followed():
    posterior = grown(30, 40)
    copy, few = TABLE.copy(), TABLE[:100]
    few.flags.writeable = False
    assert not posterior.followed.is_at(copy, 40)
    assert not posterior.followed.is_at(few, 40)
    assert posterior.followed.is_at(TABLE, 40)
    assert not posterior.followed.is_at(copy, 40)
    assert_allclose(posterior(copy).mean, posterior(TABLE).mean, rtol=1e-7, atol=1e-9)


def test_what_would_not_fit_is_not_kept(monkeypatch):
    monkeypatch.setattr(followed_table, "_MOST", 40 * len(TABLE) - 1)
    posterior = grown(30, 40)
    assert not posterior.followed.is_at(TABLE, 40)
    assert posterior.followed.is_at(TABLE, 39)


def test_a_factor_that_is_computed_anew_ends_it():
    bare = Hyperparameters([0.4, 0.6, 0.8], 1.5, 0.0, 0.1)  # nothing that tells duplicates apart
    first = condition(X[:30], Y[:30], bare, interpolate=True)
    twice = np.vstack([X[:30], X[:30]])
    posterior = extended(first, twice, np.sin(5.0 * twice).sum(axis=1), first.fit)
    assert posterior.jitter > first.jitter
    assert posterior.followed.is_broken
    assert not posterior.followed.is_at(TABLE, len(twice))
    more = np.vstack([twice, X[30:31]])
    posterior = extended(posterior, more, np.sin(5.0 * more).sum(axis=1), first.fit)
    assert posterior.followed.is_broken


def test_what_is_made_of_an_extended_posterior_follows_nothing():
    posterior = grown(30, 40)
    assert posterior.append(X[40], Y[40]).followed is None
    assert posterior.prefix(35).followed is None
