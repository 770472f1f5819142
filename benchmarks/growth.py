# SPDX-License-Identifier: Apache-2.0
"""How work grows with the data: a fit, and a step of a study.

Behind docs/adr/0033-bounded-work.md. Data of three kinds in 4 dimensions: smooth (a quadratic,
whose covariance is nearly singular), rough (waves and noise) and constant (but for rounding
errors).

- fit: seconds and likelihoods of a fit that knows nothing.
- first: seconds of the first ``should_stop`` of a study that was told n observations.
- next: the same after one more observation, which is what a step of a study takes as a rule.

Seconds are those of the process, with one BLAS thread: other processes hardly change them.

``python -m benchmarks.growth FOLDER [LARGEST]`` writes growth.csv and growth.png there, for n up
to LARGEST.
"""

import csv
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import stopwise as sw
from benchmarks import Row
from stopwise.core.beliefs import fit as fitting
from stopwise.core.numerics.threads import one_blas_thread

Array = NDArray[np.float64]

D = 4
SIZES = [50, 100, 200, 500, 1000, 2000]
QUICK_SIZES = [50, 100, 200]
SPACE = {f"x{i}": sw.Real(0.0, 1.0) for i in range(D)}


def smooth(X: Array, _: np.random.Generator) -> Array:
    return np.asarray(((X - 0.3) ** 2).sum(axis=1))


def rough(X: Array, rng: np.random.Generator) -> Array:
    return np.asarray(np.sin(60.0 * X).sum(axis=1) + rng.standard_normal(len(X)))


def constant(X: Array, rng: np.random.Generator) -> Array:
    return 1.0 + 1e-12 * rng.standard_normal(len(X))


KINDS: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    "smooth": smooth,
    "rough": rough,
    "constant": constant,
}


def run(*, quick: bool) -> list[Row]:
    return list(measured(QUICK_SIZES if quick else SIZES))


def measured(sizes: list[int]) -> Iterator[Row]:
    """A row for each size and kind of data, small ones first."""
    _row("smooth", 20)  # loads what is loaded once
    for n in sizes:
        for kind in KINDS:
            yield _row(kind, n)


def _row(kind: str, n: int) -> Row:
    rng = np.random.default_rng(0)
    X = rng.random((n + 1, D))
    y = KINDS[kind](X, rng)
    seconds, likelihoods = _fit(X[:n], y[:n])
    first, after = _steps(X, y)
    return {
        "data": kind,
        "n": n,
        "fit, s": seconds,
        "likelihoods": likelihoods,
        "first should_stop, s": first,
        "next should_stop, s": after,
    }


def _fit(X: Array, y: Array) -> tuple[float, int]:
    z = (y - y.mean()) / y.std(ddof=1)
    with one_blas_thread(), _counted() as count:
        begin = time.process_time()
        fitting.fit(X, z)
        return time.process_time() - begin, count[0]


@contextmanager
def _counted() -> Iterator[list[int]]:
    """Counts likelihoods."""
    count, log_likelihood = [0], fitting.log_likelihood

    def counted(*data: Any, **options: Any) -> Any:  # noqa: ANN401
        count[0] += 1
        return log_likelihood(*data, **options)

    fitting.log_likelihood = counted
    try:
        yield count
    finally:
        fitting.log_likelihood = log_likelihood


def _steps(X: Array, y: Array) -> tuple[float, float]:
    """Seconds of should_stop after all observations but one, and after all of them."""
    study = sw.Study(SPACE, lam=1e-3, seed=0)
    points = [dict(zip(SPACE, map(float, x), strict=True)) for x in X]
    told = list(zip(points, map(float, y), strict=True))
    for params, value in told[:-1]:
        study.tell(params, value)
    seconds = []
    for last in ([], told[-1:]):
        for params, value in last:
            study.tell(params, value)
        begin = time.process_time()
        study.should_stop()
        seconds.append(time.process_time() - begin)
    return seconds[0], seconds[1]


def picture(rows: list[Row], path: Path) -> None:
    """Seconds and likelihoods over n, a line for each kind of data."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    columns = ["fit, s", "likelihoods", "first should_stop, s", "next should_stop, s"]
    figure, panels = plt.subplots(1, len(columns), figsize=(13, 3.6), layout="constrained")
    for panel, column in zip(panels, columns, strict=True):
        for kind in KINDS:
            of_kind = [row for row in rows if row["data"] == kind]
            n = [float(row["n"]) for row in of_kind]
            panel.plot(n, [float(row[column]) for row in of_kind], "o-", label=kind, ms=4)
        panel.set(xscale="log", xlabel="observations", title=column)
        panel.set_xticks(n, [f"{size:g}" for size in n])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
        if column == "likelihoods":
            most = fitting.MOST_LIKELIHOODS
            panel.axhline(most, color="0.4", ls="--", lw=1)
            panel.annotate(f"at most {most}", (n[0], most), va="bottom", fontsize=8)
            panel.set_ylim(0, 1.15 * most)
        else:
            panel.set_yscale("log")
    panels[0].legend(frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    folder, largest = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else SIZES[-1]
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    for row in measured([n for n in SIZES if n <= largest]):
        rows.append(row)
        _write(rows, folder / "growth.csv")
    picture(rows, folder / "growth.png")


def _write(rows: list[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.3g}" if isinstance(v, float) else v for k, v in row.items()})


if __name__ == "__main__":
    main()
