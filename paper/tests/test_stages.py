# SPDX-License-Identifier: Apache-2.0
"""The evidence on stages: tables, searches, records, and measures against numbers made by hand."""

from dataclasses import replace

import numpy as np
import pytest

import stopwise as sw
from paper.tests.support.experiment_data import require_real_data
from stopwise.errors import InputError
from stopwise_paper.analysis.stages import ALL, alexnet_hours, best_counts, compare, targets
from stopwise_paper.cli import main
from stopwise_paper.problems.curve_tables import (
    SKLEARN,
    CurveTable,
    curve_table,
    half_of,
    problem_names,
)
from stopwise_paper.runs.stages import record
from stopwise_paper.runs.stages.halving import asha, hyperband, random_search
from stopwise_paper.runs.stages.ledger import Ledger
from stopwise_paper.runs.stages.optuna_pruners import PRUNERS, tpe
from stopwise_paper.runs.stages.plan import COUNTS, STAGED, WHOLE, StagesCell, stages_plan
from stopwise_paper.runs.stages.record import StagesRun
from stopwise_paper.runs.stages.runner import run_stages
from stopwise_paper.runs.stages.study_runs import staged_runs, whole_runs


def made_table(n=60):
    """A table in which early stages rank as the last; one run in ten diverges at its second."""
    rng = np.random.default_rng(0)
    params = tuple({"a": float(a), "b": float(b)} for a, b in rng.random((n, 2)))
    space = {"a": sw.Real(0.0, 1.0), "b": sw.Real(0.0, 1.0)}
    points = np.array([[p["a"], p["b"]] for p in params])
    final = ((points - 0.3) ** 2).sum(axis=1)
    values = np.stack([final + 0.5, final + 0.2, final], axis=1)
    costs = np.tile([1.0, 2.0, 6.0], (n, 1))
    values[::10, 1:], costs[::10, 2] = np.nan, 0.0
    table = sw.Candidates(list(params), space)
    order = np.argsort(table.index)
    rows = [values[order], costs[order], values[order, -1]]
    return CurveTable(table.domain, tuple(params[i] for i in order), (1, 3, 9), *rows, "real")


@pytest.fixture(scope="module")
def table():
    return made_table()


# ------------------------------------------------------------------------------- tables


@pytest.mark.parametrize("name", SKLEARN)
def test_the_shipped_curves_are_whole(name):
    table = curve_table(f"sklearn:{name}")
    assert len(table) == len(table.domain) == 128
    assert len(table.steps) == 4
    assert np.isfinite(table.values).all()
    assert (table.costs > 0.0).all()
    assert table.gap > 0.0


def test_real_curves_end_where_runs_diverge():
    require_real_data()
    table = curve_table("alexnet")
    diverged = np.isnan(table.values[:, -1])
    assert diverged.sum() == 147
    assert np.isfinite(table.values[~diverged]).all()
    assert (table.costs >= 0.0).all()
    later = np.cumsum(np.isnan(table.values), axis=1) > 1  # it has ended before
    assert (table.costs[later] == 0.0).all()
    assert table.optimum == pytest.approx(100.0 - 58.558, abs=0.01)


def test_halves_are_fixed_by_the_name():
    assert half_of("taskset:patch32_GRU64_avg_bs128") == "chosen"
    assert half_of("taskset:patch128_LSTM128_bs64") == "judged"
    assert half_of("surrogate:volkert") == "chosen"
    assert half_of("surrogate:segment") == "judged"
    assert {half_of(name) for name in ("alexnet", "sklearn:digits-network")} == {"judged"}


def test_a_table_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="no table of curves 'dragon'"):
        curve_table("dragon")
    assert problem_names()[0] == "alexnet"


# ----------------------------------------------------------------------------- searches


def test_a_ledger_counts_what_is_paid(table):
    ledger = Ledger(table)
    good, bad = 1, 0
    assert ledger.regret == np.inf
    assert np.isnan(ledger.finish(bad))  # diverges at its second stage
    assert ledger.spent == 3.0
    assert ledger.advance(good) == table.values[good, 0]
    assert ledger.finish(good) == table.values[good, -1]
    assert (ledger.spent, ledger.stages_paid, ledger.finished) == (12.0, 5, 1)
    assert ledger.path == [(12.0, table.judged[good] - table.optimum)]


def test_asha_promotes_a_third_of_each_rung(table):
    ledger = asha(table, 27, seed=0)
    stages = np.bincount(list(ledger.reached.values()), minlength=4)
    assert stages.sum() == 27
    assert 9 <= stages[2:].sum() <= 13  # a third, and those that were promoted before better came
    assert 1 <= ledger.finished <= 6
    assert ledger.spent < random_search(table, 27, seed=0).spent / 2


def test_hyperband_starts_brackets_at_different_stages(table):
    ledger = hyperband(table, 20, seed=0)
    assert len(ledger.reached) == 20
    assert ledger.finished > asha(table, 20, seed=0).finished
    assert len(hyperband(table, 200, seed=0).reached) == len(table)


