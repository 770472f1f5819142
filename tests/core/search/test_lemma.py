# SPDX-License-Identifier: Apache-2.0
"""The paper's Lemma: the choice of PBGI is worth its price wherever any point is."""

from dataclasses import replace

import numpy as np
import pytest

from stopwise.acquisition import PBGI, LogEIPC
from stopwise.core.beliefs import Hyperparameters
from stopwise.core.beliefs.prices import KnownCost
from stopwise.core.search.supremum import Search
from stopwise.math import log_ei
from tests.support.landscapes import Tilted, box, hilly, matern_draw, snapshot_of, sum_of_sines

BOX = box(8)


def lemma_problem(number, hypers):
    """Thirty observations in eight dimensions; prices vary over the box in half of them."""
    draws = np.random.default_rng(number)
    kind = number % len(hypers)
    function = (sum_of_sines if kind % 2 else matern_draw)(draws, 8)
    X = draws.random((30, 8))
    cost = Tilted(draws.normal(0.0, 1.0, 8)) if number % 8 >= 4 else None
    return snapshot_of(BOX, X, function(X), hyper=hypers[kind], cost=cost, seed=number), draws


@pytest.fixture(scope="module")
def hypers():
    """Four fitted sets of hyper-parameters: fitting is not what is tested here."""
    found = []
    for seed in range(4):
        draws, function = hilly(seed, 8)
        X = draws.random((60, 8))
        found.append(snapshot_of(BOX, X, function(X)).belief.objective.hyper)
    return found


def test_pbgi_starts_from_the_argmax_of_logeipc(hypers):
    snapshot, _ = lemma_problem(0, hypers)
    starts = PBGI(1.0).bind(snapshot).starts
    np.testing.assert_array_equal(starts, snapshot.sup(LogEIPC()).x[None, :])


@pytest.mark.parametrize("luck", ["equal", "unequal"])
def test_the_choice_is_worth_its_price_wherever_any_point_is(hypers, luck):
    for number in range(100) if luck == "equal" else range(100, 200):
        snapshot, draws = lemma_problem(number, hypers)
        best = snapshot.sup(LogEIPC())
        if luck == "unequal":  # the second search looks almost nowhere
            snapshot = replace(snapshot, seed=number + 1, search=Search(1, 1))
            snapshot.once(("sup", LogEIPC()), lambda best=best: best)
        lam = float(np.exp(best.value) * (draws.uniform(0.3, 1.0) if number % 2 else 0.999999))
        chosen = snapshot.sup(PBGI(lam)).x
        [at_chosen] = LogEIPC().bind(snapshot)(chosen[None, :])
        assert at_chosen >= np.log(lam) - 1e-9, number


def price(params):
    return 0.2 + 2.0 * params["x0"] * params["x1"] + params["x2"] ** 2


@pytest.mark.parametrize(
    "seeds", [range(20), pytest.param(range(20, 200), marks=pytest.mark.slow)]
)
def test_by_the_formulas_of_gain_and_price_it_is_worth_it_too(seeds):
    for seed in seeds:
        rng = np.random.default_rng([seed, 1])
        hyper = Hyperparameters(np.full(8, rng.choice([0.5, 1.0, 2.0])), noise=1e-11)
        X, y = rng.random((20, 8)), rng.standard_normal(20)
        now = snapshot_of(BOX, X, y, cost=KnownCost(price), hyper=hyper, seed=seed)
        best = now.sup(LogEIPC()).value
        lam = float(np.exp(best) * rng.uniform(0.3, 1.0))  # just worth it somewhere
        x = now.sup(PBGI(lam)).x[None, :]
        mean, std = now.belief.objective(x)
        gain = log_ei(mean, std, now.best)[0]
        cost = np.log(price(BOX.decode(x)[0]))
        assert gain - cost >= np.log(lam) - 1e-9
