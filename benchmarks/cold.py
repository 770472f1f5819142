# SPDX-License-Identifier: Apache-2.0
"""The first suggestion of a new process: from the start of Python to the end of ``ask``.

Seconds of the process; "numpy" is Python with numpy alone, below which nobody comes. Modules are
compiled beforehand, as they are where a package was installed.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile

from benchmarks import Row

SCRIPTS = {
    "numpy": "import numpy",
    "import stopwise": "import stopwise",
    "first suggestion": (
        "import stopwise as sw\n"
        "sw.Study({'a': sw.Real(0, 1), 'n': sw.Integer(1, 9)}, lam=1e-3).ask()"
    ),
}
WANTED = {"first suggestion": 0.25}


def run(*, quick: bool) -> list[Row]:
    seconds: dict[str, list[float]] = {name: [] for name in SCRIPTS}
    with tempfile.TemporaryDirectory() as compiled:
        for _ in range(3 if quick else 11):
            for name, script in SCRIPTS.items():
                seconds[name].append(_seconds(script, compiled))
    return [_row(name, statistics.median(times[1:])) for name, times in seconds.items()]


def _seconds(script: str, compiled: str) -> float:
    """CPU seconds of a process that keeps compiled modules in a folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment |= {"PYTHONPYCACHEPREFIX": compiled, "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)  # noqa: S603  ours
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _row(name: str, seconds: float) -> Row:
    wanted = WANTED.get(name)
    met = "" if wanted is None else "yes" if seconds <= wanted else "NO"
    return {
        "what": name,
        "seconds": f"{seconds:.2f}",
        "wanted": "" if wanted is None else f"{wanted:g}",
        "met": met,
    }
