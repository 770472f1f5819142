# SPDX-License-Identifier: Apache-2.0
"""The field: contenders are asked and told as their users do, and scored as users pay."""

import numpy as np
import pytest

from stopwise.errors import InputError
from stopwise_paper.analysis.field import (
    BEST_COUNT,
    BEST_COUNTS,
    OWN_RULE,
    OWN_STOP,
    compared,
    equal_trials,
    optimiser_seconds,
    scores,
)
from stopwise_paper.cell import Cell
from stopwise_paper.cli import main
from stopwise_paper.problems import make_problem
from stopwise_paper.runs.field import record
from stopwise_paper.runs.field.contenders import ALL_SEEDS, CONTENDERS
from stopwise_paper.runs.field.contenders.contender import FailuresAsWorst
from stopwise_paper.runs.field.plan import EVALUATIONS, field_plan, part_of
from stopwise_paper.runs.field.play import play
from stopwise_paper.runs.field.record import FieldRun
from stopwise_paper.runs.field.runner import installed

MODELS = ["optuna-gp", "botorch-logei", "botorch-logei-per-cost", "ax"]


def cell(contender, *, problem="sklearn:cancer-forest", cost="learned", cap=6, seed=0, **options):
    return Cell.of("field", problem, cost, contender, seed=seed, cap=cap, **options)


def made(contender, regret, cost, *, problem="box:branin", seed=0, stopped_at=0, **options):
    """A run with gap 2 and median cost 5."""
    return FieldRun(
        cell(contender, problem=problem, cost="linear", cap=len(cost), seed=seed, **options),
        "1.0",
        2.0,
        5.0,
        np.array(regret, dtype=float),
        np.array(cost, dtype=float),
        stopped_at,
        0.1,
    )


@pytest.mark.parametrize("contender", ["random", "optuna-tpe", "stopwise"])
def test_a_table_is_played_row_by_row(contender):
    """Each evaluation is a row, paid for; regret is judged by test errors, and may rise."""
    run = play(cell(contender, evaluations=100 if contender == "stopwise" else None))
    table = make_problem(run.cell)
    assert len(run.cost) == len(run.regret) <= 6
    assert set(run.cost) <= set(table.costs["learned"])
    assert np.all(run.regret >= 0.0)
    assert run.version


def test_a_play_can_be_repeated():
    first, again = (play(cell("optuna-tpe")) for _ in range(2))
    assert first.regret.tolist() == again.regret.tolist()
    assert first.cost.tolist() == again.cost.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("contender", MODELS)
def test_contenders_with_a_model_are_played(contender):
    run = play(cell(contender, cap=13))
    assert len(run.cost) == 13
    assert np.isfinite(run.regret).all()


def test_a_run_comes_back_from_its_line(tmp_path):
    runs = [play(cell("random", seed=seed)) for seed in range(2)]
    path = tmp_path / "runs.parquet"
    assert record.consolidate(path) == []
    for run in [*runs, runs[0]]:
        record.append(run, path)
    with (tmp_path / "runs.jsonl").open("a") as file:
        file.write('{"torn')
    back = record.load(path)
    assert [run.cell for run in back] == [run.cell for run in runs]
    assert [run.cell for run in record.consolidate(path)] == [run.cell for run in runs]
    assert [file.name for file in tmp_path.iterdir()] == ["runs.parquet"]
    back = record.load(path)
    np.testing.assert_allclose(back[1].regret, runs[1].regret, rtol=1e-5)
    with pytest.raises(InputError, match="not a record of a run"):
        FieldRun.from_json("{}")


def test_what_is_paid_counts_the_initial_points():
    """Gap 2, worth 20 median evaluations of 5: a unit of cost is 0.02, or 0.01 gaps."""
    run = made("random", [4.0, 1.0], [10.0, 30.0])
    np.testing.assert_allclose(run.paid(20), [4 / 2 + 0.1, 1 / 2 + 0.4])


