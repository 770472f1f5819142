# SPDX-License-Identifier: Apache-2.0
"""The command line: light, with errors in words and documented exit codes."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata

import pytest

import stopwise as sw
from tests.support.repository import ROOT


def stopwise(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "stopwise.tools.cli", *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
    )


def test_help_lists_the_commands():
    done = stopwise("--help")
    assert done.returncode == 0
    assert re.search(r"^ +run +Tune a program", done.stdout, re.MULTILINE)


def test_help_loads_nothing_heavy():
    code = (
        "import json, sys\nfrom stopwise.tools.cli.app import app\n"
        "try: app(['run', '--help'])\nexcept SystemExit: pass\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "typer" in loaded
    assert loaded.isdisjoint({"numpy", "scipy", "stopwise.study", "stopwise.tools.runner"})


def test_the_version():
    assert stopwise("--version").stdout == f"stopwise {metadata.version('stopwise')}\n"


def test_the_script_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["scripts"] == {"stopwise": "stopwise.tools.cli:main"}


def test_without_arguments_there_is_help():
    done = stopwise()
    assert "Usage: stopwise" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments", [("rnu",), ("paper",), ("run",), ("run", "a.toml", "--chekc")]
)
def test_a_wrong_command_line(arguments):
    done = stopwise(*arguments)
    assert done.returncode == 2
    assert "Usage: stopwise" in done.stderr


def test_an_error_of_ours_is_one_message(tmp_path):
    (tmp_path / "tune.toml").write_text('command = ["x"]\nworkrs = 3\n[parameters]\n')
    done = stopwise("run", "tune.toml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("stopwise: tune.toml, line 3: ")
    assert "Traceback" not in done.stderr


def test_check_starts_nothing(tmp_path):
    shutil.copy(ROOT / "examples" / "tune.toml", tmp_path)
    shutil.copy(ROOT / "examples" / "train.py", tmp_path)
    done = stopwise("run", "tune.toml", "--check", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "An improvement of 0.01 is worth 0.5 s" in done.stdout
    assert "train.py --features=100 --scale=1.0 --ridge=1.0" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train.py", "tune.toml"]


def test_report_writes_a_page_beside_the_journal(tmp_path):
    path = tmp_path / "run.jsonl"
    study = sw.Study({"x": sw.Real(0, 1)}, lam=0.01, journal=path)
    study.tell(study.ask(), 1.0)
    study.close()
    done = stopwise("report", path)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "run.html") in done.stdout
    assert "<!doctype html>" in (tmp_path / "run.html").read_text(encoding="utf-8").lower()


def test_report_of_something_else_is_one_message(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("a,b\n", encoding="utf-8")
    done = stopwise("report", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is no journal of stopwise" in done.stderr
    assert "Traceback" not in done.stderr


def test_report_never_replaces_what_is_no_page(tmp_path):
    path = tmp_path / "run.jsonl"
    sw.Study({"x": sw.Real(0, 1)}, lam=0.01, journal=path).close()
    content = path.read_bytes()
    done = stopwise("report", path, "--out", path)
    assert done.returncode == 2
    assert "is no HTML page, so it is not replaced" in done.stderr
    assert path.read_bytes() == content
    for _ in range(2):  # a page is
        assert stopwise("report", path).returncode == 0


def test_report_of_a_folder_is_one_message(tmp_path):
    done = stopwise("report", tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_key_of_the_top_below_a_table_is_explained(tmp_path):
    path = tmp_path / "tune.toml"
    path.write_text(
        'command = ["true"]\n[parameters]\nx = { type = "real", low = 0, high = 1 }\n'
        "[worth]\nlam = 1\ntimeout = 5\n",
        encoding="utf-8",
    )
    done = stopwise("run", path, "--check")
    assert done.returncode == 2
    assert "line 6: unknown key 'timeout' in [worth]" in done.stderr
    assert "belongs at the top, before the first [table]" in done.stderr
