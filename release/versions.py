# SPDX-License-Identifier: Apache-2.0
"""Do the lowest and the newest allowed versions of what we depend on work?

``python -m release.versions`` tries every group, ``python -m release.versions optuna ray`` some,
``--lowest`` or ``--newest`` one end. The lowest are read from pyproject.toml; each group has an
environment of its own, in which the wheel of this tree and the tests of the group are run. With
``--keep FOLDER`` the environments stay there, and are not made again when they are there.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from release._environment import ROOT, Environment, run, say

CORE = ["numpy", "scipy", "threadpoolctl", "rich", "typer"]


@dataclass(frozen=True)
class Group:
    """What is tried together.

    Args:
        tests: The tests that are run.
        extra: The extra that brings the packages; none for the core.
        first: What is installed first, alone.
    """

    tests: tuple[str, ...]
    extra: str = ""
    first: tuple[str, ...] = ()


TORCH = ("torch==2.13.0",)
GROUPS = {
    "core": Group(
        ("tests/acquisition", "tests/stopping", "tests/core/space", "tests/study/test_looking.py")
    ),
    "sklearn": Group(("tests/integrations/test_sklearn.py",), "sklearn"),
    "optuna": Group(
        ("tests/integrations/test_optuna.py", "tests/integrations/test_optuna_turns.py"), "optuna"
    ),
    "botorch": Group(("tests/integrations/test_botorch.py",), "botorch", TORCH),
    "ax": Group(("tests/integrations/test_ax.py",), "ax", TORCH),
    "ray": Group(("tests/integrations/test_ray.py",), "ray"),
}


def requirements(group: Group) -> dict[str, str]:
    """The packages of a group and their lowest versions, from pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    listed = [*project["dependencies"]]
    if group.extra:
        listed += project["optional-dependencies"][group.extra]
    pairs = (re.fullmatch(r"([\w.-]+(?:\[\w+\])?)>=([\w.]+).*", line) for line in listed)
    return {pair[1]: pair[2] for pair in pairs if pair}


def ends(given: argparse.Namespace) -> Iterator[str]:
    """The ends that were asked for."""
    if not given.newest:
        yield "lowest"
    if not given.lowest:
        yield "newest"


def tried(name: str, end: str, place: Path) -> str:
    """Install a group at one end, and run its tests; a line that says what came of it."""
    group = GROUPS[name]
    environment = Environment(place / f"{name}-{end}")
    if group.first:
        environment.install(*group.first)
    lowest = requirements(group)
    pinned = [f"{each}=={version}" for each, version in lowest.items()] if end == "lowest" else []
    extra = f"[{group.extra}]" if group.extra else ""
    upgrade = ["-U"] if end == "newest" else []
    environment.install(*upgrade, f"{ROOT}{extra}", *pinned, "pytest", "hypothesis", "mpmath")
    out = tests_run(environment, group)
    names = sorted({*CORE, *(each.partition("[")[0] for each in lowest)})
    return f"{name}, {end}: {out.strip().splitlines()[-1]}\n    {environment.versions(names)}"


def tests_run(environment: Environment, group: Group) -> str:
    """Run the tests of a group against what is installed: the tree's src/ is not there."""
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder)
        for part in ("tests", "docs", "examples"):
            skipped = shutil.ignore_patterns("__pycache__", "results", "_generated")
            shutil.copytree(ROOT / part, copied / part, ignore=skipped)
        for part in ("pyproject.toml", "README.md", "constraints.txt"):
            shutil.copy(ROOT / part, copied / part)
        command = [environment.python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        return run([*command, "-m", "not slow and not parity", *group.tests], cwd=copied)


def main() -> None:
    """Try what was asked for, and say at the end what worked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--lowest", action="store_true", help="the lowest versions only")
    parser.add_argument("--newest", action="store_true", help="the newest versions only")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep environments there")
    given = parser.parse_args()
    unknown = {*given.groups} - {*GROUPS}
    if unknown:
        parser.error(f"no group {', '.join(sorted(unknown))}: give some of {', '.join(GROUPS)}")
    lines = []
    for name in given.groups or GROUPS:
        for end in ends(given):
            say(f"{name}, {end}")
            with tempfile.TemporaryDirectory() as folder:
                lines.append(tried(name, end, given.keep or Path(folder)))
    say("\n".join(lines))


if __name__ == "__main__":
    main()
