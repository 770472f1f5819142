# SPDX-License-Identifier: Apache-2.0
"""Rankings, published numbers and the choice of the default rule, by hand."""

import math

import numpy as np
import pytest

from paper.tests.support.synthetic_trajectories import trajectory
from stopwise.stopping import RULES
from stopwise_paper.analysis.default_rule import CANDIDATES, compare_candidates, summarise
from stopwise_paper.analysis.departures import PUBLISHED_DEPARTURES
from stopwise_paper.analysis.published import (
    PUBLISHED_SEEDS,
    PublishedMean,
    as_records,
    compare,
    published_counts,
    published_means,
)
from stopwise_paper.analysis.rankings import matched_rank, normalised, top_k, top_overlap
from stopwise_paper.analysis.regret import BASELINES, Mean, Pair
from stopwise_paper.analysis.replay import Variant

NAN = math.nan


def mean(problem, acquisition, rule, adjusted, *, se=NAN, seeds=50, lam=0.1):
    pair = Pair("lcbench", problem, "proxy", lam, acquisition, rule)
    return Mean(pair, seeds, adjusted, se, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0)


TABLE = [
    mean("a", "pbgi", "pbgi", 1.0),
    mean("a", "pbgi", "gss", 3.0),
    mean("a", "lcb", "pbgi", 5.0),
    mean("a", "lcb", "gss", 2.0),
    mean("a", "pbgi", "immediate", 0.5),
    mean("a", "lcb", "immediate", 0.5),
    mean("a", "pbgi", "hindsight", 0.0),
    mean("b", "pbgi", "pbgi", 4.0),
    mean("b", "pbgi", "gss", 4.0),
    mean("b", "lcb", "pbgi", 2.0),
    mean("b", "lcb", "gss", 8.0),
    mean("b", "pbgi", "immediate", 9.0),
    mean("b", "lcb", "immediate", 9.0),
    mean("b", "pbgi", "hindsight", 0.0),
]


# ---------------------------------------------------------------------------- rankings


def test_places_leave_oracles_out_and_equals_share_one():
    found = {(p.acquisition, p.rule, p.k): (p.count, p.of) for p in top_k(TABLE, k=2)}
    assert found["pbgi", "pbgi", 1] == (1, 2)
    assert found["pbgi", "pbgi", 2] == (2, 2)  # second on b, with an equal
    assert found["pbgi", "gss", 2] == (1, 2)
    assert found["lcb", "gss", 2] == (1, 2)
    assert found["lcb", "pbgi", 1] == (1, 2)
    assert not any(rule in BASELINES for _, rule, _ in found)


def test_places_among_some_problems_and_with_immediate():
    only_a = {(p.acquisition, p.rule): p.count for p in top_k(TABLE, k=1, problems={"a"})}
    assert only_a["pbgi", "pbgi"] == 1
    assert only_a["lcb", "pbgi"] == 0
    with_it = {(p.rule, p.acquisition): p.count for p in top_k(TABLE, k=1, immediate=True)}
    assert with_it["immediate", "pbgi"] == 1
    assert with_it["pbgi", "pbgi"] == 0


def test_normalised_regret_is_zero_at_hindsight_and_one_at_the_worst_pair():
    found = {(n.acquisition, n.rule): n for n in normalised(TABLE)}
    assert found["pbgi", "hindsight"].value == 0.0
    assert found["pbgi", "pbgi"].value == pytest.approx(0.5 * (1 / 5 + 4 / 8))
    assert found["lcb", "gss"].value == pytest.approx(0.5 * (2 / 5 + 1))
    assert found["lcb", "gss"].se == pytest.approx(0.5 * (1 - 2 / 5))
    assert found["pbgi", "immediate"].value == pytest.approx(0.5 * (0.1 + 9 / 8))


def test_rank_of_the_matched_pair():
    assert matched_rank(TABLE, "a", 0.1) == 1
    assert matched_rank(TABLE, "b", 0.1) == 2  # an equal counts


def test_overlap_of_the_best():
    errors = np.arange(100.0)
    assert top_overlap(errors, errors) == 1.0
    assert top_overlap(errors, -errors) == 0.0
    assert top_overlap(errors, np.roll(errors, 5), k=20) == 0.75


# --------------------------------------------------------------------------- published


def test_published_numbers_are_facts_of_known_pairs():
    found = published_means()
    assert len(found) > 600
    assert {n.experiment for n in found} <= PUBLISHED_DEPARTURES.keys()
    assert {n.rule for n in found} <= {*RULES, *BASELINES}
    keys = [(n.experiment, n.problem, n.cost, n.lam, n.acquisition, n.rule) for n in found]
    assert len(set(keys)) == len(keys)
    matched = {
        (n.cost, n.lam): n.value
        for n in found
        if n.experiment == "gp1d" and n.rule == n.acquisition == "pbgi"
    }
    assert [matched["linear", lam] for lam in (0.1, 0.01, 0.001)] == [0.396, 0.0858, 0.0254]
    (higgs,) = [
        n
        for n in found
        if (n.problem, n.lam, n.acquisition, n.rule) == ("lcbench:higgs", 1e-4, "pbgi", "pbgi")
        and n.experiment == "lcbench"
    ]
    assert (higgs.value, higgs.se) == (0.23, 0.034)