@pytest.mark.parametrize("pruner", PRUNERS)
def test_tpe_prunes_and_finishes(table, pruner):
    ledger = tpe(table, 15, 0, pruner)
    assert len(ledger.reached) == 15
    assert 0 < ledger.finished < 15


def test_a_search_without_a_finished_run_finishes_its_best(table):
    assert asha(table, 2, seed=0).finished == 1


def test_studies_stop_by_themselves_and_most_runs_are_left(table):
    whole, staged = whole_runs(table, 20, 0), staged_runs(table, 20, 0)
    for ledger in (whole, staged):
        assert ledger.finished >= 1
        assert ledger.regret < table.gap
    assert staged.stages_paid < 2 * len(staged.reached)
    assert set(whole.reached.values()) <= {2, 3}  # whole, or diverged


# ------------------------------------------------------------------------ plan, records


def test_the_plan_names_every_cell_once_and_the_judged_half_first():
    cells = stages_plan()
    assert len(set(cells)) == len(cells) == 22 * 3 * (2 * 3 + 5 * len(COUNTS)) + 2 * 2 * 3
    halves = [half_of(cell.problem) for cell in cells if cell.seed == 0]
    assert halves == sorted(halves, reverse=True)
    with pytest.raises(InputError, match="there is no method 'dragon'"):
        stages_plan(methods=["dragon"])


def made_run(problem="sklearn:cancer-boosting", method=STAGED, size=20, seed=0, **changes):
    cell = StagesCell(problem, method, size, seed)
    usual = StagesRun(cell, "real", 2.0, 0.01, 4.0, ((3.0, 0.5), (3.5, 0.005)), 9, 2, 20, 1.0)
    return replace(usual, **changes)


def test_a_record_comes_back_and_a_torn_line_is_left_out(tmp_path):
    run = made_run()
    record.append(run, tmp_path)
    with (tmp_path / record.FILE).open("a") as file:
        file.write('{"cell": {"pro')
    assert record.load(tmp_path) == [run]
    record.append(made_run(seed=1), tmp_path)
    assert [r.cell.seed for r in record.load(tmp_path)] == [0, 1]
    with pytest.raises(InputError, match="is not a record of a search"):
        StagesRun.from_json("{}")


def test_what_is_paid_is_regret_and_money():
    run = made_run()
    assert run.paid(20) == pytest.approx(0.005 + 0.2)
    assert run.spent_until_close == 3.5
    assert made_run(path=((3.0, 0.5),)).spent_until_close == np.inf
    assert made_run(path=()).regret == np.inf


def test_searches_without_a_price_have_the_count_that_pays_least():
    few = made_run(method="ASHA", size=20, spent=2.0, path=((2.0, 0.3),))
    many = made_run(method="ASHA", size=200, spent=30.0, path=((2.0, 0.1),))
    counts = best_counts([few, many])
    assert [counts["ASHA", evaluations] for evaluations in (20, 100, 500)] == [20, 20, 200]


def test_targets_are_ratios_of_money_at_no_higher_regret():
    staged = made_run(spent=4.0)
    whole = made_run(method=WHOLE, spent=9.0, path=((9.0, 0.01),))
    asha_run = made_run(method="ASHA", spent=1.0, path=((1.0, 0.01),))
    rows = compare([staged, whole, asha_run])
    [row] = [r for r in targets(rows) if r["problem"] == ALL]
    assert row["ratio"] == pytest.approx(2.25)
    assert row["half_the_cost"]
    assert not row["no_worse_than_asha"]
    assert not targets(compare([staged, replace(whole, spent=7.0), asha_run]))[0]["half_the_cost"]


def test_hours_of_alexnet_are_spent_at_its_prices():
    runs = [made_run("alexnet", WHOLE, 54, seed, spent=10.0 + seed) for seed in (0, 2)]
    [row] = alexnet_hours([*runs, made_run("alexnet", STAGED, 20)])
    assert (row["price"], row["hours"], row["most_hours"]) == ("1 % for 5 hours", 22.0, 24.0)


def test_it_is_run_once_and_drawn(tmp_path, capsys):
    arguments = ["stages", "sklearn:cancer-boosting", "--scale", "smoke", "--jobs", "1"]
    arguments += ["--method", "ASHA", "--method", "random", "--out", str(tmp_path)]
    assert main(arguments) == 0
    assert "stages: 4 cells run" in capsys.readouterr().out
    page = (tmp_path / "smoke" / "figures" / "stages.md").read_text()
    assert "Real curves, judged half (1 table)" in page
    [line] = [line for line in page.splitlines() if line.startswith("| ASHA")]
    assert {"10", "20"} >= set(line.split("|")[2].replace("/", "").split())
    again = run_stages(
        ["ASHA", "random"], ["sklearn:cancer-boosting"], scale="smoke", jobs=1, out=tmp_path
    )
    assert str(again) == "stages: 0 cells run, 4 done before"


def test_tables_without_data_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("STOPWISE_DATA", str(tmp_path / "nowhere"))
    curve_table.cache_clear()
    runs = run_stages(["random"], ["alexnet"], scale="smoke", jobs=1, out=tmp_path)
    assert str(runs).startswith("stages: 0 cells run, 0 done before\nalexnet left out. AlexNet is")
