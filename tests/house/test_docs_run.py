# SPDX-License-Identifier: Apache-2.0
"""Python blocks of the guides run as they are printed, and print what is shown below them."""

import subprocess
import sys

import pytest

from tests.support.pages import blocks, blocks_under
from tests.support.repository import ROOT

PAGES = ["how-to/ask-and-tell.md", "how-to/conditions.md", "how-to/failures-and-limits.md"]
PAGES += ["reference/snapshot.md"]
SLOW = ["costs", "budgets", "workers", "resume", "own-rule", "stages"]
PAGES += [pytest.param(f"how-to/{name}.md", marks=pytest.mark.slow) for name in SLOW]


@pytest.mark.parametrize("page", PAGES)
def test_the_python_blocks_of_a_guide_print_what_is_shown(page, tmp_path):
    check_blocks(blocks(ROOT / "docs" / page), tmp_path)


@pytest.mark.parametrize("heading", ["Limits", "Known constraints"])
def test_blocks_about_optuna_print_what_is_shown(heading, tmp_path):
    pytest.importorskip("optuna")
    check_blocks(blocks_under(ROOT / "docs/how-to/optuna.md", heading), tmp_path)


def check_blocks(found, tmp_path):
    python = [at for at, (kind, _) in enumerate(found) if kind == "python"]
    assert python
    for at in python:
        run = [sys.executable, "-W", "error", "-c", found[at][1]]
        done = subprocess.run(run, check=False, capture_output=True, text=True, cwd=tmp_path)
        assert done.stderr == ""
        if done.stdout:
            assert ("text", done.stdout) == found[at + 1]
