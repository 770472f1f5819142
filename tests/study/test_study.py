# SPDX-License-Identifier: Apache-2.0
"""Ask, tell, should_stop: what a study does, what it refuses, and how it ends."""

import dataclasses
import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import stopwise as sw
from stopwise.acquisition.thompson import TableScore
from stopwise.core.beliefs.prices import KnownCost, LearnedCost, UnitCost
from stopwise.errors import InputError, InputTypeError, StopwiseError
from stopwise.record.history import History
from stopwise.stopping import (
    PBGI,
    RULES,
    Convergence,
    FixedTrials,
    Immediate,
    LogEIPCMedian,
    Smoothed,
)
from stopwise.study.result import Best

LINE = {"x": sw.Real(0.0, 1.0)}
MIXED = {
    "lr": sw.Real(1e-4, 1e-1, log=True),
    "n": sw.Integer(1, 6),
    "act": sw.Categorical(["relu", "tanh"]),
}
ROWS = [{"x": i, "y": (5 * i) % 7} for i in range(20)]
TABLE = sw.Candidates(ROWS)


def bowl(params):
    return (params["x"] - 0.3) ** 2


def valley(params):
    return 0.1 * (params["x"] - 13) ** 2 + params["y"]


def run(study, objective, steps):
    for _ in range(steps):
        trial = study.ask()
        study.tell(trial, objective(trial.params))
    return study


def state(study):
    """Everything that an error must leave alone."""
    return (
        study.history,
        study.pending,
        study.traces,
        study.spent,
        study.best,
        study._context.state.next,
        study._context.state.asked,
        study._context.state.initial,
        study._context.state.queue,
    )


# ------------------------------------------------------------------------------- the ordinary


def test_a_study_from_beginning_to_end():
    study = sw.Study(LINE, lam=0.001)
    assert (len(study.history), study.pending, study.best, study.spent) == (0, (), None, 0.0)
    told = []
    while not (verdict := study.should_stop()).stop:
        trial = study.ask()
        assert study.pending == (trial,)
        assert trial.number == len(told)
        value = bowl(trial.params)
        study.tell(trial, value)
        told.append((trial.number, trial.params, value, 1.0))
        assert study.pending == ()
    assert [(o.number, o.params, o.value, o.cost) for o in study.history] == told
    assert study.spent == len(told)
    assert study.best.value == min(value for _, _, value, _ in told)
    assert told[study.best.number][1:3] == (study.best.params, study.best.value)
    assert abs(study.best.params["x"] - 0.3) < 0.05
    assert 4 < len(told) < 20
    assert (verdict.rule, verdict.stop) == ("pbgi", True)
    result = study.result()
    assert (result.best, result.verdict, result.spent) == (study.best, verdict, study.spent)
    assert (result.history, result.traces) == (study.history, study.traces)


def test_the_loop_in_one_call_is_the_loop_by_hand():
    study = sw.Study(TABLE, lam=0.05, seed=3)
    while not study.should_stop().stop:
        run(study, valley, 1)
    result = sw.minimize(valley, TABLE, lam=0.05, seed=3)
    assert result == study.result()


def test_asking_twice_gives_the_same_answer_and_changes_nothing():
    study = run(sw.Study(TABLE, lam=0.05, watch=["prb", "ucb-lcb"]), valley, 8)
    first = study.should_stop()
    before = state(study)
    assert study.should_stop() == first
    assert study.explain() == study.explain()
    assert study.result().verdict == first
    assert state(study) == before


def test_a_verdict_is_true_if_it_is_to_stop():
    study = sw.Study(TABLE, lam=0.05)
    while not study.should_stop():
        run(study, valley, 1)
    assert study.result() == sw.minimize(valley, TABLE, lam=0.05)
    assert bool(study.should_stop()) is study.should_stop().stop is True
    assert bool(sw.Study(TABLE, lam=0.05).should_stop()) is False


def test_a_study_and_a_result_are_printed_in_one_line():
    study = sw.Study(LINE, lam=1e9, direction="maximize")
    assert repr(study) == "<Study: 0 told, 0 pending, best none>"
    for x, value in ((0.1, 2.0), (0.2, 3.14159), (0.3, None), (0.4, 1.0), (0.5, 1.5)):
        study.tell({"x": x}, value)
    study.ask()
    assert repr(study) == "<Study: 5 told, 1 pending, best 3.142>"
    shown = repr(study.result())
    assert shown.startswith("Result(best=Best(params={'x': 0.2}, value=3.14159, number=1")
    assert "Observation" not in shown
    assert "Signal" not in shown


