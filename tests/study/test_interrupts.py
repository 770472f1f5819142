# SPDX-License-Identifier: Apache-2.0
"""An interrupt at any moment leaves a study and its journal consistent."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import stopwise as sw
from stopwise.errors import InputError, JournalError
from stopwise.record.journal.file import LineFile
from stopwise.study.event_log import EventLog
from stopwise.study.external import ExternalStudy
from tests.support import interrupted
from tests.support.interrupted import essence

SPACE = {"x": sw.Real(0.0, 1.0)}


def storm(folder, wanted, kind):
    command = [sys.executable, Path(interrupted.__file__), folder, str(wanted), "7", kind]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seen = json.loads(done.stdout)
    assert seen["interrupts"] >= wanted
    assert seen["intact"] == seen["studies"], seen


@pytest.mark.parametrize("kind", ["signals", "threads"])
def test_a_storm_of_interrupts_harms_no_study(tmp_path, kind):
    storm(tmp_path, 200, kind)


@pytest.mark.slow
@pytest.mark.parametrize(("wanted", "kind"), [(10_000, "signals"), (2_000, "threads")])
def test_ten_thousand_interrupts_harm_no_study(tmp_path, wanted, kind):
    storm(tmp_path, wanted, kind)


def lines_in(*functions):
    """The lines of functions at which an interrupt may arrive."""
    for function in functions:
        code = function.__code__
        numbers = {number for *_, number in code.co_lines() if number}
        for number in sorted(numbers - {code.co_firstlineno}):
            yield code, number


class InterruptAt:
    """Raises a KeyboardInterrupt before a line of code is run for the first time."""

    def __init__(self, code, number):
        self.code, self.number, self.arrived = code, number, False

    def __enter__(self):
        self.before = sys.gettrace()  # that of coverage, say
        sys.settrace(self._entered)

    def __exit__(self, *_):
        sys.settrace(self.before)

    def _entered(self, frame, *_):
        return self._line if frame.f_code is self.code else None

    def _line(self, frame, event, _):
        if event == "line" and frame.f_lineno == self.number and not self.arrived:
            self.arrived = True
            raise KeyboardInterrupt
        return self._line


def calls(study):
    """A few calls, each of which writes an event."""
    yield study.ask
    [trial] = study.pending
    yield lambda: study.tell(trial, [0.5, 0.6])
    yield study.should_stop
    yield lambda: study.amend(trial.number, 0.4)
    yield study.ask
    [dropped] = study.pending
    yield lambda: study.drop(dropped) if dropped in study.pending else None


def calls_in_stages(study):
    """The same of a study in stages."""
    yield study.next
    [first] = study.pending
    yield lambda: study.tell(first, 0.7, step=1)
    yield study.next
    yield study.should_stop
    second = next(trial for trial in study.pending if trial != first)
    yield lambda: study.tell(second, None, message="diverged")
    yield lambda: study.amend(second.number, cost=0.5)
    yield lambda: study.amend(second.number, 0.4)


def is_interrupted(call, interrupt):
    """Make a call; whether it was interrupted."""
    try:
        with interrupt:
            call()
    except KeyboardInterrupt:
        return True
    return False


LINES = list(lines_in(EventLog.commit, EventLog.settle, LineFile.write))


def test_most_of_the_lines_are_reached(tmp_path):
    """All but those that handle errors; where none is reached no interrupt below would arrive."""
    codes, reached = {code for code, _ in LINES}, set()

    def line(frame, event, _):
        if event == "line":
            reached.add((frame.f_code, frame.f_lineno))
        return line

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: line if frame.f_code in codes else None)
    try:
        for call in calls(sw.Study(SPACE, lam=0.01, noise=0.01, journal=tmp_path / "run.jsonl")):
            call()
    finally:
        sys.settrace(before)
    assert {code.co_name for code, _ in reached} == {"commit", "settle", "write"}
    assert len(reached & set(LINES)) >= 0.6 * len(LINES)


@pytest.mark.parametrize(("code", "number"), LINES, ids=[f"{c.co_name}-{n}" for c, n in LINES])
def test_an_interrupt_before_any_line_that_writes_or_applies(tmp_path, code, number):
    path = tmp_path / "run.jsonl"
    study = sw.Study(SPACE, lam=0.01, noise=0.01, journal=path)
    for call in calls(study):
        if is_interrupted(call, InterruptAt(code, number)):
            live = essence(study)  # looking completes what was begun
            assert essence(sw.Study.load(path)) == live
            call()
    live = essence(study)
    study.close()
    assert essence(sw.Study.resume(path)) == live
    assert [o.value for o in study.history] == [0.4, 0.6]
    assert study.pending == ()


@pytest.mark.parametrize(("code", "number"), LINES, ids=[f"{c.co_name}-{n}" for c, n in LINES])
def test_an_interrupt_before_any_line_in_a_study_in_stages(tmp_path, code, number):
    path = tmp_path / "run.jsonl"
    study = sw.Study(SPACE, lam=0.01, stages=sw.Stages([1, 3]), journal=path)
    for call in calls_in_stages(study):
        if is_interrupted(call, InterruptAt(code, number)):
            live = essence(study)
            assert essence(sw.Study.load(path)) == live
            call()
    live = essence(study)
    study.close()
    assert essence(sw.Study.resume(path)) == live
    assert [o.value for o in study.history] == [0.4]
    curves = {n: [(r.step, r.value) for r in curve] for n, curve in study.curves.items()}
    assert curves == {0: [(1, 0.7)], 1: [(3, 0.4)]}
    assert len(study.pending) == len(study.paused) == 1


@pytest.fixture
def interrupted_after_its_event(monkeypatch):
    """Makes a call that is interrupted when its event is written and applied."""

    def made(call):
        commit = EventLog.commit

        def interrupted_commit(log, event, began=None):
            commit(log, event, began)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(EventLog, "commit", interrupted_commit)
            with pytest.raises(KeyboardInterrupt):
                call()

    return made


@pytest.mark.parametrize("ask", ["next", "ask"])
def test_an_action_whose_call_was_interrupted_is_returned_by_the_next_one(
    interrupted_after_its_event, ask
):
    study = sw.Study(SPACE, lam=0.01, stages=sw.Stages([1, 3]))
    interrupted_after_its_event(getattr(study, ask))
    [lost] = study.pending
    action = study.next()
    assert (action.trial, action.to_step) == (lost, 1 if ask == "next" else 3)
    assert [trial.number for trial in study.ask(2)] == [1, 2]


def test_a_trial_whose_ask_was_interrupted_is_returned_by_the_next_one(
    interrupted_after_its_event,
):
    study = sw.Study(SPACE, lam=0.01)
    first = study.ask()
    interrupted_after_its_event(study.ask)
    [_, lost] = study.pending
    assert study.ask() == lost
    assert study.ask().number == lost.number + 1
    assert first.number == 0


def test_a_trial_that_could_not_be_written_is_not_returned_later(tmp_path):
    path = tmp_path / "run.jsonl"
    study = ExternalStudy(SPACE, lam=0.01, journal=path)
    study.plan_design()
    path.unlink()
    with pytest.raises(JournalError):
        study.ask()
    study.move_journal(path)
    begun = study.begin({"x": 0.5})
    assert study.ask().number == begun.number + 1


def test_a_tell_may_be_repeated_and_not_changed():
    study = sw.Study(SPACE, lam=0.01, cost="reported")
    trial = study.ask()
    study.tell(trial, 0.5, 2.0)
    other = study.ask()
    study.tell(trial, 0.5, 2.0)
    study.tell(trial, 0.5)
    assert len(study.history) == 1
    for value, cost in ((0.6, 2.0), (0.5, 3.0), (None, 2.0)):
        with pytest.raises(InputError, match="told already"):
            study.tell(trial, value, cost)
    with pytest.raises(InputError, match="told already"):
        study.tell(sw.Trial(0, {"x": 0.987}), 0.5, 2.0)
    study.tell(other, None, 1.0, message="broken")
    study.tell(other, None, 1.0, message="broken")
    assert len(study.history) == 2
