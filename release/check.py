# SPDX-License-Identifier: Apache-2.0
"""Would a release install, and work where nothing else is? ``make release-check``.

Builds sdist and wheel of both distributions, checks their metadata, installs each into an empty
environment outside the tree, and runs there the README's first example and the demo. Then the
tests of `make test` are run against both wheels, some fifteen minutes on two cores; ``--quick``
runs a selection: what says most about a package that is put together wrongly (files that are
missing, imports that only work in the tree).
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

from release._environment import ROOT, Environment, run, say

SELECTION = [
    "tests/core/space/test_space.py",
    "tests/core/space/test_candidates.py",
    "tests/core/space/test_constraints.py",
    "tests/stopping/test_compose.py",
    "tests/stopping/test_verdict.py",
    "tests/tools/runner/test_runner_config.py",
    "tests/house/test_public_loop.py",
]
OF_THE_TREE = [  # they read src/, or start programs from there
    "tests/house/test_house.py",
    "tests/house/test_docs.py",
    "tests/mutation",
    "paper/tests/test_imports.py",
]
BESIDE_THE_TREE = "paper/tests/test_problems.py::test_data_are_looked_for_beside_the_checkout"
CONSTRAINED = ["-c", str(ROOT / "constraints.txt")]


def built(folder: Path) -> dict[str, Path]:
    """Sdist and wheel of both distributions, by the ends of their names."""
    for source in (ROOT, ROOT / "paper"):
        run([sys.executable, "-m", "build", "--outdir", str(folder), str(source)])
    files = sorted(folder.iterdir())
    run([sys.executable, "-m", "twine", "check", "--strict", *map(str, files)])
    kinds = {
        "stopwise sdist": r"stopwise-[\w.]+\.tar\.gz",
        "stopwise wheel": r"stopwise-[\w.]+-py3-none-any\.whl",
        "paper sdist": r"stopwise_paper-[\w.]+\.tar\.gz",
        "paper wheel": r"stopwise_paper-[\w.]+-py3-none-any\.whl",
    }
    return {
        kind: next(file for file in files if re.fullmatch(name, file.name))
        for kind, name in kinds.items()
    }


def first_example() -> tuple[str, str]:
    """The first Python block of the README, and what it prints."""
    readme = (ROOT / "README.md").read_text("utf-8")
    code, shown = re.findall(
        r"^```python\n(.*?)^```.*?^```text\n(.*?)^```", readme, re.MULTILINE | re.DOTALL
    )[0]
    return code, shown


def try_it(environment: Environment, place: Path, *, demo: bool) -> None:
    """The README's example, and the demo, outside the tree."""
    place.mkdir()
    code, shown = first_example()
    printed = run([environment.python, "-c", code], cwd=place)
    if printed != shown:
        raise SystemExit(f"the README's example printed\n{printed}instead of\n{shown}")
    command = str(environment.folder / "bin" / "stopwise")
    if demo:
        run([command, "demo"], cwd=place)
        if not (place / "stopwise-demo.html").exists():
            raise SystemExit("the demo left no report")
    else:
        run([command, "demo", "--problem", "pandora"], cwd=place)


def run_tests(files: dict[str, Path], place: Path, *, quick: bool) -> None:
    """The tests against the wheels: the tree's src/ is not there.

    What tests need beside them (pytest, Optuna, torch) is borrowed from the environment that runs
    this; its own stopwise is a link to the tree, which is not followed from here.
    """
    environment = Environment(place / "tested")
    environment.borrow(Path(sysconfig.get_path("purelib")))
    environment.install("--no-deps", str(files["stopwise wheel"]), str(files["paper wheel"]))
    tree = place / "tree"
    skipped = shutil.ignore_patterns(".*", "__pycache__", "src", "build", "_generated", "_site")
    shutil.copytree(ROOT, tree, ignore=skipped)
    for name in ("stopwise", "stopwise_paper"):
        found = run([environment.python, "-c", f"import {name}; print({name}.__file__)"], cwd=tree)
        if not Path(found.strip()).is_relative_to(environment.folder):
            raise SystemExit(f"the tests would run against {found}")
    command = [environment.python, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider"]
    left_out = [*(f"--ignore={n}" for n in OF_THE_TREE), f"--deselect={BESIDE_THE_TREE}"]
    chosen = SELECTION if quick else ["tests", "paper/tests", *left_out]
    out = run([*command, "-m", "not slow", *chosen], cwd=tree)
    say(f"           {out.strip().splitlines()[-1]}")


def main() -> None:
    """All of it, with the seconds of each step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a selection of the tests")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        say("build and metadata")
        files = built(place / "dist")
        for file in files.values():
            say(f"           {file.name}, {file.stat().st_size / 1e6:.2f} MB")
        say("the wheel, alone")
        wheel = Environment(place / "wheel")
        wheel.install(*CONSTRAINED, f"{files['stopwise wheel']}[sklearn]")
        try_it(wheel, place / "wheel-run", demo=True)
        say("the paper's wheel beside it")
        wheel.install(*CONSTRAINED, str(files["paper wheel"]))
        run([str(wheel.folder / "bin" / "stopwise-paper"), "--help"], cwd=place)
        say("the sdists, alone")
        sdist = Environment(place / "sdist")
        sdist.install(*CONSTRAINED, str(files["stopwise sdist"]), str(files["paper sdist"]))
        try_it(sdist, place / "sdist-run", demo=False)
        run([str(sdist.folder / "bin" / "stopwise-paper"), "--help"], cwd=place)
        say("the tests, against the wheels")
        run_tests(files, place, quick=given.quick)
    say("a release would install")


if __name__ == "__main__":
    main()
