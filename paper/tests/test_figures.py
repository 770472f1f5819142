# SPDX-License-Identifier: Apache-2.0
"""Every figure is drawn, from trajectories that look like real ones; what is missing is said."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from paper.tests.support.experiment_data import require_real_data
from paper.tests.support.synthetic_trajectories import imitation, trajectory
from stopwise.errors import InputError
from stopwise_paper.experiments import EXPERIMENTS, plan, with_plugins
from stopwise_paper.figures import FIGURES, draw_figures, experiments_read_by
from stopwise_paper.figures._results import LAMS, MissingTrajectoriesError, Results
from stopwise_paper.figures._style import Sheet, save
from stopwise_paper.figures.budgeted import spent_curve
from stopwise_paper.problems.data_folder import MissingDataError
from stopwise_paper.runs import store

NEEDS_DATA = ("runtime-proxies",)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Trajectories of every experiment whose plan can be made here."""
    path = tmp_path_factory.mktemp("trajectories")
    for experiment in EXPERIMENTS:
        try:
            cells = plan(experiment, "smoke")
        except MissingDataError:
            continue
        store.consolidate([imitation(cell) for cell in cells], path / f"{experiment}.parquet")
    return path


def test_figures_read_experiments():
    assert {name for figure in FIGURES.values() for name in figure.reads} == EXPERIMENTS.keys()
    assert experiments_read_by(["shipped", "bars-1d"]) == ["gp1d", "sklearn", "sklearn-unknown"]
    assert experiments_read_by(["cost-surfaces"]) == []
    assert experiments_read_by() == list(EXPERIMENTS)
    with pytest.raises(InputError, match="there is no figure dragon"):
        experiments_read_by(["dragon"])


SAME_CODE = ("iterations-8d", "iterations-nats", "iterations-lcbench", "bars-8d")  # as of 1d
SOME = [
    pytest.param(name, marks=pytest.mark.slow if name in SAME_CODE else ()) for name in FIGURES
]


@pytest.mark.parametrize("name", SOME)
def test_a_figure_is_a_table_and_two_pictures(name, folder, tmp_path):
    tables = {"lcbench", "nats", "unknown-cost", "budgeted", "refit"}
    if name in NEEDS_DATA or tables & set(FIGURES[name].reads):
        require_real_data()
    (drawn,) = draw_figures([name], trajectories=folder, out=tmp_path, scale="smoke")
    assert drawn.files, drawn.message
    text = {".md"} if name == "published" else set()
    assert {path.suffix for path in drawn.files} == {".csv", ".png", ".svg"} | text
    for path in drawn.files:
        assert path.stat().st_size > 0
        if path.suffix == ".csv":
            rows = list(csv.DictReader(path.read_text().splitlines()))
            assert rows
            assert None not in rows[0]
        if path.suffix == ".png":
            assert path.read_bytes()[:4] == b"\x89PNG"
            assert path.stat().st_size > 5_000


def test_figures_drawn_again_or_side_by_side_are_the_same(folder, tmp_path):
    names = ["order", "windows"]
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        drawn = draw_figures(names, trajectories=folder, out=out, scale="smoke", jobs=jobs)
        assert [figure.figure for figure in drawn] == names
    alone, beside = (
        {path.name: path.read_bytes() for path in (tmp_path / jobs).iterdir()} for jobs in "12"
    )
    assert {f"{name}.csv" for name in names} <= alone.keys()
    assert alone == beside


def test_missing_trajectories_are_named_and_the_figure_left_out(tmp_path):
    (drawn,) = draw_figures(["bars-1d"], trajectories=tmp_path, out=tmp_path / "o", scale="smoke")
    assert not drawn.files
    assert "no trajectories of gp1d" in drawn.message
    assert "11 of 11 cells are missing: gp1d uniform pbgi(0.1) seed 0" in str(drawn)
    assert not (tmp_path / "o").exists()


def test_a_part_that_is_missing_is_said_on_the_figure(tmp_path):
    cells = plan("gp1d", "smoke")
    kept = [imitation(cell) for cell in cells if cell.acquisition != "ts"]
    store.consolidate(kept, tmp_path / "gp1d.parquet")
    (drawn,) = draw_figures(["bars-1d"], trajectories=tmp_path, out=tmp_path, scale="smoke")
    assert "1 of 11 cells are missing: gp1d uniform+linear+periodic ts seed 0" in drawn.message
    assert "1 of 11 cells are missing" in (tmp_path / "bars-1d.svg").read_text()


def test_cells_of_a_run_that_goes_on_are_found(tmp_path):
    store.save(imitation(plan("gp1d", "smoke")[0]), tmp_path)
    results = Results(tmp_path, "smoke")
    assert len(results.views("gp1d")) == 1
    assert results.note("gp1d").startswith("gp1d: 10 of 11")
    with pytest.raises(MissingTrajectoriesError, match="gp8d"):
        results.views("gp8d")


def test_a_cell_that_is_there_twice_or_unplanned_counts_once_or_not(tmp_path):
    cells = plan("gp1d", "smoke")
    with_rules = with_plugins(cells, (), ("paper.tests.support.example_plugins:CheapestLeft",))
    stale = [replace(cell, cap=cell.cap + 1) for cell in cells]
    made = [imitation(cell) for cell in [*with_rules, *cells, *stale]]
    store.consolidate(made, tmp_path / "gp1d.parquet")
    results = Results(tmp_path, "smoke")
    assert not results.note("gp1d")
    once = [view.cell for cell in with_rules for view in imitation(cell).views()]
    assert {view.cell.key for view in results.views("gp1d")} == {cell.key for cell in once}


def test_a_regret_table_is_made_once(folder):
    results = Results(folder, "smoke")
    assert results.rows("gp1d") is results.rows("gp1d")
    assert {name for name, lams in LAMS.items() if not lams} == {"budgeted"}


def test_unknown_figures_are_refused(tmp_path):
    with pytest.raises(InputError, match="there is no figure bar; there are illustration, bars"):
        draw_figures(["bar"], trajectories=tmp_path, out=tmp_path)


def test_tables_have_six_digits(tmp_path):
    save(Sheet("t", [{"a": 1 / 3, "b": "x"}, {"a": 1e-12, "c": 2}]), tmp_path)
    assert (tmp_path / "t.csv").read_text() == "a,b,c\n0.333333,x,\n1e-12,,2\n"


def test_regret_against_cost_is_a_step_at_every_evaluation():
    view = trajectory([5, 4, 3, 1], cost=[1, 1, 2, 2])  # regret 4, 3, 1 for 0, 2, 4
    mean, se = spent_curve([view], np.array([0.0, 1.9, 2.0, 3.9, 4.0]))
    assert mean.tolist() == [4, 4, 3, 3, 1]
    assert np.isnan(se).all()
    other = trajectory([6, 6, 5, 3], cost=[1, 1, 2, 2])
    mean, se = spent_curve([view, other], np.array([0.0, 4.0]))
    assert mean.tolist() == [5.0, 2.0]
    assert se.tolist() == [1.0, 1.0]
