# SPDX-License-Identifier: Apache-2.0
"""A study that is killed at random moments: mixed space, learned cost, PRB watching.

Run as a script it forks one child after another; each goes on with the journal and is killed
without warning, until the study is done. What a child was told is confirmed in a second file.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import stopwise as sw
from stopwise.record.journal import ResumeWarning

SPACE = {
    "rate": sw.Real(1e-4, 1e-1, log=True),
    "layers": sw.Integer(1, 6),
    "act": sw.Categorical(["relu", "tanh", None]),
}
OPTIONS = {
    "cost": "reported",
    "lam": 1e-4,
    "watch": ["prb", "ucb-lcb", sw.stopping.After(sw.stopping.GSS(), 3)],
    "seed": 5,
}
TRIALS = 15  # the initial design has 4
KILLED = {**OPTIONS, "watch": ["prb", sw.stopping.After(sw.stopping.GSS(), 3)]}  # UCB-LCB is slow
KILLED_TRIALS = 10


def objective(params):
    """A value, what it cost, and now and then a failure."""
    slope = {"relu": 0.0, "tanh": 0.2, None: 0.5}[params["act"]]
    value = (math.log10(params["rate"]) + 2.3) ** 2 + 0.1 * (params["layers"] - 4) ** 2 + slope
    failed = params["act"] is None and params["layers"] == 6
    return None if failed else value, 1.0 + params["layers"] * (1.0 + slope)


def go_on(study, confirmed=None, trials=TRIALS):
    """Run to the end; every tell that has returned is confirmed."""
    while len(study.history) < trials and not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, *objective(trial.params))
        if confirmed is not None:
            os.write(confirmed, f"{trial.number}\n".encode())
    return study


def essence(study):
    """What two runs must have in common, to the last bit."""
    return {
        "history": [
            (o.number, dict(o.params), o.value, o.cost, o.expected_cost) for o in study.history
        ],
        "traces": {
            key: [(s.t, s.n, repr(s.value), {k: repr(v) for k, v in s.facts.items()}) for s in t]
            for key, t in study.traces.items()
        },
        "verdict": repr(study.should_stop()),
    }


def open_or_begin(path):
    """Resume if there is a journal."""
    if path.exists():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResumeWarning)
            return sw.Study.resume(path)
    return sw.Study(SPACE, journal=path, **KILLED)


def killed_run(folder, rng, longest):
    """One study, killed again and again; returns the number of kills."""
    path, kills = folder / "run.jsonl", 0
    confirmed = os.open(folder / "confirmed", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    while True:
        child = os.fork()
        if not child:
            go_on(open_or_begin(path), confirmed, KILLED_TRIALS)
            os._exit(0)
        time.sleep(rng.uniform(0.0, longest))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            return kills
        kills += 1


def main():
    """Usage: FOLDER KILLS SEED. Prints what happened as JSON."""
    folder, wanted, rng = (
        Path(sys.argv[1]),
        int(sys.argv[2]),
        np.random.default_rng(int(sys.argv[3])),
    )
    began = time.perf_counter()
    reference = essence(go_on(sw.Study(SPACE, **KILLED), trials=KILLED_TRIALS))
    longest = 0.3 * (time.perf_counter() - began)
    kills = studies = lost = differing = 0
    while kills < wanted:
        studies += 1
        here = folder / str(studies)
        here.mkdir()
        kills += killed_run(here, rng, longest)
        study = sw.Study.load(here / "run.jsonl")
        numbers = {o.number for o in study.history}
        told = {int(n) for n in (here / "confirmed").read_text().split()}
        lost += len(told - numbers)
        differing += essence(study) != reference
    print(  # noqa: T201
        json.dumps({"kills": kills, "studies": studies, "lost": lost, "differing": differing})
    )


if __name__ == "__main__":
    main()
