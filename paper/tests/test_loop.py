# SPDX-License-Identifier: Apache-2.0
"""Cells, run: the models behind them, every kind of experiment, and determinism."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import stopwise as sw
from paper.tests.support.experiment_data import require_real_data
from paper.tests.test_cells import assert_same
from stopwise.acquisition import PBGID, LogEIPC, Snapshot
from stopwise.errors import InputError
from stopwise.stopping import RuleTraits, SignalKind, Verdict
from stopwise_paper import Cell
from stopwise_paper.experiments import EXPERIMENTS, plan, with_plugins
from stopwise_paper.plugins import load_plugin
from stopwise_paper.problems import LEARNED, make_problem
from stopwise_paper.runs.loop import run_cell
from stopwise_paper.runs.models import REFITS, refits_of
from stopwise_paper.runs.rules import rules_of
from stopwise_paper.runs.table_posterior import Projection, TablePosterior
from stopwise_paper.runs.trajectory import LOG_GAIN_PER_COST

PLUGINS = "paper.tests.support.example_plugins"  # another package's acquisition and rule
NEEDS_DATA = ("lcbench", "unknown-cost", "budgeted", "nats", "refit")
GRID = Cell.of("gp1d", "gp1d", "linear", "pbgi", lam=0.01, seed=0, cap=6, grid=301)


# ------------------------------------------------------------------- tabulated posteriors


@pytest.mark.parametrize("interpolate", [True, False])
def test_marginals_of_a_table_are_those_of_the_posterior(interpolate):
    rng = np.random.default_rng(0)
    points = rng.random((300, 3))
    hyper = sw.beliefs.Hyperparameters(np.array([0.3, 0.5, 0.8]), 1.3, 1e-6, 0.2)
    y = rng.standard_normal(40)
    plain = sw.beliefs.condition(points[:10], y[:10], hyper, interpolate=interpolate)
    table = TablePosterior.of(plain, Projection(points, 60))
    for n in range(10, 40):
        if n == 25:  # other hyper-parameters: from the beginning
            other = replace(hyper, outputscale=0.7)
            plain = sw.beliefs.condition(points[:n], y[:n], other, interpolate=interpolate)
            table = TablePosterior.of(plain, table.projection)
        # Not every step is asked about, and asked twice it is the same.
        for k in () if n == 30 else (n, n - 1, n):
            ours, theirs = table.prefix(k)(points), plain.prefix(k)(points)
            np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(ours.std, theirs.std, rtol=1e-5, atol=1e-6)
        table, plain = (p.append(points[n], y[n]) for p in (table, plain))
        assert isinstance(table, TablePosterior)
    elsewhere = rng.random((5, 3))
    np.testing.assert_array_equal(table(elsewhere).mean, plain(elsewhere).mean)


@pytest.mark.parametrize("cost", ["proxy", LEARNED])
def test_decisions_on_a_table_read_the_projection(cost, monkeypatch):
    seen = []
    marginals = Projection.marginals

    def counted(self, posterior):
        seen.append(len(posterior))
        return marginals(self, posterior)

    monkeypatch.setattr(Projection, "marginals", counted)
    rows = []
    plain = sw.beliefs.Posterior.__call__

    def of_rows(self, X):
        rows.append(len(X))
        return plain(self, X)

    monkeypatch.setattr(sw.beliefs.Posterior, "__call__", of_rows)
    cell = Cell.of("s", "sklearn:cancer-forest", cost, "logeipc", seed=0, cap=2)
    run_cell(cell)
    times = 1 if cost == "proxy" else 2  # a learned price has a posterior too
    for n in (12, 13, 14):
        assert seen.count(n) >= times
    # Laws and prices of the whole table come from it, and from nowhere else.
    assert max(rows) < len(make_problem(cell).domain)


@pytest.mark.parametrize("acquisition", ["pbgi", "logeipc"])
def test_signals_are_those_of_a_model_made_from_nothing(acquisition):
    cell = Cell.of(
        "sklearn", "sklearn:cancer-forest", "proxy", acquisition, lam=0.1, seed=1, cap=5
    )
    trajectory, problem = run_cell(cell), make_problem(cell)
    X = problem.domain.points[trajectory.x]
    hyper = None
    price = problem.cost_model("proxy").price(problem.domain, X, trajectory.cost)
    for t in range(trajectory.T + 1):
        n = trajectory.n_initial + t
        posterior = sw.beliefs.fit_posterior(
            X[:n],
            trajectory.y[:n],
            groups=problem.domain.groups,
            noise=1e-6,
            prior="gamma",
            start=hyper,
            interpolate=True,
        )
        hyper = posterior.hyper
        snapshot = Snapshot(
            problem.domain,
            X[:n],
            trajectory.y[:n],
            sw.beliefs.Belief(posterior, price),
            X[:0],
            initial=trajectory.n_initial,
            seed=1,
            trial=n,
        )
        for rule in rules_of(cell, problem):
            recorded, fresh = trajectory.signals[rule.key].value[t], rule.signal(snapshot).value
            np.testing.assert_allclose(recorded, fresh, rtol=1e-4, atol=1e-6)


def test_a_cell_names_its_refit_policy():
    cell = Cell.of("s", "sklearn:cancer-forest", "proxy", "logeipc", seed=0, cap=2)
    assert refits_of(cell) == sw.beliefs.RefitAlways()
    assert refits_of(replace(cell, options=(("refit", "always"),))) == sw.beliefs.RefitAlways()
    schedule = replace(cell, options=(("refit", "schedule"),))
    assert refits_of(schedule) == sw.beliefs.RefitOnSchedule()
    with pytest.raises(InputError, match="refit='never' is not known: give one of always, sched"):
        run_cell(replace(cell, options=(("refit", "never"),)))


@pytest.mark.parametrize("cost", ["proxy", LEARNED])
def test_models_are_fitted_when_the_policy_says_so(cost, monkeypatch):
    asked = []

    @dataclass(frozen=True)
    class EveryThird:
        def is_due(self, n, *, fitted_to, t):
            asked.append((n, fitted_to, t))
            return n >= fitted_to + 3

    monkeypatch.setitem(REFITS, "third", EveryThird())
    run_cell(Cell.of("s", "sklearn:cancer-forest", cost, "logeipc", seed=0, cap=7, refit="third"))
    fitted_to = [12, 12, 12, 15, 15, 15, 18]
    once = list(zip(range(13, 20), fitted_to, range(1, 8), strict=True))
    times = 1 if cost == "proxy" else 2  # a learned price is asked about too
    assert asked == [call for call in once for _ in range(times)]


# ------------------------------------------------------------------------------- signals


class Counted:
    """A rule of another package whose signal is of a kind that it says itself."""

    name, key, signal_scale = "counted", "count", "linear"

    def __init__(self, **kind):
        self.traits = RuleTraits(SignalKind("count", "linear", "a count", **kind))
        self.seen = []

    def signal(self, snapshot):
        self.seen.append(snapshot)
        return snapshot.signal(float(len(self.seen)))

    def verdict(self, trace):
        return Verdict.not_yet(self.name, f"never, not even at {trace.current.t}")


def run_with(rule, monkeypatch):
    monkeypatch.setattr("stopwise_paper.runs.loop.rules_of", lambda _cell, _problem: [rule])
    return run_cell(replace(GRID, acquisition="lcb", lam=None, cost="uniform+linear", cap=2))


@pytest.mark.parametrize("reads", ["values", "judged values", "model"])
def test_a_signal_that_does_not_read_the_price_is_recorded_once(reads, monkeypatch):
    rule = Counted(reads=reads)
    assert set(run_with(rule, monkeypatch).signals) == {"count"}
    assert len(rule.seen) == 3


def test_a_signal_that_reads_the_price_is_recorded_for_each(monkeypatch):
    rule = Counted(reads="model and price")
    assert set(run_with(rule, monkeypatch).signals) == {"count@uniform", "count@linear"}
    assert len(rule.seen) == 6


@pytest.mark.parametrize("costly", [True, False])
def test_a_costly_signal_is_computed_on_fewer_candidates(costly, monkeypatch):
    rule = Counted(reads="model", costly=costly)
    run_with(rule, monkeypatch)
    sizes = [len(snapshot.domain) for snapshot in rule.seen]
    assert all(size < 40 for size in sizes) if costly else sizes == [301, 301, 301]


@pytest.mark.parametrize("problem", ["gp1d", "box:branin"])
def test_the_supremum_of_a_rule_is_that_of_the_acquisition(problem, monkeypatch):
    bound = []
    bind = LogEIPC.bind

    def counted(self, snapshot):
        bound.append(snapshot.n)
        return bind(self, snapshot)

    monkeypatch.setattr(LogEIPC, "bind", counted)
    run_cell(
        Cell.of("s", problem, "linear", "logeipc", seed=0, cap=3, prb="none", prior="lognormal")
    )
    assert len(bound) == len(set(bound)) == 4  # once for each t = 0..3, for rule and acquisition


# ------------------------------------------------------------------------------- cells


def test_a_cell_gives_the_same_trajectory_every_time():
    assert_same(run_cell(GRID), run_cell(GRID))


@pytest.mark.parametrize("acquisition", ["lcb", "ts"])
def test_one_blind_trajectory_is_that_of_each_price(acquisition):
    both = run_cell(replace(GRID, acquisition=acquisition, lam=None, cost="uniform+linear"))
    for view in both.views():
        alone = run_cell(view.cell)
        np.testing.assert_array_equal(alone.x, view.x)
        np.testing.assert_array_equal(alone.cost, view.cost)
        assert alone.signals.keys() == view.signals.keys()
        for key, signal in alone.signals.items():
            np.testing.assert_array_equal(signal.value, view.signals[key].value)
    with pytest.raises(InputError, match="looks at prices"):
        run_cell(replace(GRID, cost="uniform+linear"))


def test_a_table_that_is_used_up_ends_the_run():
    trajectory = run_cell(replace(GRID, options=(("grid", 9),), cap=20))
    assert len(trajectory) == 9
    assert sorted(trajectory.x) == list(range(9))
    assert trajectory.signals[LOG_GAIN_PER_COST].value[-1] == -np.inf
    assert trajectory.regret[-1] == 0.0


def test_learned_prices_are_learned_from_what_was_paid():
    cell = Cell.of("s", "sklearn:cancer-forest", LEARNED, "logeipc", seed=0, cap=12)
    always = run_cell(cell)
    schedule = run_cell(replace(cell, options=(("refit", "schedule"),)))
    assert always.T == schedule.T == 12
    np.testing.assert_array_equal(always.cost, always.judged_cost)
    np.testing.assert_array_equal(always.x[:22], schedule.x[:22])  # until a fit is left out
    assert always.signals[LOG_GAIN_PER_COST].facts["cost_spread"].min() > 0


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_runs(experiment):
    if experiment in NEEDS_DATA:
        require_real_data()
    cells = plan(experiment, "smoke")
    assert len({cell.key for cell in cells}) == len(cells)
    for cell in cells:
        trajectory = run_cell(cell)
        assert cell.cap == trajectory.T
        assert (trajectory.regret >= -1e-9).all()
        for view in trajectory.views():
            for signal in view.signals.values():
                assert len(signal.value) == cell.cap + 1
            assert np.isfinite(view.signals[LOG_GAIN_PER_COST].value).all()
            assert np.isfinite(view.signals["srgap"].value[1:]).all()
            assert (view.signals["ucb_lcb_gap"].value >= 0).all()


def test_plans_have_the_papers_sizes():
    require_real_data()
    count = {name: len(plan(name, "laptop")) for name in EXPERIMENTS}
    assert count["gp1d"] == 50 * (3 * 3 + 3 + 2)
    assert count["gp8d"] == 20 * 14
    assert count["lcbench"] == 35 * 10 * 6
    assert {cell.cap for cell in plan("gp8d", "full")} == {500}
    assert {cell.seed for cell in plan("lcbench", "full")} == set(range(50))
    assert [cell.seed for cell in plan("gp1d")] == sorted(cell.seed for cell in plan("gp1d"))
    with pytest.raises(InputError, match="there is no experiment 'gp2d'"):
        plan("gp2d")
    with pytest.raises(InputError, match="scale='huge'"):
        plan("gp1d", "huge")


def test_pbgi_d_halves_its_lambda_by_what_was_recorded():
    cell = replace(GRID, acquisition="pbgi-d", lam=1.0, cost="linear", cap=10)
    halved = run_cell(cell)
    assert PBGID(1.0).lam(halved.traces()[LOG_GAIN_PER_COST]) < 1.0
    assert not np.array_equal(halved.x, run_cell(replace(cell, acquisition="pbgi")).x)


# ------------------------------------------------------------------- plugins -------------


def test_a_plugin_acquisition_and_rule_are_run_by_name():
    cells = with_plugins(
        [replace(GRID, acquisition="logeipc", lam=None)],
        (f"{PLUGINS}:Greedy",),
        (f"{PLUGINS}:CheapestLeft",),
    )
    assert [cell.acquisition for cell in cells] == [
        "logeipc",
        f"{PLUGINS}:Greedy",
    ]
    greedy = run_cell(cells[1])
    assert (np.diff(greedy.signals["cheapest_left"].value) >= 0).all()
    assert len({cell.key for cell in cells}) == 2
    assert with_plugins([GRID], (), ()) == [GRID]


@pytest.mark.parametrize("reference", ["no.such.module:Thing", f"{PLUGINS}:Missing"])
def test_a_name_that_cannot_be_had_is_an_error(reference):
    with pytest.raises(InputError, match="cannot be imported"):
        load_plugin(reference)
