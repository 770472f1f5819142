# SPDX-License-Identifier: Apache-2.0
"""PRB on boxes against the true probability that more than epsilon can still be gained.

The truth is counted in joint draws of the textbook's posterior, over a fine grid. Seeds are
fixed; with others a statistical test of a right program would fail with probability 1e-5 or so.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from stopwise.core.beliefs import Hyperparameters
from stopwise.core.space import Categorical, Integer, Real, as_domain
from stopwise.stopping import (
    sampled_regret,
)
from stopwise.stopping._crossing import Crossings, Draws
from stopwise.stopping.sampled_regret import exceedances, largest_chance, regrets, union_bound
from tests.support.textbook import LINE, SQUARE, Textbook, study
from tests.support.true_regrets import (
    ask,
    box_study,
    box_truth,
    exceeding,
    fine,
    margin_for,
    true_regrets,
)

BOXES = [
    pytest.param(LINE, 5, None, id="line-exact"),
    pytest.param(LINE, 6, 0.02, id="line-noisy"),
    pytest.param(SQUARE, 10, None, id="square-exact"),
    pytest.param(SQUARE, 12, 0.02, id="square-noisy"),
]


@pytest.mark.parametrize(("domain", "n", "noise"), BOXES)
def test_on_a_box_the_fraction_of_paths_is_the_true_probability(domain, n, noise):
    snapshot, regret = box_study(domain, n, noise), box_truth(domain, n, noise)
    epsilon = margin_for(regret, 0.15)
    # Batches have their own features, so their spread tells how sure their mean is.
    shares = np.array(exceeding(snapshot, epsilon, [80] * 16)) / 80
    sure = math.hypot(shares.std(ddof=1) / 4.0, math.sqrt(0.15 / 20_000))
    assert abs(shares.mean() - 0.15) < stats.t.isf(1e-5, 15) * sure
    assert sure < 0.015


@pytest.mark.parametrize(("domain", "n", "noise"), BOXES)
def test_on_a_box_decisions_far_from_the_level_are_right(domain, n, noise):
    snapshot, regret = box_study(domain, n, noise), box_truth(domain, n, noise)
    for probability, stop in ((0.5, False), (0.12, False), (0.001, True)):
        verdict, signal = ask(snapshot, margin_for(regret, probability))
        assert verdict.stop == stop
        if probability == 0.5:
            assert signal.facts["samples"] <= 64
    assert math.isinf(union_bound(snapshot, 1.0))  # no sum over a box


@pytest.mark.parametrize(("domain", "n", "noise"), BOXES)
def test_on_a_box_the_largest_chance_is_that_of_a_fine_grid(domain, n, noise):
    snapshot = box_study(domain, n, noise)
    points = fine(domain)
    lead, std = Textbook(snapshot).lead(points)
    for epsilon in (0.5, 2.0):
        highest = np.max((lead - epsilon) / np.maximum(std, 1e-6))
        low, high = stats.norm.cdf([highest - 1e-6, highest + 0.15])
        assert low <= largest_chance(snapshot, epsilon) <= high


def test_a_mixed_space_is_sampled_at_attainable_points():
    space = {"x": Real(0.0, 1.0), "k": Integer(1, 3), "c": Categorical(["plain", "bent"])}
    domain = as_domain(space)
    snapshot = study(domain, 9, hyper=Hyperparameters([0.3, 0.8, 1.0], 1.0))
    axis = np.linspace(0.0, 1.0, 101)
    params = [{"x": x, "k": k, "c": c} for x in axis for k in (1, 2, 3) for c in ("plain", "bent")]
    regret = true_regrets(snapshot, domain.encode(params), 20_000)
    for probability, stop in ((0.5, False), (0.1, False), (0.001, True)):
        assert ask(snapshot, margin_for(regret, probability))[0].stop == stop


def test_paths_descend_to_their_minima():
    """Of each path, the lowest value that screening and two descents find, and a fine grid's."""
    snapshot = box_study(SQUARE, 10, None)
    paths = sampled_regret.sample_paths(snapshot.belief.objective, np.random.default_rng(71), 60)
    lowest = sampled_regret._path_minima(snapshot, paths, None)
    axis = np.linspace(0.0, 1.0, 101)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    wanted = paths(grid).min(axis=1)
    unit = snapshot.belief.objective.standardiser.scale
    assert np.mean(lowest <= wanted + 1e-3 * unit) >= 0.95
    assert np.mean(lowest - wanted) < 1e-2 * unit


def test_regrets_on_a_box_have_the_true_distribution():
    snapshot = box_study(LINE, 5, None)
    wanted = box_truth(LINE, 5, None)
    rng = np.random.default_rng(73)
    found = np.concatenate([regrets(snapshot, rng, 50) for _ in range(12)])
    assert stats.ks_2samp(found, wanted).pvalue > 1e-5
    assert found.mean() == pytest.approx(wanted.mean(), rel=0.1)


# --------------------------------------------------------------------------------- level crossings


def test_where_nothing_can_be_gained_no_net_is_laid():
    snapshot = box_study(SQUARE, 10, None)
    assert Crossings.over(snapshot, 1e3) is None
    verdict, signal = ask(snapshot, 1e3)
    assert verdict.stop
    assert signal.facts["exceeding"] == 0.0


def test_the_first_paths_on_a_box_are_the_same_however_they_are_asked_for():
    """The pilots come first, each once; all that follow are fresh."""
    snapshot = box_study(SQUARE, 10, None)
    epsilon = margin_for(box_truth(SQUARE, 10, None), 0.3)
    apart = np.concatenate(list(exceedances(replace(snapshot), epsilon, [40, 24, 64])))
    once = np.concatenate(list(exceedances(replace(snapshot), epsilon, [64, 64])))
    again = np.concatenate(list(exceedances(snapshot, epsilon, [10, 54])))
    np.testing.assert_array_equal(apart, once)
    np.testing.assert_array_equal(again, once[:64])
    assert 0 < np.count_nonzero(once[:64]) < 64
    assert np.any(once[:64] != once[64:])


def test_each_path_descends_from_its_lowest_point_and_from_the_lowest_away_from_it():
    draws = Crossings.over(study(SQUARE, 5), 0.1).coarse
    scaled = draws.points / draws.snapshot.belief.objective.column_lengthscales
    left = np.random.default_rng(4).random((20, len(scaled)))
    which, starts = draws._starts(left, 0.02)
    assert list(which[:20]) == list(range(20))
    for path in range(20):
        first, *second = starts[which == path]
        assert first == np.argmin(left[path])
        away = np.linalg.norm(scaled - scaled[first], axis=1) > 0.3
        lowest = np.flatnonzero(away)[np.argmin(left[path, away])]
        assert second == ([lowest] if left[path, lowest] < 0.02 else [])
    assert len(which) > 20


def test_paths_that_come_near_the_level_between_points_of_the_net_are_followed():
    snapshot = box_study(LINE, 6, None)
    regret = box_truth(LINE, 6, None)
    epsilon = margin_for(regret, 0.3)
    draws = Draws.at(snapshot, epsilon, np.linspace(0.0, 1.0, 9)[:, None], 0.1)
    rng = np.random.default_rng(8)
    level = snapshot.best - epsilon
    at_net = np.mean(draws.net.values(draws.net.normals(rng, 1000)).min(axis=1) < level)
    followed = np.mean(draws(rng, 1000, 1.0)[1])
    assert at_net < 0.2
    assert 0.22 < followed < 0.36  # a few pass by between the points unseen
