# SPDX-License-Identifier: Apache-2.0
"""Objectives that train: one value a configuration, judged by a sample that comes with them."""

import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

import stopwise as sw
from stopwise.errors import InputError, MissingExtraError
from stopwise_paper.analysis.field import from_the_lowest
from stopwise_paper.cell import Cell
from stopwise_paper.problems import LEARNED, MissingDataError, make_problem
from stopwise_paper.problems.curves import RUNS
from stopwise_paper.problems.live import (
    OBJECTIVES,
    LiveProblem,
    Trained,
    boosters,
    live_problem,
    objective,
    pipeline,
    reference,
)
from stopwise_paper.problems.live.after_bayesmark import MODELS, _from_logits
from stopwise_paper.problems.live.reference import SIZE, Reference, configurations, reference_of
from stopwise_paper.runs.beliefs.study_run import units_of
from stopwise_paper.runs.field.contenders.smac3 import configuration_space
from stopwise_paper.runs.field.plan import PARTS, field_plan, part_of
from stopwise_paper.runs.field.play import existing, play
from stopwise_paper.runs.field.record import FieldRun
from stopwise_paper.runs.field.runner import run_field

CONDITIONAL = {
    "kind": sw.Categorical(["a", "b"]),
    "x": sw.Real(0.0, 1.0),
    "of_a": sw.Real(0.0, 1.0, when={"kind": ["a"]}),
    "mode": sw.Categorical(["slow", "fast"], when={"kind": ["b"]}),
    "of_fast": sw.Integer(1, 9, when={"mode": ["fast"]}),
}


def cell(contender, problem, *, cost=LEARNED, cap=5, seed=0, **options):
    return Cell.of("field", problem, cost, contender, seed=seed, cap=cap, **options)


@pytest.fixture
def trained(monkeypatch):
    """What was trained of a conditional problem that is quick, in place of a live one."""
    seen = []

    def train(params):
        seen.append(dict(params))
        return Trained(params["x"] + 0.1 * params.get("of_fast", 0), 1.0 + params["x"])

    sample = Reference(np.linspace(0.0, 2.0, 5), np.ones(5), np.ones(5), "")
    quick = objective.LiveObjective(CONDITIONAL, train, LEARNED)
    problem = LiveProblem(quick, sw.space.Mixed.of(CONDITIONAL), sample)
    monkeypatch.setattr("stopwise_paper.runs.field.play.make_problem", lambda _cell: problem)
    return seen


# ------------------------------------------------------------------------ the sample


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_sample_is_of_the_objective(name):
    """Its quickest configuration, trained again; networks follow the last bits of a BLAS."""
    sample = reference_of(name)
    made_with = dict(entry.split() for entry in sample.versions.split(", "))
    if made_with["scikit-learn"] != version("scikit-learn"):
        pytest.skip(f"the sample was made with scikit-learn {made_with['scikit-learn']}")
    assert len(sample.values) == SIZE
    row = int(np.where(np.isnan(sample.values), np.inf, sample.seconds).argmin())
    value, cost = OBJECTIVES[name].train(configurations(OBJECTIVES[name].space)[row])
    close = 1e-3 if "network" in name or "MLP" in name else 1e-8
    assert value == pytest.approx(sample.values[row], rel=close)
    assert cost == pytest.approx(sample.costs[row], rel=1e-5)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_sample_has_a_gap_and_follows_what_training_takes(name):
    sample = reference_of(name)
    assert np.nanmedian(sample.values) > np.nanmin(sample.values)
    if OBJECTIVES[name].price == RUNS:
        assert set(sample.costs) == {1.0}
        return
    ranks = [values.argsort().argsort() for values in (sample.costs, sample.seconds)]
    assert np.corrcoef(*ranks)[0, 1] > 0.8


def test_units_are_those_of_the_sample_and_train_nothing(monkeypatch):
    problem = live_problem("live:cancer-boosters")
    never = replace(problem.objective, train=lambda params: pytest.fail(f"trained {params}"))
    units = units_of(replace(problem, objective=never), LEARNED)
    sample = reference_of("live:cancer-boosters")
    assert units.gap == np.median(sample.values) - sample.values.min()
    assert units.cost == np.median(sample.costs)


