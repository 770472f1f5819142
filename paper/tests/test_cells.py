# SPDX-License-Identifier: Apache-2.0
"""Cells, trajectories and their files."""

from dataclasses import replace

import numpy as np
import pytest

from stopwise import replay
from stopwise.errors import InputError
from stopwise.stopping import GSS, PBGI, UCBLCB, After, Convergence, FixedTrials, Smoothed, Trace
from stopwise_paper import Cell, RecordedSignal, Trajectory
from stopwise_paper.runs import store

CELL = Cell.of("gp1d", "gp1d", "linear", "pbgi", lam=0.01, seed=3, cap=100, prb="bound+mean")


def small(cell: Cell) -> Trajectory:
    rng = np.random.default_rng(0)
    n, initial = 12, 3
    y = rng.standard_normal(n)
    costs = {cost: rng.uniform(1, 2, n) for cost in cell.costs}
    worth = {
        "sup_log_ei_per_cost" + (f"@{cost}" if len(cell.costs) > 1 else ""): RecordedSignal(
            np.linspace(0.0, -9.0, n - initial + 1), {"gain": np.ones(n - initial + 1)}
        )
        for cost in cell.costs
    }
    return Trajectory(
        cell,
        initial,
        np.arange(n),
        y,
        y + rng.standard_normal(n),
        costs,
        {**costs, cell.costs[0]: 2.0 * costs[cell.costs[0]]},
        {**worth, "ucb_lcb_gap": RecordedSignal(np.linspace(1.0, 0.0, n - initial + 1))},
        -3.0,
        {"fit": np.ones(n - initial + 1)},
        {"runtime": "real"},
    )


