# SPDX-License-Identifier: Apache-2.0
"""What a study refuses: each error says what is allowed, and changes nothing."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError, StopwiseError
from stopwise.stopping import (
    PBGI,
)
from tests.support.small_studies import LINE, MIXED, bowl, run, state_of

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
    """A study in the middle: four trials are told, signals are recorded, and one is pending."""
    study = sw.Study(MIXED, lam=0.01, cost="reported", n_initial=3)
    for i in range(4):
        study.tell(study.ask(), math.cos(i), cost=1.0 + i)
    study.should_stop()
    study.ask()
    return study


@pytest.mark.parametrize(("value", "message"), REFUSED_VALUES, ids=lambda v: repr(v)[:20])
def test_a_value_of_the_wrong_kind_is_refused(started, value, message):
    before = state_of(started)
    with pytest.raises(InputTypeError, match=message):
        started.tell(started.pending[0], value, cost=1.0)
    assert state_of(started) == before


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
    before = state_of(started)
    with pytest.raises(kind, match=message):
        started.tell(params, 0.5, cost=1.0)
    assert state_of(started) == before


def test_a_trial_told_twice_is_refused(started):
    trial = started.pending[0]
    started.tell(trial, 0.5, cost=1.0)
    before = state_of(started)
    message = (
        r"trial 4 was told already \(value 0\.5, cost 1\.0\)\. If that was wrong, study\.amend\(4,"
        r" value=\.\.\., cost=\.\.\.\) corrects it\."
        r" .* study\.tell\(trial\.params, value, cost, charge=True\)\."
    )
    with pytest.raises(InputError, match=message):
        started.tell(trial, 0.7, cost=1.0)
    assert state_of(started) == before


def test_a_trial_that_was_never_asked_is_refused(started):
    before = state_of(started)
    with pytest.raises(InputError, match=r"trial 77 was not asked of this study; pending are \[4"):
        started.tell(sw.Trial(77, dict(GOOD)), 0.5, cost=1.0)
    assert state_of(started) == before


def test_a_trial_of_another_study_is_refused_even_if_its_number_runs_here(started):
    other = sw.Trial(started.pending[0].number, dict(GOOD))
    before = state_of(started)
    with pytest.raises(InputError, match=r"trial 4 has params \{.*\} where this study asked for"):
        started.tell(other, 0.5, cost=1.0)
    assert state_of(started) == before


@pytest.mark.parametrize("given", [None, 0, 0.0, -1.0, math.nan, math.inf, "60", True, [1.0]])
def test_a_cost_that_cannot_be_paid_is_refused(started, given):
    before = state_of(started)
    expected = {
        None: r"a cost is missing: this study learns costs .* study\.tell\(trial, value, cost\)\.",
        "60": r"a cost must be a real number, got '60' \(str\)\. Tell what the evaluation cost",
    }.get(given if isinstance(given, str | None) else 0, r"a cost must be .*, got ")
    with pytest.raises(StopwiseError, match=expected):
        started.tell(started.pending[0], 0.5, cost=given)
    assert state_of(started) == before


def test_asking_where_nothing_is_left_is_refused():
    study = sw.Study({"n": sw.Integer(1, 3)}, lam=1e-9)
    for _ in range(3):
        study.ask()
    for told in range(4):
        before = state_of(study)
        with pytest.raises(
            InputError, match=rf"nothing left to ask: {told} conf.*{3 - told} pend"
        ):
            study.ask()
        assert state_of(study) == before
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
    ({"cost": [1.0, 2.0]}, InputTypeError, r"cost of type list for a space that is not a table: give a callable of the params, a number .*, or make the space sw\.Candidates\(rows\)\."),  # noqa: E501
    ({"cost": -5.0}, InputError, r"a cost must be positive and finite: each evaluation costs -5\.0"),  # noqa: E501
    ({"cost": True}, InputTypeError, r"cost of type bool for a space that is not a table"),
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


def test_lambda_is_not_needed_where_nothing_uses_it():
    study = sw.Study(LINE, acquisition="logeipc", stopping="convergence")
    assert not run(study, bowl, 5).should_stop().stop
