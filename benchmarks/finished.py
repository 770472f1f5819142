# SPDX-License-Identifier: Apache-2.0
"""What finished trials cost before any model: told, kept in a journal, read again.

A study of three parameters is told n trials of somebody else's and never asked; then its journal
is read by a new study. Behind docs/scale.md.

- tell, read: CPU milliseconds a trial.
- journal: bytes a trial on disk.
- memory: KiB a trial that the process holds more than before.
"""

import os
import tempfile
import time
from pathlib import Path

import numpy as np

import stopwise as sw
from benchmarks import Row

SPACE = {f"x{i}": sw.Real(0.0, 1.0) for i in range(3)}
PAGE = os.sysconf("SC_PAGE_SIZE")


def run(*, quick: bool) -> list[Row]:
    _measured(100)  # loads what is loaded once
    return [_measured(n) for n in ([300] if quick else [1_000, 10_000])]


def _measured(n: int) -> Row:
    X = np.random.default_rng(0).random((n, len(SPACE)))
    with tempfile.TemporaryDirectory() as folder:
        path, before = Path(folder) / "study.jsonl", _resident()
        begin = time.process_time()
        study = _study(path)
        for x in X:
            study.tell(dict(zip(SPACE, map(float, x), strict=True)), float(x.sum()))
        told = time.process_time() - begin
        held = _resident() - before
        study.close()
        size = path.stat().st_size
        begin = time.process_time()
        again = sw.Study.resume(path)
        read = time.process_time() - begin
        found = len(again.history)
        again.close()
    return {
        "n": n,
        "tell, ms": 1e3 * told / n,
        "read, ms": 1e3 * read / n,
        "journal, bytes": size / n,
        "memory, KiB": held / 1024 / n,
        "read again": found,
    }


def _study(path: Path) -> sw.Study:
    return sw.Study(SPACE, lam=1e-9, seed=0, journal=path, surrogate="plain", max_trials=10**9)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * PAGE
