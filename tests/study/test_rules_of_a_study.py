# SPDX-License-Identifier: Apache-2.0
"""Which rules decide in a study, which are only recorded, and when signals are taken."""

import dataclasses

import numpy as np
import pytest

import stopwise as sw
from stopwise.acquisition.thompson import TableScore
from stopwise.errors import InputTypeError
from stopwise.stopping import (
    PBGI,
    RULES,
    Convergence,
    FixedTrials,
    Immediate,
    LogEIPCMedian,
    Smoothed,
)
from tests.support.small_studies import LINE, MIXED, rows, run, valley

TABLE = sw.Candidates(rows(20))


@pytest.mark.parametrize("space", [TABLE, {"n": sw.Integer(1, 9)}, LINE, MIXED])
def test_the_default_is_the_rule_of_the_theorem_on_every_kind_of_space(space):
    assert sw.Study(space, lam=0.1).rules == [PBGI(0.1)]
    assert sw.Study(space, lam=0.1, watch="pbgi").watched == [PBGI(0.1)]


def test_a_rule_given_as_an_object_is_left_alone():
    own = [PBGI(0.7), Smoothed(PBGI(0.3), 2)]
    study = sw.Study(LINE, lam=0.1, stopping=own)
    assert study.rules == own
    assert sw.Study(LINE, lam=0.1, stopping=own[0]).rules == own[:1]


@pytest.mark.parametrize("name", [name for name in RULES if name != "fixed"])
def test_every_rule_can_be_named(name):
    study = run(sw.Study(TABLE, lam=0.1, stopping=name), valley, 8)
    verdict = study.should_stop()
    assert verdict.rule == name
    assert verdict.reason


def test_of_several_rules_any_stops_and_the_first_that_does_answers():
    def verdict(*rules):
        return run(sw.Study(TABLE, lam=0.1, stopping=rules), valley, 8).should_stop()

    never, at_once, soon = PBGI(1e-300), Immediate(), FixedTrials(1)
    assert verdict(never, Convergence(50)).rule == "pbgi"
    assert not verdict(never, Convergence(50)).stop
    assert verdict(never, at_once, soon).rule == "immediate"
    assert verdict(soon, never, at_once).rule == "fixed"
    assert verdict("gss", "immediate").rule == "immediate"


def test_watched_rules_are_recorded_and_not_obeyed():
    study = sw.Study(TABLE, lam=1e-300, watch=["immediate", LogEIPCMedian()])
    assert not run(study, valley, 9).should_stop().stop
    assert set(study.traces) == {"evaluations", "sup_log_ei_per_cost"}


def test_a_signal_is_taken_once_for_all_rules_that_share_it():
    taken = []

    @dataclasses.dataclass(frozen=True)
    class Counting(Convergence):
        def signal(self, snapshot):
            taken.append(snapshot.n)
            return super().signal(snapshot)

    study = sw.Study(
        TABLE, lam=1e-300, stopping=[Counting(90), Counting(91)], watch=[Counting(92)]
    )
    run(study, valley, 6)
    for _ in range(3):
        study.should_stop()
    assert taken == [6]


def test_ask_records_the_worth_itself_if_nobody_asks_whether_to_stop():
    silent = run(sw.Study(TABLE, lam=1e-9, acquisition="pbgi-d"), valley, 10)
    asked = sw.Study(TABLE, lam=1e-9, acquisition="pbgi-d")
    for _ in range(10):
        asked.should_stop()
        run(asked, valley, 1)
    assert [s.t for s in silent.traces["sup_log_ei_per_cost"]] == [0, 1, 2, 3]
    assert silent.history == asked.history
    assert silent.traces == asked.traces


def test_before_the_design_is_done_nothing_is_recorded():
    study = run(sw.Study(TABLE, lam=0.1), valley, 5)
    study.should_stop()
    study.record("gss")
    assert study.traces == {}
    run(study, valley, 1)
    study.record("gss")
    assert set(study.traces) == {"improvement_per_iqr_5"}


def test_where_a_score_leaves_everything_out_the_lowest_bound_is_next():
    @dataclasses.dataclass(frozen=True)
    class Hopeless:
        def bind(self, snapshot):
            return TableScore(snapshot, np.full(len(snapshot.domain), -np.inf))

    study = run(sw.Study(TABLE, lam=0.1, acquisition=Hopeless()), valley, 6)
    other = run(sw.Study(TABLE, lam=0.1, acquisition="lcb"), valley, 6)
    assert study.ask() == other.ask()


def test_a_rule_that_returns_a_bare_number_is_told_what_to_return():
    class Bare(PBGI):
        __slots__ = ()

        def signal(self, snapshot):
            return float(snapshot.n)

    study = sw.Study({"x": sw.Real(0.0, 1.0)}, lam=0.1, stopping=Bare(0.1), n_initial=2)
    for _ in range(2):
        study.tell(study.ask(), 1.0)
    with pytest.raises(InputTypeError, match=r"return snapshot.signal\(number\)"):
        study.should_stop()
