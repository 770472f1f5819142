# SPDX-License-Identifier: Apache-2.0
"""Studies to make reports of: short and long, one parameter and fifteen, all kinds of ends."""

import math

import numpy as np

import stopwise as sw
from stopwise.stopping import Convergence

NASTY = "<script>alert(1)</script>"


def stopped():
    """A small mixed study that stops by itself, with costs that are learned."""
    space = {
        "lr": sw.Real(1e-4, 1e-1, log=True),
        "layers": sw.Integer(1, 6),
        "act": sw.Categorical(["relu", "tanh", "gelu"]),
    }
    rng = np.random.default_rng(3)
    worse = {"relu": 0.1, "tanh": 0.3, "gelu": 0.0}

    def train(params):
        loss = (math.log10(params["lr"]) + 2.5) ** 2 + 0.1 * (params["layers"] - 3) ** 2
        seconds = 2.0 * params["layers"] ** 1.5 * math.exp(0.15 * rng.normal())
        return loss + worse[params["act"]], seconds

    options = {"cost": "reported", "lam": 0.003, "max_trials": 40, "surrogate": "plain", "seed": 1}
    return sw.minimize(train, space, watch=[Convergence(3)], **options)._study


def five():
    """One parameter, five trials, still going on."""
    study = sw.Study({"x": sw.Real(0, 10)}, lam=1e-4, n_initial=3)
    _go_on(study, lambda p: math.sin(p["x"]) + 0.1 * p["x"], 5)
    return study


def maximised():
    """A budget, failures and something running, on whole numbers and choices."""
    space = {"depth": sw.Integer(1, 30), "kind": sw.Categorical(["a", "b", None])}
    study = sw.Study(
        space, budget=60.0, direction="maximize", cost=lambda p: 0.5 + 0.1 * p["depth"]
    )

    def accuracy(params):
        return 0.9 - ((params["depth"] - 17) / 25) ** 2 - 0.1 * (params["kind"] == "a")

    study.tell({"depth": 30, "kind": "a"}, None)  # it failed
    _go_on(study, accuracy, 21)
    study.ask()
    return study


def exhausted_budget():
    """A budget that is spent."""
    study = sw.Study({"x": sw.Real(-1, 1), "y": sw.Real(-1, 1)}, budget=20.0)
    while not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, trial.params["x"] ** 2 + (trial.params["y"] - 0.3) ** 2)
    return study


def hostile():
    """Names, choices and messages that want to be markup."""
    space = {
        NASTY: sw.Real(0, 1),
        "\"'><img src=x onerror=alert(2)>": sw.Categorical(
            ["</script><b>", "</title>", "a\x00\x1b[31m", "\ud800", "\u202egnol" + "x" * 200]
        ),
        "]]>&amp;--" + "z" * 300: sw.Integer(1, 5),
    }
    study = sw.Study(space, lam=1e-3, n_initial=6)
    for number in range(9):
        trial = study.ask()
        value = None if number == 4 else trial.params[NASTY] ** 2 + number * 0.01
        study.tell(trial, value, message=f"{NASTY} </td> & {'y' * 5000}" if number == 4 else "")
    study.should_stop()
    return study


def empty():
    """Nothing told yet."""
    return sw.Study({"x": sw.Real(0, 1)}, lam=0.1)


def all_failed():
    """Nothing has succeeded."""
    study = sw.Study({"x": sw.Real(0, 1)}, lam=0.1)
    for _ in range(3):
        study.tell(study.ask(), None, message="RuntimeError: no")
    return study


def noisy():
    """Noise that is learned, and a table of candidates."""
    rows = [{"t": t, "s": s} for t in range(20, 100, 8) for s in ("water", "ethanol")]
    rng = np.random.default_rng(5)
    study = sw.Study(sw.Candidates(rows), lam=0.01, noise="learn", direction="maximize")
    _go_on(
        study,
        lambda p: 0.9 - ((p["t"] - 72) / 60) ** 2 + 0.05 * rng.normal(),
        12,
    )
    return study


def large(trials=500, parameters=15, questions=12):
    """Many trials of many parameters; most are told, so that it is made quickly."""
    space = {f"parameter_{i}": sw.Real(0, 1) for i in range(parameters - 3)}
    space["rate"] = sw.Real(1e-5, 1, log=True)
    space["units"] = sw.Integer(8, 4096, log=True)
    space["optimiser"] = sw.Categorical(["sgd", "adam", "rmsprop", "lion"])
    rng = np.random.default_rng(0)
    study = sw.Study(space, lam=1e-4, n_initial=20)
    every = max((trials - 20) // questions, 1)
    for number in range(trials):
        if number < 20:
            trial = study.ask()
            params = dict(trial.params)
        else:
            trial = params = _drawn(space, rng)
        value = 2.0 * math.exp(-number / 60) + 0.05 * (math.log10(params["rate"]) + 2) ** 2
        value += sum(
            (params[f"parameter_{i}"] - 0.5) ** 2 / (i + 1) for i in range(parameters - 3)
        )
        failed = number % 41 == 40
        study.tell(
            trial,
            None if failed else value,
            1 + 5 * rng.random(),
            charge=True,
            message="MemoryError: out of memory" if failed else "",
        )
        if number >= 20 and (number - 20) % every == 0:
            study.should_stop()
    return study


def _drawn(space, rng):
    params = {name: float(rng.random()) for name in space}
    params["rate"] = 10 ** (-5 * params["rate"])
    params["units"] = int(8 * 512 ** params["units"])
    params["optimiser"] = str(rng.choice(["sgd", "adam", "rmsprop", "lion"]))
    return params


def _go_on(study, objective, trials):
    for _ in range(trials):
        study.should_stop()
        trial = study.ask()
        study.tell(trial, objective(trial.params))
    study.should_stop()
