# SPDX-License-Identifier: Apache-2.0
"""Empty environments, and commands that must succeed in them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
QUIET = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def run(command: list[str], *, cwd: Path = ROOT) -> str:
    """Run a command; its output, or an error that shows it."""
    began = time.monotonic()
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=cwd, env=clean | QUIET, capture_output=True, text=True, check=False
    )
    shown = shlex.join(command)
    short = shown if len(shown) < 110 else shown[:107] + "..."
    say(f"  {time.monotonic() - began:6.1f} s  {short}")
    if done.returncode:
        say(done.stdout[-4000:] + done.stderr[-4000:])
        raise SystemExit(f"failed: {shown}")
    return done.stdout


class Environment:
    """A virtual environment of its own.

    Args:
        folder: Where it is made, with nothing in it, unless it is there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not Path(self.python).exists():
            run([sys.executable, "-m", "venv", str(folder)])

    @property
    def python(self) -> str:
        """Its interpreter."""
        return str(self.folder / "bin" / "python")

    def borrow(self, packages: Path) -> None:
        """Let it import what is in another folder of packages, after its own."""
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        own = Path(run([self.python, "-c", code]).strip())
        (own / "borrowed.pth").write_text(f"{packages}\n", "utf-8")

    def install(self, *what: str) -> None:
        """Install packages."""
        run([self.python, "-m", "pip", "install", "-q", *what])

    def versions(self, names: list[str]) -> str:
        """The versions of those of some packages that are installed."""
        code = (
            "from importlib import metadata as m\n"
            f"for n in {names!r}:\n"
            "    try: print(n, m.version(n), end='  ')\n"
            "    except m.PackageNotFoundError: pass\n"
        )
        return run([self.python, "-c", code]).strip()
