# SPDX-License-Identifier: Apache-2.0
"""A mutant is tried in a copy of the tree, so that nothing else is disturbed."""

import resource
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.operators import Place, mutated
from tests.mutation.rooms import PYTEST, environment
from tests.mutation.selection import VARIABLE
from tests.support.repository import ROOT

AT_MOST = 40.0  # seconds that the chosen tests took together, measured with coverage
CPU_SECONDS = 90  # of one mutant: it loops for ever, or as good as that
WALL_SECONDS = 600  # it sleeps for ever
COPIED = ("src", "tests", "paper", "examples", "docs", "benchmarks")


@dataclass(frozen=True)
class Mutant:
    """One mistake in one module."""

    room: str
    module: str
    place: Place
    kind: str
    text: str

    @property
    def key(self):
        """A name that says which mutant this is, in results of an earlier run too."""
        return f"{self.module}:{self.place.line}:{self.place.begin}:{self.text}"


@contextmanager
def scratch_tree():
    """A copy of the repository's source and tests."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        root = Path(folder)
        ignored = shutil.ignore_patterns("__pycache__", "results", "*.jsonl.gz")
        for name in COPIED:
            shutil.copytree(ROOT / name, root / name, ignore=ignored)
        for path in ROOT.glob("*.*"):
            if path.is_file() and not path.name.startswith("."):
                shutil.copy(path, root)
        yield root


def refuse_broken_tests(room, root):
    """A test that fails in the copy without any mistake would kill every mutant."""
    answer = _answer(room.all_tests, root, limit=None)
    if not answer.startswith("survived"):
        message = f"the tests of {room.name} do not pass as they are: {answer}"
        raise AssertionError(message)


def outcome(mutant, tests, root):
    """``(what became of it, seconds)``: killed, by time too, or survived."""
    ids, spent = [], 0.0
    for seconds, test in tests:
        spent += seconds
        if spent <= AT_MOST:
            ids.append(test)
    if not ids:
        return "survived: no test runs this line", 0.0
    path = root / mutant.module
    source = path.read_text(encoding="utf-8")
    path.write_text(mutated(source, mutant.place, mutant.text), encoding="utf-8")
    begun = time.monotonic()
    try:
        return _answer(ids, root), time.monotonic() - begun
    finally:
        path.write_text(source, encoding="utf-8")


def _answer(ids, root, limit=CPU_SECONDS):
    listed = root / "chosen-tests"
    listed.write_text("\n".join(ids), encoding="utf-8")
    command = [
        *PYTEST, "-x", "-p", "tests.mutation.selection", "--tb=no",
        *dict.fromkeys(test.partition("::")[0] for test in ids),
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            cwd=root,
            env={**environment(root), VARIABLE: str(listed)},
            timeout=limit and WALL_SECONDS,
            preexec_fn=lambda: limit and resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        )
    except subprocess.TimeoutExpired:
        return "killed: it took too long"
    if done.returncode == 0:
        return f"survived {len(ids)} tests"
    if done.returncode < 0:
        return "killed: it took too long"
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return f"killed by {failed[0].split()[1]}" if failed else f"killed: {done.stdout[-200:]!r}"