def test_a_result_asks_for_the_verdict_if_nobody_has():
    study = run(sw.Study(TABLE, lam=1e9), valley, 6)
    assert study.result().verdict.stop
    study.ask()
    assert "1 still running" in study.should_stop().reason


def test_the_first_of_equals_is_the_best():
    study = sw.Study(LINE, lam=0.1)
    for x, value in ((0.1, 2.0), (0.2, 1.0), (0.3, 1.0)):
        study.tell({"x": x}, value)
    assert study.best == Best({"x": 0.2}, 1.0, 1)


def test_the_largest_is_the_best_when_maximising():
    study = sw.Study(LINE, lam=0.1, direction="maximize")
    for x, value in ((0.1, 2.0), (0.2, 3.0), (0.3, 1.0)):
        study.tell({"x": x}, value)
    assert (study.best.params, study.best.value) == ({"x": 0.2}, 3.0)


def test_what_is_handed_out_can_be_changed_without_harm():
    study = sw.Study(TABLE, lam=0.05)
    trial = study.ask()
    asked = dict(trial.params)
    trial.params["epochs"] = 10
    study.tell(trial, 1.0)
    assert study.history[0].params == asked
    study.best.params.clear()
    study.traces.clear()
    assert study.best.params == asked


def test_params_come_back_as_they_were_given():
    rows = [{"n": 1, "act": (64, 64), "lr": 0.1}, {"n": 2, "act": (32,), "lr": 1e-3}]
    study = sw.Study(sw.Candidates(rows), lam=0.1)
    asked = [study.ask().params for _ in rows]
    assert sorted(asked, key=lambda row: row["n"]) == rows
    assert all(type(row["n"]) is int for row in asked)


@pytest.mark.parametrize("space", [LINE, MIXED, TABLE], ids=["box", "mixed", "table"])
def test_what_is_asked_for_is_in_the_space(space):
    study = sw.Study(space, lam=1e-9)
    for i in range(9):
        trial = study.ask()
        study.domain.encode(trial.params)  # refuses what is not
        study.tell(trial, math.sin(i))


# --------------------------------------------------------------------------------- the costs


def test_without_costs_every_evaluation_costs_one():
    study = run(sw.Study(TABLE, lam=0.1), valley, 3)
    assert [o.cost for o in study.history] == [1.0, 1.0, 1.0]


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


def test_a_callable_is_asked_about_a_table_once():
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


# ---------------------------------------------------------------------------- errors that teach

REFUSED_VALUES = [
    (
        "0.5",
        r"the value of an evaluation must be a real number, got '0\.5' \(str\)\. Tell a float",
    ),
    ([0.5], r"must be a real number, got \[0\.5\] \(list\)"),
    (1 + 2j, r"must be a real number, got \(1\+2j\) \(complex\)"),
    (True, r"must be a real number, got True \(bool\)"),
    (np.True_, r"must be a real number, got np\.True_ \(bool\)"),
    (np.array([1.0, 2.0]), r"got array\(\[1\., 2\.\]\) \(ndarray\)"),
    (np.str_("1"), r"got np\.str_\('1'\) \(str_\)"),
    (Decimal("0.5"), r"got Decimal\('0\.5'\) \(Decimal\)"),
    ({"loss": 1.0}, r"\{'loss': 1\.0\} is no evaluation: a dict has 'value'"),
    (
        (0.5, 9.0),
        r"got \(0\.5, 9\.0\) \(tuple\)\. .* returns \(value, cost\) needs cost='reported'\.\)",
    ),
]
ACCEPTED_VALUES = [
    3, 0.25, np.float32(0.25), np.float64(0.25), np.int64(2), np.array(0.25), np.array([[0.25]]),
    Fraction(1, 4), pd.Series([0.25]),
]  # fmt: skip


@pytest.fixture
def started():
    """A study in the middle: told, pending, recorded, and one trial of another study."""
    study = sw.Study(MIXED, lam=0.01, cost="reported", n_initial=3)
    for i in range(4):
        study.tell(study.ask(), math.cos(i), cost=1.0 + i)
    study.should_stop()
    study.ask()
    return study


