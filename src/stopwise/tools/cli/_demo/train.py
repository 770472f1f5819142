# SPDX-License-Identifier: Apache-2.0
"""The demo of tuning: a real model, until the next trial is not worth it, against 50 trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from stopwise.core.exchange_rate import exchange_rate
from stopwise.core.space import as_domain
from stopwise.core.units import SECONDS, amount
from stopwise.study.loop import evaluate, minimize
from stopwise.study.result import Result
from stopwise.tools.cli._demo.digits import SPACE, misread_percent
from stopwise.tools.progress.words import configuration

REPORT = "stopwise-demo.html"
SEED = 0  # the default of Study, not one chosen for its outcome
IMPROVEMENT, SECONDS_FOR_IT = 1.0, 5.0
FIXED = 50  # a usual number of trials without a stopping rule
MOST_SECONDS = 45.0  # for each of the two searches; reached on slow machines only

Objective = Callable[[dict[str, Any]], float]


@dataclass(frozen=True)
class Summary:
    """A finished search: its trials, the seconds they took and the best value."""

    trials: int
    seconds: float
    best: float


def train(console: Console, *, seed: int = SEED, report: str = REPORT) -> None:
    """The whole demo; about half a minute, and two at most."""
    lam = exchange_rate(improvement=IMPROVEMENT, cost=SECONDS_FOR_IT)
    console.print(
        "[bold]Tuning a neural network[/] that reads 1797 handwritten digits: how many neurons,"
        " how many epochs, which learning rate? A trial takes from a tenth of a second to several"
        " seconds; stopwise is not told which takes how long, and learns it from the clock.\n"
        f"The exchange rate: we would train {SECONDS_FOR_IT:g} s longer for {IMPROVEMENT:g} digit"
        f" less in 100 misread, so lam = {lam:g} % per s. It may take {MOST_SECONDS:g} s in all.\n"
    )
    objective = misread_percent()
    result = minimize(
        objective,
        SPACE,
        cost="seconds",
        lam=lam,
        budget=MOST_SECONDS,
        seed=seed,
        progress=True,
        value_name="misread %",
    )
    fixed = random_trials(objective, seed, console)
    _conclude(console, result, fixed, lam)
    result.report(report)
    console.print(f"\n[bold]The report:[/] {report}")
    console.print(
        "\n[bold]Your own model next:[/] sw.minimize(train, space, cost="
        '"seconds", lam=..., progress=True)\n'
        "Why fair values: stopwise demo --problem pandora"
    )


def random_trials(
    objective: Objective,
    seed: int,
    console: Console,
    *,
    count: int = FIXED,
    most_seconds: float = MOST_SECONDS,
) -> Summary:
    """Really run random trials, as RandomizedSearchCV(n_iter=50) would, while time lasts."""
    domain = as_domain(SPACE)
    draws = domain.decode(np.random.default_rng(seed).random((count, domain.width)))
    values: list[float] = []
    seconds = 0.0
    what = f"{count} random trials, to compare"
    watched = console.is_terminal
    for params in track(draws, what, console=console, transient=True, disable=not watched):
        evaluated = evaluate(objective, params)
        values.append(float(evaluated.returned))
        seconds += evaluated.seconds
        if seconds > most_seconds:
            break
    return Summary(len(values), seconds, min(values))


def _conclude(console: Console, result: Result, fixed: Summary, lam: float) -> None:
    if result.best is None:  # every training failed: there is nothing to compare
        return
    ours = Summary(len(result.history), result.spent, result.best.value)
    console.print(
        f"\n[bold]Best:[/] {ours.best:.2f} % misread with {configuration(result.best.params)}"
    )
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for heading in ("", "trials", "training", "misread", "priced in"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, search in (
        ("stopwise, until it stopped", ours),
        ("random trials, really run", fixed),
    ):
        table.add_row(
            name,
            str(search.trials),
            amount(search.seconds, SECONDS),
            f"{search.best:.2f} %",
            f"{search.best + lam * search.seconds:.2f} %",
        )
    console.print(table)
    console.print(
        f"Priced in: misread plus {lam:g} % for each second of training. One run proves little:"
        " --seed 1 gives another."
    )
    if fixed.trials < FIXED:
        whole = amount(FIXED * fixed.seconds / fixed.trials, SECONDS)
        console.print(
            f"This machine is busy or slow, so only {fixed.trials} of the {FIXED} were run; at"
            f" their mean cost {FIXED} would have taken about {whole} (an estimate)."
        )
