# SPDX-License-Identifier: Apache-2.0
"""Bounds: no value is beyond them, whoever tells it."""

import json
import math

import numpy as np
import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError
from stopwise.record.outcomes import Completed, Failed
from stopwise.study import StudyOptions
from stopwise.study.external import ExternalStudy
from tests.support.resuming import quietly_resumed
from tests.support.sealing import sealed_again

LINE = {"x": sw.Real(0, 1)}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, None),
        ((None, None), None),
        ((0, None), (0.0, None)),
        ([None, 1], (None, 1.0)),
        ((-math.inf, 3), (None, 3.0)),
        ((np.float64(0), math.inf), (0.0, None)),
        (np.array([0.0, 1.0]), (0.0, 1.0)),
    ],
)
def test_bounds_are_two_numbers_or_none(given, kept):
    assert StudyOptions(bounds=given).bounds == kept


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (0, InputTypeError, r"bounds=0 are not two numbers. Give \(low, high\)"),
        ("01", InputTypeError, "not two numbers"),
        ((1,), InputTypeError, "not two numbers"),
        ({0: 1, 2: 3}, InputTypeError, "not two numbers"),
        (("0", None), InputTypeError, "a bound of values must be a real number, got '0'"),
        ((True, 2), InputTypeError, "must be a real number"),
        ((math.nan, 1), InputError, "nan is no bound"),
        ((1, 1), InputError, "the lower bound must be below the upper one"),
        ((2, 1), InputError, r"bounds=\(2, 1\): the lower bound"),
        ((math.inf, None), InputError, "the lower bound must be below"),
        ((None, -math.inf), InputError, "the lower bound must be below"),
    ],
)
def test_other_bounds_are_refused_in_words(given, error, words):
    with pytest.raises(error, match=words):
        sw.Study(LINE, lam=0.1, bounds=given)


@pytest.mark.parametrize("kind", [sw.Study, ExternalStudy])
@pytest.mark.parametrize("told", [-0.1, Completed(-0.1), np.float64(-0.1)], ids=repr)
def test_a_value_beyond_is_refused_before_anything_is_written(kind, told, tmp_path):
    path = tmp_path / "run.jsonl"
    study = kind(LINE, lam=0.1, bounds=(0, None), journal=path)
    trial = study.ask()
    before = path.read_bytes()
    words = (
        r"trial 0 has the value -0.1, but bounds=\(0.0, None\) say that no value is below 0\."
        r".* its value is None\. .*begin a new one"
    )
    for what in (trial, dict(trial.params)):
        with pytest.raises(InputError, match=words):
            study.tell(what, told)
    with pytest.raises(InputError, match="trial 1 has the value"):
        study.tell({"x": 0.123}, told)
    assert path.read_bytes() == before
    assert study.pending == (trial,)
    study.tell(trial, 0.0)  # the bound itself may be reached
    study.close()


def test_others_data_beyond_the_bounds_do_not_change_the_design_that_is_planned(tmp_path):
    path = tmp_path / "run.jsonl"
    study = ExternalStudy(LINE, lam=0.1, bounds=(None, 1), journal=path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="no value is above 1"):
        study.tell({"x": 0.5}, 2.0)
    assert path.read_bytes() == before
    study.close()


@pytest.mark.parametrize("told", [None, math.nan, -math.inf, Failed("out of memory")])
def test_failures_have_no_bounds(told):
    study = sw.Study(LINE, lam=0.1, bounds=(0, 1))
    study.tell(study.ask(), told)
    assert study.history[0].failed


@pytest.mark.parametrize("kind", [sw.Study, ExternalStudy])
@pytest.mark.parametrize(
    ("direction", "bounds", "inside"),
    [
        ("minimize", (0, None), (0.0, math.inf)),
        ("maximize", (0, None), (-math.inf, -0.0)),
        ("maximize", (-1, 4), (-4.0, 1.0)),
        ("minimize", None, (-math.inf, math.inf)),
    ],
)
def test_the_belief_has_bounds_in_the_units_that_are_minimised(kind, direction, bounds, inside):
    study = kind(LINE, lam=1e-6, direction=direction, bounds=bounds, n_initial=3)
    for _ in range(6):
        study.should_stop()
        trial = study.ask()
        study.tell(trial, None if trial.number == 3 else trial.params["x"])
    low, high = inside
    everywhere = np.linspace(0.0, 1.0, 50)[:, None]
    for snapshot in (study.snapshot(), study.snapshot().prefix(2)):
        law = snapshot.belief.objective.law(everywhere)
        assert (law.quantile(-5.0).value >= low).all()
        assert (law.quantile(5.0).value <= high).all()
        if low > -math.inf:
            assert (law.log_ei(low).value == -math.inf).all()


def test_minimize_and_maximize_take_bounds():
    seen = []

    def objective(params):
        seen.append(params)
        return params["x"] - 0.5

    for run in (sw.minimize, sw.maximize):
        with pytest.raises(InputError, match="no value is below 0"):
            run(objective, LINE, lam=1e-4, bounds=(0, None))
    assert seen
    assert sw.minimize(lambda p: p["x"], LINE, lam=0.1, bounds=(0, 1)).options.bounds == (0.0, 1.0)


def test_a_journal_keeps_bounds_and_a_resume_may_not_change_them(tmp_path):
    path = tmp_path / "run.jsonl"
    study = sw.Study(LINE, lam=0.1, bounds=(0, np.float64(3.0)), journal=path)
    study.tell(study.ask(), 1.0)
    study.close()
    header = json.loads(path.read_text("utf-8").splitlines()[0])
    assert header["options"]["bounds"] == [0.0, 3.0]
    for same in ({}, {"bounds": (0, 3)}, {"bounds": [0.0, np.float64(3)]}):
        study = quietly_resumed(path, **same)
        assert study.options.bounds == (0.0, 3.0)
        study.close()
    assert sw.Study.load(path).options.bounds == (0.0, 3.0)
    for other in ((0, None), None, (1, 3)):
        with pytest.raises(InputError, match=r"bounds was \[0.0, 3.0\] and is now"):
            quietly_resumed(path, bounds=other)


def test_a_journal_from_before_bounds_has_none(tmp_path):
    path = tmp_path / "run.jsonl"
    sw.Study(LINE, lam=0.1, journal=path).close()
    header = json.loads(path.read_text("utf-8"))
    del header["options"]["bounds"]
    path.write_bytes(sealed_again([header]))
    study = quietly_resumed(path)
    assert study.options.bounds is None
    study.close()
    with pytest.raises(InputError, match=r"bounds was None and is now \[0.0, None\]"):
        quietly_resumed(path, bounds=(0, None))
