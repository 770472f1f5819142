# SPDX-License-Identifier: Apache-2.0
"""A trial is named by its number, by itself or by its params, wherever one is named."""

import numpy as np
import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError
from stopwise.study.external import ExternalStudy

SPACE = {"x": sw.Real(0, 1), "n": sw.Integer(1, 8)}
QUICK = {"lam": 0.01, "surrogate": "plain"}
FORMS = {
    "number": lambda trial: trial.number,
    "numpy": lambda trial: np.int64(trial.number),
    "trial": lambda trial: trial,
    "params": lambda trial: dict(trial.params),
}


@pytest.fixture(params=FORMS, name="form")
def _form(request):
    return FORMS[request.param]


@pytest.fixture(name="study")
def _study():
    return sw.Study(SPACE, **QUICK)


def test_tell_amend_and_drop_take_the_same_forms(study, form):
    told, dropped, left = study.ask(), study.ask(), study.ask()
    study.tell(form(told), 0.5)
    study.amend(form(told), 0.7)
    study.drop(form(dropped))
    assert [(o.number, o.value, o.charged) for o in study.history] == [(told.number, 0.7, True)]
    assert study.pending == (left,)


def test_an_evaluation_in_stages_is_told_by_every_form(form):
    study = sw.Study({"x": sw.Real(0, 1)}, lam=0.1, stages=sw.Stages(9, eta=3))
    trial = study.next().trial
    study.tell(form(trial), 2.0, step=1)
    study.tell(form(trial), 1.5, step=9)
    assert [report.step for report in study.curves[trial.number]] == [1, 9]


def test_an_external_study_is_told_by_every_form(form):
    study = ExternalStudy(SPACE, **QUICK)
    trial = study.begin({"x": 0.5, "n": 3})
    study.tell(form(trial), 0.5)
    assert [(o.number, o.charged) for o in study.history] == [(trial.number, True)]


@pytest.mark.parametrize("given", [None, "0", 0.0, True, [0]])
def test_nothing_else_names_a_trial(study, given):
    study.ask()
    words = r"named by its number, by what ask\(\) returned or by its params \(a dict\), not by"
    for method in (lambda: study.tell(given, 0.5), lambda: study.amend(given, 0.5)):
        with pytest.raises(InputTypeError, match=words):
            method()
    with pytest.raises(InputTypeError, match=words):
        study.drop(given)


# --------------------------------------------------------------------------- given up


def test_a_trial_that_was_given_up_is_said_to_be_so(study):
    trial = study.ask()
    study.drop(trial)
    words = (
        r"trial 0 was given up: .*To tell its data anyway, tell its params \(a dict\).*"
        r"study\.tell\(params, value, cost, charge=True\)"
    )
    for given in (trial, 0):
        with pytest.raises(InputError, match=words):
            study.tell(given, 0.5)
        with pytest.raises(InputError, match=words):
            study.amend(given, 0.5)
        with pytest.raises(InputError, match="trial 0 was given up already; pending are none"):
            study.drop(given)
    study.tell(trial.params, 0.5, charge=True)  # as the message says
    assert [(o.number, o.value, o.charged) for o in study.history] == [(1, 0.5, True)]


def test_a_trial_in_stages_that_was_given_up_is_said_to_be_so():
    study = sw.Study({"x": sw.Real(0, 1)}, lam=0.1, stages=sw.Stages(9, eta=3))
    trial = study.next().trial
    study.drop(trial)
    for step in (1, 9):
        with pytest.raises(InputError, match="trial 0 was given up"):
            study.tell(trial, 0.5, step=step)


# ------------------------------------------------------------------ params of a finished trial


def test_params_of_a_finished_trial_are_asked_about(study):
    trial = study.ask()
    study.tell(trial, 0.5)
    study.tell(trial.params, 0.5)  # the same is harmless
    assert len(study.history) == 1
    words = (
        r"these are the params of trial 0, which was told already \(value 0\.5, cost 1\.0\)\..*"
        r"study\.amend\(0, value=.*study\.tell\(params, value, cost, charge=True\)"
    )
    for other in ({"value": 0.7}, {"value": 0.5, "cost": 3.0}, {"value": None}):
        with pytest.raises(InputError, match=words):
            study.tell(trial.params, **other)
    assert len(study.history) == 1
    study.tell(trial.params, 0.7, charge=True)  # as the message says
    study.tell(trial.params, 0.7)  # once more is harmless again
    study.tell(trial.params, 0.6, charge=False)
    assert [(o.number, o.value, o.charged) for o in study.history] == [
        (0, 0.5, True),
        (1, 0.7, True),
        (2, 0.6, False),
    ]


def test_of_params_that_were_told_more_than_once_the_number_says_which(study):
    trial = study.ask()
    study.tell(trial, 0.5)
    study.tell(trial.params, 0.7, charge=True)
    with pytest.raises(InputError, match=r"trials 0, 1 have these params: give the number"):
        study.amend(trial.params, 0.6)
    study.amend(1, 0.6)
    assert [o.value for o in study.history] == [0.5, 0.6]


def test_with_noise_one_more_evaluation_is_told_by_params():
    study = sw.Study(SPACE, noise="learn", **QUICK)
    trial = study.ask()
    study.tell(trial, 0.5)
    study.tell(trial.params, 0.5)
    study.tell(trial.params, 0.6)
    assert [o.value for o in study.history] == [0.5, 0.5, 0.6]


def test_data_from_elsewhere_may_hold_a_configuration_twice(study):
    for value in (0.5, 0.5, 0.6):
        study.tell({"x": 0.5, "n": 3}, value)
    assert [o.value for o in study.history] == [0.5, 0.5, 0.6]


def test_others_may_evaluate_a_configuration_twice():
    study = ExternalStudy(SPACE, **QUICK)
    study.tell(study.begin({"x": 0.5, "n": 3}), 0.5)
    for value in (0.5, 0.6):
        study.tell({"x": 0.5, "n": 3}, value)
    assert [(o.value, o.charged) for o in study.history] == [
        (0.5, True),
        (0.5, False),
        (0.6, False),
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"x": 0.5, "n": 3}, "no trial with these params was told. What can .* told: 0 to 0"),
        (sw.Trial(0, {"x": 0.5, "n": 3}), r"where this study was told of .*give the number"),
    ],
)
def test_a_trial_that_was_not_told_is_not_amended(study, given, words):
    study.tell(study.ask(), 0.5)
    with pytest.raises(InputError, match=words):
        study.amend(given, 0.7)


def test_what_is_pending_is_not_amended_by_its_params(study):
    trial = study.ask()
    with pytest.raises(InputError, match="trial 0 is pending: tell it"):
        study.amend(trial.params, 0.7)


def test_params_that_are_not_pending_are_not_dropped(study):
    study.tell(study.ask(), 0.5)
    with pytest.raises(
        InputError, match="a trial with these params is not pending; pending are n"
    ):
        study.drop(study.history[0].params)