@pytest.mark.parametrize(("value", "message"), REFUSED_VALUES, ids=lambda v: repr(v)[:20])
def test_a_value_of_the_wrong_kind_is_refused(started, value, message):
    before = state(started)
    with pytest.raises(InputTypeError, match=message):
        started.tell(started.pending[0], value, cost=1.0)
    assert state(started) == before


@pytest.mark.parametrize("value", ACCEPTED_VALUES, ids=repr)
def test_numbers_of_every_kind_are_floats(started, value):
    started.tell(started.pending[0], value, cost=np.float32(2.0))
    assert type(started.history[-1].value) is float
    assert type(started.history[-1].cost) is float
    assert started.history[-1].value == float(np.asarray(value, dtype=float).item())


class Tensor:
    """What a torch tensor of one element looks like: its size is a method."""

    def __init__(self, *values):
        self.values = values

    def size(self):
        return (len(self.values),)

    def item(self):
        if len(self.values) != 1:
            raise RuntimeError(self.values)
        return self.values[0]


def test_tensors_of_one_element_are_numbers_and_longer_ones_are_not(started):
    with pytest.raises(InputTypeError, match="Tensor"):
        started.tell(started.pending[0], Tensor(0.5, 0.6), cost=1.0)
    started.tell(started.pending[0], Tensor(0.5), cost=1.0)
    assert started.history[-1].value == 0.5


GOOD = {"lr": 0.01, "n": 3, "act": "relu"}
REFUSED_PARAMS = [
    ({**GOOD, "depth": 2}, InputError, r"params have 'depth', which the space does not; it has"),
    ({**GOOD, "actt": "relu"}, InputError, r"did you mean 'act'\?"),
    ({"lr": 0.01, "n": 3}, InputError, r"params lack 'act'; give every parameter a value"),
    ({**GOOD, "lr": 1.0}, InputError, r"'lr' is 1\.0, outside its bounds; allowed is 0\.0001 to 0\.1"),  # noqa: E501
    ({**GOOD, "lr": math.nan}, InputError, r"'lr' is nan, outside its bounds"),
    ({**GOOD, "n": 2.5}, InputError, r"'n' is 2\.5, not a whole number; allowed are .* 1 to 6"),
    ({**GOOD, "act": "gelu"}, InputError, r"'act' is 'gelu', which is not one of its choices; allowed: 'relu', 'tanh'"),  # noqa: E501
    ({**GOOD, "lr": "0.01"}, InputTypeError, r"'lr' is '0\.01', of type str; it must be a number"),
    ([GOOD], InputTypeError, r"its params \(a dict\), not by \[\{.*\}\] \(list\)\."),
    (3.0, InputTypeError, r"a trial is named by its number, .*, not by 3\.0 \(float\)\."),
    (None, InputTypeError, r"its params \(a dict\), not by None \(NoneType\)\."),
]  # fmt: skip


@pytest.mark.parametrize(("params", "kind", "message"), REFUSED_PARAMS)
def test_params_outside_the_space_are_refused(started, params, kind, message):
    before = state(started)
    with pytest.raises(kind, match=message):
        started.tell(params, 0.5, cost=1.0)
    assert state(started) == before


def test_a_trial_told_twice_is_refused(started):
    trial = started.pending[0]
    started.tell(trial, 0.5, cost=1.0)
    before = state(started)
    message = (
        r"trial 4 was told already \(value 0\.5, cost 1\.0\)\. If that was wrong, study\.amend\(4,"
        r" value=\.\.\., cost=\.\.\.\) corrects it\."
        r" .* study\.tell\(trial\.params, value, cost, charge=True\)\."
    )
    with pytest.raises(InputError, match=message):
        started.tell(trial, 0.7, cost=1.0)
    assert state(started) == before


def test_a_trial_that_was_never_asked_is_refused(started):
    before = state(started)
    with pytest.raises(InputError, match=r"trial 77 was not asked of this study; pending are \[4"):
        started.tell(sw.Trial(77, dict(GOOD)), 0.5, cost=1.0)
    assert state(started) == before


