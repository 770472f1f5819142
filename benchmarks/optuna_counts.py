# SPDX-License-Identifier: Apache-2.0
"""What an Optuna trial costs a sampler and a callback: fits, suprema, translated trials.

A study in memory holds so many random trials; then a few are run with both. "first" is the first
of these, which reads what is there; "a trial" is the mean over the further ones, each of which is
to have one fit and one supremum at most. "translated" are the params of trials that were put into
our form. LogEIPC is what PBGI's rule maximises, so its supremum is the choice; with PBGI as the
acquisition, rule and choice have a supremum each.

``python -m benchmarks.optuna_counts [--against SRC]`` compares with the code in another folder;
with ``--into FOLDER`` it writes ``optuna.csv`` and ``optuna.png``: how a trial's seconds grow.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks import Row, _report, _wanted
from benchmarks._optuna_counts_worker import COUNTED

ROOT = Path(__file__).parent.parent
OURS = ROOT / "src"
TITLES = {
    "a trial, CPU s": "CPU seconds of a trial",
    "first, CPU s": "of the first, which reads the others and fits",
}


def run(*, quick: bool) -> list[Row]:
    finished = [20, 200] if quick else [50, 200, 1000]
    return [
        row
        for n in finished
        for surrogate in ("plain", "default")
        for row in rows(surrogate, OURS, n, [surrogate], quick=quick)
    ]


def rows(who: str, code: Path, finished: int, options: list[str], *, quick: bool) -> list[Row]:
    """A row for each acquisition."""
    trials = 4 if quick else 11
    return [
        _row(who, finished, acquisition, measured(code, finished, [acquisition, *options], trials))
        for acquisition in ("logeipc", "pbgi")
    ]


def measured(code: Path, finished: int, options: list[str], trials: int) -> list[dict[str, float]]:
    """Counts and seconds of each trial, in a process of its own."""
    arguments = [str(finished), str(trials), *options]
    process = subprocess.run(  # noqa: S603  our own worker
        [sys.executable, "-m", "benchmarks._optuna_counts_worker", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(code)},
    )
    counts: list[dict[str, float]] = json.loads(process.stdout)
    return counts


def _row(who: str, finished: int, acquisition: str, trials: list[dict[str, float]]) -> Row:
    first, *others = trials
    row: Row = {"finished": finished, "acquisition": acquisition, "who": who}
    for what in COUNTED:
        row[f"{what}, first"] = f"{first[what]:g}"
        row[f"{what}, a trial"] = f"{statistics.mean(trial[what] for trial in others):.3g}"
    row["first, CPU s"] = f"{first['seconds']:.2f}"
    row["a trial, CPU s"] = f"{statistics.median(trial['seconds'] for trial in others):.3f}"
    few = all(trial[what] <= most for trial in others for what, most in _wanted.COUNTS.items())
    return row | {"wanted": "1 fit, 1 supremum", "met": "yes" if few else "NO"}


def picture(table: list[Row], folder: Path) -> None:
    """Seconds of a trial over the finished ones, a line for each model and acquisition."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    with (folder / "optuna.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    lines = sorted({(str(row["who"]), str(row["acquisition"])) for row in table})
    for panel, column in zip(panels, TITLES, strict=True):
        for line in lines:
            own = [row for row in table if (row["who"], row["acquisition"]) == line]
            n = [float(row["finished"]) for row in own]
            drawn = ("--" if line[0] == "plain" else "-") + ("o" if line[1] == "pbgi" else "s")
            panel.plot(n, [float(row[column]) for row in own], drawn, label=", ".join(line), ms=4)
        panel.set(xscale="log", yscale="log", xlabel="finished trials", title=TITLES[column])
        panel.set_xticks(n, [f"{size:g}" for size in n])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    panels[0].legend(frameon=False, fontsize=8)
    figure.savefig(folder / "optuna.png", dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.optuna_counts")
    parser.add_argument("--against", type=Path, help="the src of version 0.1")
    parser.add_argument("--into", type=Path, help="a folder for the figure of growth")
    parser.add_argument("--quick", action="store_true", help="few trials")
    arguments = parser.parse_args()
    if arguments.into:
        picture(run(quick=arguments.quick), arguments.into)
        return
    table: list[Row] = []
    for finished in (20, 200, 1000):
        if arguments.against:
            before = arguments.against.resolve()
            table += rows("before", before, finished, [], quick=arguments.quick)
        table += rows("now", OURS, finished, ["plain"], quick=arguments.quick)
    print(_report.table(table))


if __name__ == "__main__":
    main()
