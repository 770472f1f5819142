# SPDX-License-Identifier: Apache-2.0
"""Studies under a storm of interrupts: each call of ask, tell, amend and should_stop may be
interrupted at any moment, several times in a row, and is then repeated, as a user at a prompt
would. Every second study is one of evaluations in stages.

As a script: ``python interrupted.py FOLDER INTERRUPTS SEED [signals | threads]`` prints what came
of it as JSON. ``signals`` are those of a timer, ``threads`` are exceptions that another thread
raises in the one that runs the study.
"""

from __future__ import annotations

import ctypes
import json
import random
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import stopwise as sw
from stopwise.record.journal import ResumeWarning

ROWS = [{"a": a, "b": b} for a in range(15) for b in ("x", "y")]
OPTIONS = {"lam": 1e-9, "n_initial": 20, "cost": "reported", "watch": ["ucb-lcb"]}
TRIALS = 25
IN_STAGES = {"lam": 1e-9, "n_initial": 12, "cost": "reported", "stages": sw.Stages([1, 3, 9])}
ACTIONS = 18  # of a study in stages: mostly those of the design, which are quick
PACKAGE = str(Path(sw.__file__).parent)
DURATIONS = {}  # seconds that a call took when it was last made, by name
IN_A_ROW = 4  # then a call is left alone, so that the study comes to an end


def evaluate(trial):
    """A value, now and then none, and what it cost."""
    a, b = trial.params["a"], trial.params["b"]
    return None if (a, b) == (5, "y") else (a - 6.5) ** 2 + (b == "x"), 1.0 + a