def test_a_trial_of_another_study_is_refused_even_if_its_number_runs_here(started):
    other = sw.Trial(started.pending[0].number, dict(GOOD))
    before = state(started)
    with pytest.raises(InputError, match=r"trial 4 has params \{.*\} where this study asked for"):
        started.tell(other, 0.5, cost=1.0)
    assert state(started) == before


@pytest.mark.parametrize("given", [None, 0, 0.0, -1.0, math.nan, math.inf, "60", True, [1.0]])
def test_a_cost_that_cannot_be_paid_is_refused(started, given):
    before = state(started)
    expected = {
        None: r"a cost is missing: this study learns costs .* study\.tell\(trial, value, cost\)\.",
        "60": r"a cost must be a real number, got '60' \(str\)\. Tell what the evaluation cost",
    }.get(given if isinstance(given, str | None) else 0, r"a cost must be .*, got ")
    with pytest.raises(StopwiseError, match=expected):
        started.tell(started.pending[0], 0.5, cost=given)
    assert state(started) == before


def test_asking_where_nothing_is_left_is_refused():
    study = sw.Study({"n": sw.Integer(1, 3)}, lam=1e-9)
    for _ in range(3):
        study.ask()
    for told in range(4):
        before = state(study)
        with pytest.raises(
            InputError, match=rf"nothing left to ask: {told} conf.*{3 - told} pend"
        ):
            study.ask()
        assert state(study) == before
        if study.pending:
            study.tell(study.pending[0], 1.0 * told)


REFUSED_OPTIONS = [
    ({"lam": None}, InputError, r"'pbgi' needs lam\. lam says what a unit of cost is worth in objective units\. .*lam=sw\.exchange_rate\(improvement=0\.01, cost=1000\).* budget="),  # noqa: E501
    ({"lam": 0}, InputError, r"lam must be a positive number, got 0\..*exchange_rate"),
    ({"lam": -1.0, "acquisition": "lcb", "stopping": "gss"}, InputError, r"lam must be a pos"),
    ({"lam": None, "stopping": "gss"}, InputError, r"the acquisition 'pbgi' needs lam"),
    ({"lam": None, "acquisition": "lcb"}, InputError, r"the stopping rule 'pbgi' needs lam"),
    ({"stopping": "pgbi"}, InputError, r"there is no stopping rule 'pgbi' \(did you mean 'pbgi'\?\): give one of pbgi, logeipc-med, srgap-med, ucb-lcb, prb, gss, convergence, immediate, fixed, or an object\."),  # noqa: E501
    ({"watch": ["gss", "pgbi"]}, InputError, r"there is no stopping rule 'pgbi'"),
    ({"stopping": "fixed"}, InputError, r"'fixed' needs n: give it as an object, such as sw\.stopping\.FixedTrials\(n=\.\.\.\)\."),  # noqa: E501
    ({"stopping": PBGI}, InputTypeError, r"PBGI'> is no stopping rule: give a name \(pbgi, .*\) or an object with signal and verdict, an instance and not its class"),  # noqa: E501
    ({"stopping": None}, InputTypeError, r"None is no stopping rule"),
    ({"stopping": []}, InputError, r"stopping=\[\] would never stop: give a rule"),
    ({"watch": [3]}, InputTypeError, r"3 is no stopping rule"),
    ({"acquisition": "ei"}, InputError, r"there is no acquisition 'ei' \(did you mean 'eic'\?\): give one of pbgi, pbgi-d, logeipc, logeipc-inv, eic, lcb, ts, or an object\."),  # noqa: E501
    ({"acquisition": None}, InputTypeError, r"None is no acquisition: give a name"),
    ({"direction": "max"}, InputError, r"direction='max': give 'minimize' or 'maximize'\."),
    ({"n_initial": 0}, InputError, r"n_initial=0: give a whole number of at least 1\."),
    ({"n_initial": 2.0}, InputError, r"n_initial=2\.0: give a whole number of at least 1\."),
    ({"n_initial": True}, InputError, r"n_initial=True: give a whole number"),
    ({"max_trials": 0}, InputError, r"max_trials=0: give a whole number of at least 1\."),
    ({"seed": -1}, InputError, r"seed=-1: give a whole number of at least 0\."),
    ({"seed": None}, InputError, r"seed=None: give a whole number of at least 0\."),
    ({"noise": 0.0}, InputError, r"noise=0\.0 is not a positive variance\. Give None \(exact\), a variance in squared objective units, or 'learn'\."),  # noqa: E501
    ({"noise": -1.0}, InputError, r"noise=-1\.0 is not a positive variance"),
    ({"noise": math.nan}, InputError, r"noise=nan is not a positive variance"),
    ({"noise": "learned"}, InputTypeError, r"noise must be a real number, got 'learned' \(str\)\. Give None"),  # noqa: E501
    ({"noise": True}, InputTypeError, r"noise must be a real number, got True"),
    ({"prior": "normal"}, InputError, r"prior='normal' is not known: give 'lognormal', 'gamma' or None"),  # noqa: E501
    ({"cost": [1.0, 2.0]}, InputTypeError, r"cost of type list for a space that is not a table: give a callable of the params .*, or make the space sw\.Candidates\(rows\)\."),  # noqa: E501
    ({"cost": 5.0}, InputTypeError, r"cost of type float .* \(lambda params: 5 where every evaluation costs 5\)"),  # noqa: E501
    ({"budget": -1}, InputError, r"budget=-1: give a positive number, what may be spent in all"),
    ({"budget": "10"}, InputTypeError, r"budget must be a real number, got '10' \(str\)\. Give"),
    ({"replicates": True}, InputError, r"replicates=True, but noise=None says that"),
    ({"cost": "minutes"}, InputError, r"cost='minutes' is not known: give 'seconds'"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "kind", "message"), REFUSED_OPTIONS)
