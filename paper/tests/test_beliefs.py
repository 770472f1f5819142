# SPDX-License-Identifier: Apache-2.0
"""The evidence on beliefs: the plan, studies that are run, and the file of their records."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from paper.tests.support.belief_runs import made_run
from paper.tests.support.experiment_data import require_real_data
from stopwise.errors import InputError
from stopwise_paper.cell import Cell
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

# -------------------------------------------------------------------------------- plan


@pytest.mark.parametrize("part", PARTS)
def test_every_cell_names_its_part_and_its_variant(part):
    try:
        cells = beliefs_plan(part, "smoke")
    except MissingDataError:
        require_real_data()
        raise
    assert {part_of(cell) for cell in cells} == {part}
    bounded = PARTS[part].lowest is not None
    expected = [name for name, variant in VARIANTS.items() if bounded or not variant.bounded]
    assert [variant_of(cell) for cell in cells] == expected
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


@cache
def recorded(variant):
    """The run of a variant on the smallest table."""
    (cell,) = beliefs_plan("sklearn", "smoke", [variant])
    return run_study(cell)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_study_is_recorded_step_by_step(variant):
    run = recorded(variant)
    cell, problem = run.cell, make_problem(run.cell)
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
    assert run.n_initial == 2 * (problem.domain.d + 1)  # costs are known
    if published:
        rows = problem.domain.index_of(problem.initial(cell.seed))
        assert run.initial_cost == pytest.approx(problem.costs[cell.cost][rows].sum())
        best = rows[np.argmin(problem.y[rows])]
        assert run.regret[0] == pytest.approx(problem.judged[best] - problem.optimum)


def test_a_study_may_go_on_to_the_cap_whatever_the_rule_says():
    (cell,) = beliefs_plan("sklearn", "smoke", ["plain"])
    huge = replace(cell, cap=5, options=(*cell.options, ("to_the_cap", True)), lam=1e9)
    assert run_study(replace(huge, options=cell.options)).T == 0
    run = run_study(huge)
    assert run.T == 5
    assert (run.promised > 0.0).all()


def test_beliefs_share_the_published_design_and_differ_after_it():
    paper, weighed = recorded("paper"), recorded("weighed + published design")
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
    with pytest.raises(InputError, match="is not a record of a run"):
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
