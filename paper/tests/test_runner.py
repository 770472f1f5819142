# SPDX-License-Identifier: Apache-2.0
"""Many cells: what is done is skipped, what is killed is resumed, what fails is said."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paper.tests.test_cells import assert_same
from stopwise.errors import InputError
from stopwise.stopping import GSS, Convergence
from stopwise_paper import Cell
from stopwise_paper.experiments import plan
from stopwise_paper.runs import store
from stopwise_paper.runs.parallel import finished_keys, load_finished, run_cells
from stopwise_paper.runs.runner import run_experiments

CELLS = [
    Cell.of("gp1d", "gp1d", "uniform", "pbgi", lam=0.1, seed=seed, cap=3, grid=101)
    for seed in range(4)
]


def test_done_cells_are_skipped(tmp_path):
    assert run_cells(CELLS[:2], tmp_path, jobs=1).finished == 2
    again = run_cells([*CELLS, *CELLS], tmp_path, jobs=1)
    assert (again.finished, again.skipped) == (2, 2)
    assert finished_keys(tmp_path) == {cell.key for cell in CELLS}
    assert str(again) == "2 cells run, 2 done before"


def test_a_consolidated_file_is_enough_to_go_on(tmp_path):
    run_cells(CELLS[:3], tmp_path / "a", jobs=1)
    kept = load_finished(CELLS, tmp_path / "a", "gp1d")
    store.consolidate(kept, tmp_path / "b" / "gp1d.parquet")
    done = run_cells(CELLS, tmp_path / "b", jobs=1)
    assert (done.finished, done.skipped) == (1, 3)
    found = load_finished(CELLS, tmp_path / "b", "gp1d")
    assert [trajectory.cell for trajectory in found] == CELLS
    lean = {key: kept[0].signals[key] for key in found[0].signals}
    assert_same(found[0], replace(kept[0], signals=lean), signals=1e-6)
    for rule in (GSS(), Convergence()):  # not kept: values are enough
        np.testing.assert_allclose(
            [signal.value for signal in found[0].read(rule)], kept[0].signals[rule.key].value
        )


def test_one_bad_cell_does_not_end_a_run(tmp_path):
    bad = [replace(CELLS[0], problem="branin"), replace(CELLS[0], options=(("grid", "many"),))]
    done = run_cells([*bad, CELLS[1]], tmp_path, jobs=1)
    assert (done.finished, len(done.failed)) == (1, 2)
    assert any("there is no problem" in why for why in done.failed.values())
    assert any("Traceback" in why for why in done.failed.values())
    assert str(done).endswith("2 failed")


def test_an_unknown_engine_is_an_error(tmp_path):
    with pytest.raises(InputError, match="engine='slurm'"):
        run_cells(CELLS, tmp_path, engine="slurm")


# A cluster takes its time to start, even a local one.
CLUSTERS = [pytest.param(engine, marks=pytest.mark.slow) for engine in ("dask", "ray")]


@pytest.mark.parametrize("engine", ["local", *CLUSTERS])
def test_engines_give_the_same_trajectories(engine, tmp_path):
    if engine == "ray":
        ray = pytest.importorskip("ray") if not os.environ.get("CI") else __import__("ray")
        ray.init(num_cpus=1, include_dashboard=False, logging_level="ERROR")
    try:
        done = run_cells(CELLS[:2], tmp_path, engine=engine, jobs=2 if engine == "local" else 1)
    finally:
        if engine == "ray":
            ray.shutdown()
    assert (done.finished, done.failed) == (2, {})
    run_cells(CELLS[:2], tmp_path / "alone", jobs=1)
    for cell in CELLS[:2]:
        assert_same(store.load_cell(cell, tmp_path), store.load_cell(cell, tmp_path / "alone"))


def test_a_killed_run_is_resumed_to_the_same_end(tmp_path):
    command = [sys.executable, "-m", "stopwise_paper", "run", "sklearn", "--scale", "smoke"]
    command += ["--jobs", "1", "--out", str(tmp_path / "killed")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    cells = tmp_path / "killed" / "smoke" / "cells"
    deadline = time.monotonic() + 120
    while not list(cells.glob("*/*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    planned = plan("sklearn", "smoke")
    kept = finished_keys(tmp_path / "killed" / "smoke")
    assert 0 < len(kept) <= len(planned)
    run_experiments(["sklearn"], scale="smoke", jobs=1, out=tmp_path / "killed")
    run_experiments(["sklearn"], scale="smoke", jobs=1, out=tmp_path / "whole")
    ours = store.load(tmp_path / "killed" / "smoke" / "sklearn.parquet")
    theirs = store.load(tmp_path / "whole" / "smoke" / "sklearn.parquet")
    assert [a.cell for a in ours] == [b.cell for b in theirs] == planned
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a, b)


def test_data_that_are_absent_are_said_and_left_out(tmp_path, monkeypatch):
    from stopwise_paper.problems.lcbench import tables

    monkeypatch.setenv("STOPWISE_DATA", str(tmp_path))
    tables.cache_clear()
    (made,) = run_experiments(["lcbench"], scale="smoke", out=tmp_path)
    tables.cache_clear()
    assert made.path is None
    assert "lcbench: left out. LCBench is not in" in str(made)


def test_a_half_written_file_is_no_finished_cell(tmp_path):
    run_cells(CELLS[:1], tmp_path, jobs=1)
    path = store.cell_path(CELLS[0], tmp_path)
    assert [p.name for p in Path(path.parent).iterdir()] == [path.name]
    path.with_name(f".{CELLS[1].key}.parquet.1.tmp").write_bytes(b"half")
    assert finished_keys(tmp_path) == {CELLS[0].key}
    assert np.isfinite(store.load_cell(CELLS[0], tmp_path).y).all()
