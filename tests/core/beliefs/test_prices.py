# SPDX-License-Identifier: Apache-2.0
"""What an evaluation costs: known prices are read right, learned ones match simulation."""

import dataclasses
import math

import numpy as np
import pytest

from stopwise.core.beliefs import Hyperparameters
from stopwise.core.beliefs.paths import exact_values
from stopwise.core.beliefs.prices import KnownCost, LearnedCost, UnitCost, cost_model, known_cost
from stopwise.core.space import Candidates, Categorical, Integer, Real, as_domain
from stopwise.errors import InputError, InputTypeError
from tests.support.dense import DenseGP
from tests.support.gradients import differences

MIXED = as_domain(
    {
        "lr": Real(1e-4, 1e-1, log=True),
        "layers": Integer(1, 40),
        "act": Categorical(["relu", "tanh", "gelu"]),
        "width": Real(1.0, 5.0),
    }
)
GRID = as_domain({"layers": Integer(1, 4), "act": Categorical(["relu", "tanh"])})
TABLE = [
    {"layers": 1, "act": "relu"},
    {"layers": 9, "act": "tanh"},
    {"layers": 1, "act": "relu"},  # as row 0
    {"layers": 4, "act": "relu"},
    {"layers": 9, "act": "tanh"},  # as row 1
]
NOTHING = np.empty((0, 0)), np.empty(0)  # paid so far
BAD = [0.0, -1.5, math.nan, math.inf, -math.inf]


def seconds(params):
    slow = {"relu": 1.0, "tanh": 2.0, "gelu": 5.0}[params["act"]]
    depth = params["layers"] * slow
    return depth * params.get("width", 1.0) ** 2 * params.get("lr", 1.0) ** -0.3


# ----------------------------------------------------------------------------------- unit


def test_a_unit_cost_is_one_everywhere():
    price = UnitCost().price(MIXED, *NOTHING)
    X = MIXED.sobol(8, np.random.default_rng(0))
    normal, d_mean, d_std = price.log_cost_with_gradient(X)
    for zeros in (*price.log_cost(X), *normal, d_mean, d_std):
        assert not zeros.any()
    assert d_mean.shape == d_std.shape == X.shape


# ----------------------------------------------------------------------------------- known


def test_a_callable_prices_what_a_point_decodes_to():
    X = MIXED.sobol(32, np.random.default_rng(1))
    mean, std = KnownCost(seconds).price(MIXED, *NOTHING).log_cost(X)
    expected = [math.log(seconds(params)) for params in MIXED.decode(X)]
    np.testing.assert_allclose(mean, expected, rtol=1e-14)
    assert not std.any()


def test_the_gradient_of_a_callable_follows_its_continuous_columns_only():
    price = KnownCost(seconds).price(MIXED, *NOTHING)
    X = np.clip(MIXED.sobol(16, np.random.default_rng(2)), 0.0, 1.0)
    normal, d_mean, d_std = price.log_cost_with_gradient(X)
    np.testing.assert_array_equal(normal.mean, price.log_cost(X).mean)
    width = 1.0 + 4.0 * X[:, -1]
    expected = np.zeros_like(X)
    expected[:, 0] = -0.3 * math.log(1e3)  # ln lr runs over ln 1000
    expected[:, -1] = 2.0 * 4.0 / width
    np.testing.assert_allclose(d_mean, expected, atol=1e-7)
    assert not d_std.any()


@pytest.mark.parametrize("wall", [0.0, 1.0])
def test_at_the_walls_the_gradient_is_one_sided_and_asks_for_nothing_outside(wall):
    seen = []

    def watched(params):
        seen.append(params["width"])
        return seconds(params)

    X = MIXED.sobol(4, np.random.default_rng(3))
    X[:, [0, -1]] = wall
    _, d_mean, _ = KnownCost(watched).price(MIXED, *NOTHING).log_cost_with_gradient(X)
    assert min(seen) >= 1.0
    assert max(seen) <= 5.0
    np.testing.assert_allclose(d_mean[:, -1], 8.0 / (1.0 + 4.0 * wall), rtol=1e-4)


def test_without_continuous_columns_there_is_no_gradient():
    many = as_domain({"a": Integer(1, 1000), "b": Integer(1, 1000)})  # too many to list
    price = KnownCost(lambda params: params["a"]).price(many, *NOTHING)
    X = many.sobol(4, np.random.default_rng(4))
    normal, d_mean, d_std = price.log_cost_with_gradient(X)
    np.testing.assert_allclose(normal.mean, [math.log(p["a"]) for p in many.decode(X)])
    assert d_mean.shape == d_std.shape == X.shape
    assert not d_mean.any()
    assert not d_std.any()


