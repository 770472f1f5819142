# SPDX-License-Identifier: Apache-2.0
"""The command ``stopwise-paper``."""

import tomllib
from dataclasses import replace

import pytest

from paper.tests.support.synthetic_trajectories import imitation
from stopwise_paper import Cell, run_cell
from stopwise_paper.cli import main
from stopwise_paper.experiments import EXPERIMENTS, plan
from stopwise_paper.figures import FIGURES
from stopwise_paper.runs import store
from tests.support.repository import ROOT


def test_run_says_what_was_run(tmp_path, capsys):
    arguments = ["run", "sklearn-unknown", "--scale", "smoke", "--jobs", "1"]
    arguments += ["--out", str(tmp_path)]
    rule = ["--rule", "paper.tests.support.example_plugins:CheapestLeft"]
    assert main([*arguments, *rule]) == 0
    assert "sklearn-unknown: 5 cells run" in capsys.readouterr().out
    views = store.load_views(tmp_path / "smoke" / "sklearn-unknown.parquet")
    assert all("cheapest_left" in view.signals for view in views)
    assert main(arguments) == 0  # without the rule these are other cells; the first ones stay
    assert "5 cells run, 0 done before" in capsys.readouterr().out
    assert len(store.load(tmp_path / "smoke" / "sklearn-unknown.parquet")) == 10


def test_trajectories_are_run_again_and_what_differs_is_named(tmp_path, capsys):
    cells = [
        Cell.of("gp1d", "gp1d", "uniform", "pbgi", lam=0.1, seed=seed, cap=3, grid=101)
        for seed in range(2)
    ]
    first, second = map(run_cell, cells)
    moved = second.y.copy()
    moved[1] += 0.25
    path = tmp_path / "smoke" / "gp1d.parquet"
    shared = ["again", "gp1d", "--scale", "smoke", "--out", str(tmp_path), "--count", "5"]
    store.consolidate([first], path)
    assert main(shared) == 0
    assert "pbgi, seed 0: all" in capsys.readouterr().out
    store.consolidate([first, replace(second, y=moved)], path)
    assert main(shared) == 1
    lines = sorted(capsys.readouterr().out.splitlines())
    assert lines[0].endswith("series are the same to the last bit")
    assert "seed 1: 1 of" in lines[1]
    assert lines[1].endswith("series differ: y by 0.25")


def test_a_failed_cell_is_reported_and_the_exit_code_is_1(tmp_path, capsys, monkeypatch):
    def fail(cell):
        raise RuntimeError(cell.problem)

    monkeypatch.setattr("stopwise_paper.runs.parallel.run_cell", fail)
    arguments = ["sklearn-unknown", "--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)]
    assert main(["run", *arguments]) == 1
    written = capsys.readouterr()
    assert "0 cells run, 0 done before, 5 failed" in written.out
    assert "RuntimeError: sklearn:digits-network" in written.err


def test_figures_run_what_they_read_and_are_drawn(tmp_path, capsys):
    arguments = ["figures", "shipped", "--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["sklearn", "sklearn-unknown", "shipped"]
    assert main(arguments) == 0
    assert "0 cells run, 5 done before" in capsys.readouterr().out  # nothing is run again


def test_figures_are_drawn_from_what_is_there(tmp_path, capsys):
    cells = plan("gp1d", "smoke")
    path = tmp_path / "smoke" / "gp1d.parquet"
    store.consolidate([imitation(cell) for cell in cells], path)
    shared = ["--scale", "smoke", "--out", str(tmp_path), "--draw-only", "--jobs", "1"]
    assert main(["figures", "order", *shared]) == 0
    assert capsys.readouterr().out == "order: order\n"
    assert (tmp_path / "smoke" / "figures" / "order.svg").exists()
    assert main(["figures", "bars-8d", *shared]) == 1
    assert "bars-8d: left out. no trajectories of gp8d" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nothing"], "there is no experiment nothing; there are gp1d"),
        (["figures", "nothing", "--draw-only"], "there is no figure nothing; there are"),
        (["run", "sklearn", "--rule", "no.module:Thing"], "'no.module:Thing' cannot be imported"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_a_wrong_name_is_refused(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_list_names_everything(capsys):
    assert main(["list"]) == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert listed >= {*EXPERIMENTS, *FIGURES}


def test_the_entry_point_and_the_makefile_use_this_command():
    project = tomllib.loads((ROOT / "paper" / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["scripts"] == {"stopwise-paper": "stopwise_paper.cli:main"}
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert "stopwise-paper figures --scale laptop --out docs/results" in makefile
