# SPDX-License-Identifier: Apache-2.0
"""The report: the machine, then one plain table per benchmark."""

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy
from scipy import linalg  # noqa: F401  its BLAS shows only once it is loaded
from threadpoolctl import threadpool_info

from benchmarks import Row


def machine() -> str:
    """Processor, versions and BLAS threads: what timings depend on."""
    blas = [
        f"{pool['internal_api']} {pool['version']}, threads: {pool['num_threads']}"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    ]
    facts = {
        "cpu": _cpu_model(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "blas": "; ".join(dict.fromkeys(blas)) or "unknown",
    }
    return "\n".join(f"{name:<7} {fact}" for name, fact in facts.items())


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def table(rows: Sequence[Row]) -> str:
    """Rows as aligned columns, numbers to three digits and to the right."""
    columns = list(rows[0])
    cells = [columns, *([_cell(row[column]) for column in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    to_the_left = [isinstance(value, str) for value in rows[0].values()]
    lines = [
        "  ".join(
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(line, widths, to_the_left, strict=True)
        ).rstrip()
        for line in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def targets(name: str, rows: Sequence[Row]) -> list[str]:
    """How many of a benchmark's targets are met, in one line; none if it has no targets."""
    met = [
        row[column] for row in rows for column in row if column.startswith("met") and row[column]
    ]
    return [f"  {name}: {met.count('yes')} of {len(met)}"] if met else []


def _cell(value: float | str) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if 100 <= abs(value) < 1e6 else f"{value:.3g}"
    return str(value)
