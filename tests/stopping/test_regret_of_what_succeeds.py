# SPDX-License-Identifier: Apache-2.0
"""The regret where evaluations may fail or break a limit: against joint draws of everything.

Seeds are fixed; with others a right program would fail with probability 1e-4 or so.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from stopwise.acquisition import ThompsonSampling
from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs.classifier import fit_classifier
from stopwise.core.beliefs.success import Success, WithinLimits
from stopwise.core.space import Integer, as_domain
from stopwise.stopping.sampled_regret import exceedances, regrets
from tests.support.textbook import LINE, TABLE, Textbook, study

DRAWS = 20_000
MARGIN = 0.5


def limited(domain, **fields):
    """A study whose evaluations must keep a limit, and may fail."""
    plain = study(domain, n=6, **fields)
    outcome = condition(
        plain.X,
        plain.X.sum(axis=1),
        Hyperparameters([0.5] * domain.d),
        groups=domain.groups,
        interpolate=True,
    )
    failures = fit_classifier(plain.X, np.array([1, 1, 0, 1, 1, 1], dtype=bool), domain.groups)
    limit = 0.8 if domain is LINE else float(np.median(plain.X.sum(axis=1))) + 0.05
    success = Success((WithinLimits(outcome, -np.inf, limit), failures))
    belief = replace(plain.belief, success=success)
    return replace(plain, belief=belief, feasible=plain.X.sum(axis=1) <= limit)


def wanted(snapshot, points):
    """Regrets by joint draws of the textbook: of f, of the outcome, of the latent process."""
    rng, book = np.random.default_rng(5), Textbook(snapshot)
    values = book.draws(points, rng, DRAWS)
    limit, failures = snapshot.belief.success.parts

    def drawn(posterior):
        mean, covariance = posterior(points).mean, posterior.covariance(points, points)
        eigenvalues, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
        return mean + rng.standard_normal((DRAWS, len(points))) @ root.T

    succeeds = drawn(limit.outcome) <= limit.high + 1e-6
    succeeds &= drawn(failures.latent) + rng.standard_normal(DRAWS)[:, None] >= 0.0
    lowest = np.where(succeeds, values, np.inf).min(axis=1)
    regret = np.maximum(snapshot.best - lowest, 0.0)
    return np.where(regret < 1e-6, 0.0, regret)


def test_regrets_on_a_table():
    snapshot = limited(TABLE)
    truth = wanted(snapshot, TABLE.points)
    drawn = regrets(snapshot, np.random.default_rng(1), DRAWS)
    drawn = np.where(drawn < 1e-6, 0.0, drawn)
    assert 0.05 < np.mean(truth == 0.0) < 0.95
    assert stats.ks_2samp(drawn, truth).pvalue > 1e-4
    certain = replace(snapshot, belief=replace(snapshot.belief, success=None))
    assert regrets(certain, np.random.default_rng(1), DRAWS).mean() > 1.1 * drawn.mean()


@pytest.mark.parametrize("domain", [TABLE, LINE], ids=["table", "line"])
def test_the_fraction_of_paths_that_exceed_a_margin(domain):
    snapshot = limited(domain)
    points = TABLE.points if domain is TABLE else np.linspace(0.0, 1.0, 201)[:, None]
    truth = float(np.mean(wanted(snapshot, points) > MARGIN))
    assert 0.1 < truth < 0.9
    n = DRAWS if domain is TABLE else 2000
    share = np.mean(next(exceedances(snapshot, MARGIN, [n])))
    allowed = 0.0 if domain is TABLE else 0.02  # features err, and paths are followed so far
    assert share == pytest.approx(truth, abs=4.0 * np.sqrt(truth * (1 - truth) / n) + allowed)


def test_regrets_on_a_line():
    snapshot = limited(LINE)
    truth = wanted(snapshot, np.linspace(0.0, 1.0, 201)[:, None])
    drawn = np.concatenate(
        [regrets(snapshot, np.random.default_rng(seed), 250) for seed in range(4)]
    )
    error = np.std(drawn) / np.sqrt(len(drawn))
    assert drawn.mean() == pytest.approx(truth.mean(), abs=4.0 * error + 0.03 * truth.mean())


def test_a_large_table_is_drawn_by_paths():
    """Beyond what is drawn jointly, the same by random features."""
    large = as_domain({"a": Integer(0, 63), "b": Integer(0, 59)})
    snapshot = limited(large)
    [share] = [batch.mean() for batch in exceedances(snapshot, -3.0, [200])]
    assert share > 0.9  # less than nothing is to be gained, unless nothing succeeds
    drawn = regrets(snapshot, np.random.default_rng(1), 200)
    certain = replace(snapshot, belief=replace(snapshot.belief, success=None))
    assert drawn.mean() < regrets(certain, np.random.default_rng(1), 200).mean()
    score = ThompsonSampling().bind(snapshot)(large.points)
    succeeds = -score[np.isfinite(score)] < snapshot.y.max() + 9.0 * snapshot.belief.objective.unit
    assert 0.1 < succeeds.mean() < 0.9


def test_a_gain_is_reckoned_from_the_fallback():
    noisy = limited(TABLE, noise=0.05)
    known = replace(noisy, fallback=float(noisy.y.min()) - 1.0)
    assert known.rests_on_fallback
    less, more = (regrets(s, np.random.default_rng(1), 4000).mean() for s in (known, noisy))
    assert less < more


@pytest.mark.parametrize("domain", [TABLE, LINE], ids=["table", "line"])
def test_a_thompson_sample_has_the_law_of_success_and_value(domain):
    """At a point, what a draw gives there is below a level with probability p F(level)."""
    snapshot = limited(domain)
    at = TABLE.points[[7]] if domain is TABLE else np.array([[0.45]])
    level = float(np.median(snapshot.y))
    [cdf] = snapshot.law(at).cdf(level).value
    n = 500 if domain is TABLE else 300
    below = [
        -ThompsonSampling().bind(replace(snapshot, trial=trial))(at)[0] <= level
        for trial in range(n)
    ]
    assert 0.05 < cdf < 0.95
    assert np.mean(below) == pytest.approx(cdf, abs=4.0 * np.sqrt(cdf * (1 - cdf) / n))


@pytest.mark.parametrize("domain", [TABLE, LINE], ids=["table", "line"])
def test_if_nothing_succeeds_the_sample_takes_what_misses_by_least(domain):
    snapshot = limited(domain)
    limit = replace(snapshot.belief.success.parts[0], high=-3.0)
    snapshot = replace(snapshot, belief=replace(snapshot.belief, success=Success((limit,))))
    chosen = snapshot.sup(ThompsonSampling()).x
    assert chosen.sum() < 0.25 * domain.d  # where the outcome is lowest
