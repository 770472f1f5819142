# SPDX-License-Identifier: Apache-2.0
"""Python blocks of the guides run as they are printed, and print what is shown below them."""

import subprocess
import sys

import pytest

from tests.support.pages import blocks
from tests.support.repository import ROOT

PAGES = ["how-to/ask-and-tell.md", "how-to/conditions.md", "how-to/failures-and-limits.md"]
PAGES += ["reference/snapshot.md"]
SLOW = ["costs", "budgets", "workers", "resume", "own-rule", "stages"]
PAGES += [pytest.param(f"how-to/{name}.md", marks=pytest.mark.slow) for name in SLOW]


@pytest.mark.parametrize("page", PAGES)
def test_the_python_blocks_of_a_guide_print_what_is_shown(page, tmp_path):
    found = blocks(ROOT / "docs" / page)
    python = [at for at, (kind, _) in enumerate(found) if kind == "python"]
    assert python
    for at in python:
        run = [sys.executable, "-W", "error", "-c", found[at][1]]
        done = subprocess.run(run, check=False, capture_output=True, text=True, cwd=tmp_path)
        assert done.stderr == ""
        if done.stdout:
            assert ("text", done.stdout) == found[at + 1]