def test_what_cannot_be_meant_is_refused_at_construction(options, kind, message):
    with pytest.raises(kind, match=message):
        sw.Study(LINE, **{"lam": 0.01, **options})


@pytest.mark.parametrize("space", [{}, [("x", sw.Real(0, 1))], {"x": (0, 1)}, None], ids=repr)
def test_a_space_that_is_none_is_refused(space):
    with pytest.raises(StopwiseError, match=r"space|parameter"):
        sw.Study(space, lam=0.1)


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
    before = state(study)
    with pytest.raises(StopwiseError, match=re.escape(repr(bad))):
        study.ask()
    assert state(study) == before


def test_lambda_is_not_needed_where_nothing_uses_it():
    study = sw.Study(LINE, acquisition="logeipc", stopping="convergence")
    assert not run(study, bowl, 5).should_stop().stop


# -------------------------------------------------------------------------------- which trial


def test_the_params_of_a_trial_stand_for_the_trial():
    study = sw.Study(LINE, lam=0.1)
    first, second = study.ask(), study.ask()
    study.tell(second.params, 2.0)
    assert study.pending == (first,)
    assert study.history[0].number == second.number
    assert study.spent == 1.0
    study.tell({"x": 0.123}, 3.0)  # none of this study
    assert study.pending == (first,)
    assert study.spent == 1.0
    assert study.ask().number == 3


def test_trials_are_told_in_any_order():
    study = sw.Study(LINE, lam=0.1)
    trials = [study.ask() for _ in range(4)]
    for trial in reversed(trials):
        study.tell(trial, bowl(trial.params))
    assert [o.number for o in study.history] == [3, 2, 1, 0]
    assert study.should_stop().rule == "pbgi"


# ------------------------------------------------------------------------------ how it ends


def test_an_exhausted_domain_ends_it_with_the_reason():
    study = sw.Study(sw.Candidates(ROWS[:7]), lam=1e-300)
    while not study.should_stop().stop:
        run(study, valley, 1)
    verdict = study.should_stop()
    assert (verdict.rule, len(study.history)) == ("exhausted", 7)
    assert verdict.reason == "all 7 configurations have been asked for: stop"
    assert (verdict.value, verdict.threshold) == (7.0, 7.0)
    assert study.best.value == min(map(valley, ROWS[:7]))


@pytest.mark.parametrize(
    "space", [sw.Candidates(ROWS[:1]), {"a": sw.Categorical(["only"])}], ids=["row", "choice"]
)
def test_a_domain_of_one_point(space):
    result = sw.minimize(lambda _: 2.0, space, lam=1e-3)
    assert len(result.history) == 1
    assert result.verdict.reason == "the only configuration has been asked for: stop"
    assert result.best.value == 2.0


