# SPDX-License-Identifier: Apache-2.0
"""Single contenders of the field: what they are told, and what they do with it."""

import numpy as np
import pytest

import stopwise as sw
from stopwise.errors import InputTypeError
from stopwise_paper.cell import Cell
from stopwise_paper.runs.field.contenders import CONTENDERS, FieldEvaluation, Setting
from stopwise_paper.runs.field.plan import field_plan
from stopwise_paper.runs.field.play import play


def test_cheapest_first_takes_each_row_once_and_plays_where_costs_are_known():
    rows = sw.Candidates([{"x": float(i)} for i in range(4)])
    domain = sw.space.as_domain(rows)
    space = dict(zip(domain.codec.names, domain.codec.parameters, strict=True))
    costs = sw.beliefs.KnownCost.of_rows([4.0, 1.0, 3.0, 2.0], rows)
    optimiser = CONTENDERS["cheapest-first"].make(
        Setting(space, domain, costs, float("nan"), 0, 4)
    )
    assert [optimiser.ask()["x"] for _ in range(4)] == [1.0, 3.0, 2.0, 0.0]
    assert not field_plan("sklearn", ["cheapest-first"])
    assert not field_plan("functions", ["cheapest-first"])
    with pytest.raises(InputTypeError, match="whose costs are known"):
        CONTENDERS["cheapest-first"].make(Setting(space, domain, "reported", 0.1, 0, 4))


@pytest.mark.parametrize(("dear", "first"), [(1e30, 10), (1.0, 11)])
def test_botorch_per_cost_is_told_known_costs(dear, first):
    """Of the two rows that are left the last one promises more, unless it is very dear."""
    rows = sw.Candidates([{"x": float(i)} for i in range(12)])
    domain = sw.space.as_domain(rows)
    space = dict(zip(domain.codec.names, domain.codec.parameters, strict=True))
    costs = sw.beliefs.KnownCost.of_rows([1.0] * 11 + [dear], rows)
    optimiser = CONTENDERS["botorch-logei-per-cost"].make(
        Setting(space, domain, costs, float("nan"), 0, 12)
    )
    for i in range(10):
        optimiser.ask()
        optimiser.tell(FieldEvaluation({"x": float(i)}, float(i % 3), 1.0))
    assert optimiser.ask() == {"x": float(first)}


@pytest.mark.slow
@pytest.mark.skipif(bool(CONTENDERS["syne-tune"].missing), reason="needs Syne Tune")
def test_syne_tune_can_be_repeated():
    """Parts of its model are drawn from numpy's global generator."""
    cell = Cell.of("field", "sklearn:cancer-forest", "learned", "syne-tune", seed=0, cap=8)
    first, again = (play(cell) for _ in range(2))
    assert len(first.cost) == 8
    assert first.regret.tolist() == again.regret.tolist()
    assert first.cost.tolist() == again.cost.tolist()


@pytest.mark.slow
@pytest.mark.skipif(bool(CONTENDERS["syne-tune"].missing), reason="needs Syne Tune")
def test_syne_tune_is_told_rows_and_leaves_failures_out():
    """Seven trials, the third of which fails; after five values it has a model."""
    space = {
        "rate": sw.Real(1e-4, 1.0, log=True),
        "depth": sw.Integer(1, 9),
        "kind": sw.Categorical(["a", "b"]),
    }
    setting = Setting(space, sw.space.Mixed.of(space), "reported", np.nan, 0, 7)
    optimiser = CONTENDERS["syne-tune"].make(setting)
    for n in range(7):
        asked = optimiser.ask()
        assert 1e-4 <= asked["rate"] <= 1.0
        assert asked["depth"] in range(1, 10)
        assert asked["kind"] in {"a", "b"}
        row = {**asked, "depth": n + 1}
        optimiser.tell(FieldEvaluation(row, None if n == 2 else float(n), 1.0))
    searcher = optimiser._scheduler.base_scheduler.searcher
    depths = {trial: params["depth"] for trial, params in searcher.trial_configs.items()}
    assert depths == {0: 1, 1: 2, 3: 4, 4: 5, 5: 6, 6: 7}
    assert searcher.surrogate_model is not None
    assert not optimiser.would_stop()


@pytest.mark.slow
@pytest.mark.skipif(bool(CONTENDERS["skopt"].missing), reason="needs scikit-optimize")
def test_scikit_optimize_is_told_what_each_evaluation_cost_failures_too():
    """Two valleys are alike, and the right one is dear; per second it searches the left one."""
    space = {"x": sw.Real(0.0, 1.0)}
    setting = Setting(space, sw.space.Mixed.of(space), "reported", np.nan, 0, 20)
    asked = {}
    for name in ("skopt", "skopt-per-second"):
        optimiser = CONTENDERS[name].make(setting)
        points = []
        for n in range(20):
            x = optimiser.ask()["x"]
            points.append(x)
            value = None if n == 4 else float(np.cos(4.0 * np.pi * x))
            optimiser.tell(FieldEvaluation({"x": x}, value, 1e4**x))
        asked[name] = np.mean(points[10:])  # ten are drawn first
    assert asked["skopt-per-second"] < asked["skopt"]
    told, seconds = np.array(optimiser._optimizer.yi).T
    np.testing.assert_allclose(seconds, np.log(1e4) * np.array(optimiser._optimizer.Xi)[:, 0])
    assert told[4] == max(told[:4])


@pytest.mark.slow
@pytest.mark.skipif(bool(CONTENDERS["skopt"].missing), reason="needs scikit-optimize")
def test_scikit_optimize_per_second_has_a_model_of_choices():
    space = {name: sw.Categorical(["a", "b", "c"]) for name in "xy"}
    setting = Setting(space, sw.space.Mixed.of(space), "reported", np.nan, 0, 12)
    optimiser = CONTENDERS["skopt-per-second"].make(setting)
    for n in range(12):
        optimiser.tell(FieldEvaluation(optimiser.ask(), float(n % 5), 1.0 + n))
    assert set(optimiser.ask()) == set("xy")
