# SPDX-License-Identifier: Apache-2.0
"""A fixed set of small studies whose journals were recorded with version 0.1.

Those of which a decision has changed since are recorded a second time, in the folder 0.2; journals
of 0.1 must resume all the same. A study is its space, its options, an objective, the most trials
and how it is driven. ``run(name, path)`` runs one with a journal at ``path``; as a script,
``python studies.py FOLDER [NAME ...]`` records them.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import stopwise as sw

RECORDED = Path(__file__).parent / "0.1"
ANEW = Path(__file__).parent / "0.2"  # studies that do not go as with 0.1 any more: the changelog
ALL_RULES = ["logeipc-med", "srgap-med", "ucb-lcb", "prb", "gss", "convergence"]
BOX = {"x": sw.Real(0, 1), "rate": sw.Real(1e-4, 1e-1, log=True)}
MIXED = {
    "rate": sw.Real(1e-4, 1e-1, log=True),
    "layers": sw.Integer(1, 9),
    "act": sw.Categorical(["relu", "tanh", None]),
}
ROWS = [
    {"temperature": t, "solvent": s}
    for t in range(20, 100, 4)
    for s in ("water", "ethanol", "air")
]


def box_value(p):
    r = (math.log10(p["rate"]) + 4) / 3
    return math.sin(6 * p["x"]) + 2.0 * (r - 0.6) ** 2 + 0.3 * math.cos(9 * r * p["x"])


def box_cost(p):
    return 1.0 + 4.0 * p["x"]


def mixed_value(p):
    slope = {"relu": 0.0, "tanh": 0.2, None: 0.5}[p["act"]]
    return (math.log10(p["rate"]) + 2.3) ** 2 + 0.1 * (p["layers"] - 4) ** 2 + slope


def row_value(p):
    solvent = {"water": 0.1, "ethanol": 0.0, "air": 0.4}[p["solvent"]]
    return 0.9 - ((p["temperature"] - 71.3) / 60) ** 2 - solvent


def row_cost(p):
    return 0.5 + p["temperature"] / 40


def wobble(number):
    """Noise that is the same every time."""
    return 0.05 * math.sin(12.9898 * (number + 1) * 78.233)


def in_turn(study, trials, evaluate):
    """One trial after the other, until a stop or so many trials."""
    while len(study.history) < trials and not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, *evaluate(trial))
    return study


def three_at_once(study, trials, evaluate):
    """Three trials pending, told in another order than they were asked for."""
    while len(study.history) < trials:
        if study.should_stop().stop:
            break
        asked = []
        while len(asked) < 3 and not study.should_stop().stop:
            asked.append(study.ask())
        for trial in asked[1:] + asked[:1]:
            study.tell(trial, *evaluate(trial))
            study.should_stop()
    return study


def box(trial):
    return (box_value(trial.params),)


def mixed(trial):
    return mixed_value(trial.params), 1.0 + trial.params["layers"]


def rows(trial):
    return (row_value(trial.params),)


def noisy_box(trial):
    return (box_value(trial.params) + wobble(trial.number),)


def failing_mixed(trial):
    failed = trial.params["act"] is None or trial.params["layers"] == 9
    return (None if failed else mixed_value(trial.params)), 1.0 + trial.params["layers"]


# name -> space, options, evaluate, how many trials at most, how it is driven
STUDIES = {
    "box": (BOX, {"lam": 0.002, "cost": box_cost, "watch": ALL_RULES, "seed": 1}, box, 22, in_turn),
    "box-logeipc": (
        BOX, {"lam": 0.001, "acquisition": "logeipc", "seed": 2}, box, 18, in_turn,
    ),
    "box-thompson": (
        BOX, {"lam": 1e-4, "acquisition": "ts", "prior": "gamma", "seed": 3}, box, 16, in_turn,
    ),
    "mixed": (
        MIXED, {"lam": 1e-4, "cost": "reported", "watch": ["prb", "ucb-lcb"], "seed": 4},
        mixed, 24, in_turn,
    ),
    "mixed-eic": (
        MIXED, {"lam": 1e-3, "acquisition": "eic", "prior": None, "seed": 5}, mixed, 18, in_turn,
    ),
    "mixed-failures": (
        MIXED, {"lam": 1e-4, "cost": "reported", "watch": ["srgap-med"], "seed": 6},
        failing_mixed, 24, in_turn,
    ),
    "finite": (
        sw.Candidates(ROWS),
        {"lam": 0.002, "direction": "maximize", "cost": row_cost, "watch": ALL_RULES, "seed": 7},
        rows, 26, in_turn,
    ),
    "finite-lcb": (
        sw.Candidates(ROWS), {"lam": 1e-5, "direction": "maximize", "acquisition": "lcb", "seed": 8},
        rows, 20, in_turn,
    ),
    "finite-thompson": (
        sw.Candidates(ROWS), {"lam": 1e-5, "direction": "maximize", "acquisition": "ts", "seed": 9},
        rows, 16, in_turn,
    ),
    "noise-learned": (
        BOX, {"lam": 0.002, "noise": "learn", "watch": ALL_RULES, "seed": 10}, noisy_box, 20, in_turn,
    ),
    "noise-given": (
        BOX, {"lam": 0.002, "noise": 0.0025, "replicates": True, "seed": 11}, noisy_box, 20, in_turn,
    ),
    "noise-finite": (
        sw.Candidates(ROWS),
        {"lam": 1e-4, "direction": "maximize", "noise": "learn", "watch": ["prb"], "seed": 12},
        lambda t: (row_value(t.params) + 0.2 * wobble(t.number),), 20, in_turn,
    ),
    "budget": (BOX, {"budget": 60.0, "cost": box_cost, "seed": 13}, box, 40, in_turn),
    "budget-mixed": (
        MIXED, {"budget": 110.0, "cost": "reported", "seed": 14}, mixed, 40, in_turn,
    ),
    "budget-finite": (
        sw.Candidates(ROWS), {"budget": 45.0, "cost": row_cost, "direction": "maximize", "seed": 15},
        rows, 40, in_turn,
    ),
    "budget-lam": (
        BOX, {"budget": 60.0, "lam": 0.002, "cost": box_cost, "seed": 16}, box, 40, in_turn,
    ),
    "pending": (BOX, {"lam": 0.001, "watch": ["ucb-lcb"], "seed": 17}, box, 21, three_at_once),
    "pending-mixed": (
        MIXED, {"lam": 1e-4, "cost": "reported", "seed": 18}, failing_mixed, 24, three_at_once,
    ),
    "pending-budget": (
        BOX, {"budget": 70.0, "cost": box_cost, "seed": 19}, box, 24, three_at_once,
    ),
    "smoothed": (
        BOX,
        {
            "stopping": [sw.stopping.Smoothed(sw.stopping.PBGI(0.02), 5), sw.stopping.FixedTrials(12)],
            "acquisition": sw.acquisition.PBGI(0.02), "seed": 20,
            "start_from": [{"x": 0.5, "rate": 0.01}],
        },
        box, 24, in_turn,
    ),
}  # fmt: skip


def run(name, path):
    """Run one study with its journal at a path."""
    space, options, evaluate, trials, drive = STUDIES[name]
    belief = {"surrogate": "plain", "failures": "median"}  # as in 0.1
    study = sw.Study(space, journal=path, **belief, **options)
    drive(study, trials, evaluate)
    study.close()
    return study


VOLATILE = ("at", "seconds", "version")
SEALS = ("check", "schema")  # 0.1 wrote no seals, which makes another schema

# The last bits of BLAS and of numpy's functions depend on the processor, and a path that is free to
# run amplifies them. Pinned to what every x86-64 processor has, the paths are the same everywhere.
PINNED = {
    "OPENBLAS_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
}


def lines_of(path):
    """The lines of a journal, without what differs from run to run, and without seals."""
    lines = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    return [{k: v for k, v in line.items() if k not in VOLATILE + SEALS} for line in lines]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for wanted in sys.argv[2:] or STUDIES:
        (folder / f"{wanted}.jsonl").unlink(missing_ok=True)
        done = run(wanted, folder / f"{wanted}.jsonl")
        print(wanted, len(done.history), done.should_stop() if done.pending else "")  # noqa: T201