def test_counts_rules_and_hindsight_are_read_from_one_run():
    falls = [2.0] * 30 + [0.0] * 70
    late = [2.0] * 60 + [0.0] * 40
    runs = [
        made("optuna-tpe", falls, [1.0] * 100, stopped_at=40),
        made("optuna-tpe", late, [1.0] * 100, problem="box:levy4"),
        made("stopwise", [2.0, 0.5], [1.0, 1.0], evaluations=100),
    ]
    at = {(score.contender, score.when): score for score in scores(runs, 100)}
    unit = 1 / (100 * 5)  # gaps for one evaluation
    assert at["optuna-tpe", "50 trials"].paid == pytest.approx((0 + 1) / 2 + 50 * unit)
    assert at["optuna-tpe", OWN_RULE].trials == 70  # 40, and never
    assert at["optuna-tpe", BEST_COUNT].paid == pytest.approx(61 * unit)
    assert at["optuna-tpe", BEST_COUNTS].paid == pytest.approx((31 + 61) / 2 * unit)
    assert at["stopwise", OWN_STOP].paid == pytest.approx(0.25 + 2 * unit)
    assert not [score for score in scores(runs, 20) if score.contender == "stopwise"]


def test_contenders_are_compared_where_both_have_played():
    """Gap 2: 0.5 and 1.5 gaps more on two problems; the third is not stopwise's."""
    runs = [
        made("stopwise", [1.0], [1.0], evaluations=100),
        made("stopwise", [1.0], [1.0], problem="box:levy4", evaluations=100),
        made("random", [2.0], [1.0]),
        made("random", [4.0], [1.0], problem="box:levy4"),
        made("random", [99.0], [1.0], problem="box:hartmann3"),
    ]
    rows = {(r["contender"], r["stopped"]): r for r in compared(scores(runs, 100))}
    row = rows["random search", BEST_COUNT]
    assert (row["more than stopwise"], row["its error"], row["problems"]) == (1.0, 0.5, 3)
    assert "more than stopwise" not in rows["stopwise", OWN_STOP]
    alone = compared(scores(runs[2:], 100))
    assert all("more than stopwise" not in r for r in alone)
    timed = optimiser_seconds(runs)
    assert [(r["contender"], r["runs"], r["seconds a trial"]) for r in timed] == [
        ("stopwise", 2, pytest.approx(0.1)),
        ("random search", 3, pytest.approx(0.1)),
    ]


def test_contenders_are_compared_on_the_seeds_that_both_have_played():
    """Gap 2: 0.5 gaps more with seed 0; seed 1, which stopwise alone has played, is left out."""
    runs = [
        made("stopwise", [1.0], [1.0], evaluations=100),
        made("stopwise", [9.0], [1.0], evaluations=100, seed=1),
        made("random", [2.0], [1.0]),
    ]
    ours, *others = compared(scores(runs, 100))
    assert (ours["seeds"], {row["seeds"] for row in others}) == (2, {1})
    assert {row["more than stopwise"] for row in others} == {0.5}


def test_failures_are_told_as_the_worst_value_once_there_is_one():
    failures = FailuresAsWorst()
    assert failures.to_tell("a", None) == []
    assert failures.to_tell("b", 2.0) == [("b", 2.0), ("a", 2.0)]
    assert failures.to_tell("c", None) == [("c", 2.0)]
    assert failures.to_tell("d", 3.0) == [("d", 3.0)]
    assert failures.to_tell("e", None) == [("e", 3.0)]


def test_contenders_are_ranked_at_equal_trials():
    problem = "bbob:f001_i01_d02"
    runs = [
        made("stopwise-unpriced", [5.0, 1.0], [1, 1], problem=problem),
        made("optuna-tpe", [5.0, 3.0], [1, 1], problem=problem),
        made("random", [5.0, 5.0], [1, 1], problem=problem),
    ]
    rows = {row["contender"]: row for row in equal_trials(runs)}
    assert [row["rank"] for row in rows.values()] == [1, 2, 3]
    assert rows["Optuna, TPE"]["left"] == 0.5
    begun = [made(run.contender, [4.0], [1], problem="bbob:f002_i01_d02") for run in runs[:2]]
    one, two, *three = equal_trials([*runs, *begun])  # random search has played one of two
    assert (one["problems"], one["of"], two["rank"]) == (2, 2, 1.75)
    assert [(row["problems"], row["of"], row["rank"]) for row in three] == [
        (1, 3, 1),
        (1, 3, 2),
        (1, 3, 3),
    ]


def test_a_contender_that_knows_the_price_has_a_run_for_each():
    cells = field_plan("functions", ["stopwise", "random", "stopwise-unpriced"])
    prices = [c.option("evaluations") for c in cells if c.seed == 0 and "branin" in c.problem]
    assert prices == [*EVALUATIONS, None]
    assert {part_of(c) for c in cells} == {"functions"}
    unpriced = field_plan("bbob", ["stopwise", "stopwise-unpriced"], quick=True)
    assert [(c.acquisition, c.cap) for c in unpriced] == [("stopwise-unpriced", 20)]
    with pytest.raises(InputError, match="there is no part 'tables'"):
        field_plan("tables", ["random"])


