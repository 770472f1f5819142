# SPDX-License-Identifier: Apache-2.0
"""The evidence on beliefs: plan, studies, records, and measures against numbers made by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from paper.tests.support.experiment_data import require_real_data
from paper.tests.support.synthetic_trajectories import trajectory
from stopwise.errors import InputError
from stopwise_paper.analysis.beliefs import (
    Baseline,
    SetMeans,
    baselines_of,
    calibration,
    compare,
    compared_runs,
    difference_interval,
    kept_promises,
)
from stopwise_paper.cell import Cell
from stopwise_paper.cli import main
from stopwise_paper.figures._results import MissingTrajectoriesError
from stopwise_paper.figures.beliefs import draw_beliefs
from stopwise_paper.problems import LEARNED, make_problem
from stopwise_paper.problems.curves import RUNS, TASKS
from stopwise_paper.problems.data_folder import MissingDataError
from stopwise_paper.runs.beliefs import record
from stopwise_paper.runs.beliefs.plan import (
    PARTS,
    VARIANTS,
    beliefs_plan,
    half_of,
    part_of,
    variant_of,
)
from stopwise_paper.runs.beliefs.published_run import published_like, read_published
from stopwise_paper.runs.beliefs.record import BeliefRun
from stopwise_paper.runs.beliefs.runner import run_beliefs
from stopwise_paper.runs.beliefs.study_run import run_study, units_of
from stopwise_paper.runs.loop import run_cell


def made_run(
    variant="paper",
    problem="lcbench:higgs",
    *,
    seed=0,
    lam=0.1,
    regret=(4.0, 3.0, 1.0),
    cost=(2.0, 3.0),
    promised=(1.0, 2.0),
    delivered=(1.0, 0.5),
    rule="pbgi",
    initial_cost=10.0,
    gap=2.0,
    price="proxy",
    evaluations=None,
):
    chosen = VARIANTS[variant]
    cell = Cell.of(
        "beliefs",
        problem,
        price,
        "pbgi",
        lam=None if evaluations else lam,
        seed=seed,
        cap=2,
        surrogate=chosen.surrogate,
        design=chosen.design,
        evaluations=evaluations,
    )
    series = (np.array(s, dtype=float) for s in (regret, cost, promised, delivered))
    return BeliefRun(cell, lam, gap, rule, 4, initial_cost, *series)


# -------------------------------------------------------------------------------- plan


@pytest.mark.parametrize("part", PARTS)
def test_every_cell_names_its_part_and_its_variant(part):
    try:
        cells = beliefs_plan(part, "smoke")
    except MissingDataError:
        require_real_data()
        raise
    assert {part_of(cell) for cell in cells} == {part}
    assert [variant_of(cell) for cell in cells] == list(VARIANTS)
    assert len({cell.key for cell in cells}) == len(cells)


def test_the_judged_half_comes_first_and_the_published_prior_is_gamma():
    require_real_data()
    cells = beliefs_plan("lcbench", "laptop", ["paper"])
    assert len(cells) == 35 * 3 * 2
    halves = [half_of(cell.problem) for cell in cells if cell.seed == 0]
    assert halves == ["judged"] * 3 * 14 + ["chosen"] * 3 * 21
    assert {cell.option("prior") for cell in cells} == {"gamma"}
    assert {cell.option("prior") for cell in beliefs_plan("lcbench", "smoke", ["plain"])} == {None}


def test_halves_are_fixed_by_the_name():
    assert half_of("lcbench:higgs") == "chosen"  # crc32 % 7 = 1
    assert half_of("lcbench:connect-4") == "judged"  # 5
    assert half_of(f"taskset:{TASKS[0]}") == "chosen"
    assert half_of("alexnet") == "judged"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dragon",), "there is no part 'dragon'; there are lcbench"),
        (("sklearn", "smoke", ["dragon"]), "there is no variant 'dragon'; there are paper"),
        (("sklearn", "full"), "scale='full' is not planned"),
    ],
)
def test_what_is_not_planned_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        beliefs_plan(*arguments)


# ------------------------------------------------------------------------------- runs


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_study_is_recorded_step_by_step(variant):
    (cell,) = beliefs_plan("sklearn", "smoke", [variant])
    run, problem = run_study(cell), make_problem(cell)
    assert cell.cap >= run.T
    assert len(run.regret) == run.T + 1
    assert len(run.promised) == len(run.delivered) == run.T
    assert (run.regret >= 0.0).all()
    assert (run.promised > run.lam * run.cost).all()  # worth its price, by the rule itself
    # The gap is worth 20 median evaluations.
    assert run.gap == pytest.approx(np.median(problem.judged) - problem.judged.min())
    worth = 20 * run.lam * np.median(problem.costs[cell.cost])
    assert worth == pytest.approx(run.gap)
    published = VARIANTS[variant].design == "published"
    assert run.n_initial == (2 if published else 1) * (problem.domain.d + 1)
    if published:
        rows = problem.domain.index_of(problem.initial(cell.seed))
        assert run.initial_cost == pytest.approx(problem.costs[cell.cost][rows].sum())
        best = rows[np.argmin(problem.y[rows])]
        assert run.regret[0] == pytest.approx(problem.judged[best] - problem.optimum)


def test_beliefs_share_the_published_design_and_differ_after_it():
    cells = beliefs_plan("sklearn", "smoke", ["paper", "weighed + published design"])
    paper, weighed = map(run_study, cells)
    assert paper.initial_cost == weighed.initial_cost
    assert paper.regret[0] == weighed.regret[0]
    assert paper.promised[0] != weighed.promised[0]


def test_runs_are_written_as_they_come_and_not_run_again(tmp_path, monkeypatch):
    options = {"scale": "smoke", "jobs": 1, "out": tmp_path}
    (first,) = run_beliefs(["sklearn"], ["paper"], **options)
    assert str(first) == "sklearn: 1 cells run, 0 done before"
    (second,) = run_beliefs(["sklearn"], ["paper", "plain"], **options)
    assert str(second) == "sklearn: 1 cells run, 1 done before"
    path = tmp_path / "smoke" / record.FILE
    with path.open("a") as file:
        file.write('{"cell": {"exp')  # killed while it was written
    assert [variant_of(run.cell) for run in record.load(path.parent)] == ["paper", "plain"]
    run_beliefs(["sklearn"], ["plain + priced design"], **options)
    assert len(record.load(path.parent)) == path.read_text().count("\n") == 3

    def fail(cell):
        raise RuntimeError(cell.problem)

    monkeypatch.setattr("stopwise_paper.runs.beliefs.runner.run_study", fail)
    (third,) = run_beliefs(["sklearn"], ["default"], **options)
    assert third.counts.finished == 0
    assert "RuntimeError: sklearn:digits-network" in next(iter(third.counts.failed.values()))
    assert len(record.load(path.parent)) == 3


def test_a_part_without_data_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("STOPWISE_DATA", str(tmp_path))
    (run,) = run_beliefs(["taskset"], scale="smoke", jobs=1, out=tmp_path)
    assert str(run).startswith("taskset: left out. TaskSet is not in")


def test_a_record_survives_its_file(tmp_path):
    run = made_run(regret=(1 / 3, 0.25, 1e-9))
    record.append(run, tmp_path)
    record.append(replace(run, rule=""), tmp_path)  # the same cell again: the last one counts
    (again,) = record.load(tmp_path)
    assert again.cell == run.cell
    assert not again.stopped
    assert again.regret.tolist() == [0.333333, 0.25, 1e-9]
    with pytest.raises(InputError, match="is not a record of a study"):
        BeliefRun.from_json("{}")


def test_the_published_belief_is_read_from_its_trajectory():
    """A short trajectory of LCBench's loop has the run of the same cell in it."""
    require_real_data()
    (cell,) = beliefs_plan("lcbench", "smoke", ["paper"])
    made = run_cell(
        Cell.of("lcbench", cell.problem, cell.cost, "pbgi", lam=cell.lam, seed=0, cap=cell.cap)
    )
    key = (cell.problem, 0, cell.lam)
    assert published_like(cell, {key: made}) is made
    assert published_like(cell, {}) is None
    assert published_like(replace(cell, cap=100), {key: made}) is None  # it is too short
    read, study = read_published(cell, made), run_study(cell)
    assert read.source == "trajectory"
    assert (read.T, read.rule) == (study.T, study.rule)
    np.testing.assert_allclose(read.regret, study.regret)
    np.testing.assert_allclose(read.cost, study.cost)
    np.testing.assert_allclose(read.delivered, study.delivered, atol=1e-12)
    np.testing.assert_allclose(read.promised, study.promised, rtol=1e-3)


