# SPDX-License-Identifier: Apache-2.0
"""Differences from published numbers are explained by what makes them, and by nothing else."""

import math
from dataclasses import replace

import numpy as np
import pytest

from paper.tests.support.synthetic_trajectories import everything
from stopwise_paper.analysis.departures import PUBLISHED_DEPARTURES
from stopwise_paper.analysis.explanations import (
    PLAIN,
    TOGETHER,
    UNEXPLAINED,
    _explained,
    differences,
    report,
)
from stopwise_paper.analysis.published import PublishedMean, compare
from stopwise_paper.analysis.regret import means, regret_rows

LAM = 0.1


def views(seeds=12):
    """Values that keep falling, gains that end at t = 15."""
    made = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        falling = 5.0 - 0.3 * np.arange(7) + 0.01 * rng.random(7)
        y = np.r_[6.0, 5.5, falling, np.full(30, 4.0)]
        gain = np.r_[np.full(15, 1.0), np.full(len(y) - 16, 1e-4)]
        made.append(everything(y, gain=gain, seed=seed, lam=LAM))
    return made


def published(rule, value, se=0.01):
    return PublishedMean("gp1d", "gp1d", "uniform", LAM, "pbgi", rule, value, se, 0.0, "")


def ours(departures=()):
    return means(regret_rows(views(), [LAM], departures=departures))


def value(rule, departures=()):
    return next(m.adjusted for m in ours(departures) if m.pair.rule == rule)


def explained(number):
    compared = compare(ours(), ours(), [number])
    return differences(compared, views(), [LAM])


def test_numbers_that_agree_need_no_explanation():
    assert explained(published("pbgi", value("pbgi"))) == []
    assert differences([], views(), [LAM]) == []


@pytest.mark.parametrize(
    ("rule", "departure"), [("pbgi", "late-index"), ("convergence", "patience-4")]
)
def test_a_difference_is_explained_by_the_departure_that_makes_it(rule, departure):
    number = published(rule, value(rule, [departure]))
    (found,) = explained(number)
    assert (found.cause, found.wholly) == (departure, True)
    assert found.value == pytest.approx(number.value)
    assert found.suspects == ("mask-shift",)


def test_all_together_where_none_is_enough_alone():
    both = value("logeipc-med", PUBLISHED_DEPARTURES["gp1d"])
    alone = [value("logeipc-med", [departure]) for departure in PUBLISHED_DEPARTURES["gp1d"]]
    assert min(abs(both - other) for other in alone) > 0.05  # or this test shows nothing
    (found,) = explained(published("logeipc-med", both))
    assert (found.cause, found.value) == (TOGETHER, pytest.approx(both))


def test_what_changes_nothing_explains_nothing():
    (found,) = explained(published("pbgi", 99.0))
    assert (found.cause, found.wholly) == (UNEXPLAINED, False)
    assert math.isnan(found.value)


def test_a_departure_may_go_most_of_the_way():
    ours, with_it = value("pbgi"), value("pbgi", ["late-index"])
    (found,) = explained(published("pbgi", with_it + 0.4 * (with_it - ours), se=1e-3))
    assert (found.cause, found.wholly) == ("late-index", False)
    assert found.value == pytest.approx(with_it)
    assert "more than half of the way" in report([found], [found.compared])


def test_noise_that_a_departure_adds_is_no_explanation():
    plain = {m.pair.rule: m for m in ours()}["pbgi"]
    number = published("pbgi", plain.adjusted + 0.2)
    (compared,) = compare([plain], [plain], [number])
    noisy = replace(compared, ours=compared.ours - 0.5, ours_se=10.0)
    again = {PLAIN: compared, "late-index": noisy, TOGETHER: compared}
    assert _explained(compared, again, math.inf).cause == UNEXPLAINED


def test_rules_without_averages_may_be_the_explanation():
    averaged = [m for m in ours() if m.pair.rule == "pbgi"]
    moved = [replace(m, adjusted=m.adjusted + 1.0) for m in averaged]
    compared = compare(moved, moved, [published("pbgi", value("pbgi"))])
    (found,) = differences(compared, views(), [LAM])
    assert (found.cause, found.value) == (PLAIN, pytest.approx(value("pbgi")))


def test_the_report_has_a_sentence_for_each_cause_and_all_numbers():
    numbers = [
        published("pbgi", value("pbgi", ["late-index"])),
        published("convergence", 99.0),
        published("gss", value("gss")),
    ]
    compared = compare(ours(), ours(), numbers)
    text = report(differences(compared, views(), [LAM]), compared)
    assert text.startswith("1 of 3 numbers agree")
    assert "**`late-index`, 1 number.** Rules of the model are scored one evaluation" in text
    assert "**Not shown by replay, 1 number.**" in text
    assert text.count("| gp1d, uniform | 0.1 | pbgi |") == 2
    assert "`mask-shift`" in text
