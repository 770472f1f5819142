# SPDX-License-Identifier: Apache-2.0
"""PRB on a table against the true probability that more than epsilon can still be gained.

The truth is counted in joint draws of the textbook's posterior, over all candidates. Seeds are
fixed; with others a statistical test of a right program would fail with probability 1e-5 or so.
"""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from stopwise.core.traces import Signal, Trace
from stopwise.errors import InputError
from stopwise.stopping import (
    UCBLCB,
    ProbabilisticRegretBound,
    sampled_regret,
)
from stopwise.stopping.sampled_regret import largest_chance, regrets, union_bound
from tests.support.rules import KINDS, NOISY
from tests.support.textbook import TABLE, Textbook, study
from tests.support.true_regrets import (
    CROWD,
    DELTA,
    DRAWS,
    LEVEL,
    ROUGH,
    SMOOTH,
    ask,
    crowd,
    exceeding,
    margin_for,
    true_regrets,
)


@KINDS
@pytest.mark.parametrize("hyper", [ROUGH, SMOOTH], ids=["rough", "smooth"])
def test_decisions_far_from_the_level_are_those_of_the_true_probability(hyper, noise):
    snapshot = study(n=5, hyper=hyper, noise=noise)
    regret = true_regrets(snapshot, TABLE.points)
    for probability, stop in ((0.5, False), (0.15, False), (0.08, False), (0.004, True)):
        epsilon = margin_for(regret, probability)
        for seed in range(5):
            verdict, signal = ask(snapshot, epsilon, seed)
            assert verdict.stop == stop
            assert (signal.value <= LEVEL) == stop
            assert verdict.threshold == LEVEL


@KINDS
def test_well_below_the_level_it_stops_and_its_bound_holds(noise):
    snapshot = crowd(noise)
    regret = true_regrets(snapshot, CROWD.points[::4])
    epsilon = margin_for(regret, 0.3 * LEVEL)
    truth = np.mean(regret > epsilon)
    repeats, stops, missed = 100, 0, 0
    for seed in range(repeats):
        verdict, signal = ask(snapshot, epsilon, seed)
        stops += verdict.stop
        missed += signal.value < truth
        assert signal.facts["exceeding"] <= signal.facts["samples"]
    assert signal.facts["samples"] > 0
    assert stops >= 0.8 * repeats
    assert missed <= stats.binom.isf(1e-5, repeats, LEVEL)


def test_the_fraction_of_exceeding_paths_is_the_true_probability():
    for noise in (None, NOISY):
        for hyper in (ROUGH, SMOOTH):
            snapshot = study(n=6, hyper=hyper, noise=noise)
            regret = true_regrets(snapshot, TABLE.points)
            for probability in (0.3, 0.03):
                epsilon = margin_for(regret, probability)
                counts = sum(exceeding(snapshot, epsilon, [25_000, 25_000]))
                error = counts / 50_000 - np.mean(regret > epsilon)
                sure = math.sqrt(probability * (1.0 - probability) * (1 / 50_000 + 1 / DRAWS))
                assert abs(error) < 4.5 * sure + 1e-5


def test_many_candidates_are_sampled_as_paths(monkeypatch):
    monkeypatch.setattr(sampled_regret, "_EXACT", 5)
    monkeypatch.setattr(sampled_regret, "_POOL", 7)  # so that several blocks are needed
    for noise in (None, NOISY):
        snapshot = study(n=6, hyper=ROUGH, noise=noise)
        regret = true_regrets(snapshot, TABLE.points)
        epsilon = margin_for(regret, 0.2)
        shares = np.array(exceeding(snapshot, epsilon, [200] * 40)) / 200
        sure = math.hypot(shares.std(ddof=1) / math.sqrt(40), math.sqrt(0.16 / DRAWS))
        assert abs(shares.mean() - np.mean(regret > epsilon)) < 4.5 * sure


def test_only_candidates_that_cannot_matter_are_left_out():
    snapshot = study(n=12, hyper=SMOOTH)
    epsilon = 0.5
    book = Textbook(snapshot)
    lead, std = book.lead(TABLE.points)
    chances = stats.norm.cdf((lead - epsilon) / np.maximum(std, 1e-12))
    kept = TABLE.index_of(sampled_regret._likely_candidates(snapshot, TABLE, epsilon))
    out = np.setdiff1d(np.arange(len(TABLE)), kept)
    assert len(kept) < 28  # the evaluated are never among them
    assert not set(kept) & set(TABLE.index_of(snapshot.X))
    assert chances[out].sum() <= 1.01e-5
    assert chances[kept].min() >= chances[out].max()


# -------------------------------------------------------------------------------- without a sample


@KINDS
def test_one_likely_point_is_enough_to_go_on(noise):
    snapshot = study(noise=noise)
    lead, std = Textbook(snapshot).lead(TABLE.points)
    z = (lead - 0.01) / np.maximum(std, 1e-9)
    verdict, signal = ask(snapshot, 0.01)
    assert signal.facts["samples"] == 0
    assert signal.value == pytest.approx(stats.norm.cdf(z.max()), rel=1e-6)
    assert signal.value > LEVEL
    assert not verdict.stop
    assert "(without a sample)" in verdict.reason


