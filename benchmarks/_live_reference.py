# SPDX-License-Identifier: Apache-2.0
"""Make the reference samples of live objectives that come with stopwise_paper.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python -m benchmarks._live_reference [PROBLEM ...]

The 128 configurations of a problem are trained once, one after the other on one thread. A sample
that is there is kept: whoever changes an objective removes its file first and plays it again.
What has been trained is noted beside the file, so that the command may be stopped and goes on.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

from threadpoolctl import threadpool_limits

from stopwise_paper.problems.live import OBJECTIVES
from stopwise_paper.problems.live.reference import configurations, file_of, write

PACKAGES = ("scikit-learn", "numpy", "scipy")


def sampled(problem: str, notes: Path) -> list[tuple[float, float, float]]:
    """Value, counted cost and CPU seconds of each configuration."""
    objective = OBJECTIVES[problem]
    lines = notes.read_text("utf-8").splitlines() if notes.exists() else []
    rows = [tuple(json.loads(line)) for line in lines]
    todo = configurations(objective.space)[len(rows) :]
    with threadpool_limits(limits=1), notes.open("a", encoding="utf-8") as file:
        objective.train(todo[0])  # imports and caches are not what a configuration costs
        for params in todo:
            began = time.process_time()
            value, cost = objective.train(params)
            rows.append((value, cost, time.process_time() - began))
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
    return rows


def main() -> None:
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    for problem in sys.argv[1:] or OBJECTIVES:
        path = Path(str(file_of(problem)))
        if path.exists():
            print(f"{problem}: {path.name} is there and is kept")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        notes = path.with_suffix(".part")
        write(path, sampled(problem, notes), versions)
        notes.unlink()
        print(f"{problem}: {path.name}, {path.stat().st_size} bytes", flush=True)


if __name__ == "__main__":
    main()