def test_a_sample_that_is_missing_is_not_made_on_the_way(monkeypatch, tmp_path):
    monkeypatch.setattr(reference, "file_of", lambda _problem: tmp_path / "none.csv")
    with pytest.raises(MissingDataError, match="_live_reference live:digits-network"):
        reference_of("live:digits-network")


def test_a_sample_comes_back_from_its_file(monkeypatch, tmp_path):
    path = Path(tmp_path / "sample.csv")
    reference.write(path, [(0.25, 3.0, 0.5), (np.nan, 1.0, 0.25)], "scikit-learn 1.0")
    monkeypatch.setattr(reference, "file_of", lambda _problem: path)
    values, costs, seconds, versions = reference_of("live:anything")
    np.testing.assert_array_equal(values, [0.25, np.nan])
    assert (costs.tolist(), seconds.tolist()) == ([3.0, 1.0], [0.5, 0.25])
    assert versions == "scikit-learn 1.0"


# ------------------------------------------------------------------------ objectives


def test_a_live_problem_trains_what_a_point_stands_for():
    problem = make_problem(cell("random", "bayesmark:DT-wine", cost=RUNS))
    points = problem.initial(0, 3)
    [params, *_] = problem.domain.decode(points)
    paid = problem.evaluate(points[0])
    assert paid.value == paid.judged == problem.objective.train(params).value
    assert paid.costs == {RUNS: 1.0}
    assert isinstance(problem.cost_model(RUNS), sw.beliefs.UnitCost)
    with pytest.raises(InputError, match="has the price 'runs', not 'learned'"):
        problem.cost_model(LEARNED)
    with pytest.raises(InputError, match="no live objective 'live:none'"):
        live_problem("live:none")


def test_ranges_on_a_logit_scale_are_bayesmarks():
    space = MODELS["DT"].space
    ends = [
        _from_logits({n: getattr(p, end) for n, p in space.items()}) for end in ("low", "high")
    ]
    lows, highs = ends
    assert list(lows) == list(highs)
    assert (lows["max_depth"], highs["max_depth"]) == (1, 15)
    assert lows["min_samples_leaf"] == pytest.approx(0.01)
    assert highs["min_samples_leaf"] == pytest.approx(0.49)
    assert highs["max_features"] == pytest.approx(0.99)


def test_every_alternative_is_trained():
    """Each booster and each classifier of the pipeline, at its smallest."""
    smallest = {"trees": 10, "rate": 0.5, "leaves": 4, "rows_in_leaf": 5}
    special = {
        "gradient": {"rows": 0.5, "columns": 0.2},
        "histogram": {"columns": 0.2, "ridge": 1.0, "bins": 16},
        "adaptive": {"splits": "random"},
    }
    for booster, others in special.items():
        value, cost = boosters.train({"booster": booster, **smallest, **others})
        assert 0.0 < value < 0.7  # that of guessing
        assert cost > 0.0
    classifiers = {
        "svm": {"kernel": "poly", "C": 10.0, "gamma": 0.1, "degree": 2},
        "neighbours": {"k": 5, "weights": "distance"},
        "forest": {"trees": 10, "features": 0.2, "leaf": 1},
        "discriminant": {"shrinkage": 0.5},
    }
    for classifier, others in classifiers.items():
        params = {"reduce": "pca", "components": 20, "classifier": classifier, **others}
        value, cost = pipeline.train(params)
        assert 0.0 < value < 2.3
        assert cost > 0.0


class Diverging(BaseEstimator):
    """An estimator that diverges, or that is broken."""

    def __init__(self, message="Solver produced non-finite parameter weights."):
        self.message = message

    def fit(self, _X, _y):
        raise ValueError(self.message)


def test_a_training_that_diverges_has_no_value():
    X, y = np.zeros((6, 1)), np.zeros(6)
    loss, models = objective.folded(Diverging(), X, y, KFold(2), objective.squared_error_of)
    assert np.isnan(loss)
    assert models == []
    with pytest.raises(ValueError, match="is broken"):
        objective.folded(Diverging("this is broken"), X, y, KFold(2), objective.squared_error_of)


