# SPDX-License-Identifier: Apache-2.0
"""The problems of the paper: draws, costs, loaders."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import i0

import stopwise as sw
from paper.tests.support.experiment_data import (
    require_real_data,
    write_compact_lcbench,
    write_official_lcbench,
)
from stopwise.errors import InputError
from stopwise_paper import Cell
from stopwise_paper.analysis.rankings import top_overlap
from stopwise_paper.problems import LEARNED, MissingDataError, make_problem, nats
from stopwise_paper.problems import lcbench as lcbench_module
from stopwise_paper.problems.data_folder import data_folder
from stopwise_paper.problems.functions import function_on_box
from stopwise_paper.problems.gp1d import draw, gp_grid, matern52
from stopwise_paper.problems.gp8d import gp_box
from stopwise_paper.problems.lcbench import lcbench_problem
from stopwise_paper.problems.sklearn_table import DATASETS, sklearn_problem
from stopwise_paper.problems.synthetic_costs import KINDS, SyntheticCost
from tests.support.problems import SMOOTH
from tests.support.repository import ROOT


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("STOPWISE_DATA", str(tmp_path))
    for cached in (lcbench_module.tables, lcbench_module._domain):
        cached.cache_clear()
    yield tmp_path
    for cached in (lcbench_module.tables, lcbench_module._domain):
        cached.cache_clear()


# ------------------------------------------------------------------------ missing data


def test_tests_of_missing_data_are_skipped_with_a_message(tmp_path, monkeypatch):
    monkeypatch.setenv("STOPWISE_DATA", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"needs lcbench/lcbench.npz and nats_tss"):
        require_real_data()


def test_under_ci_missing_data_are_a_failure(tmp_path, monkeypatch):
    monkeypatch.setenv("STOPWISE_DATA", str(tmp_path))
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="set STOPWISE_DATA"):
        require_real_data()


def test_data_are_looked_for_beside_the_checkout(monkeypatch):
    monkeypatch.delenv("STOPWISE_DATA", raising=False)
    assert data_folder() == ROOT.parent / "shared" / "data"


# -------------------------------------------------------------------------------- draws


def test_draws_on_the_grid_have_the_kernel_as_their_covariance():
    paths = np.array([draw(seed, 101, 0.1) for seed in range(3000)])
    for lag in (0, 3, 10, 30):
        products = paths[:, 20] * paths[:, 20 + lag]
        expected = float(matern52(np.array([lag / 100 / 0.1]))[0])
        error = products.std() / np.sqrt(len(paths))
        assert abs(products.mean() - expected) < 4.0 * error


def test_a_problem_in_1d_starts_on_its_grid_and_knows_its_optimum():
    problem = gp_grid(5)
    X = problem.initial(5)
    assert X.shape == (4, 1)
    assert (problem.domain.index_of(X) >= 0).all()
    assert len(problem.domain) == 10_001
    assert problem.optimum == problem.y.min()
    assert problem.evaluate(problem.domain.points[7]).value == problem.y[7]
    np.testing.assert_array_equal(gp_grid(5).y, problem.y)
    assert not np.array_equal(gp_grid(6).y, problem.y)


def test_too_long_a_length_scale_cannot_be_drawn_exactly():
    with pytest.raises(InputError, match="too long"):
        draw(0, 40_000, 3.0)


def test_a_thinned_grid_sees_nearly_the_same_minimum_and_all_data():
    problem = gp_grid(0)
    X = problem.domain.points[[1, 16, 5003]]
    thin = problem.thin(X)
    assert (thin.index_of(X) >= 0).all()
    assert problem.y[::16].min() - problem.y.min() < 1e-3
    assert len(thin) == len(problem.domain.points[::16]) + 2


def test_the_optimum_on_a_box_is_not_beaten_by_many_points():
    problem = gp_box(0, d=2)
    at = np.linspace(0.0, 1.0, 201)
    grid = np.stack(np.meshgrid(at, at), axis=-1).reshape(-1, 2)
    assert problem.path(grid)[0].min() >= problem.optimum - 1e-6
    outcome = problem.evaluate(problem.minimiser)
    assert outcome.value == pytest.approx(problem.optimum)
    assert problem.initial(0).shape == (6, 2)


@pytest.mark.parametrize(
    "make", [lambda: gp_grid(5), lambda: gp_box(5, d=2), lambda: sklearn_problem(DATASETS[0])]
)
def test_a_smaller_design_is_the_beginning_of_the_usual_one(make):
    problem = make()
    usual = problem.initial(5)
    np.testing.assert_array_equal(problem.initial(5, 3), usual[:3])
    larger = problem.initial(5, 20)
    assert len(np.unique(larger, axis=0)) == 20


@pytest.mark.parametrize(
    ("name", "lowest"),
    [("branin", 0.39788736), ("hartmann3", -3.8627798), ("levy4", 0.0), ("hartmann6", -3.3223680)],
)
def test_textbook_functions_have_their_known_minima_and_a_spread_of_one(name, lowest):
    problem = function_on_box(name)
    assert problem.optimum * problem.unit == pytest.approx(lowest, abs=1e-6)
    X = np.random.default_rng(0).random((3000, problem.domain.d))
    values = np.array([problem.evaluate(x).value for x in X])
    assert values.min() > problem.optimum
    assert values.std() == pytest.approx(1.0, rel=0.1)
    if name in SMOOTH:
        np.testing.assert_allclose(values * problem.unit, SMOOTH[name][0](X), rtol=1e-9)
    assert len(problem.initial(0)) == 2 * (problem.domain.d + 1)
    with pytest.raises(InputError, match="there is no function 'rastrigin'; there are branin"):
        function_on_box("rastrigin")


# -------------------------------------------------------------------------------- costs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 8])
def test_costs_have_mean_one_and_true_gradients(kind, d):
    rng = np.random.default_rng(0)
    cost = SyntheticCost(kind, rng.random(d))
    assert cost(rng.random((100_000, d))).mean() == pytest.approx(1.0, abs=0.02)
    X = rng.uniform(0.1, 0.9, (5, d))
    _, gradient, _ = cost.log_cost_with_gradient(X)
    for column in range(d):
        step = np.zeros(d)
        step[column] = 1e-6
        slope = (cost.log_cost(X + step).mean - cost.log_cost(X - step).mean) / 2e-6
        np.testing.assert_allclose(gradient[:, column], slope, rtol=1e-5, atol=1e-7)


def test_costs_are_those_of_the_appendix():
    x, best = np.array([[0.2, 0.6]]), np.array([0.3, 0.5])
    assert SyntheticCost("uniform", best)(x) == 1.0
    assert SyntheticCost("linear", best)(x)[0] == pytest.approx((1 + 20 * 0.4) / 11)
    angle = 2 * np.pi * 2 * (x[0] - best)
    periodic = np.exp(2 / 2 * np.cos(angle).sum()) / i0(2 / 2) ** 2
    assert SyntheticCost("periodic", best)(x)[0] == pytest.approx(periodic)
    assert SyntheticCost("periodic", best)(best[None])[0] == pytest.approx(np.e**2 / i0(1) ** 2)
    with pytest.raises(InputError, match="not 'quadratic'"):
        SyntheticCost("quadratic", best)


# ------------------------------------------------------------------------------- tables


def test_lcbench_reads_the_official_json(folder):
    content = write_official_lcbench(folder)
    problem = lcbench_problem("toy")
    runs = [content["toy"][str(i)] for i in range(len(problem.y))]
    np.testing.assert_allclose(
        problem.y, [100 - run["results"]["final_val_accuracy"] for run in runs]
    )
    np.testing.assert_allclose(
        problem.judged, [100 - run["results"]["final_test_accuracy"] for run in runs]
    )
    # Seconds are 2 + units and parameters 1,000 units, so the regression's slope is 0.001.
    np.testing.assert_allclose(
        problem.costs["proxy"], [run["config"]["max_units"] for run in runs]
    )
    np.testing.assert_allclose(problem.judged_costs["proxy"], problem.costs[LEARNED])
    assert problem.epsilon == pytest.approx(0.005 * problem.judged.min())
    assert lcbench_problem("adult").facts["slope_source"] == "published"
    x = problem.domain.points[3]
    assert problem.evaluate(x).x == 3


def test_lcbench_reads_its_compact_form(folder):
    write_compact_lcbench(folder)
    measured, predicted = lcbench_problem("toy"), lcbench_problem("bank", runtime="surrogate")
    assert (measured.facts["slope"], measured.facts["slope_source"]) == (0.002, "real")
    assert (predicted.facts["slope"], predicted.facts["slope_source"]) == (0.004, "surrogate")
    assert lcbench_problem("bank").facts["runtime"] == "none"
    assert LEARNED not in lcbench_problem("bank").costs
    assert isinstance(measured.cost_model("proxy"), sw.beliefs.KnownCost)
    assert isinstance(predicted.cost_model(LEARNED), sw.beliefs.LearnedCost)
    with pytest.raises(InputError, match="not 'linear'"):
        measured.cost_model("linear")
    with pytest.raises(InputError, match="no data set 'none'"):
        lcbench_problem("none")


def test_what_is_known_of_the_data_sets_is_what_their_tables_say():
    require_real_data()
    lcbench_module.tables.cache_clear()
    data = lcbench_module.tables()
    assert list(lcbench_module.instances()) == list(data.datasets)
    for name, share in lcbench_module.overlaps().items():
        i = data.datasets.index(name)
        errors = (100.0 - data.val_accuracy[i], 100.0 - data.test_accuracy[i])
        assert share == pytest.approx(top_overlap(*errors, 20))


def test_absent_data_are_a_message_that_says_where_to_get_them(folder):
    for name in ("lcbench:adult", "nats-size:cifar100", "nats-topology:cifar100"):
        with pytest.raises(MissingDataError, match="STOPWISE_DATA"):
            make_problem(Cell.of("e", name, "proxy", "pbgi", seed=0, cap=1))


def test_the_size_space_is_converted_from_the_official_files(folder):
    widths = np.array(np.meshgrid(*[[8, 16]] * 5, indexing="ij")).reshape(5, -1).T
    (folder / "nats_sss_costs").mkdir()
    flops = widths.sum(axis=1) / 10
    np.savez(
        folder / "nats_sss_costs" / "nats_sss_flops.npz",
        channels=widths.astype("int16"),
        flops_M_cifar10=flops,
    )

    def info(index, dataset, *, hp, is_random):
        assert (hp, is_random) == ("90", False)
        return {
            "valid-accuracy": 50.0 + index,
            "test-accuracy": 40.0 + index,
            "train-all-time": 100.0,
            "valid-all-time": 10.0 + index,
        }

    out = folder / "nats_sss" / "nats_sss.npz"
    nats.convert(SimpleNamespace(get_more_info=info), out, architectures=32)
    problem = nats.nats_size("cifar100")
    np.testing.assert_allclose(problem.y, 50.0 - np.arange(32))
    np.testing.assert_allclose(problem.costs["proxy"], 2 * flops + 550)
    np.testing.assert_allclose(problem.judged_costs["proxy"], 110.0 + np.arange(32))
    assert problem.facts["space"] == "size"
    assert problem.initial(0).shape == (12, 5)
    with pytest.raises(InputError, match="not 'mnist'"):
        nats.nats_size("mnist")


def test_the_topology_space_is_labelled_a_stand_in(folder):
    ops = np.array(np.meshgrid(*[[0, 1]] * 6, indexing="ij")).reshape(6, -1).T.astype("int8")
    rng = np.random.default_rng(0)
    shape = (3, len(ops))
    flops = ops.sum(axis=1) + 1.0
    (folder / "nats_tss").mkdir()
    np.savez(
        folder / "nats_tss" / "nats_tss.npz",
        arch_ops=ops,
        op_names=np.array(["none", "skip"]),
        flops_M=flops,
        datasets=np.array(nats.DATASETS),
        valid_acc=rng.uniform(10, 90, shape),
        test_acc=rng.uniform(10, 90, shape),
        train_time=np.tile(100.0 * flops, (3, 1)),
        valid_time=np.full(shape, 7.0),
    )
    problem = nats.nats_topology("cifar10-valid")
    assert problem.facts["space"] == "topology (stand-in)"
    np.testing.assert_allclose(problem.costs["proxy"], 100.0 * flops + 7.0)
    assert problem.domain.d == 6


def test_the_real_tables_have_what_was_published():
    require_real_data()
    lcbench_module.tables.cache_clear()
    lcbench_module._domain.cache_clear()
    best = {"Fashion-MNIST": 90.17316, "higgs": 71.86302, "adult": 83.00552, "volkert": 62.76568}
    for dataset, accuracy in best.items():
        assert lcbench_problem(dataset).optimum == pytest.approx(100 - accuracy, abs=1e-5)
    assert len(lcbench_module.datasets()) == 35
    assert nats.nats_topology("cifar100").optimum == pytest.approx(100 - 73.51, abs=0.01)


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_shipped_table_is_a_problem_worth_solving(dataset):
    problem = sklearn_problem(dataset)
    assert len(problem.domain) > 1000
    assert problem.y.min() < np.median(problem.y) / 1.3  # there is something to be found
    assert (problem.costs[LEARNED] > 0).all()
    assert problem.costs[LEARNED].max() > 20 * problem.costs[LEARNED].min()  # and to be saved
    fit = np.corrcoef(np.log(problem.costs["proxy"]), np.log(problem.costs[LEARNED]))[0, 1]
    assert fit > 0.9
    with pytest.raises(InputError, match="the table has"):
        sklearn_problem("iris")


def test_an_unknown_problem_is_an_error_that_lists_them():
    with pytest.raises(InputError, match="there are gp1d, gp8d, lcbench, box, bbob, live"):
        make_problem(Cell.of("e", "branin", "c", "a", seed=0, cap=1))
