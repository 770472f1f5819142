# SPDX-License-Identifier: Apache-2.0
"""A decision of a study in stages (tell, should_stop, next) after 200 trials and 500 reports.

Behind docs/adr/0044-a-staged-study-follows-from-its-state.md. Of 200 trials all have reported
once, 150 twice, 100 three times, and 50 are finished; then the study goes on by itself. Seconds
are those of the process, with one BLAS thread. The first decision includes a fit to the reports;
the others do not, but for one whose number of reports calls for the next fit. Studies in stages
have one model, of curves; they take neither the plain model nor the default one.
"""

import math
import statistics
import time
from collections.abc import Mapping
from typing import Any

import stopwise as sw
from benchmarks import Row, _wanted

TRIALS = 200
FURTHER = {3: 150, 9: 100, 27: 50}  # step -> trials that have reached it
DECISIONS = 12
CASES = [(2, None), (2, "reported"), (4, None), (4, "reported"), (8, None), (8, "reported")]


def run(*, quick: bool) -> list[Row]:
    """One row for each number of parameters and each way to know costs."""
    return [measured(d, cost) for d, cost in (CASES[2:4] if quick else CASES)]


def measured(d: int, cost: str | None) -> Row:
    """What the decisions of a study take."""
    study = begun(d, cost)
    seconds = []
    for _ in range(DECISIONS + 1):
        began = time.process_time()
        study.should_stop()
        action = study.next()
        seconds.append(time.process_time() - began)
        report(study, action.trial, action.to_step or 0)
    first, *later = (1e3 * taken for taken in seconds)
    return {
        "parameters": float(d),
        "costs": "known" if cost is None else "learned",
        "first, with a fit, ms": f"{first:.0f}",
        "later, median, ms": f"{statistics.median(later):.0f}",
        "fewest, ms": f"{min(later):.0f}",
        "most, ms": f"{max(later):.0f}",
        **_wanted.at_most(statistics.median(later), 1e3 * _wanted.STAGED_DECISION),
    }


def begun(d: int, cost: str | None) -> sw.Study:
    """A study with 200 trials and 500 reports, none of which a model has chosen."""
    space = {f"x{i}": sw.Real(0.0, 1.0) for i in range(d)}
    study = sw.Study(space, lam=1e-3, cost=cost, stages=sw.Stages(27, eta=3), n_initial=TRIALS)
    trials = []
    for _ in range(TRIALS):
        trials.append(study.next().trial)
        report(study, trials[-1], 1)
    trials.sort(key=lambda trial: value(trial.params, 1))
    for step, count in FURTHER.items():
        for trial in trials[:count]:
            report(study, trial, step)
    return study


def report(study: sw.Study, trial: Any, step: int) -> None:  # noqa: ANN401  a trial
    """Tell a value, and what the trial has cost if that is learned."""
    cost = step * (1.0 + trial.params["x0"]) if study.options.cost == "reported" else None
    study.tell(trial, value(trial.params, step), cost, step=step)


def value(params: Mapping[str, Any], step: int) -> float:
    """A bowl, to which curves fall."""
    bowl = sum((float(x) - 0.4) ** 2 * (1.0 + i) for i, x in enumerate(params.values()))
    return bowl + 0.3 / math.sqrt(step)