# ------------------------------------------------------------------------ in the field


def test_parts_of_the_field_are_planned():
    live, after = (field_plan(part, ["random"], seeds=1) for part in ("live", "bayesmark"))
    assert [(c.cost, part_of(c)) for c in live] == [(LEARNED, "live")] * 4
    assert [(c.cost, part_of(c)) for c in after] == [(RUNS, "bayesmark")] * 6
    assert not any(PARTS[part].pooled for part in ("live", "bayesmark", "functions"))


def test_without_scikit_learn_a_part_is_left_out_with_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'stopwise\[sklearn\]'"):
        field_plan("live", ["random"])
    [run] = run_field(["bayesmark"], ["random"], out=tmp_path)
    assert "needs the package 'sklearn'" in run.message


@pytest.mark.parametrize("contender", ["random", "optuna-tpe", "stopwise"])
def test_those_who_know_conditions_propose_what_exists(trained, contender):
    price = {"evaluations": 100} if contender == "stopwise" else {}
    run = play(cell(contender, "live:cancer-boosters", cap=6, **price))
    assert len(run.cost) == len(trained)
    assert (run.gap, run.median_cost) == (1.0, 1.0)
    for params in trained:
        assert dict(existing(params, CONDITIONAL)) == params
    assert any("of_a" in params for params in trained)
    best = np.minimum.accumulate([p["x"] + 0.1 * p.get("of_fast", 0) for p in trained])
    np.testing.assert_allclose(run.regret, best)


def test_of_a_flat_box_what_does_not_exist_is_ignored():
    flat = {"kind": "b", "x": 0.5, "of_a": 0.1, "mode": "slow", "of_fast": 3}
    assert existing(flat, CONDITIONAL) == {"kind": "b", "x": 0.5, "mode": "slow"}
    assert existing({**flat, "kind": "a"}, CONDITIONAL) == {"kind": "a", "x": 0.5, "of_a": 0.1}


@pytest.mark.slow
@pytest.mark.parametrize("contender", ["optuna-gp", "botorch-logei", "ax"])
def test_contenders_with_a_model_play_a_conditional_space(trained, contender):
    run = play(cell(contender, "live:cancer-boosters", cap=13), rules=False)
    assert len(run.cost) == len(trained) == 13
    assert all(dict(existing(params, CONDITIONAL)) == params for params in trained)


def test_conditions_are_told_to_smac():
    for space in (CONDITIONAL, boosters.SPACE, pipeline.SPACE):
        back = sw.space.as_domain(configuration_space(space, 0))
        conditions = {n: p.when for n, p in zip(back.names, back.parameters, strict=True)}
        assert conditions == {name: parameter.when for name, parameter in space.items()}


def test_a_live_problem_is_played():
    run = play(cell("random", "bayesmark:DT-wine", cost=RUNS, cap=4))
    again = play(cell("random", "bayesmark:DT-wine", cost=RUNS, cap=4))
    assert run.cost.tolist() == [1.0] * 4
    assert run.regret.tolist() == again.regret.tolist()
    assert np.isfinite(run.regret).all()


def test_regret_counts_from_the_lowest_that_anybody_found():
    """One run is 0.5 below the sample's best, so that both have 0.5 more; the gap stays."""

    def made(contender, problem, regret):
        n = len(regret)
        return FieldRun(
            cell(contender, problem, cap=n), "1", 2.0, 1.0, np.array(regret), np.ones(n), 0, 0.1
        )

    runs = [
        made("random", "live:digits-network", [3.0, 1.0]),
        made("optuna-tpe", "live:digits-network", [2.0, -0.5]),
        made("random", "live:diabetes-boosting", [3.0, 1.0]),
    ]
    judged = from_the_lowest(runs)
    assert [run.regret.tolist() for run in judged] == [[3.5, 1.5], [2.5, 0.0], [3.0, 1.0]]
    assert {run.gap for run in judged} == {2.0}