def assert_same(a: Trajectory, b: Trajectory, *, signals: float = 0.0) -> None:
    assert a.cell == b.cell
    assert (a.n_initial, a.optimum, dict(a.facts)) == (b.n_initial, b.optimum, dict(b.facts))
    for name in ("x", "y", "judged_value"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for name in ("costs", "judged_costs"):
        mine, other = getattr(a, name), getattr(b, name)
        assert mine.keys() == other.keys()
        for key in mine:
            np.testing.assert_array_equal(mine[key], other[key])
    assert a.signals.keys() == b.signals.keys()
    for key in a.signals:
        np.testing.assert_allclose(a.signals[key].value, b.signals[key].value, rtol=signals)


def test_the_key_of_a_cell_never_changes():
    # Kept files are found by it: if this fails, every finished run is lost.
    assert CELL.key == "2cd5b2caff5570f70278"


def test_cells_that_differ_have_other_keys_and_equal_ones_the_same():
    changes = [
        {"problem": "gp8d"},
        {"cost": "uniform"},
        {"acquisition": "logeipc"},
        {"lam": 0.1},
        {"seed": 4},
        {"cap": 50},
        {"options": ()},
    ]
    keys = {replace(CELL, **change).key for change in changes} | {CELL.key}
    assert len(keys) == len(changes) + 1
    assert replace(CELL, experiment="order").key == CELL.key


def test_options_have_no_order_and_none_is_absent():
    one = Cell.of("e", "p", "c", "a", seed=0, cap=1, b=1, a=2, c=None)
    two = Cell.of("e", "p", "c", "a", seed=0, cap=1, a=2, b=1)
    assert one == two
    assert (one.option("a"), one.option("c", "x")) == (2, "x")


def test_a_cell_goes_through_json_and_back():
    assert Cell.from_json(CELL.to_json()) == CELL
    with pytest.raises(InputError, match="is not a cell"):
        Cell.from_json("{}")


def test_a_trajectory_goes_through_a_file_and_back(tmp_path):
    given = small(CELL)
    store.save(given, tmp_path)
    back = store.load_cell(CELL, tmp_path)
    assert_same(given, back)
    np.testing.assert_array_equal(back.signals["sup_log_ei_per_cost"].facts["gain"], 1.0)
    np.testing.assert_array_equal(back.seconds["fit"], given.seconds["fit"])
    assert store.keys(store.cell_path(CELL, tmp_path)) == {CELL.key}


def test_a_consolidated_file_holds_what_verdicts_need(tmp_path):
    given = [small(replace(CELL, seed=seed)) for seed in range(3)]
    path = store.consolidate(given, tmp_path / "gp1d.parquet")
    for one, other in zip(given, store.load(path), strict=True):
        assert_same(one, other, signals=1e-6)


def test_what_rows_of_a_data_set_gave_is_kept_once(tmp_path):
    rng = np.random.default_rng(1)
    y, test, proxy = rng.random((3, 30))
    given = []
    for seed in range(4):
        x = rng.choice(30, 12, replace=False)
        cell = Cell.of("lcbench", "lcbench:toy", "proxy", "ts", seed=seed, cap=9)
        paid = {"proxy": proxy[x]}
        judged = {"proxy": 2.0 * proxy[x]}
        base = small(cell)
        given.append(
            replace(base, x=x, y=y[x], judged_value=test[x], costs=paid, judged_costs=judged)
        )
    other = replace(given[0].cell, options=(("runtime", "surrogate"),))
    given.append(replace(given[0], cell=other, judged_costs={"proxy": 3.0 * given[0].cost}))
    path = store.consolidate(given, tmp_path / "lcbench.parquet")
    assert store.keys(path) == {trajectory.cell.key for trajectory in given}
    for one, back in zip(given, store.load(path), strict=True):
        assert_same(one, back, signals=1e-6)


def test_points_of_a_box_keep_their_shape(tmp_path):
    given = replace(small(CELL), x=np.random.default_rng(0).random((12, 8)))
    store.save(given, tmp_path)
    np.testing.assert_array_equal(store.load_cell(CELL, tmp_path).x, given.x)


def test_no_file_is_an_error_of_ours(tmp_path):
    with pytest.raises(InputError, match="run the experiment first"):
        store.load(tmp_path / "none.parquet")


def test_a_blind_trajectory_serves_every_price():
    both = small(replace(CELL, cost="uniform+linear", acquisition="lcb", lam=None))
    one, two = both.views()
    assert (one.cell.cost, two.cell.cost) == ("uniform", "linear")
    assert set(one.signals) == {"sup_log_ei_per_cost", "ucb_lcb_gap"} == set(two.signals)
    np.testing.assert_array_equal(two.cost, both.costs["linear"])
    np.testing.assert_array_equal(one.judged_cost, 2.0 * one.cost)
    with pytest.raises(InputError, match="take one by priced"):
        _ = both.cost
    with pytest.raises(InputError, match="not 'periodic'"):
        both.priced("periodic")


def test_regret_is_that_of_the_best_by_y_judged_by_the_other_value():
    trajectory = small(CELL)
    for t in range(trajectory.T + 1):
        best = int(np.argmin(trajectory.y[: trajectory.n_initial + t]))
        assert trajectory.best_row[trajectory.n_initial + t - 1] == best
        assert trajectory.regret[t] == trajectory.judged_value[best] + 3.0
    assert len(trajectory) == 12


def test_what_was_spent_starts_at_zero_or_with_the_initial_design():
    trajectory = small(CELL)
    without, with_initial = trajectory.spent(), trajectory.spent(initial=True)
    assert without[0] == 0.0
    np.testing.assert_allclose(with_initial - without, trajectory.cost[:3].sum())
    np.testing.assert_allclose(without[-1], trajectory.cost[3:].sum())
    np.testing.assert_allclose(trajectory.spent(judged=True), 2.0 * without)


def test_rules_replay_from_a_trajectory():
    trajectory = small(CELL)
    (found,) = replay(trajectory.traces(), [PBGI(np.exp(-4.5))])
    assert found.stop_t == 5
    assert len(list(trajectory.read(UCBLCB()))) == trajectory.T + 1


@pytest.mark.parametrize(
    "rule", [GSS(window=2), Smoothed(GSS(window=4), 3), After(Convergence(2), 1), FixedTrials(4)]
)
def test_rules_of_values_alone_need_no_record(rule):
    trajectory = small(CELL)
    trace = Trace.of(tuple(trajectory.read(rule)))
    (found,) = replay({rule.key: trace}, [rule])
    assert [signal.t for signal in trace] == list(range(trajectory.T + 1))
    if isinstance(rule, FixedTrials):
        assert found.stop_t == 4
    if isinstance(rule, After):
        y = trajectory.incumbent
        flat = [t for t in range(2, 10) if y[2 + t] == y[t]]
        assert found.stop_t == (flat[0] if flat else None)


def test_a_signal_that_was_not_recorded_is_an_error():
    trajectory = replace(small(CELL), signals={})
    with pytest.raises(InputError, match="which this trajectory does not have"):
        trajectory.read(UCBLCB())


def test_a_shorter_trajectory_is_the_beginning_of_a_longer_one():
    whole = small(CELL)
    part = whole.upto(4)
    assert (part.T, len(part), part.n_initial) == (4, whole.n_initial + 4, whole.n_initial)
    np.testing.assert_array_equal(part.regret, whole.regret[:5])
    np.testing.assert_array_equal(part.spent(initial=True), whole.spent(initial=True)[:5])
    for key, signal in part.signals.items():
        np.testing.assert_array_equal(signal.value, whole.signals[key].value[:5])
    assert whole.upto(99).T == whole.T
