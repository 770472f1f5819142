# SPDX-License-Identifier: Apache-2.0
"""The committed results: complete, small, and what their trajectories say."""

import csv
import math
from dataclasses import replace

import pytest

from paper.tests.support.experiment_data import require_real_data
from stopwise_paper.experiments import EXPERIMENTS, plan
from stopwise_paper.figures import draw_figures
from stopwise_paper.figures._style import save
from stopwise_paper.figures.beliefs import draw_beliefs
from stopwise_paper.problems.data_folder import MissingDataError
from stopwise_paper.runs import store
from tests.support.repository import ROOT

RESULTS = ROOT / "docs" / "results" / "laptop"


def test_trajectories_are_small_enough_to_be_cloned():
    files = list(RESULTS.glob("*.parquet"))
    assert {path.stem for path in files} == EXPERIMENTS.keys()
    assert sum(path.stat().st_size for path in files) < 26e6  # a quarter of it is 8D


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_planned_cell_was_run(experiment):
    try:
        planned = {cell.key for cell in plan(experiment, "laptop")}
    except MissingDataError:
        require_real_data()  # says so, and skips
        raise
    assert planned == store.keys(RESULTS / f"{experiment}.parquet")


@pytest.mark.parametrize("figure", ["bars-1d", "windows"])
def test_a_committed_table_is_what_its_trajectories_say(figure, tmp_path):
    (drawn,) = draw_figures([figure], trajectories=RESULTS, out=tmp_path, scale="laptop")
    assert not drawn.message  # nothing is missing
    again, committed = (
        list(csv.DictReader((folder / f"{figure}.csv").read_text().splitlines()))
        for folder in (tmp_path, RESULTS / "figures")
    )
    assert len(again) == len(committed) > 30
    for ours, theirs in zip(again, committed, strict=True):
        assert ours.keys() == theirs.keys()
        assert all(_same(ours[name], theirs[name]) for name in ours)


def test_the_committed_comparison_of_beliefs_is_what_their_records_say(tmp_path):
    for sheet in draw_beliefs(RESULTS):
        save(replace(sheet, figure=None), tmp_path)
        committed = RESULTS / "figures" / f"{sheet.name}.csv"
        assert _rows_agree(tmp_path / f"{sheet.name}.csv", committed)
    page = (RESULTS / "figures" / "beliefs.md").read_text()
    assert (tmp_path / "beliefs.md").read_text() == page


def _rows_agree(one, two):
    tables = [list(csv.DictReader(path.read_text().splitlines())) for path in (one, two)]
    assert all(tables)
    return all(_same(a[name], b[name]) for a, b in zip(*tables, strict=True) for name in {*a, *b})


def _same(a, b):
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-5, abs_tol=1e-9) or a == b
    except ValueError:
        return a == b
