# SPDX-License-Identifier: Apache-2.0
"""The examples with Optuna and of the audit run as they stand."""

import re
import subprocess
import sys

import pytest

from tests.support.repository import ROOT

EXAMPLES = ROOT / "examples"


def run(name, folder):
    done = subprocess.run(
        [sys.executable, EXAMPLES / name], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("optuna_study.py", r"\d+ of 200 trials, [\d.]+ s of training, best 0\.\d+"),
        ("optuna_workers.py", r"\d+ trials by 3 workers, [\d.]+ s, best 0\.\d+"),
    ],
)
def test_a_study_stops_and_says_why(name, first, tmp_path):
    said, why = run(name, tmp_path).splitlines()
    assert re.fullmatch(first, said)
    assert re.search(r": stop\b", why)


def test_the_audit_is_printed(tmp_path):
    text = run("audit_runs.py", tmp_path)
    assert text.startswith("39 evaluations (the first 4 are the initial design)")
    assert "1 of 40 rows are left out (row 12: accuracy is missing)" in text
    assert "column 'run' counts the rows and is left out" in text


def test_an_example_fits_on_a_screen():
    for name in ("optuna_study.py", "optuna_workers.py", "audit_runs.py"):
        assert len((EXAMPLES / name).read_text("utf-8").splitlines()) <= 70, name