def test_diverged_runs_are_failures_that_are_paid():
    require_real_data()
    cell = beliefs_plan("alexnet", "smoke", ["paper"])[0]
    problem = make_problem(cell)
    failed = np.isnan(problem.y)
    assert failed.sum() == 147
    assert problem.costs[LEARNED].max() == pytest.approx(11.9, abs=0.05)
    assert (problem.costs[LEARNED] > 0.0).all()
    assert problem.optimum == pytest.approx(100 - 58.6, abs=0.1)
    assert np.isfinite(units_of(problem, LEARNED)).all()
    taskset = make_problem(beliefs_plan("taskset", "smoke", ["paper"])[0])
    assert np.isnan(taskset.y).any()
    assert units_of(taskset, RUNS).cost == 1.0


# --------------------------------------------------------------------------- measures


def test_what_a_run_costs():
    run = made_run()  # regret 1, spent 5 at 0.1; design 10; gap 2
    assert run.adjusted == pytest.approx(1.5)
    assert run.paid == pytest.approx((1.5 + 1.0) / 2)
    assert run.paid_at_once == pytest.approx((4.0 + 1.0) / 2)


def test_baselines_are_those_of_the_trajectory():
    view = trajectory([9, 5, 4, 1, 1], cost=[1, 1, 5, 5, 30], lam=0.1)
    made = baselines_of({("gp1d", 0, 0.1): view})
    # regret 5, 4, 1, 1 and 0, 0.5, 1, 4 paid
    assert made == {("gp1d", 0, 0.1): pytest.approx((5.0, 2.0, 5.0))}