@pytest.mark.parametrize("table", [False, True], ids=["callable", "table"])
def test_a_finite_domain_is_priced_once_and_looked_up(table):
    calls = []

    def counted(params):
        calls.append(params)
        return seconds(params)

    source = [seconds(GRID.params(i)) for i in range(len(GRID))] if table else counted
    price = KnownCost(source).price(GRID, *NOTHING)
    expected = np.array([math.log(seconds(GRID.params(i))) for i in range(len(GRID))])
    picks = [5, 0, 5, 3]
    np.testing.assert_allclose(price.log_cost(GRID.points).mean, expected, rtol=1e-14)
    np.testing.assert_allclose(price.log_cost(GRID.points.copy()).mean, expected, rtol=1e-14)
    np.testing.assert_allclose(price.log_cost(GRID.points[picks]).mean, expected[picks])
    assert len(calls) == (0 if table else len(GRID))
    normal, d_mean, d_std = price.log_cost_with_gradient(GRID.points[picks])
    np.testing.assert_allclose(normal.mean, expected[picks])
    assert d_mean.shape == d_std.shape == (4, GRID.width)
    assert not d_mean.any()
    assert not d_std.any()
    assert not normal.std.any()


def test_a_point_beside_the_table_is_priced_as_the_candidate_it_decodes_to():
    price = KnownCost(seconds).price(GRID, *NOTHING)
    beside = GRID.points[[1, 6]] + 1e-3
    assert np.all(GRID.index_of(beside) < 0)
    np.testing.assert_array_equal(
        price.log_cost(beside).mean, price.log_cost(GRID.points[[1, 6]]).mean
    )


def test_equal_rows_of_a_table_are_one_candidate_and_the_first_counts():
    candidates = Candidates(TABLE)
    domain = as_domain(candidates)
    cost = KnownCost.of_rows([10.0, 20.0, 99.0, 30.0, 99.0], candidates)
    mean = cost.price(domain, *NOTHING).log_cost(domain.points).mean
    paid = {domain.params(i)["layers"]: math.exp(mean[i]) for i in range(len(domain))}
    assert paid == pytest.approx({1: 10.0, 9: 20.0, 4: 30.0})


def test_a_callable_sees_the_rows_as_they_were_given():
    domain = as_domain(Candidates(TABLE))
    mean = KnownCost(seconds).price(domain, *NOTHING).log_cost(domain.points).mean
    np.testing.assert_allclose(np.exp(mean), [1.0, 18.0, 4.0])


@pytest.mark.parametrize("n", [1, 3, 6])
def test_a_table_of_the_wrong_length_is_refused(n):
    with pytest.raises(InputError, match=rf"shape \({n},\), the table has 5 rows: give one cost"):
        KnownCost.of_rows(np.ones(n), Candidates(TABLE))
    with pytest.raises(InputError, match=rf"shape \({n},\), the space has 8 candidates: give one"):
        KnownCost(np.ones(n)).price(GRID, *NOTHING)


def test_a_table_needs_a_space_that_is_one():
    with pytest.raises(InputTypeError, match=r"not a table: give a callable .*sw\.Candidates"):
        KnownCost([1.0, 2.0]).price(MIXED, *NOTHING)


@pytest.mark.parametrize("bad", BAD)
def test_a_cost_that_cannot_be_paid_is_refused_and_named(bad):
    rows = [1.0, 2.0, bad, 3.0, bad]
    reason = rf"costs {bad!r} \(2 of 5 are not allowed\)\. Give what is really paid"
    with pytest.raises(InputError, match=rf"positive and finite: row 2 {reason}"):
        KnownCost.of_rows(rows, Candidates(TABLE))
    with pytest.raises(InputError, match=rf"candidate 7 costs {bad!r} \(1 of 8"):
        KnownCost([1.0] * 7 + [bad]).price(GRID, *NOTHING)
    with pytest.raises(InputError, match=rf"'layers': 3, 'act': 'tanh'}} costs {bad!r} \(1 of 8"):
        KnownCost(lambda p: bad if (p["layers"], p["act"]) == (3, "tanh") else 1.0).price(
            GRID, *NOTHING
        )
    price = KnownCost(lambda p: bad if p["act"] == "gelu" else 1.0).price(MIXED, *NOTHING)
    X = MIXED.encode([{"lr": 1e-3, "layers": 2, "act": act, "width": 2.0} for act in MIXED_ACTS])
    with pytest.raises(InputError, match=rf"'act': 'gelu'.* costs {bad!r} \(1 of 3"):
        price.log_cost(X)
    with pytest.raises(InputError, match=rf"observation 1 costs {bad!r} \(1 of 3"):
        LearnedCost().price(MIXED, X, np.array([1.0, bad, 2.0]))


