# SPDX-License-Identifier: Apache-2.0
"""The comparison of beliefs: measures against numbers made by hand, the table and the command."""

import math
from dataclasses import replace

import numpy as np
import pytest

from paper.tests.support.belief_runs import made_run
from paper.tests.support.synthetic_trajectories import trajectory
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
from stopwise_paper.analysis.worse_sets import holm_rejected, surely_worse
from stopwise_paper.cli import main
from stopwise_paper.figures._results import MissingTrajectoriesError
from stopwise_paper.figures.beliefs import draw_beliefs
from stopwise_paper.problems import LEARNED
from stopwise_paper.runs.beliefs import record
from stopwise_paper.runs.beliefs.plan import VARIANTS, half_of

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


def test_sets_are_surely_worse_beyond_chance_and_with_several_seeds_only():
    clear, unclear, better = [1.0, 1.1, 0.9, 1.0], [1.0, -0.8, 0.3, -0.4], [-1.0, -1.1, -0.9, -1.0]
    assert surely_worse([clear, unclear, better]) == 1.0
    assert surely_worse([better, unclear]) == 0.0
    assert surely_worse([[0.0, 0.0], [0.2, 0.2]]) == 1.0  # no spread: nothing is left to chance
    assert math.isnan(surely_worse([clear, [1.0]]))
    assert math.isnan(surely_worse([]))


@pytest.mark.parametrize(
    ("chances", "rejected"),
    [((0.01, 0.02, 0.2), 2), ((0.03, 0.03), 0), ((0.02, 0.04), 2), ((0.2,), 0), ((0.001,), 1)],
)
def test_holm_rejects_from_the_smallest_on(chances, rejected):
    assert holm_rejected(np.array(chances)) == rejected


def test_studies_that_go_to_the_cap_are_not_compared_but_their_promises_are():
    runs = []
    for variant in ("paper", "plain"):
        run = made_run(variant, "lcbench:connect-4")
        cell = replace(run.cell, options=(*run.cell.options, ("to_the_cap", True)))
        runs.append(replace(run, cell=cell))
    assert compare(runs, {}) == []
    assert {row["part"] for row in calibration(runs)} == {"lcbench-100"}
    stopped = [made_run(variant, "lcbench:connect-4") for variant in ("paper", "plain")]
    assert [row["runs"] for row in compare([*stopped, *runs], {})] == [1, 1]  # none is replaced


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
            "regret_fell": 3 / 4,  # of the short one, from 4 to 1
            "spent": 0.1 * (10 / 2 + 5 / 4),
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
    assert best["spent_paid"] == pytest.approx(0.1 * 5 / 2)


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
    assert "sklearn: 7 cells run, 0 done before" in capsys.readouterr().out
    assert main([*arguments, "--draw-only"]) == 0
    assert capsys.readouterr().out == "beliefs: 7 rows\nbeliefs-calibration: 28 rows\n"
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


def test_a_variant_alone_has_nothing_to_be_compared_with(tmp_path):
    record.append(made_run("default", "lcbench:connect-4"), tmp_path)
    table, calibrated = draw_beliefs(tmp_path)
    assert table.records == []
    assert calibrated.figure is None