@KINDS
def test_the_largest_chance_decides_as_soon_as_it_is_above_the_level(noise):
    snapshot = study(n=4, hyper=ROUGH, noise=noise)
    lead, std = Textbook(snapshot).lead(TABLE.points)
    for factor, sampled in ((1.01, False), (0.99, True)):
        epsilon = float(np.max(lead - stats.norm.ppf(factor * LEVEL) * std))
        verdict, signal = ask(snapshot, epsilon)
        assert (signal.facts["samples"] > 0) == sampled
        assert not verdict.stop


@KINDS
def test_chances_that_add_up_to_little_are_enough_to_stop(noise):
    snapshot = study(noise=noise)
    lead, std = Textbook(snapshot).lead(TABLE.points)
    for epsilon in (12.0, 20.0):
        z = (lead - epsilon) / np.maximum(std, 1e-9)
        total = stats.norm.cdf(z).sum()
        assert total <= LEVEL
        verdict, signal = ask(snapshot, epsilon)
        assert signal.facts["samples"] == 0
        assert signal.value == pytest.approx(total, rel=1e-5, abs=1e-300)
        assert verdict.stop


def test_the_bounds_enclose_the_truth():
    for noise in (None, NOISY):
        for hyper in (ROUGH, SMOOTH):
            snapshot = study(n=7, hyper=hyper, noise=noise)
            regret = true_regrets(snapshot, TABLE.points)
            for epsilon in np.quantile(regret, [0.5, 0.9, 0.99]):
                truth = np.mean(regret > epsilon)
                slack = 4.5 * math.sqrt(truth / DRAWS)
                assert largest_chance(snapshot, epsilon) <= truth + slack
                assert union_bound(snapshot, epsilon) >= truth - slack


def test_what_is_known_exactly_gains_nothing_however_large_the_numbers():
    for unit in (1e-9, 1e12):
        snapshot = study(y=unit * study().y)
        verdict, signal = ask(snapshot, 12.0 * unit)
        assert verdict.stop
        assert signal.facts["samples"] == 0


# --------------------------------------------------------------------- what could be gained in all


@KINDS
def test_regrets_have_the_true_distribution(noise, monkeypatch):
    for exact in (True, False):
        if not exact:
            monkeypatch.setattr(sampled_regret, "_EXACT", 5)
        snapshot = study(n=6, hyper=ROUGH, noise=noise)
        wanted = true_regrets(snapshot, TABLE.points, 20_000)
        rng = np.random.default_rng(72)
        found = np.concatenate([regrets(snapshot, rng, 250) for _ in range(16)])
        assert found.min() >= 0.0
        assert stats.ks_2samp(found, wanted).pvalue > 1e-5


# ------------------------------------------------------------------------------ the plain fraction


@pytest.mark.parametrize(
    ("t", "samples"),
    [(0, 64), (1, 64), (2, 96), (3, 144), (5, 324), (7, 729), (8, 1000), (9, 1000), (4000, 1000)],
)
def test_the_plain_fraction_is_of_n_t_paths(t, samples):
    snapshot = study(n=6, initial=6 - t)
    _, signal = ask(snapshot, 2.0, estimate="mean")
    assert signal.facts["samples"] == samples
    assert samples == (min(math.ceil(64 * 1.5 ** max(t - 1, 0)), 1000) if t < 1000 else 1000)
    assert signal.value == signal.facts["exceeding"] / samples


@KINDS
def test_the_plain_fraction_is_near_the_true_probability_and_compared_with_delta(noise):
    snapshot = study(n=6, initial=-10, hyper=ROUGH, noise=noise)
    regret = true_regrets(snapshot, TABLE.points)
    for probability, stop in ((0.3, False), (0.02, True)):
        verdict, signal = ask(snapshot, margin_for(regret, probability), estimate="mean")
        sure = math.sqrt(probability * (1.0 - probability) / 1000)
        assert abs(signal.value - probability) < 4.5 * sure
        assert (verdict.stop, verdict.threshold) == (stop, DELTA)


def test_the_plain_fraction_is_nothing_where_nothing_can_be_gained():
    verdict, signal = ask(study(n=20), 100.0, estimate="mean")
    assert signal.value == 0.0
    assert verdict.stop


# ---------------------------------------------------------------------------------------- the rule


def test_a_signal_depends_on_epsilon_delta_and_how():
    rule = ProbabilisticRegretBound
    keys = {rule().key, rule(0.2).key, rule(delta=0.1).key, rule(estimate="mean").key}
    assert len(keys) == 4
    assert rule(np.float64(0.5)).key == rule(0.5).key
    assert rule(1).key == rule(1.0).key


def test_the_same_seed_gives_the_same_answer_and_watching_does_not_matter():
    snapshot = study(n=6, hyper=ROUGH)
    rule = ProbabilisticRegretBound(3.0)
    first = rule.signal(replace(snapshot))
    other = replace(snapshot)
    UCBLCB().signal(other)
    ProbabilisticRegretBound(1.0).signal(other)
    assert rule.signal(other) == first


def test_prb_in_words():
    rule = ProbabilisticRegretBound(0.25, delta=0.1)
    verdict = rule.verdict(Trace.of((Signal(3, 8, 0.0625, {"samples": 324.0}),)))
    assert verdict.reason == (
        "the probability that more than 0.25 can still be gained is put at 0.0625 (from 324"
        " samples); the risk allowed is 0.05: go on"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 1.0}, "ProbabilisticRegretBound(delta=1.0): give 0 < delta < 1."),
        ({"estimate": "median"}, "estimate='median'): give 'bound' or 'mean'."),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        ProbabilisticRegretBound(**options)
