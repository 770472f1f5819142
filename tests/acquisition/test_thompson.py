# SPDX-License-Identifier: Apache-2.0
"""Thompson sampling: how often a point is chosen, and the distribution of what is drawn.

Seeds are fixed; with others a right program would fail with probability 1e-4 or so.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from stopwise.acquisition import ThompsonSampling
from stopwise.core.beliefs import Hyperparameters
from stopwise.core.space import Integer, as_domain
from tests.support.draws import assert_drawn_from
from tests.support.gradients import check_gradient
from tests.support.textbook import LINE, SQUARE, TABLE, Textbook, ensemble_study, free, study


def test_thompson_sampling_chooses_as_often_as_draws_have_their_minimum_there():
    domain = as_domain({"k": Integer(0, 11)})
    X = domain.points[[1, 6, 9]]
    hyper = Hyperparameters([0.15], 1.3)
    pending = domain.points[[4]]
    snapshot = study(domain, X=X, y=[1.0, 0.0, 0.5], hyper=hyper, pending=pending, initial=1)
    left = np.setdiff1d(np.arange(12), [1, 4, 6, 9])
    draws = Textbook(snapshot).draws(domain.points, np.random.default_rng(30), 20_000)
    often = np.bincount(left[np.argmin(draws[:, left], axis=1)], minlength=12) / len(draws)
    steps = 1500  # a chance that is off by 0.05 is seen
    found = np.zeros(12)
    for trial in range(steps):
        choice = replace(snapshot, trial=trial).sup(ThompsonSampling())
        found[domain.index_of(choice.x[None, :])[0]] += 1
    assert np.all(found[[1, 4, 6, 9]] == 0)
    # Chi-square for two samples, on the candidates that are ever chosen.
    seen = often > 0
    assert found[~seen].sum() <= 2
    table = np.array([found[seen], 20_000 * often[seen]])
    assert stats.chi2_contingency(table).pvalue > 1e-4
    assert seen.sum() >= 6


@pytest.mark.parametrize("domain", [TABLE, SQUARE], ids=["table", "box"])
def test_a_path_belongs_to_its_trial(domain):
    points = TABLE.points if domain is TABLE else np.random.default_rng(31).random((5, 2))

    def path(trial, seed=0):
        snapshot = replace(study(domain, 5), trial=trial, seed=seed)
        return ThompsonSampling().bind(snapshot)(points)

    np.testing.assert_array_equal(path(7), path(7))
    assert not np.allclose(path(7), path(8))
    assert not np.allclose(path(7), path(7, seed=1))


def check_draws(snapshot, points, trials):
    book = Textbook(snapshot)
    snapshots = [replace(snapshot, trial=trial) for trial in range(trials)]
    drawn = np.array([-ThompsonSampling().bind(each)(points) for each in snapshots])
    assert_drawn_from(book.mean(points), book.covariance(points), drawn[:, None, :])


def test_a_table_of_draws_has_the_posterior_s_distribution():
    snapshot = study(n=4)
    points = free(snapshot)[:6]
    check_draws(snapshot, points, 1500)


def test_paths_on_a_box_have_the_posterior_s_distribution():
    snapshot = study(LINE, 3)
    points = np.array([[0.1], [0.33], [0.77]])
    check_draws(snapshot, points, 700)  # of which each has features of its own


def test_a_score_of_a_box_path_comes_with_its_gradient_and_leaves_out_what_is_taken():
    snapshot = study(SQUARE, 5, pending=np.array([[0.3, 0.4]]))
    score = ThompsonSampling().bind(snapshot)
    X = np.random.default_rng(32).random((4, 2))
    check_gradient(score, X, tolerance=1e-5)
    taken = np.vstack([snapshot.X, snapshot.pending])
    assert np.all(score(taken) == -np.inf)
    assert np.all(score.with_gradient(taken)[0] == -np.inf)
    np.testing.assert_array_equal(score.scales, [0.4, 0.4])
    assert score.unit == pytest.approx(np.std(snapshot.y, ddof=1))


def test_a_score_of_a_table_is_for_its_candidates_and_has_no_slope():
    snapshot = study()
    score = ThompsonSampling().bind(snapshot)
    everywhere = score(TABLE.points)
    some = TABLE.points[[3, 17, 30]]
    np.testing.assert_array_equal(score(some), everywhere[[3, 17, 30]])
    values, gradients = score.with_gradient(some)
    np.testing.assert_array_equal(values, everywhere[[3, 17, 30]])
    assert not gradients.any()


def test_many_candidates_are_drawn_as_a_path():
    domain = as_domain({"a": Integer(0, 59), "b": Integer(0, 59)})
    snapshot = study(domain, 6)
    score = ThompsonSampling().bind(snapshot)
    values = score(domain.points)
    assert np.isneginf(values[snapshot.taken(domain.points)]).all()
    # What else is left out cannot win: even far below its mean it is above another's far above.
    left_out = np.isneginf(values) & ~snapshot.taken(domain.points)
    mean, std = snapshot.law(domain.points)
    sure = np.min((mean + 5 * std)[~snapshot.taken(domain.points)])
    assert (mean - 5 * std)[left_out].min(initial=np.inf) > sure
    assert 0 < left_out.sum() < 1000  # early in a study most can
    found = snapshot.sup(ThompsonSampling())
    assert found.value == values.max()
    # It is minus a draw of f: within five deviations of minus the mean.
    drawn = ~np.isneginf(values)
    assert np.all(np.abs(values + mean)[drawn] < 5 * std[drawn] + 1e-9)
    assert np.corrcoef(values[drawn], -mean[drawn])[0, 1] > 0.5
    # Neighbours have nearly the same value: it is one smooth function.
    finite = np.where(np.isneginf(values), np.nan, values).reshape(60, 60)
    assert np.nanmax(np.abs(np.diff(finite, axis=1))) < 0.5 * np.nanstd(finite)


# ----------------------------------------------------------------------- several posteriors


def test_a_posterior_is_chosen_as_often_as_its_weight_says():
    hypers = [Hyperparameters([0.12, 0.12], 1.0), Hyperparameters([0.6, 0.6], 1.0)]
    snapshot, alone = ensemble_study(hypers, [0.25, 0.75])
    sampling, chosen = ThompsonSampling(), []
    for trial in range(300):
        drawn = sampling.bind(replace(snapshot, trial=trial)).values
        same = [
            np.array_equal(drawn, sampling.bind(replace(one, trial=trial)).values) for one in alone
        ]
        assert sum(same) == 1
        chosen.append(same.index(True))
    assert np.mean(chosen) == pytest.approx(0.75, abs=4.0 * np.sqrt(0.25 * 0.75 / 300))