def test_published_counts():
    found = published_counts()
    assert sum(c.table == "ranking" for c in found) == 36
    assert all(0 <= c.count <= c.of for c in found)


def number(rule, value, se=NAN, acquisition="pbgi", reading=0.0):
    return PublishedMean("lcbench", "a", "proxy", 0.1, acquisition, rule, value, se, reading, "")


def test_agreement_is_within_two_combined_standard_errors():
    ours = [
        mean("a", "pbgi", "pbgi", 1.0, se=0.3),
        mean("a", "pbgi", "gss", 1.0, se=0.3),
        mean("a", "pbgi", "hindsight", 0.5, se=0.3, seeds=200),
        mean("a", "lcb", "immediate", 2.0, se=0.3),
        mean("a", "pbgi", "convergence", 1.0),
    ]
    departed = [mean("a", "pbgi", "gss", 2.1, se=0.3)]
    theirs = [
        number("pbgi", 2.1, 0.4),
        number("gss", 2.0, 0.4),
        number("convergence", 1.0),
        number("hindsight", 0.5, reading=0.8),
        number("immediate", 0.2, 0.4, acquisition="any"),
        number("prb", 1.0, 0.1),
    ]
    found = compare(ours, departed, theirs)
    rules = ["immediate", "hindsight", "pbgi", "gss", "convergence"]
    assert [c.number.rule for c in found] == rules
    by_rule = {c.number.rule: c for c in found}
    assert by_rule["pbgi"].combined == pytest.approx(0.5)
    assert by_rule["pbgi"].verdict == "better"
    assert by_rule["gss"].verdict == "agrees"
    assert by_rule["gss"].departed_distance == pytest.approx(0.2)
    assert by_rule["immediate"].verdict == "worse"
    assert by_rule["convergence"].verdict == "unknown"
    # Without a bar of theirs: ours, at their number of seeds; and the reading of the plot.
    assert by_rule["hindsight"].assumed
    assert by_rule["hindsight"].theirs_se == pytest.approx(0.6)
    assert by_rule["hindsight"].combined == pytest.approx(math.sqrt(0.09 + 0.36 + 0.64))
    first = next(as_records(found))
    assert first["agrees"] == "worse"
    assert first["theirs"] == 0.2


def test_compare_reads_the_shipped_numbers():
    pair = Pair("gp1d", "gp1d", "linear", 0.1, "pbgi", "pbgi")
    ours = Mean(pair, 50, 0.4, 0.03, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0)
    (found,) = compare([ours], [])
    assert found.number.value == 0.396
    assert found.verdict == "agrees"
    assert found.departed_verdict == "unknown"
    assert PUBLISHED_SEEDS == 50


# ---------------------------------------------------------------------------- settling


def runs(initial=2, **given):
    """Two seeds whose signal dips once, at t = 1, long before the best value is found."""
    gain = [1.0, 0.05, 1.0, 1.0, 0.01, 0.01]
    y = np.r_[np.full(initial, 9.0), 9.0, 9.0, 5.0, 1.0, 1.0]
    for seed in (0, 1):
        yield trajectory(y + seed, initial=initial, gain=gain, seed=seed, **given)


def test_candidates_are_compared_with_the_plain_rule_seed_by_seed():
    found = {s.candidate: s for s in compare_candidates(runs(), [0.1], [Variant(), Variant(3)])}
    plain, smoothed = found["plain"], found["W=3"]
    assert (plain.t, smoothed.t) == (1.0, 5.0)
    # 9 or 10 and one step against 1 or 2 and five, and two of the design
    assert plain.adjusted == pytest.approx(9.5 + 0.1 * 3)
    assert smoothed.adjusted == pytest.approx(1.5 + 0.1 * 7)
    assert smoothed.excess == pytest.approx(-7.6)
    assert smoothed.excess_se == pytest.approx(0.0, abs=1e-12)
    assert plain.excess == 0.0
    assert plain.worse_than_immediate  # by one step, on both
    assert not smoothed.worse_than_immediate
    assert found["hindsight"].t == 4.0
    assert found["immediate"].t == 0.0


def test_designs_of_several_sizes_pay_for_themselves():
    views = [*runs(2), *runs(4)]
    found = {(s.n_initial, s.candidate): s for s in compare_candidates(views, [0.1], [Variant()])}
    assert found[2, "plain"].adjusted == pytest.approx(9.8)
    assert found[4, "plain"].adjusted == pytest.approx(10.0)


def test_other_acquisitions_are_left_out():
    assert compare_candidates(runs(acquisition="lcb", lam=None), [0.1]) == []


def test_candidates_over_all_problems():
    views = [*runs(), *runs(problem="gp8d")]
    found = {o.candidate: o for o in summarise(compare_candidates(views, [0.1], CANDIDATES))}
    assert set(found) >= {str(c) for c in CANDIDATES}
    assert found["plain"].relative == 1.0
    assert found["plain"].worse_than_immediate == 2
    assert found["W=3"].relative == pytest.approx(2.2 / 9.8)
    assert (found["W=3"].wins, found["W=3"].losses, found["W=3"].problems) == (2, 0, 2)
