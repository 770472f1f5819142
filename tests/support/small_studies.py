# SPDX-License-Identifier: Apache-2.0
"""Small problems of one or two parameters, and a loop that evaluates a few trials of a study."""

from __future__ import annotations

import stopwise as sw

LINE = {"x": sw.Real(0.0, 1.0)}
MIXED = {
    "lr": sw.Real(1e-4, 1e-1, log=True),
    "n": sw.Integer(1, 6),
    "act": sw.Categorical(["relu", "tanh"]),
}


def bowl(params):
    """To be minimised over LINE, at x = 0.3."""
    return (params["x"] - 0.3) ** 2


def rows(count):
    """Rows of a table with a smooth column x and a scattered column y."""
    return [{"x": i, "y": (5 * i) % 7} for i in range(count)]


def valley(params):
    """To be minimised over such rows: smooth in x, with steps of y."""
    return 0.1 * (params["x"] - 13) ** 2 + params["y"]


def run(study, objective, steps):
    """Ask for so many trials, evaluate and tell each; nobody asks whether to stop."""
    for _ in range(steps):
        trial = study.ask()
        study.tell(trial, objective(trial.params))
    return study


def state_of(study):
    """Everything that a call which is refused must leave as it was."""
    state = study._context.state
    return (
        study.history,
        study.pending,
        study.traces,
        study.spent,
        study.best,
        state.next,
        state.asked,
        state.initial,
        state.queue,
    )
