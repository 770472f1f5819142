# SPDX-License-Identifier: Apache-2.0
"""What docs/explanation/stages.md proves, by simulation where the model is right.

Curves of a few configurations are drawn from the model itself. All are begun; then the run with
the lowest fair value is taken up, and left only when its fair value exceeds that at the beginning.
"""

from typing import NamedTuple

import numpy as np
import pytest

from stopwise.core.beliefs.curves import (
    CurveData,
    CurveFit,
    CurveHyperparameters,
    CurvePosterior,
    condition_curves,
)
from stopwise.core.beliefs.curves.likelihood import CurveCovariance
from stopwise.core.beliefs.curves.standardised import StageScales
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.beliefs.warps import DEFAULT_WARP
from stopwise.core.numerics.normal import log_ei, pbgi
from stopwise.core.numerics.staged_value import leaving_means

RUNS, STAGES, WORLDS, EXCURSIONS = 5, 3, 160, 3
PRICES = np.array([0.05, 0.1, 0.2])  # of the stages, in units of the objective
TIMES = np.arange(float(STAGES))
HYPER = CurveHyperparameters(np.array([0.4]), 0.3, 0.2, 0.4, 0.0, np.array([0.1, -0.1]))
FIT = CurveFit(HYPER, StageScales((DEFAULT_WARP,) * STAGES, Standardiser(0.0, 1.0)))
X = np.linspace(0.0, 1.0, RUNS)[:, None]


class Excursion(NamedTuple):
    surplus: float  # what the run is better than g0 by, if it was finished, less what was paid
    finished: bool


def drawn_worlds(n):
    """Curves of all runs, (n, runs, stages), from the prior of the model."""
    run, stage = (a.ravel() for a in np.indices((RUNS, STAGES)))
    everything = CurveData(X[run], run, stage, np.zeros(run.size), TIMES, np.array([0]))
    lower = np.linalg.cholesky(CurveCovariance(everything, HYPER).matrix)
    draws = np.random.default_rng(1).standard_normal((n, run.size)) @ lower.T
    return draws.reshape(n, RUNS, STAGES)


def believed(world, reached):
    """The posterior after each run has reported so many of its stages."""
    seen = [(run, stage) for run in range(RUNS) for stage in range(reached[run])]
    run, stage = np.array(seen).T
    data = CurveData(X[run], run, stage, world[run, stage], TIMES, np.array([0]))
    return condition_curves(data, FIT)


def fair_value(posterior: CurvePosterior, run, reached):
    mean = float(posterior.law_of_trials(X[[run]], np.array([run])).mean[0])
    steps = posterior.steps(X[[run]], int(reached[run]) - 1, np.array([run]))
    return mean - float(leaving_means(steps, PRICES[None, reached[run] :])[0])


def excursion(world, reached):
    """Take up the run with the lowest fair value; None if all are finished."""
    ahead = np.flatnonzero(reached < STAGES)
    if not ahead.size:
        return None
    posterior = believed(world, reached)
    values = [fair_value(posterior, run, reached) for run in ahead]
    run, g0 = int(ahead[np.argmin(values)]), min(values)
    paid = 0.0
    while True:
        paid += PRICES[reached[run]]
        reached[run] += 1
        if reached[run] == STAGES:
            return Excursion(max(g0 - world[run, -1], 0.0) - paid, finished=True)
        if fair_value(believed(world, reached), run, reached) > g0:
            return Excursion(-paid, finished=False)


@pytest.fixture(scope="module")
def excursions():
    """The first excursions of each world, one list for each place in the order."""
    made = [[] for _ in range(EXCURSIONS)]
    for world in drawn_worlds(WORLDS):
        reached = np.ones(RUNS, dtype=int)
        for place in made:
            one = excursion(world, reached)
            if one is not None:
                place.append(one)
    return made


@pytest.mark.parametrize("place", range(EXCURSIONS))
def test_every_excursion_pays_for_itself(excursions, place):
    surplus = np.array([one.surplus for one in excursions[place]])
    error = surplus.std() / np.sqrt(surplus.size)
    assert abs(surplus.mean()) < 4.0 * error
    assert error < 0.1 * PRICES.sum()  # so that a mistake would be seen


def test_runs_are_left_and_finished(excursions):
    finished = np.mean([one.finished for place in excursions for one in place])
    assert 0.2 < finished < 0.8


def test_a_dearer_promise_would_be_seen(excursions):
    """The same with a fair value that forgets the last price: it no longer pays."""
    everything = [one for place in excursions for one in place]
    surplus = np.array([one.surplus - PRICES[-1] * one.finished for one in everything])
    assert surplus.mean() < -4.0 * surplus.std() / np.sqrt(surplus.size)


def test_the_simple_price_is_a_martingale_from_zero():
    """EI_t(g0) - (remaining + spent) after one stage, with g0 at the price of all that remains."""
    found = []
    for world in drawn_worlds(WORLDS):
        reached = np.ones(RUNS, dtype=int)
        law = believed(world, reached).law_of_trials(X[:1], np.array([0]))
        g0 = pbgi(law.mean[0], law.std[0], PRICES[1:].sum())
        reached[0] += 1
        after = believed(world, reached).law_of_trials(X[:1], np.array([0]))
        gain = float(np.exp(log_ei(after.mean[0], after.std[0], g0)))
        found.append(gain - PRICES[1:].sum())  # what was spent plus what remains
    assert abs(np.mean(found)) < 4.0 * np.std(found) / np.sqrt(len(found))
    assert np.std(found) > 0.01


def test_the_option_to_leave_is_never_dearer_than_the_simple_price():
    posterior = believed(drawn_worlds(1)[0], np.ones(RUNS, dtype=int))
    for run in range(RUNS):
        law = posterior.law_of_trials(X[[run]], np.array([run]))
        simple = pbgi(law.mean[0], law.std[0], PRICES[1:].sum())
        assert fair_value(posterior, run, np.ones(RUNS, dtype=int)) <= simple + 1e-6