MIXED_ACTS = ["relu", "tanh", "gelu"]


# --------------------------------------------------------------------------------- learned


@pytest.fixture(scope="module")
def learned():
    rng = np.random.default_rng(5)
    X = MIXED.sobol(40, rng)
    paid = np.array([seconds(params) for params in MIXED.decode(X)])
    paid *= np.exp(0.2 * rng.standard_normal(40))  # runtimes vary
    return LearnedCost().price(MIXED, X, paid), X, paid


def test_a_learned_cost_is_the_textbook_s_predictive_distribution_of_its_log(learned):
    price, X, paid = learned
    posterior = price.posterior
    assert np.array_equal(posterior.groups, MIXED.groups)
    dense = DenseGP(X, np.log(paid), posterior.hyper, groups=MIXED.groups)
    Q = MIXED.sobol(16, np.random.default_rng(6))
    mean, std = price.log_cost(Q)
    np.testing.assert_allclose(mean, dense.mean(Q), rtol=1e-8)
    variance = dense.std(Q) ** 2 + dense.scale**2 * posterior.hyper.noise
    np.testing.assert_allclose(std**2, variance, rtol=1e-7)


def test_a_learned_cost_knows_how_runtimes_vary(learned):
    price, _, _ = learned
    Q = MIXED.sobol(64, np.random.default_rng(7))
    mean, std = price.log_cost(Q)
    truth = np.log([seconds(params) for params in MIXED.decode(Q)])
    assert np.sqrt(np.mean((mean - truth) ** 2)) < 0.3
    assert std.min() > 0.1  # what is paid varies by 0.2 however much is known


def test_gradients_of_a_learned_cost_are_those_of_differences(learned):
    price, _, _ = learned
    Q = MIXED.sobol(8, np.random.default_rng(8))
    normal, d_mean, d_std = price.log_cost_with_gradient(Q)
    np.testing.assert_allclose(normal, price.log_cost(Q), rtol=1e-9)
    expected = differences(lambda Z: price.log_cost(Z).mean, Q)
    np.testing.assert_allclose(d_mean, expected, atol=1e-6)
    expected = differences(lambda Z: price.log_cost(Z).std, Q)
    np.testing.assert_allclose(d_std, expected, atol=1e-6)


def test_simulated_bills_have_the_learned_distribution(learned):
    price, _, _ = learned
    rng = np.random.default_rng(9)
    Q = MIXED.sobol(4, rng)
    noise = math.sqrt(price.posterior.hyper.noise) * price.posterior.standardiser.scale
    logs = exact_values(price.posterior, Q, rng, 20_000)
    logs += noise * rng.standard_normal(logs.shape)
    mean, std = price.log_cost(Q)
    np.testing.assert_allclose(logs.mean(axis=0), mean, atol=5 * std.max() / math.sqrt(20_000))
    np.testing.assert_allclose(logs.std(axis=0), std, rtol=5 / math.sqrt(40_000))


def test_a_learned_cost_starts_from_an_earlier_one(learned):
    price, X, paid = learned
    again = LearnedCost().price(MIXED, X, paid, start=price.posterior.hyper)
    np.testing.assert_allclose(again.log_cost(X), price.log_cost(X), atol=1e-3)


def test_a_learned_cost_takes_the_prior_it_is_told(learned):
    price, X, paid = learned
    plain = LearnedCost(prior=None).price(MIXED, X, paid)
    assert not np.allclose(
        plain.posterior.hyper.lengthscales, price.posterior.hyper.lengthscales, rtol=1e-2
    )


def test_one_bill_is_enough_and_none_is_refused():
    X = MIXED.sobol(1, np.random.default_rng(10))
    mean, std = LearnedCost().price(MIXED, X, np.array([60.0])).log_cost(X)
    assert mean == pytest.approx([math.log(60.0)])
    assert np.isfinite(std).all()
    with pytest.raises(InputError, match="needs at least one cost that was paid: tell one first"):
        LearnedCost().price(MIXED, X[:0], np.empty(0))


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_unit_of_the_bills_is_the_unit_of_the_price(learned, scale):
    price, X, paid = learned
    other = LearnedCost().price(MIXED, X, scale * paid)
    mean, std = price.log_cost(X)
    np.testing.assert_allclose(other.log_cost(X).mean, mean + math.log(scale), atol=1e-3)
    np.testing.assert_allclose(other.log_cost(X).std, std, atol=1e-3)


# ------------------------------------------------------------------------------ all of them


