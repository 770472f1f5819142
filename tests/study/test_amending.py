# SPDX-License-Identifier: Apache-2.0
"""A report that was wrong is amended: everything is believed anew, and the record stays."""

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.beliefs.refits import RefitAtSizes, RefitWhenGrown
from stopwise.errors import InputError, InputTypeError, JournalError
from stopwise.record.events import TrialAmended
from stopwise.record.journal import look_at
from stopwise.record.outcomes import Failed, Infeasible, Pruned
from stopwise.study.external import ExternalStudy
from tests.support.resuming import journal_lines, quietly_resumed
from tests.support.sealing import sealed_again

SPACE = {"x": sw.Real(0, 1), "n": sw.Integer(1, 8)}
POINTS = [{"x": (0.37 * i) % 1, "n": 1 + (3 * i) % 8} for i in range(8)]
QUICK = {"lam": 1e-3, "surrogate": "plain", "watch": ["gss"]}


def value_of(params):
    return (params["x"] - 0.3) ** 2 + 0.02 * params["n"]


def cost_of(params):
    return 1.0 + params["n"]


def told(amended=(), **options):
    """Data from elsewhere; those that are to be amended are told wrong at first."""
    study = sw.Study(SPACE, **{"cost": "reported", **QUICK, **options})
    for i, params in enumerate(POINTS):
        wrong = i in amended
        value, cost = (5.0, 99.0) if wrong else (value_of(params), cost_of(params))
        study.tell(params, None if wrong and i % 2 else value, cost)
    return study


@pytest.mark.parametrize("options", [{}, {"noise": "learn"}, {"surrogate": "default"}])
@pytest.mark.parametrize("wrong", [(2,), (3,), (0, 7)], ids=["value", "failure", "two"])
def test_what_is_believed_is_as_if_it_had_been_told_right(options, wrong):
    right, study = told(**options), told(wrong, **options)
    study.should_stop()
    for i in wrong:
        study.amend(i, value_of(POINTS[i]), cost_of(POINTS[i]))
    assert study.history == right.history
    assert study.should_stop() == right.should_stop()
    assert study.best == right.best
    assert study.ask() == right.ask()
    assert study.promises == right.promises


def test_a_value_that_was_wrong_is_taken_back_as_a_failure():
    right, study = told(), told()
    study.should_stop()
    study.amend(2, None, message="the flask was dirty")
    assert study.history[2].outcome == Failed("the flask was dirty")
    assert study.history[2].cost == right.history[2].cost
    study.amend(2, Pruned("at noon"))
    study.amend(2, cost=0.5)
    assert (study.history[2].outcome, study.history[2].cost) == (Pruned("at noon"), 0.5)
    assert study.spent == right.spent  # data from elsewhere are not charged
    study.should_stop()
    assert len(study.history.succeeded) == 7


def run(study, steps):
    for _ in range(steps):
        study.should_stop()
        trial = study.ask()
        study.tell(trial, value_of(trial.params), cost_of(trial.params))
    return study


