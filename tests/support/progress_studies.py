# SPDX-License-Identifier: Apache-2.0
"""Studies to watch: a table and a line, with objectives that take no time."""

import stopwise as sw

TABLE = sw.Candidates([{"x": i, "y": (5 * i) % 7} for i in range(40)])
LINE = {"x": sw.Real(0.0, 1.0)}


def valley(params):
    return 0.1 * (params["x"] - 13) ** 2 + params["y"]


def bowl(params):
    return (params["x"] - 0.3) ** 2


def run_by_hand(study, objective, trials):
    for _ in range(trials):
        study.should_stop()
        trial = study.ask()
        study.tell(trial, objective(trial.params))
    study.should_stop()
    return study


def quick_run(**options):
    """A short run over the table, which stops by itself."""
    return sw.minimize(valley, TABLE, lam=0.05, surrogate="plain", **options)