def test_contenders_that_take_long_play_few_seeds_and_the_first_instance():
    slow = {name for name, contender in CONTENDERS.items() if contender.seeds < ALL_SEEDS}
    assert {CONTENDERS[name].seeds for name in slow - {"cheapest-first"}} == {3}
    cells = field_plan("sklearn", ["ax", "smac", "random"])
    seeds = {name: {c.seed for c in cells if c.acquisition == name} for name in ("ax", "smac")}
    assert seeds == {"ax": {0, 1, 2}, "smac": {0, 1, 2}}
    assert {c.seed for c in cells if c.acquisition == "random"} == set(range(5))
    suite = field_plan("bbob", ["ax", "random"])
    assert len([c for c in suite if c.acquisition == "random"]) == 3 * 3 * 24
    assert {c.problem[-7:-4] for c in suite if c.acquisition == "ax"} == {"i01"}


def test_a_plan_can_be_played_in_part():
    cells = field_plan("functions", ["random"], seeds=1, problems="box:[bl]*")
    assert {c.seed for c in cells} == {0}
    assert {c.problem for c in cells} == {"box:branin", "box:levy4"}
    assert set(cells) < set(field_plan("functions", ["random"]))


def test_a_rule_that_is_only_recorded_is_timed_apart():
    """Optuna's terminator is asked on tables; on bbob, where stopping is off, it is not."""
    run = play(cell("optuna-tpe", cap=21))
    assert run.rule_seconds > 0.0
    assert run.seconds > 0.0
    assert play(cell("stopwise", cap=3, evaluations=100)).rule_seconds is None
    assert play(cell("optuna-tpe", cap=3), rules=False).rule_seconds is None


def test_what_is_not_installed_is_named(monkeypatch):
    there, messages = installed(["random"])
    assert (there, messages) == (["random"], [])
    monkeypatch.setattr(
        "stopwise_paper.runs.field.contenders.contender._version", lambda _name: ""
    )
    assert installed(["smac"]) == (
        [],
        ["smac: left out, because smac, ConfigSpace is not installed."],
    )
    with pytest.raises(InputError, match="there is no contender 'hyperopt'"):
        installed(["hyperopt"])


def test_the_command_plays_and_scores(tmp_path, capsys):
    arguments = ["field", "sklearn", "--quick", "--jobs", "1", "--contender", "random"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    assert "1 cells run" in capsys.readouterr().out
    assert (tmp_path / "quick" / "field.png").exists()
    assert main([*arguments, "--draw-only", "--out", str(tmp_path)]) == 0
    assert len(record.load(tmp_path / "quick.parquet")) == 1
    assert CONTENDERS["random"].title in (tmp_path / "quick" / "field.csv").read_text()


def test_random_search_that_is_best_leaves_all_of_the_distance_to_the_others():
    problem = "bbob:f001_i01_d02"
    runs = [
        made("stopwise-unpriced", [5.0, 3.0], [1, 1], problem=problem),
        made("optuna-tpe", [5.0, 2.0], [1, 1], problem=problem),
        made("random", [5.0, 1.0], [1, 1], problem=problem),
    ]
    rows = {row["contender"]: row for row in equal_trials(runs)}
    assert [row["left"] for row in rows.values()] == [1.0, 1.0, 0.0]
    assert [row.get("rank more") for row in rows.values()] == [None, -1.0, -2.0]


def test_smac_has_a_run_for_each_number_of_trials_that_it_is_told():
    cells = field_plan("sklearn", ["smac-50", "smac"], seeds=1)
    assert {(c.acquisition, c.cap) for c in cells} == {("smac-50", 50), ("smac", 100)}
    assert {c.acquisition for c in field_plan("bbob", ["smac-50", "smac"], quick=True)} == {"smac"}


def test_what_is_never_stopped_is_counted():
    runs = [
        made("stopwise", [1.0], [1.0], evaluations=100, stopped_at=1),
        made("stopwise", [1.0], [1.0], problem="box:levy4", evaluations=100),
    ]
    [score] = scores(runs, 100)
    assert (score.unstopped, score.record()["not stopped"]) == (1, 1)
