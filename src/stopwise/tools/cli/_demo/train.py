# SPDX-License-Identifier: Apache-2.0
"""The demo of tuning: a real model, until the next trial is not worth it, against 50 trials."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from stopwise.core.exchange_rate import exchange_rate
from stopwise.core.units import SECONDS, amount
from stopwise.study.loop import minimize
from stopwise.study.result import Result
from stopwise.tools.cli._demo.digits import SPACE, misread_percent
from stopwise.tools.cli._demo.fixed_number import FIXED, Summary, fixed_number
from stopwise.tools.progress.words import configuration

REPORT = "stopwise-demo.html"
SEED = 0  # the default of Study, not one chosen for its outcome
IMPROVEMENT, SECONDS_FOR_IT = 1.0, 10.0
MOST_TRIALS = 40  # of ours; it stops before
MOST_SECONDS = 30.0  # of what it is compared with; reached on slow machines only


def train(console: Console, *, seed: int = SEED, report: str = REPORT) -> tuple[Result, Summary]:
    """The whole demo, about half a minute; what was found, and what it is compared with."""
    lam = exchange_rate(improvement=IMPROVEMENT, cost=SECONDS_FOR_IT)
    console.print(
        "[bold]Tuning a classifier[/] of 1797 handwritten digits: with how many landmarks is an"
        " image compared, how wide is the kernel, how strong the penalty? A trial takes from some"
        " hundredths of a second to more than one; stopwise is not told which takes how long, and"
        " learns it from the clock.\n"
        f"The exchange rate: we would train {SECONDS_FOR_IT:g} s longer for {IMPROVEMENT:g} digit"
        f" less in 100 misread, so lam = {lam:g} % per s.\n"
    )
    objective = misread_percent()
    result = minimize(
        objective,
        SPACE,
        cost="seconds",
        lam=lam,
        max_trials=MOST_TRIALS,
        seed=seed,
        progress=True,
        value_name="misread %",
    )
    fixed = fixed_number(objective, seed, console, count=FIXED, most_seconds=MOST_SECONDS)
    _conclude(console, result, fixed, lam)
    result.report(report)
    console.print(f"\n[bold]The report:[/] {report}")
    console.print(
        "\n[bold]Your own model next:[/] sw.minimize(train, space, cost="
        '"seconds", lam=..., progress=True)\n'
        "Why fair values: stopwise demo --problem pandora"
    )
    return result, fixed


def _conclude(console: Console, result: Result, fixed: Summary, lam: float) -> None:
    if result.best is None:  # every training failed: there is nothing to compare
        return
    ours = Summary("stopwise", len(result.history), result.spent, result.best.value)
    design = result.promises[0].trial if result.promises else ours.trials
    console.print(
        f"\n[bold]Best:[/] {ours.best:.2f} % misread (trial {result.best.number}; 0 to"
        f" {design - 1} are the initial design) with {configuration(result.best.params)}"
    )
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for heading in ("", "trials", "training", "misread", "priced in"):
        table.add_column(heading, justify="right" if heading else "left")
    for search, how in ((ours, "until it stopped"), (fixed, "really run")):
        table.add_row(
            f"{search.name}, {how}",
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
