# SPDX-License-Identifier: Apache-2.0
"""Costs of evaluations: constant, known, learned or told, and what is charged."""

import dataclasses
import math
import re

import numpy as np
import pandas as pd
import pytest

import stopwise as sw
from stopwise.core.beliefs.prices import KnownCost, LearnedCost, UnitCost
from stopwise.errors import InputError, StopwiseError
from tests.support.small_studies import LINE, bowl, rows, run, state_of, valley

ROWS = rows(20)
TABLE = sw.Candidates(ROWS)


def test_without_costs_every_evaluation_costs_one():
    study = run(sw.Study(TABLE, lam=0.1), valley, 3)
    assert [o.cost for o in study.history] == [1.0, 1.0, 1.0]


def test_a_number_is_what_each_costs_and_the_journal_holds_it(tmp_path):
    journal = tmp_path / "run.jsonl"
    by_number = sw.Study(LINE, lam=1e-4, cost=4, cost_unit="$", journal=journal)
    run(by_number, bowl, 8)
    by_function = run(sw.Study(LINE, lam=1e-4, cost=lambda _: 4.0, cost_unit="$"), bowl, 8)
    assert [o.cost for o in by_number.history] == [4.0] * 8
    assert state_of(by_number) == state_of(by_function)
    assert by_number.should_stop() == by_function.should_stop()
    by_number.close()
    for handed in ({}, {"cost": 4}, {"cost": 4.0}):  # a function would have to be handed in again
        resumed = sw.Study.resume(journal, **handed)
        assert [o.cost for o in resumed.history] == [4.0] * 8
        resumed.close()
    resumed = sw.Study.resume(journal)
    assert resumed.ask().params == by_function.ask().params
    resumed.close()
    with pytest.raises(InputError, match=r"cost was .*4.0.* and is now .*5.0"):
        sw.Study.resume(journal, cost=5)


def test_with_a_budget_a_number_counts_the_evaluations_that_can_be_paid():
    few, many = (sw.Study(LINE, budget=b, cost=10.0, n_initial=None) for b in (60.0, 1000.0))
    assert few.design_size == sw.Study(LINE, budget=6.0).design_size
    assert few.design_size < many.design_size


def test_a_callable_says_what_is_paid_to_the_last_bit():
    study = run(sw.Study(TABLE, lam=0.1, cost=lambda p: 0.1 * (1 + p["x"])), valley, 8)
    assert [o.cost for o in study.history] == [0.1 * (1 + o.params["x"]) for o in study.history]
    assert study.spent == sum(o.cost for o in study.history)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series], ids=["list", "array", "column"])
def test_one_cost_per_row_where_rows_repeat(kind):
    rows = [*ROWS, ROWS[3], ROWS[0]]
    costs = [0.1 * (i + 1) for i in range(20)] + [99.0, 99.0]
    study = sw.Study(sw.Candidates(rows), lam=0.01, cost=kind(costs))
    run(study, valley, 9)
    assert [o.cost for o in study.history] == [costs[o.params["x"]] for o in study.history]


def test_a_callable_is_not_asked_about_the_whole_table_at_every_step():
    asked = []

    def price(params):
        asked.append(params["x"])
        return 1.0

    study = run(sw.Study(TABLE, lam=1e-6, cost=price), valley, 12)
    study.should_stop()
    # Each configuration when it is asked for and told, and the table for the design and the first
    # two beliefs.
    assert len(asked) <= 2 * 12 + 3 * len(ROWS)


@pytest.mark.parametrize("word", ["seconds", "reported"])
def test_told_costs_are_learned(word):
    study = sw.Study(LINE, lam=0.001, cost=word)
    for i in range(8):
        study.tell({"x": i / 7}, math.sin(9 * i), cost=math.exp(i / 3))
    study.should_stop()
    price = study.snapshot().belief.log_price(np.array([[0.0], [1.0]]))
    assert price == pytest.approx([0.0, 7 / 3], abs=0.3)