@pytest.mark.parametrize("value", [0.0, 3.0, -1e-5, 0.1 + 0.2, 12345.678])
@pytest.mark.parametrize("lam", [1e-6, 1e-3])
@pytest.mark.parametrize("space", [LINE, MIXED, TABLE], ids=["box", "mixed", "table"])
def test_a_constant_objective_ends_with_the_initial_design(space, lam, value):
    result = sw.minimize(lambda _: value, space, lam=lam)
    assert len(result.history) == 2 * (len(result.best.params) + 1)
    assert (result.verdict.rule, result.verdict.stop) == ("pbgi", True)
    assert result.best.value == value
    gain = math.exp(result.verdict.value)
    assert gain < 1e-9 * max(abs(value), 1.0)  # next to nothing, not merely little


def test_the_cap_counts_every_trial_that_was_asked_for():
    study = sw.Study(LINE, lam=1e-300, max_trials=6)
    study.tell({"x": 0.5}, 1.0)  # from elsewhere: not asked for
    for i in range(6):
        assert not study.should_stop().stop
        trial = study.ask()
        study.tell(trial, None if i == 2 else bowl(trial.params))
    verdict = study.should_stop()
    assert (verdict.stop, verdict.rule) == (True, "max-trials")
    assert verdict.reason == "6 of at most 6 trials: stop"
    assert (verdict.value, verdict.threshold) == (6, 6)


def test_the_cap_counts_what_is_running_and_the_design():
    study = sw.Study(LINE, lam=1e-300, max_trials=3)
    for _ in range(3):
        assert not study.should_stop().stop
        study.ask()
    assert study.should_stop().reason == (
        "3 of at most 3 trials: stop (for new trials; 3 still running)"
    )


def test_at_the_cap_the_rules_are_still_recorded():
    result = sw.minimize(bowl, LINE, lam=1e-300, max_trials=9, watch=["convergence"])
    assert result.verdict.rule == "max-trials"
    for trace in result.traces.values():
        assert [s.t for s in trace] == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "reported", [None, math.nan, math.inf, -math.inf, np.nan, 10**400], ids=lambda v: str(v)[:9]
)
def test_a_failed_evaluation_is_recorded_with_its_cost_and_is_never_the_best(reported):
    study = sw.Study(LINE, lam=0.1, cost="reported")
    for i in range(5):
        study.tell(study.ask(), 1.0 + i, cost=1.0)
    study.should_stop()
    trial = study.ask()
    study.tell(trial, reported, cost=7.0, message="out of memory")
    last = study.history[-1]
    assert (last.value, last.failed, last.cost, last.message) == (None, True, 7.0, "out of memory")
    assert study.spent == 12.0
    assert study.best.value == 1.0
    assert len(study.history) == 6
    study.should_stop()
    assert study.snapshot().n == 5


def test_ten_failures_in_a_row_end_it_with_the_latest_message():
    study = sw.Study(LINE, lam=1e-300)
    run(study, bowl, 5)
    for i in range(10):
        assert not study.should_stop().stop
        study.tell(study.ask(), None, message=f"crash {i}")
    verdict = study.should_stop()
    assert (verdict.stop, verdict.rule, verdict.value) == (True, "failures", 10.0)
    assert verdict.reason == "the last 10 evaluations failed, the latest with 'crash 9': stop"
    study.tell(study.ask(), 1.0)
    assert study.should_stop().rule == "pbgi"


def test_nine_failures_and_a_success_do_not_end_it():
    study = sw.Study(LINE, lam=1e-300)
    for i in range(30):
        trial = study.ask()
        study.tell(trial, bowl(trial.params) if i % 10 == 9 else None)
        assert not study.should_stop().stop


def test_ten_failures_end_it_before_anything_was_learned():
    study = sw.Study(LINE, lam=0.1)
    for _ in range(10):
        study.tell(study.ask(), math.nan)
    verdict = study.should_stop()
    assert (verdict.rule, study.best) == ("failures", None)
    assert study.result().best is None
    assert study.explain() == f"failures: {verdict.reason}."


@pytest.mark.parametrize("acquisition", sw.acquisition.ACQUISITIONS)
@pytest.mark.parametrize("space", [TABLE, LINE], ids=["table", "box"])
def test_what_failed_is_not_tried_again(space, acquisition):
    study = run(sw.Study(space, lam=1e-9, acquisition=acquisition), lambda p: p["x"], 6)
    failed = []
    for _ in range(6):
        trial = study.ask()
        assert trial.params not in failed
        study.tell(trial, None)
        failed.append(trial.params)