def test_measures_by_hand():
    baselines = {
        ("lcbench:higgs", 0, 0.1): Baseline(4.0, 1.0, 2.0),
        ("lcbench:higgs", 1, 0.1): Baseline(6.0, 1.0, 2.0),
        ("lcbench:adult", 0, 0.1): Baseline(2.0, 0.5, 4.5),
    }
    runs = [
        made_run(),  # 1.5
        made_run(seed=1, regret=(4.0, 3.0, 2.0)),  # 2.5: the mean is 2, Immediate 5, Hindsight 1
        made_run(problem="lcbench:adult", regret=(4.0, 3.0, 2.0), gap=1.0),  # 2.5
    ]
    means = SetMeans.of(runs, baselines)
    assert pytest.approx((1.0 + 2.0) / (4.0 + 1.5)) == means.G
    assert means.nr == pytest.approx((1.0 / 4.0 + 2.0 / 4.0) / 2)
    assert means.mean_paid == pytest.approx(((1.25 + 1.75) / 2 + 3.5) / 2)
    assert means.worse == 1  # adult: 2.5 against 2


def test_without_a_published_trajectory_a_run_is_set_beside_its_own_design():
    dear = made_run(problem="alexnet", regret=(4.0, 4.0, 4.0))
    means = SetMeans.of([dear], {})
    assert math.isnan(means.G)
    assert math.isnan(means.nr)
    assert means.worse == 1
    assert SetMeans.of([made_run(problem="alexnet")], {}).worse == 0


def test_the_interval_of_a_difference_is_paired():
    """Sets differ by far more than the variants do: unpaired, the interval would be wide."""
    baselines = {(f"lcbench:{i}", 0, 0.1): Baseline(100.0, 0.0, 100.0) for i in range(10)}

    def of(better):
        regrets = [float(i * i) - better * (1 + i % 2) for i in range(10)]
        runs = [
            made_run(problem=f"lcbench:{i}", regret=(200.0, r), cost=(0.0,))
            for i, r in enumerate(regrets)
        ]
        return SetMeans.of(runs, baselines)

    low, high = difference_interval(of(1.0), of(0.0), lambda means: means.G)
    assert -0.02 <= low < -0.015 < high <= -0.01
    assert math.isnan(difference_interval(SetMeans.of([made_run()], {}), of(0.0), len)[0])