def test_a_cost_model_is_taken_as_it_is():
    for model in (UnitCost(), KnownCost(lambda _: 2.0), LearnedCost(prior="gamma")):
        assert sw.Study(LINE, lam=0.1, cost=model).cost_model is model
    study = run(sw.Study(LINE, lam=0.1, cost=KnownCost(lambda _: 2.0)), bowl, 2)
    assert study.spent == 4.0


def test_a_cost_model_of_ones_own_is_told_what_was_paid():
    @dataclasses.dataclass(frozen=True)
    class Doubled:
        def price(self, domain, X, costs, start=None):
            return LearnedCost().price(domain, X, 2.0 * costs, start)

    study = sw.Study(LINE, lam=0.1, cost=Doubled(), n_initial=3)
    with pytest.raises(InputError, match="a cost is missing"):
        study.tell({"x": 0.0}, 1.0)
    for i in range(4):
        study.tell({"x": i / 3}, 1.0 * i, cost=5.0 + 0.01 * i)
    study.should_stop()
    assert study.spent == 0.0
    at = np.array([[0.5]])
    assert np.exp(study.snapshot().belief.log_price(at)) == pytest.approx([10.0], rel=0.01)


def test_a_cost_told_where_it_is_known_is_what_was_spent_and_decides_nothing():
    def decided(**told):
        study = sw.Study(TABLE, lam=0.05, cost=lambda p: 1.0 + p["x"])
        verdicts = []
        for _ in range(9):
            trial = study.ask()
            study.tell(trial, valley(trial.params), **told)
            verdicts.append(study.should_stop())
        return study, verdicts

    known, as_known = decided()
    dearer, as_told = decided(cost=1000.0)
    assert [o.cost for o in dearer.history] == [1000.0] * 9
    assert dearer.spent == 9000.0
    assert as_told == as_known
    assert [o.params for o in dearer.history] == [o.params for o in known.history]


def test_data_from_elsewhere_are_not_charged_unless_asked_for():
    study = sw.Study(LINE, lam=0.1, cost="reported")
    study.tell({"x": 0.1}, 1.0, cost=3.0)
    assert study.spent == 0.0
    study.tell({"x": 0.2}, 1.0, cost=5.0, charge=True)
    assert study.spent == 5.0
    trial = study.ask()
    study.tell(trial, 1.0, cost=7.0)
    assert study.spent == 12.0
    study.tell(study.ask(), 1.0, cost=11.0, charge=False)
    assert study.spent == 12.0
    assert [o.charged for o in study.history] == [False, True, True, False]
    assert [o.number for o in study.history] == [0, 1, 2, 3]


def test_data_from_elsewhere_are_believed_and_priced():
    study = sw.Study(LINE, lam=0.001, cost="reported")
    for i in range(9):
        study.tell({"x": i / 8}, (i / 8 - 0.3) ** 2, cost=60.0)
    study.should_stop()
    snapshot = study.snapshot()
    assert snapshot.n == 9
    assert np.exp(snapshot.belief.log_price(np.array([[0.55]]))) == pytest.approx([60.0], rel=1e-3)


# -------------------------------------------------------------------------- costs that are refused


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (
            [1.0] * 19,
            r"the costs have shape \(19,\), the table has 20 rows: give one cost per row",
        ),
        ([1.0] * 19 + [0.0], r"row 19 costs 0\.0 \(1 of 20 are not allowed\)"),
        ([math.nan] + [1.0] * 19, r"row 0 costs nan"),
    ],
)
def test_costs_that_do_not_fit_the_table_are_refused(costs, message):
    with pytest.raises(InputError, match=message):
        sw.Study(TABLE, lam=0.1, cost=costs)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, "cheap", None])
def test_a_callable_that_gives_no_cost_is_named_with_what_it_gave(bad):
    study = sw.Study(LINE, lam=0.1, cost=lambda _: bad)
    before = state_of(study)
    with pytest.raises(StopwiseError, match=re.escape(repr(bad))):
        study.ask()
    assert state_of(study) == before