def test_a_rule_does_not_wait_for_a_region_that_fails():
    def objective(params):
        return None if params["x"] < 0.35 else (params["x"] - 0.3) ** 2

    result = sw.minimize(objective, LINE, lam=1e-3, max_trials=60)
    assert result.verdict.rule == "pbgi"
    assert len(result.history) < 40
    assert 0.35 <= result.best.params["x"] < 0.4


def test_a_failure_is_known_to_the_next_verdict():
    study = sw.Study({"n": sw.Integer(0, 9)}, lam=0.05, n_initial=3)
    for n, value in ((0, 9.0), (1, 8.0), (2, 7.0)):
        study.tell({"n": n}, value)
    hopeful = study.should_stop()
    assert not hopeful.stop
    trial = study.ask()
    study.tell(trial, None)
    sober = study.should_stop()
    assert sober != hopeful
    assert sober.value < hopeful.value
    assert [s.n for s in study.traces["sup_log_ei_per_cost"]] == [3]
    assert study.should_stop() == sober


def test_a_failed_configuration_that_succeeds_after_all_counts():
    study = run(sw.Study(TABLE, lam=1e-9), valley, 6)
    trial = study.ask()
    study.tell(trial, None)
    study.should_stop()
    study.tell(trial.params, -50.0)
    assert study.best.value == -50.0
    study.should_stop()
    at = study.domain.encode(trial.params)
    assert study.snapshot().belief.objective.law(at).median == pytest.approx([-50.0], rel=1e-6)


def test_the_same_configuration_may_fail_twice_or_give_two_values():
    study = run(sw.Study(LINE, lam=1e-9), bowl, 5)
    for value in (None, None, 0.4, 0.5):
        study.tell({"x": 0.77}, value)
    study.should_stop()
    assert study.ask().params != {"x": 0.77}


def test_where_a_score_leaves_everything_out_the_lowest_bound_is_next():
    @dataclasses.dataclass(frozen=True)
    class Hopeless:
        def bind(self, snapshot):
            return TableScore(snapshot, np.full(len(snapshot.domain), -np.inf))

    study = run(sw.Study(TABLE, lam=0.1, acquisition=Hopeless()), valley, 6)
    other = run(sw.Study(TABLE, lam=0.1, acquisition="lcb"), valley, 6)
    assert study.ask() == other.ask()


# -------------------------------------------------------------------------- which rules decide


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


# ------------------------------------------------------------------------- several at a time


@pytest.mark.parametrize("acquisition", sw.acquisition.ACQUISITIONS)
@pytest.mark.parametrize("space", [TABLE, LINE, MIXED], ids=["table", "box", "mixed"])
def test_trials_that_run_at_the_same_time_are_distinct(space, acquisition):
    study = sw.Study(space, lam=1e-6, acquisition=acquisition, n_initial=4)
    run(study, lambda p: math.sin(3 * sum(v for v in p.values() if not isinstance(v, str))), 5)
    trials = [study.ask() for _ in range(5)]
    points = study.domain.encode([t.params for t in (*trials, *study.history)])
    gaps = np.abs(points[:, None] - points[None]).max(axis=2)[np.triu_indices(10, 1)]
    assert gaps.min() > 1e-6
    assert [t.number for t in study.pending] == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("acquisition", sw.acquisition.ACQUISITIONS)
def test_trials_that_run_keep_others_at_a_distance(acquisition):
    study = sw.Study(LINE, lam=1e-3, acquisition=acquisition)
    run(study, lambda p: math.sin(9 * p["x"]), 4)
    assert not study.should_stop()
    for _ in range(3):  # not just beside each other, where nothing new is to be learned
        study.ask()
    points = sorted(t.params["x"] for t in (*study.pending, *study.history))
    assert np.diff(points).min() > 1e-3


