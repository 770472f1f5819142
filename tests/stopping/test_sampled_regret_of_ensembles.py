# SPDX-License-Identifier: Apache-2.0
"""The regret under several posteriors whose promises are believed with a probability only.

The truth is counted in joint draws of each posterior of the textbook, mixed by hand. Seeds are
fixed; with others a right program would fail with probability 1e-4 or so.
"""

import numpy as np
import pytest
from scipy import stats

from stopwise.core.beliefs import Hyperparameters
from stopwise.stopping.sampled_regret import exceedances, regrets
from tests.support.textbook import LINE, TABLE, Textbook, ensemble_study

ROUGH = Hyperparameters([0.12, 0.12], 1.0, mean=-0.5)
SMOOTH = Hyperparameters([0.6, 0.6], 1.0, mean=-1.0)
WEIGHTS = (0.3, 0.7)
PATHS = 20_000
MARGIN = 3.0  # gained with probability 0.33 under the rough one, 0.17 under the smooth one


def regrets_of_one(snapshot, points, draws=PATHS):
    book = Textbook(snapshot)
    values = book.draws(np.vstack([points, book.incumbent]), np.random.default_rng(5), draws)
    regret = values[:, -1] - values.min(axis=1)
    return np.where(regret < 1e-6, 0.0, regret)


def mixed(alone, points, trust):
    """Regrets of all posteriors, as many of each as its weight says, and zeros for the doubts."""
    parts = [
        regrets_of_one(one, points)[: round(trust * weight * PATHS)]
        for weight, one in zip(WEIGHTS, alone, strict=True)
    ]
    return np.concatenate([*parts, np.zeros(PATHS - sum(map(len, parts)))])


@pytest.mark.parametrize("trust", [1.0, 0.6])
def test_the_fraction_of_exceeding_paths_on_a_table(trust):
    snapshot, alone = ensemble_study([ROUGH, SMOOTH], WEIGHTS, trust)
    truth = float(np.mean(mixed(alone, TABLE.points, trust) > MARGIN))
    assert 0.1 < truth < 0.9
    batches = list(exceedances(snapshot, MARGIN, [1, PATHS - 1]))
    assert [len(batch) for batch in batches] == [1, PATHS - 1]
    deviation = np.sqrt(2.0 * truth * (1.0 - truth) / PATHS)
    assert np.mean(batches[1]) == pytest.approx(truth, abs=4.0 * deviation)


def test_a_batch_is_in_random_order():
    # A test that looks at the first paths of a batch must not find one posterior there.
    snapshot, _ = ensemble_study([ROUGH, SMOOTH], WEIGHTS, trust=0.5)
    (batch,) = exceedances(snapshot, MARGIN, [4000])
    first, second = batch[:2000].mean(), batch[2000:].mean()
    assert abs(first - second) < 4.0 * np.sqrt(0.5 / 2000)


def test_one_posterior_that_is_doubted():
    snapshot, alone = ensemble_study([ROUGH], [1.0], trust=0.25)
    truth = 0.25 * np.mean(regrets_of_one(alone[0], TABLE.points) > MARGIN)
    (batch,) = exceedances(snapshot, MARGIN, [PATHS])
    assert batch.mean() == pytest.approx(truth, abs=4.0 * np.sqrt(truth / PATHS))
    drawn = regrets(snapshot, np.random.default_rng(1), PATHS)
    assert np.mean(drawn > MARGIN) == pytest.approx(truth, abs=4.0 * np.sqrt(truth / PATHS))


@pytest.mark.parametrize("trust", [1.0, 0.6])
def test_regrets_have_the_distribution_of_the_mixture(trust):
    snapshot, alone = ensemble_study([ROUGH, SMOOTH], WEIGHTS, trust)
    drawn = regrets(snapshot, np.random.default_rng(1), PATHS)
    assert drawn.shape == (PATHS,)
    assert np.mean(drawn == 0.0) >= 0.97 * (1.0 - trust)
    wanted = mixed(alone, TABLE.points, trust)
    assert stats.ks_2samp(drawn, wanted).pvalue > 1e-4


def test_a_posterior_without_a_path_is_not_asked():
    snapshot, _ = ensemble_study([ROUGH, SMOOTH], [1e-5, 1.0 - 1e-5])
    (batch,) = exceedances(snapshot, MARGIN, [64])
    assert len(batch) == 64
    assert len(regrets(snapshot, np.random.default_rng(0), 64)) == 64


def test_on_a_box_the_fraction_is_that_of_the_mixture():
    hypers = [Hyperparameters([0.1], 1.0, mean=-0.5), Hyperparameters([0.4], 1.0, mean=-1.0)]
    snapshot, alone = ensemble_study(hypers, WEIGHTS, trust=0.8, domain=LINE, n=5)
    grid, margin = np.linspace(0.0, 1.0, 301)[:, None], 0.5
    truth = float(np.mean(mixed(alone, grid, 0.8) > margin))
    (batch,) = exceedances(snapshot, margin, [3000])
    assert 0.1 < truth < 0.9
    assert batch.mean() == pytest.approx(truth, abs=4.0 * np.sqrt(truth * (1.0 - truth) / 3000))
