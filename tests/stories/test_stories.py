# SPDX-License-Identifier: Apache-2.0
"""Four jobs as new users have them, each a script that runs as the README says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def told(*command, cwd):
    """What a story printed; it must end well and never show a traceback."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.slow
def test_a_booster(tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    done = told(sys.executable, HERE / "booster.py", tmp_path, cwd=tmp_path)
    assert "best misread " in done.stderr
    assert "; stopwise itself took " in done.stderr
    assert "misread % per s" in done.stdout or "max-trials" in done.stdout
    assert (tmp_path / "booster.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "booster.png").read_bytes().startswith(b"\x89PNG")
    assert "misread %" in (tmp_path / "booster.html").read_text()


def test_a_price_list(tmp_path):
    done = told(sys.executable, HERE / "price_list.py", tmp_path, cwd=tmp_path)
    assert "expected to raise yield % by " in done.stdout
    assert "best yield " in done.stdout
    assert "Evaluations: at most 24, which is all there are." in done.stdout
    assert " and costs $" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_c_program(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    stopwise = tools / "stopwise"
    stopwise.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m stopwise.tools.cli "$@"\n')
    stopwise.chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    done = told("env", f"PATH={path}", "sh", HERE / "c_program.sh", tmp_path, cwd=tmp_path)
    assert "Best: error " in done.stdout
    assert " CPU h spent; stopwise itself took " in done.stdout
    assert "trial 0 gave error " in done.stdout
    assert " px, at a cost of 2 CPU h" in done.stdout
    assert "max-trials: 5 of at most 5 trials: stop." in done.stdout
    assert "error (px)" in (tmp_path / "tune.html").read_text()


def test_an_old_table_and_a_rule_of_ones_own(tmp_path):
    done = told(sys.executable, HERE / "old_runs.py", tmp_path, cwd=tmp_path)
    assert "asked: the value is called 'accuracy'" in done.stdout
    assert "my-rule" in done.stdout
    assert "best accuracy 0.9" in done.stdout
    assert "run_id" not in done.stdout
    assert "$" in done.stdout
