# SPDX-License-Identifier: Apache-2.0
"""A soak: does memory grow while 10,000 trials go through one process?

- many: studies of 100 trials one after the other, each with a journal: 10,000 trials.
- told: a study that is told 10,000 trials of somebody else's, and is never asked.
- one: a study that chooses 1,000 trials itself; its covariance alone has n^2 numbers.

All have a journal, ``surrogate="plain"`` and the default refits; ``should_stop`` is asked at every
trial of many and one, and its answer is not heeded. Memory is what the process holds (resident),
before each of the three too, so that what is loaded once is not counted.

``python -m benchmarks.soak FOLDER`` writes soak.csv (as it goes) and soak.png there.
"""

import csv
import gc
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TextIO

import numpy as np

import stopwise as sw
from benchmarks import Row

SPACE = {f"x{i}": sw.Real(0.0, 1.0) for i in range(3)}
PAGE = os.sysconf("SC_PAGE_SIZE")
SAMPLES = 100  # of a curve


def run(*, quick: bool) -> list[Row]:
    curves = [list(points) for points in _curves(300 if quick else 10_000)]
    return [_summary(points) for points in curves]


def _curves(trials: int) -> Iterator[Iterator[Row]]:
    with tempfile.TemporaryDirectory() as folder:
        list(many_studies(Path(folder), 100))  # loads what is loaded once
        yield _sampled("many", many_studies(Path(folder), trials), trials)
        yield _sampled("told", told_study(Path(folder), trials), trials)
        yield _sampled("one", one_study(Path(folder), trials // 10), trials // 10)


def many_studies(folder: Path, trials: int) -> Iterator[int]:
    """Studies of 100 trials; what is yielded is how many trials there were."""
    done = count(1)
    for number in range(trials // 100):
        path = folder / f"many-{number}.jsonl"
        study = _study(path, number)
        for _ in range(100):
            _step(study)
            yield next(done)
        path.unlink()


def one_study(folder: Path, trials: int) -> Iterator[int]:
    """One study that chooses all its trials."""
    study = _study(folder / "one.jsonl", 0)
    for done in range(1, trials + 1):
        _step(study)
        yield done


def told_study(folder: Path, trials: int) -> Iterator[int]:
    """One study to which somebody else's trials are told."""
    study = _study(folder / "told.jsonl", 0)
    rng = np.random.default_rng(0)
    for done in range(1, trials + 1):
        params = dict(zip(SPACE, map(float, rng.random(len(SPACE))), strict=True))
        study.tell(params, objective(params))
        yield done


def objective(params: dict[str, float]) -> float:
    x = np.array(list(params.values()))
    return float(((x - 0.3) ** 2).sum() + 0.3 * np.sin(9.0 * x).prod())


def _study(journal: Path, seed: int) -> sw.Study:
    return sw.Study(SPACE, lam=1e-6, surrogate="plain", journal=journal, seed=seed)


def _step(study: sw.Study) -> None:
    trial = study.ask()
    study.tell(trial, objective(trial.params))
    study.should_stop()


def _sampled(name: str, done: Iterator[int], trials: int) -> Iterator[Row]:
    """Memory and seconds, before and at every hundredth of the trials."""
    gc.collect()
    begin = time.process_time()
    yield {"curve": name, "trials": 0, "MiB": resident(), "CPU seconds": 0.0}
    for number in done:
        if number % max(trials // SAMPLES, 1) == 0:
            spent = time.process_time() - begin
            yield {"curve": name, "trials": number, "MiB": resident(), "CPU seconds": spent}


def resident() -> float:
    """MiB of this process in memory (Linux)."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * PAGE / 2**20


def _summary(points: list[Row]) -> Row:
    n = np.array([float(p["trials"]) for p in points])
    mib = np.array([float(p["MiB"]) for p in points])
    late = n >= n[-1] / 2
    return {
        "curve": points[0]["curve"],
        "trials": int(n[-1]),
        "CPU seconds": float(points[-1]["CPU seconds"]),
        "MiB before": float(mib[0]),
        "at a tenth": float(mib[len(mib) // 10]),
        "at the half": float(mib[late][0]),
        "at the end": float(mib[-1]),
        "KiB a trial, second half": float(1024 * np.polyfit(n[late], mib[late], 1)[0]),
    }


def picture(points: list[Row], path: Path) -> None:
    """Memory over trials, a panel for each curve."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    titles = {
        "many": "studies of 100 trials, one after the other",
        "told": "one study that is told all trials",
        "one": "one study that chooses its trials",
    }
    figure, panels = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
    for panel, (name, title) in zip(panels, titles.items(), strict=True):
        of_curve = [p for p in points if p["curve"] == name]
        panel.plot([p["trials"] for p in of_curve], [p["MiB"] for p in of_curve], lw=1.5)
        panel.set(title=title, xlabel="trials", ylim=(0, None))
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("resident memory, MiB")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    folder = Path(sys.argv[1])
    trials = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    folder.mkdir(parents=True, exist_ok=True)
    points: list[Row] = []
    with (folder / "soak.csv").open("w", encoding="utf-8", newline="") as file:
        for curve in _curves(trials):
            for point in curve:
                points.append(point)
                _write(point, file)
            print(_summary([p for p in points if p["curve"] == point["curve"]]), flush=True)
    picture(points, folder / "soak.png")


def _write(point: Row, file: TextIO) -> None:
    writer = csv.DictWriter(file, list(point), lineterminator="\n")
    if point["trials"] == 0 and point["curve"] == "many":
        writer.writeheader()
    writer.writerow({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in point.items()})
    file.flush()


if __name__ == "__main__":
    main()