class AtFewSizes(RefitAtSizes):
    """Up to 5 observations, then at 9, 13, 17, ..."""

    def latest(self, n):
        return n if n <= 5 else 5 + 4 * ((n - 5) // 4)


class RarelyFitted(sw.Study):
    _refits = AtFewSizes()


@pytest.mark.parametrize("kind", [sw.Study, RarelyFitted])
@pytest.mark.parametrize("noise", [None, "learn"])
def test_an_amended_study_goes_on_bit_for_bit_after_a_resume(tmp_path, kind, noise):
    path, copy = tmp_path / "run.jsonl", tmp_path / "copy.jsonl"
    study = kind(SPACE, cost="reported", noise=noise, journal=path, **QUICK)
    run(study, 9)
    pending = study.ask()
    study.amend(4, 0.9)
    study.amend(7, cost=3.5)
    copy.write_bytes(path.read_bytes())
    other = quietly_resumed(copy, kind, again=False)
    for each in (study, other):
        each.tell(pending, value_of(pending.params), cost_of(pending.params))
        run(each, 3)
    assert study.history == other.history
    assert study.traces == other.traces
    assert study.promises == other.promises
    assert study.should_stop() == other.should_stop()


def test_the_record_stays_and_the_present_is_judged_anew(tmp_path):
    path = tmp_path / "run.jsonl"
    study = run(sw.Study(SPACE, cost="reported", journal=path, **QUICK), 10)
    study.should_stop()
    before, n = study.traces, len(study.history)
    first = [line for line in look_at(path).lines if line.get("event") == "tell"]
    study.amend(9, -3.0)
    for key, trace in study.traces.items():
        assert trace == before[key].upto(n - 1)
        assert len(trace) == len(before[key]) - 1
    study.should_stop()
    assert all(len(trace) == len(before[key]) for key, trace in study.traces.items())
    assert study.best.number == 9
    lines = look_at(path).lines
    assert [line for line in lines if line.get("event") == "tell"] == first
    [amended] = [line for line in lines if line.get("event") == "amend"]
    assert (amended["trial"], amended["value"], amended["cost"]) == (9, -3.0, first[9]["cost"])
    assert sw.Study.load(path).history == study.history


def test_what_came_of_promises_is_counted_anew():
    study = run(sw.Study(SPACE, cost="reported", **QUICK), 10)
    assert len(study.promises.told) >= 4
    study.amend(study.promises[0].trial, -1.0)  # better than all that came after it
    best, gains = np.inf, {}
    for o in study.history:
        gains[o.number] = max(best - o.value, 0.0)
        best = min(best, o.value)
    assert [p.delivered for p in study.promises] == [gains[p.trial] for p in study.promises]
    study.amend(study.promises[0].trial, None)
    assert study.promises[0].delivered == 0.0


def test_what_the_study_says_of_broken_limits_is_said_anew():
    study = sw.Study(SPACE, lam=0.1, limits={"tox": (None, 3.0)}, surrogate="plain")
    for message in ("", "batch 12"):
        trial = study.ask()
        study.tell(trial, 1.0, message=message, outcomes={"tox": 4.0})
        for tox, beyond in [(9.0, "beyond its limits: tox is 9"), (2.5, ""), (4.0, None)]:
            study.amend(trial, outcomes={"tox": tox})
            if beyond is not None:
                assert study.history[-1].message == (message or beyond)
            assert study.history[-1].infeasible == (tox > 3.0)
        study.amend(trial, message="again")
        assert study.history[-1].outcome == Infeasible(1.0, "again")


def test_limits_are_judged_anew():
    study = sw.Study(SPACE, lam=0.1, limits={"harm": (None, 1.0)}, surrogate="plain")
    study.tell(POINTS[0], 0.5, outcomes={"harm": 0.5})
    study.tell(POINTS[1], 0.1, outcomes={"harm": 0.7})
    study.amend(1, outcomes={"harm": 7.0})
    assert study.history[1].infeasible
    assert study.best.number == 0
    study.amend(1, 0.2, outcomes={"harm": 1.0})
    assert (study.history[1].value, study.best.number) == (0.2, 1)
    with pytest.raises(InputError, match="harm"):
        study.amend(1, 0.3, outcomes={"hram": 1.0})


def test_an_external_study_believes_the_new_value():
    study = ExternalStudy(SPACE, cost="reported", **QUICK)
    for params in POINTS:
        study.tell(study.begin(params), value_of(params), cost_of(params))
        study.should_stop()
    study.amend(5, 3.0)
    snapshot = study.snapshot()
    assert snapshot.y[5] == 3.0
    assert snapshot.belief.objective.law(snapshot.X[[5]]).median == pytest.approx(3.0, abs=1e-3)


class ExternallyFittedOnce(ExternalStudy):
    """Observations are added to the first fit."""

    _refits = RefitWhenGrown(factor=100.0, always_up_to=2)


@pytest.mark.parametrize("kind", [RarelyFitted, ExternallyFittedOnce])
def test_no_fit_to_a_wrong_value_is_kept(kind):
    """What a model has kept of a fit, to add observations to it, ends with an amendment."""
    beliefs = []
    for first in (value_of(POINTS[3]), 5.0):
        study = kind(SPACE, cost="reported", n_initial=2, **QUICK)
        for params in POINTS[:5]:
            value = first if params is POINTS[3] else value_of(params)
            study.tell(params, value, cost_of(params))
            study.should_stop()
        study.amend(3, 0.7)  # in both
        study.tell(POINTS[5], value_of(POINTS[5]), cost_of(POINTS[5]))
        X = np.linspace(0.0, 1.0, 5)[:, None] * np.ones(study.domain.width)
        beliefs.append(study.snapshot().belief.objective.law(X).median)
    np.testing.assert_array_equal(*beliefs)


def test_hyperparameters_are_fitted_anew_after_a_choice():
    study = run(sw.Study(SPACE, cost="reported", **QUICK), 7)
    study.ask()
    chosen_with = study._context.state.fitted.objective
    assert study.snapshot().belief.fitted.objective == chosen_with
    study.amend(3, 0.9)
    assert study.snapshot().belief.fitted.objective != chosen_with


def test_amending_to_the_same_does_nothing_and_reading_only_is_kept_to(tmp_path):
    path = tmp_path / "run.jsonl"
    study = run(sw.Study(SPACE, cost="reported", journal=path, **QUICK), 2)
    size = path.stat().st_size
    study.amend(1)
    study.amend(1, study.history[1].value, study.history[1].cost)
    assert path.stat().st_size == size
    with pytest.raises(InputError, match="loaded to be looked at"):
        sw.Study.load(path).amend(1, 0.5)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            (7, 0.5),
            InputError,
            "trial 7 was not asked of this study. What can .* 0 to 1",
        ),
        ((2, 0.5), InputError, "trial 2 is pending: tell it"),
        ((1, 0.5, -1.0), InputError, "cost"),
        ((1, -0.5), InputError, "bounds"),
        ((1, "much"), InputTypeError, "value"),
        ((-1, 0.5), InputError, "number=-1: give a whole number of at least 0"),
        (([], 0.5), InputTypeError, r"named by its number, .* not by \[\] \(list\)"),
    ],
)
def test_what_cannot_be_amended_is_refused(arguments, error, words):
    study = run(sw.Study(SPACE, cost="reported", bounds=(0, None), **QUICK), 2)
    study.ask()
    before = study.history
    with pytest.raises(error, match=words):
        study.amend(*arguments)
    assert study.history == before


def test_nothing_told_is_nothing_to_amend():
    with pytest.raises(InputError, match="told: none"):
        sw.Study(SPACE, lam=1.0).amend(0, 1.0)


def test_an_amendment_that_is_applied_already_changes_nothing():
    study = run(sw.Study(SPACE, lam=1.0), 1)
    state = study._context.state
    assert state.after(TrialAmended(study.history[0])) is state


def test_a_journal_that_amends_what_was_not_told_is_damaged(tmp_path):
    path = tmp_path / "run.jsonl"
    study = run(sw.Study(SPACE, lam=1.0, journal=path), 1)
    study.amend(0, 0.9)
    study.close()
    lines = [line for line in journal_lines(path) if line.get("event") != "tell"]
    path.write_bytes(sealed_again(lines))
    with pytest.raises(JournalError, match="trial 0 is amended and was not told"):
        sw.Study.resume(path)
