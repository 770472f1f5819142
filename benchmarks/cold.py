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

from benchmarks import Row, _wanted

SCRIPTS = {
    "numpy": "import numpy",
    "import stopwise": "import stopwise",
    **{
        f"first suggestion, {surrogate}": (
            "import stopwise as sw\n"
            "space = {'a': sw.Real(0, 1), 'n': sw.Integer(1, 9)}\n"
            f"sw.Study(space, lam=1e-3, surrogate={surrogate!r}).ask()"
        )
        for surrogate in ("plain", "default")
    },
}


def run(*, quick: bool) -> list[Row]:
    seconds: dict[str, list[float]] = {name: [] for name in SCRIPTS}
    with tempfile.TemporaryDirectory() as compiled:
        for _ in range(3 if quick else 11):
            for name, script in SCRIPTS.items():
                seconds[name].append(_seconds(script, compiled))
    return [_row(name, times[1:]) for name, times in seconds.items()]


def _seconds(script: str, compiled: str) -> float:
    """CPU seconds of a process that keeps compiled modules in a folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment |= {"PYTHONPYCACHEPREFIX": compiled, "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)  # noqa: S603  ours
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _row(name: str, seconds: list[float]) -> Row:
    wanted = _wanted.FIRST_SUGGESTION if name.startswith("first") else None
    return {
        "what": name,
        "median, s": f"{statistics.median(seconds):.2f}",
        "least, s": f"{min(seconds):.2f}",
        **_wanted.at_most(statistics.median(seconds), wanted),
    }