def test_promises_by_phase():
    long = made_run(
        regret=np.zeros(13), cost=np.ones(12), promised=np.arange(1.0, 13.0), delivered=np.ones(12)
    )
    short = made_run(seed=1, gap=4.0)
    assert kept_promises([long, short], 1, 10) == pytest.approx(
        {
            "choices": 12,
            "promised": 55 / 2 + 3 / 4,
            "delivered": 10 / 2 + 1.5 / 4,
            "ratio": 28.25 / 5.375,
        }
    )
    assert kept_promises([long, short], 11, 30)["ratio"] == pytest.approx(23.0 / 2.0)
    assert math.isnan(kept_promises([long], 31, 100)["ratio"])


def test_only_studies_that_both_have_are_compared():
    paper, other = made_run(), made_run(seed=1)
    ours, alone = made_run("default"), made_run("default", seed=7)
    assert compared_runs([paper, other, ours, alone]) == [paper, ours]
    (row, best) = compare([paper, other, ours, alone], {})
    assert (row["variant"], best["variant"]) == ("paper", "default")
    assert best["runs"] == best["sets"] == 1
    assert best["paid"] == best["paid_paper"] == pytest.approx(1.25)
    assert best["ratio_1"] == pytest.approx(2.0)


def test_rows_are_ordered_by_half_part_and_price():
    runs = [
        made_run(variant, problem, price=price, evaluations=evaluations)
        for variant in ("plain", "paper")
        for problem, price in (("alexnet", LEARNED), ("lcbench:higgs", LEARNED))
        for evaluations in (500, 20)
    ]
    rows = compare(runs, {})
    assert [(r["half"], r["part"], r["price"], r["variant"]) for r in rows] == [
        (half, part, price, variant)
        for half, part in (("chosen", "lcbench-learned"), ("judged", "alexnet"))
        for price in ("gap/20", "gap/500")
        for variant in ("paper", "plain")
    ]
    assert [row["variant"] for row in calibration(runs)[::4]] == ["paper", "plain"] * 2


# ----------------------------------------------------------------- command and figure


def test_the_command_runs_and_shows_the_evidence(tmp_path, capsys):
    arguments = ["beliefs", "sklearn", "--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)]
    assert main(arguments) == 0
    assert "sklearn: 5 cells run, 0 done before" in capsys.readouterr().out
    assert main([*arguments, "--draw-only"]) == 0
    assert capsys.readouterr().out == "beliefs: 5 rows\nbeliefs-calibration: 20 rows\n"
    folder = tmp_path / "smoke" / "figures"
    assert {path.name for path in folder.iterdir()} == {
        "beliefs.csv",
        "beliefs.md",
        "beliefs-calibration.csv",
        "beliefs-calibration.png",
        "beliefs-calibration.svg",
    }
    page = (folder / "beliefs.md").read_text()
    assert "## The judged half" in page
    assert all(f"| {variant} | 1, 1 |" in page for variant in VARIANTS)


def test_the_page_marks_differences_and_names_fewer_runs(tmp_path):
    sets = [f"lcbench:{i}" for i in range(12)]
    sets = [name for name in sets if half_of(name) == "chosen"][:4]
    for name in sets:
        record.append(made_run(problem=name), tmp_path)
        record.append(made_run("plain", name), tmp_path)
    for name in sets[:3]:
        record.append(made_run("default", name, regret=(4.0, 3.0, 0.5)), tmp_path)
    table, figure = draw_beliefs(tmp_path)
    lines = {line.split(" | ")[0]: line for line in table.text.splitlines()}
    assert " | 4, 4 | - | - | 1.25 | " in lines["| paper"]
    assert " | 4, 4 | - | - | 1.25 | " in lines["| plain"]
    assert " | 3, 3 | - | - | 1.00* (1.25) | " in lines["| default"]
    assert figure.figure is not None


def test_nothing_to_show_is_said(tmp_path):
    with pytest.raises(MissingTrajectoriesError, match="run stopwise-paper beliefs"):
        list(draw_beliefs(tmp_path))
