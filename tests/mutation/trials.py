# SPDX-License-Identifier: Apache-2.0
"""A mutant is tried in a copy of the tree, so that nothing else is disturbed.

Each trial is a fork of this process, which has loaded numpy, scipy and pytest already (and nothing
of stopwise): loading them takes longer than most trials.
"""

import contextlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.operators import Place, mutated
from tests.mutation.rooms import OPTIONS, environment
from tests.mutation.selection import VARIABLE
from tests.support.repository import ROOT

AT_MOST = 25.0  # seconds that the chosen tests took together, measured with coverage
PATIENCE = 2  # times as much CPU time, and a start: it loops for ever, or as good as that
WALL_SECONDS = 900  # it sleeps for ever
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
    if room.sound_file.exists():
        return
    answer = _answer(room.all_tests, root, limit=3600)
    if not answer.startswith("survived"):
        message = f"the tests of {room.name} do not pass as they are: {answer}"
        raise AssertionError(message)
    room.sound_file.touch()


def outcome(mutant, tests, root):
    """``(what became of it, seconds)``: killed, by time too, or survived."""
    ids, spent = [], 0.0
    for seconds, test in tests:
        if spent + seconds <= AT_MOST:
            spent += seconds
            ids.append(test)
    if not ids:
        return "survived: no test runs this line", 0.0
    path = root / mutant.module
    source = path.read_text(encoding="utf-8")
    begun = time.monotonic()
    try:
        _write(path, mutated(source, mutant.place, mutant.text))
        return _answer(ids, root, limit=int(10 + PATIENCE * spent)), time.monotonic() - begun
    finally:
        _write(path, source)


def _write(path, text):
    path.write_text(text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()  # else one of the same second and size would be taken for it


def _answer(ids, root, limit):
    listed, output = root / "chosen-tests", root / "output"
    listed.write_text("\n".join(ids), encoding="utf-8")
    child = os.fork()
    if child == 0:
        code = 3
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            code = _run_tests(ids, root, listed, output)
        finally:
            os._exit(code)
    status = _wait(child, time.monotonic() + max(WALL_SECONDS, limit))
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return f"survived {len(ids)} tests"
    if code < 0:
        return "killed: it took too long"
    text = output.read_text(encoding="utf-8", errors="replace")
    failed = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return f"killed by {failed[0].split()[1]}" if failed else f"killed: {text[-200:]!r}"


def _run_tests(ids, root, listed, output):
    """In the child: as a fresh interpreter in the copy would."""
    import pytest

    os.chdir(root)
    os.environ.update(environment(root), **{VARIABLE: str(listed)})
    kept = [path for path in sys.path if path and not Path(path).is_relative_to(ROOT)]
    sys.path[:] = [str(root), str(root / "src"), str(root / "paper" / "src"), *kept]
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    with output.open("w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        files = dict.fromkeys(test.partition("::")[0] for test in ids)
        options = (*OPTIONS, "-x", "-p", "tests.mutation.selection", "--tb=no")
        code = int(pytest.main([*options, *files]))
        sys.stdout.flush()
    return code


def _wait(child, deadline):
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]