@pytest.mark.parametrize("model", [UnitCost(), KnownCost(seconds), LearnedCost()])
def test_cost_models_and_prices_cannot_be_changed(model):
    X = MIXED.sobol(3, np.random.default_rng(11))
    price = model.price(MIXED, X, np.array([1.0, 2.0, 3.0]), start=Hyperparameters(np.ones(4)))
    for thing in (model, price):
        for field in dataclasses.fields(thing):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(thing, field.name, None)


# ------------------------------------------------------------------ what one evaluation costs


def test_a_known_cost_is_told_to_the_last_bit():
    candidates = Candidates(TABLE)
    domain = as_domain(candidates)
    by_row = KnownCost.of_rows([0.1 + 0.2, 20.0, 99.0, 30.0, 99.0], candidates)
    assert by_row.at(domain, TABLE[0]) == 0.1 + 0.2
    assert by_row.at(domain, TABLE[4]) == 20.0
    configuration = {"lr": 1e-3, "layers": 7, "act": "gelu", "width": 2.0}
    assert KnownCost(seconds).at(MIXED, configuration) == seconds(configuration)
    assert KnownCost(seconds).at(GRID, {"layers": 3, "act": "tanh"}) == 6.0


@pytest.mark.parametrize("bad", BAD)
def test_one_cost_that_cannot_be_paid_is_refused_and_named(bad):
    configuration = {"lr": 1e-3, "layers": 7, "act": "gelu", "width": 2.0}
    with pytest.raises(InputError, match=rf"'layers': 7.* costs {bad!r} \(1 of 1"):
        KnownCost(lambda _: bad).at(MIXED, configuration)


def test_one_cost_from_a_table_needs_a_space_that_is_one():
    with pytest.raises(InputTypeError, match=r"not a table: give a callable .*sw\.Candidates"):
        KnownCost([1.0, 2.0]).at(MIXED, {})


def test_what_is_known_in_advance_and_what_must_be_told():
    params = {"layers": 3, "act": "tanh"}
    assert known_cost(UnitCost(), GRID, params) == 1.0
    assert known_cost(KnownCost(seconds), GRID, params) == 6.0
    assert known_cost(LearnedCost(), GRID, params) is None


# --------------------------------------------------------------------- what `cost=` may be


def test_no_cost_is_one_each_and_a_model_is_itself():
    assert cost_model(None, MIXED) == UnitCost()
    model = LearnedCost(prior="gamma")
    assert cost_model(model, MIXED) is model


@pytest.mark.parametrize("word", ["seconds", "reported"])
def test_what_is_measured_or_told_is_learned(word):
    assert cost_model(word, MIXED) == LearnedCost()


@pytest.mark.parametrize("each", [4, 2.5, np.float64(0.01)])
def test_a_number_is_what_each_costs(each):
    for space in (MIXED, Candidates(TABLE)):
        model = cost_model(each, space)
        assert model == UnitCost(float(each))
    (mean, std), *gradients = model.price(MIXED, *NOTHING).log_cost_with_gradient(np.ones((3, 6)))
    assert np.exp(mean) == pytest.approx(float(each))
    assert not np.any([std.sum(), *map(np.sum, gradients)])
    assert known_cost(model, MIXED, {}) == each


@pytest.mark.parametrize("each", BAD)
def test_a_number_that_nobody_can_pay_is_refused(each):
    with pytest.raises(InputError, match="a cost must be positive and finite: each evaluation"):
        cost_model(each, MIXED)


def test_a_callable_or_a_column_of_a_table_is_known():
    assert cost_model(seconds, MIXED) == KnownCost(seconds)
    candidates = Candidates(TABLE)
    domain = as_domain(candidates)
    model = cost_model([10, 20, 99, 30, 99], candidates)
    mean = model.price(domain, *NOTHING).log_cost(domain.points).mean
    np.testing.assert_allclose(np.exp(mean), [10.0, 20.0, 30.0])


def test_other_costs_are_refused_with_what_is_allowed():
    with pytest.raises(InputError, match=r"cost='minutes' is not known: give 'seconds'"):
        cost_model("minutes", MIXED)
    with pytest.raises(InputTypeError, match=r"cost of type list for a space that is not a table"):
        cost_model([1.0, 2.0], {"x": Real(0, 1)})


def test_costs_that_are_not_floats_and_costs_out_of_range_are_refused():
    candidates = Candidates(TABLE)
    for bad in ([1, 2, 3, 4, 10**400], [1, 2, 3, 4, "dear"], [1, 2, 3, 4, [5]]):
        with pytest.raises(InputTypeError, match="not an array of floats"):
            cost_model(bad, candidates)
    for bad in (1e-301, 1e301):
        with pytest.raises(InputError, match=r"Costs may be from 1e-300 to 1e\+300"):
            cost_model([1, 2, 3, 4, bad], candidates)