def test_what_is_believed_of_running_trials_is_never_the_best_and_never_a_signal():
    study = run(sw.Study(TABLE, lam=1e-9, watch=["ucb-lcb", "convergence", "prb"]), valley, 8)
    best = study.best
    running = [study.ask() for _ in range(4)]
    study.should_stop()
    snapshot = study.snapshot()
    assert (snapshot.n, len(snapshot.belief.objective)) == (8, 8)
    assert len(snapshot.pending) == 4
    assert study.best == best
    assert {trace.current.n for trace in study.traces.values()} == {8}
    fresh = run(sw.Study(TABLE, lam=1e-9, watch=["ucb-lcb", "convergence", "prb"]), valley, 8)
    fresh.should_stop()
    for key in ("ucb_lcb_gap", "evaluations_without_improvement"):
        assert study.traces[key] == fresh.traces[key]
    assert {t.number for t in running} == {8, 9, 10, 11}


def test_the_supremum_leaves_running_trials_out():
    study = run(sw.Study(TABLE, lam=1e-9), valley, 8)
    study.ask()
    top = study.snapshot().sup(sw.acquisition.LogEIPC())
    running = study.domain.encode(study.pending[0].params)[0]
    assert not np.array_equal(top.x, running)


def test_the_reason_says_how_many_are_running():
    study = run(sw.Study(TABLE, lam=1e9), valley, 7)
    assert "running" not in study.should_stop().reason
    study.ask()
    study.ask()
    verdict = study.should_stop()
    assert verdict.stop
    assert verdict.reason.endswith(": stop (for new trials; 2 still running)")
    study.tell(study.pending[0], 0.0)
    assert study.should_stop().reason.endswith("(for new trials; 1 still running)")


def test_a_stop_while_trials_run_is_asked_again_when_they_return():
    study = sw.Study({"n": sw.Integer(0, 40)}, lam=0.05, n_initial=4)
    for n in (5, 10, 15, 20):
        study.tell({"n": n}, 1.0 + 1e-3 * n)
    trial = study.ask()
    verdict = study.should_stop()
    study.tell(trial, -100.0)  # a surprise
    assert study.should_stop() != verdict
    assert not study.should_stop().stop


# -------------------------------------------------------------------------- noise, and scales


def test_with_noise_the_best_is_the_best_mean_with_its_deviation():
    rng = np.random.default_rng(5)
    study = sw.Study(LINE, lam=0.01, noise=0.04)
    for i in range(40):
        x = (i % 20) / 19
        study.tell({"x": x}, (x - 0.3) ** 2 + 0.2 * rng.standard_normal())
    lowest = min(study.history, key=lambda o: o.value)
    assert study.best.value > lowest.value + 0.1  # luck is not quality
    assert 0.0 < study.best.std < 0.2
    assert abs(study.best.params["x"] - 0.3) < 0.25
    sign = sw.Study(LINE, lam=0.01, noise=0.04, direction="maximize")
    for o in study.history:
        sign.tell(o.params, -o.value)
    assert (sign.best.params, sign.best.value) == (study.best.params, -study.best.value)


@pytest.mark.parametrize("noise", [None, 1e-4, "learn"])
@pytest.mark.parametrize("prior", ["lognormal", "gamma", None])
def test_every_noise_and_prior_reaches_an_end(noise, prior):
    result = sw.minimize(
        bowl, LINE, lam=0.01, noise=noise, prior=prior, max_trials=25, surrogate="plain"
    )
    assert result.verdict.rule in {"pbgi", "max-trials"}
    assert abs(result.best.params["x"] - 0.3) < 0.15


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_of_objective_and_cost_do_not_matter(scale):
    def asked(value_scale, cost_scale):
        result = sw.minimize(
            lambda p: value_scale * valley(p),
            TABLE,
            lam=0.005 * value_scale / cost_scale,
            cost=lambda p: cost_scale * (1 + p["x"]),
        )
        return [o.params for o in result.history]

    plain = asked(1.0, 1.0)
    assert len(plain) > 7
    assert asked(scale, 1.0) == asked(1.0, scale) == asked(scale, scale) == plain


def test_one_observation_is_enough_to_go_on_from():
    study = sw.Study(LINE, lam=0.01, n_initial=1)
    while not study.should_stop().stop:
        run(study, bowl, 1)
    assert study.history
    assert study.traces["sup_log_ei_per_cost"].signals[0].n == 1


def test_an_empty_study_is_at_its_beginning():
    study = sw.Study(LINE, lam=0.1)
    assert study.history == History()
    result = study.result()
    assert (result.best, result.spent, result.traces) == (None, 0.0, {})
    assert result.verdict.reason == "initial design, 0 of 4"
