# SPDX-License-Identifier: Apache-2.0
"""Rooms, their tests, and which of these pass through a line.

The tests of a room are run once with coverage, which says for every line which tests run it, and
with times. A mutant is then tried on the tests that run its line, the quickest first.
"""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from coverage import CoverageData

from tests.support.repository import ROOT

SOURCES = {
    "numerics": "src/stopwise/core/numerics",
    "laws": "src/stopwise/core/beliefs/laws",
    "acquisition": "src/stopwise/acquisition",
    "stopping": "src/stopwise/stopping",
}
TESTS = {
    "numerics": ("tests/core/numerics",),
    "laws": ("tests/core/beliefs",),
    "acquisition": ("tests/acquisition",),
    "stopping": ("tests/stopping",),
}
OPTIONS = (
    "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow and not parity",
    "--hypothesis-profile=mutation",
)  # fmt: skip


def environment(root):
    """The environment of a test run in the tree at ``root``."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(root / "src"), str(root / "paper" / "src"))),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


@dataclass(frozen=True)
class Room:
    """A folder of the package with its tests, and what is known of these in ``state``."""

    name: str
    state: Path

    @property
    def modules(self):
        """Paths of the room's modules, relative to the repository."""
        paths = sorted((ROOT / SOURCES[self.name]).glob("*.py"))
        return [path.relative_to(ROOT).as_posix() for path in paths]

    def measure(self, *, anew):
        """Run the room's tests once, unless that was done."""
        if self._times_file.exists() and not anew:
            return
        self.sound_file.unlink(missing_ok=True)
        command = [
            sys.executable, "-m", "pytest", *OPTIONS, f"--cov={SOURCES[self.name]}",
            "--cov-branch", "--cov-context=test", "--cov-report=",
            f"--junitxml={self._times_file}.part",
            "-o", "junit_family=xunit1",
            SOURCES[self.name], *TESTS[self.name],
        ]  # fmt: skip
        variables = {**environment(ROOT), "COVERAGE_FILE": str(self._coverage_file)}
        subprocess.run(command, check=True, cwd=ROOT, env=variables)
        self._times_file.with_suffix(".xml.part").rename(self._times_file)

    def tests(self, module, place):
        """Ids of the tests that run the place, the quickest first; and their seconds.

        A line outside functions runs at import. It is tried on the tests that run a function of
        its module, then on all others.
        """
        contexts = self._contexts[module]
        lines = range(place.lines[0], place.lines[1] + 1) if place.inside else contexts
        ids = {test.partition("|")[0] for line in lines for test in contexts.get(line, ()) if test}
        others = () if place.inside else set(self._times) - ids
        return [
            *sorted((self._times[test], test) for test in ids),
            *sorted((self._times[test], test) for test in others),
        ]

    @property
    def all_tests(self):
        """Ids of the tests of the room."""
        return list(self._times)

    @property
    def sound_file(self):
        """It is there when the tests were seen to pass in a copy of the tree."""
        return self.state / f"{self.name}.sound"

    @property
    def _times_file(self):
        return self.state / f"{self.name}.xml"

    @property
    def _coverage_file(self):
        return self.state / f"{self.name}.coverage"

    @cached_property
    def _times(self):
        times = {}
        for case in ET.parse(self._times_file).getroot().iter("testcase"):  # noqa: S314  ours
            file = case.get("file")
            inside = case.get("classname").removeprefix(file.removesuffix(".py").replace("/", "."))
            middle = f"{inside.strip('.')}::" if inside.strip(".") else ""
            times[f"{file}::{middle}{case.get('name')}"] = float(case.get("time"))
        return times

    @cached_property
    def _contexts(self):
        data = CoverageData(str(self._coverage_file))
        data.read()
        return {
            Path(file).relative_to(ROOT).as_posix(): data.contexts_by_lineno(file)
            for file in data.measured_files()
        }