def in_package(frame):
    """Whether a frame is one of the package, or called from there."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            return True
        frame = frame.f_back
    return False


class Timer:
    """Interrupts by the signals of a timer; they arrive in the main thread."""

    def __init__(self, rng):
        self._rng, self._busy, self.count = rng, False, 0
        signal.signal(signal.SIGALRM, self._arrived)

    def _arrived(self, _, frame):
        if self._busy:
            return  # a signal that arrives in this handler
        self._busy = True
        hit = in_package(frame)
        self.count += hit
        self._busy = False
        if hit:
            raise KeyboardInterrupt

    def begin(self, within):
        """Let a signal arrive within so many seconds, and perhaps others after it."""
        first = self._rng.uniform(1e-6, within)
        again = self._rng.choice((0.0, self._rng.uniform(2e-4, 1e-2)))
        signal.setitimer(signal.ITIMER_REAL, first, again)

    def end(self):
        """Let no more arrive."""
        signal.setitimer(signal.ITIMER_REAL, 0.0)


class Raiser:
    """Interrupts by exceptions that another thread raises in this one."""

    def __init__(self, rng):
        self._rng, self._armed, self.count = rng, False, 0
        self._target = threading.get_ident()
        self._lock, self._begun = threading.Lock(), threading.Semaphore(0)
        threading.Thread(target=self._raise, daemon=True).start()

    def _raise(self):
        pause = threading.Event()
        while True:
            self._begun.acquire()
            pause.wait(self._rng.uniform(1e-6, self._within))
            with self._lock:
                if self._armed and in_package(sys._current_frames()[self._target]):
                    error = ctypes.py_object(KeyboardInterrupt)
                    target = ctypes.c_ulong(self._target)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(target, error)
                    self.count += 1

    def begin(self, within):
        """Let an exception be raised within so many seconds."""
        self._within, self._armed = within, True
        self._begun.release()

    def end(self):
        """Let no more be raised."""
        with self._lock:
            self._armed = False


def timed(call, *arguments, **further):
    """Make a call, and keep how long it took; a trial that was told already is told."""
    began, answer = time.perf_counter(), None
    try:
        answer = call(*arguments, **further)
    except sw.errors.InputError as error:  # an interrupted tell that did its work
        if "told already" not in str(error):
            raise
    else:
        DURATIONS[call.__name__] = time.perf_counter() - began
    return answer


def repeated(storm, call, *arguments, **further):
    """Make a call, again if it was interrupted; at the last attempt no interrupt arrives."""
    for _ in range(IN_A_ROW):
        try:
            storm.begin(within=1.2 * DURATIONS.get(call.__name__, 1e-3))
            try:
                return timed(call, *arguments, **further)
            finally:
                storm.end()
        except KeyboardInterrupt:
            continue
    return timed(call, *arguments, **further)


def run(study, storm):
    """Run a study to its end; returns the trials that were told, by number, and no curves."""
    told = {}
    while len(told) < TRIALS:
        if repeated(storm, study.should_stop).stop:
            break
        trial = repeated(storm, study.ask)
        value, cost = evaluate(trial)
        repeated(storm, study.tell, trial, value, cost)
        if trial.number % 5 == 4:
            value, cost = trial.number / 7, cost + 1.0
            repeated(storm, study.amend, trial.number, value, cost)
        told[trial.number] = (value, cost)
    return told, {}


def run_in_stages(study, storm):
    """Run a study in stages for a while; returns what was told of trials, and their curves."""
    told, curves = {}, {}
    for _ in range(ACTIONS):
        if repeated(storm, study.should_stop).stop:
            break
        action = repeated(storm, study.next)
        number, step = action.trial.number, action.to_step
        value, cost = evaluate(action.trial)
        cost *= step
        repeated(storm, study.tell, action.trial, value, cost, step=step)
        if value is not None:
            curves.setdefault(number, []).append((step, value, cost))
        if value is None or step == IN_STAGES["stages"].last:
            told[number] = (value, cost)
            repeated(storm, study.amend, number, cost=cost + 1.0)
            told[number] = (value, cost + 1.0)
            if value is not None:
                curves[number][-1] = (step, value, cost + 1.0)
    return told, curves


def essence(study):
    """What a study and its journal must have in common."""
    return repr((
        study.history, study.pending, sorted(study.traces.items()), list(study.promises),
        study.spent, study.curves, study.paused,
    ))  # fmt: skip


def judged(path, study, told, curves):
    """One of: intact, lost (it cannot be resumed), differing (it is another study)."""
    live = essence(study)
    recorded = {o.number: (o.value, o.cost) for o in study.history}
    study.close()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResumeWarning)
            again = sw.Study.resume(path)
    except Exception:  # noqa: BLE001  whatever makes it unusable
        return "lost"
    known = {n: [(r.step, r.value, r.cost) for r in curve] for n, curve in again.curves.items()}
    same = essence(again) == live and recorded == told and len(again.history) == len(told)
    same = same and known == curves
    again.close()
    return "intact" if same else "differing"


def storms(folder, wanted, seed, storm):
    """Run studies under a storm until so many interrupts have arrived."""
    seen = {"studies": 0, "interrupts": 0, "intact": 0, "lost": 0, "differing": 0, "died": 0}
    while storm.count < wanted:
        path = Path(folder) / f"{seen['studies']}.jsonl"
        in_stages = seen["studies"] % 2 == 0
        options = {**(IN_STAGES if in_stages else OPTIONS), "seed": seed + seen["studies"]}
        study = sw.Study(sw.Candidates(ROWS), journal=path, **options)
        seen["studies"] += 1
        try:
            told, curves = (run_in_stages if in_stages else run)(study, storm)
        except Exception:  # noqa: BLE001  a study that cannot go on
            seen["died"] += 1
            study.close()
            continue
        seen[judged(path, study, told, curves)] += 1
    return {**seen, "interrupts": storm.count}


def main():
    """Usage: FOLDER INTERRUPTS SEED [signals | threads]."""
    folder, wanted, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    kind = Raiser if sys.argv[4:] == ["threads"] else Timer
    storm = kind(random.Random(seed))  # noqa: S311
    print(json.dumps(storms(folder, wanted, seed, storm)))  # noqa: T201


if __name__ == "__main__":
    main()
