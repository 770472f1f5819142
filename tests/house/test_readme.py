# SPDX-License-Identifier: Apache-2.0
"""The README's Python runs and prints what the README says it prints."""

import re
import subprocess
import sys

from tests.support.pages import blocks
from tests.support.repository import ROOT

BLOCKS = blocks(ROOT / "README.md")


def test_every_python_block_is_followed_by_its_output():
    kinds = [kind for kind, _ in BLOCKS]
    shown = [kinds[at + 1] for at, kind in enumerate(kinds) if kind == "python"]
    assert shown
    assert set(shown) == {"text"}


def test_the_python_blocks_print_what_is_shown(tmp_path):
    python = [at for at, (kind, _) in enumerate(BLOCKS) if kind == "python"]
    for at in python:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", BLOCKS[at][1]],
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert done.stderr == ""
        assert done.stdout == BLOCKS[at + 1][1]


def test_the_make_targets_named_exist():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    named = re.findall(r"^make (\w+)", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert {"demo", "test"} <= set(named)
    assert [name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []
