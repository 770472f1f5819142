# SPDX-License-Identifier: Apache-2.0
"""The snapshot: what it counts and computes once, what may be chosen, and that it is frozen."""

import dataclasses
import math
from dataclasses import replace

import numpy as np
import pytest

from stopwise.acquisition import LCB, LogEIPC
from stopwise.core.beliefs.prices import KnownCost
from stopwise.core.numerics.seeds import stream
from stopwise.core.space import Categorical, Integer, Real, as_domain
from stopwise.core.space.domain import SAME
from stopwise.core.traces import Signal, Trace
from tests.support.landscapes import box, snapshot_of
from tests.support.textbook import COSTS, LINE, SQUARE, TABLE, Textbook, priced_table, study


def test_a_snapshot_counts_its_observations_and_dates_its_signals():
    snapshot = study(n=8, initial=3)
    assert (snapshot.n, snapshot.t) == (8, 5)
    assert snapshot.best == snapshot.y.min()
    assert snapshot.incumbent == int(np.argmin(snapshot.y))
    signal = snapshot.signal(np.float64(2.5), cost=np.int64(3))
    assert signal == Signal(5, 8, 2.5, {"cost": 3.0})
    assert type(signal.value) is float
    assert type(signal.facts["cost"]) is float


def test_the_first_of_equals_is_the_best():
    snapshot = study(X=TABLE.points[[3, 9, 20, 31]], y=[2.0, 1.0, 1.0, 3.0])
    assert snapshot.incumbent == 1


def test_randomness_is_addressed_by_purpose_and_number_of_observations():
    snapshot = study(n=8, seed=4)
    assert snapshot.rng("a").random() == stream(4, "a", 8).random()
    assert snapshot.rng("a").random() == snapshot.rng("a").random()
    assert snapshot.rng("a").random() != snapshot.rng("b").random()


def test_traces_are_found_by_key():
    trace = Trace.of((Signal(0, 5, 1.0),))
    snapshot = study(traces={"gap": trace})
    assert snapshot.trace("gap") is trace
    assert snapshot.trace("other") == Trace()


def test_what_is_asked_for_twice_is_computed_once():
    snapshot, calls = study(), []
    for _ in range(3):
        assert snapshot.once("key", lambda: calls.append(1) or 42) == 42
    assert len(calls) == 1
    assert snapshot.sup(LogEIPC()) is snapshot.sup(LogEIPC("exp"))
    assert snapshot.sup(LogEIPC()) is not snapshot.sup(LCB())
    assert snapshot.law(TABLE.points) is snapshot.law(TABLE.points)


def test_marginals_of_candidates_know_what_was_observed():
    snapshot, book = study(), Textbook(study())
    mean, std = snapshot.law(TABLE.points)
    rows = TABLE.index_of(snapshot.X)
    np.testing.assert_array_equal(mean[rows], snapshot.y)
    np.testing.assert_array_equal(std[rows], 0.0)
    np.testing.assert_allclose(mean, book.mean(TABLE.points), rtol=1e-7)
    np.testing.assert_allclose(std, book.std(TABLE.points), atol=1e-6)
    noisy = study(noise=0.1)
    assert np.all(noisy.law(TABLE.points).std > 0.01)
    some = TABLE.points[[1, 2]]
    np.testing.assert_array_equal(noisy.law(some), noisy.belief.objective(some))


def test_an_earlier_moment_has_earlier_data_and_the_same_hyperparameters():
    snapshot = study(n=8, initial=3)
    earlier = snapshot.prefix(6)
    assert (earlier.n, earlier.t) == (6, 3)
    np.testing.assert_array_equal(earlier.y, snapshot.y[:6])
    book = Textbook(snapshot, 6)
    np.testing.assert_allclose(earlier.law(TABLE.points).mean, book.mean(TABLE.points))
    assert earlier.belief.objective.hyper is snapshot.belief.objective.hyper
    assert snapshot.prefix(6).belief is earlier.belief  # made once
    # What is remembered of one moment is not mistaken for the other's.
    assert snapshot.law(TABLE.points) is not earlier.law(TABLE.points)


@pytest.mark.parametrize("name", ["X", "y", "pending", "failed"])
def test_arrays_of_a_snapshot_are_read_only_and_the_caller_s_are_not(name):
    X = study().X.copy()
    y = study().y.copy()
    given = {"X": X, "y": y, "pending": X[:1].copy(), "failed": X[1:2].copy()}
    snapshot = replace(study(), **given)
    for view in (snapshot, replace(snapshot, trial=7)):
        with pytest.raises(ValueError, match="read-only"):
            getattr(view, name)[0] = 0.0
    given[name][0] = 0.5  # what the caller does with its own is its own affair


def test_a_prefix_is_read_only_too():
    with pytest.raises(ValueError, match="read-only"):
        study().prefix(3).y[0] = 0.0


def test_a_snapshot_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        study().seed = 3


# ------------------------------------------------------------- points that may not be chosen


def test_taken_are_evaluated_pending_and_failed_points():
    snapshot = study(X=TABLE.points[[3, 9]], pending=TABLE.points[[4]], failed=TABLE.points[[5]])
    np.testing.assert_array_equal(np.flatnonzero(snapshot.taken(TABLE.points)), [3, 4, 5, 9])
    np.testing.assert_array_equal(snapshot.taken(TABLE.points[[9, 10, 4]]), [True, False, True])
    again = replace(snapshot, replicates=True)
    np.testing.assert_array_equal(np.flatnonzero(again.taken(TABLE.points)), [4, 5])
    free = replace(again, pending=snapshot.X[:0], failed=None)
    assert not free.taken(TABLE.points).any()


def test_on_a_box_taken_is_what_is_very_near():
    snapshot = study(SQUARE, X=np.array([[0.5, 0.5], [0.2, 0.9]]), pending=np.array([[0.1, 0.1]]))
    X = np.array([[0.5, 0.5 + 1e-7], [0.5 - 1e-5, 0.5], [0.1, 0.1], [0.2, 0.1]])
    np.testing.assert_array_equal(snapshot.taken(X), [True, False, True, False])


@pytest.mark.parametrize("d", [1, 2, 8])
def test_points_are_taken_that_are_the_same_in_every_column(d):
    rng = np.random.default_rng(d)
    X = rng.random((30, d))
    X[0], X[1] = 0.0, 1.0
    snapshot = snapshot_of(box(d), X, X.sum(axis=1))
    corners = rng.choice([-1.0, 1.0], size=X.shape)  # where the sums differ most, or not at all
    assert np.all(snapshot.taken(X + 0.999 * SAME * corners))
    beyond = X.copy()
    beyond[:, -1] += 1.001 * SAME * corners[:, -1]
    elsewhere = np.abs(beyond[:, None] - X).max(axis=2).min(axis=1) > SAME
    assert np.array_equal(snapshot.taken(beyond), ~elsewhere)
    assert elsewhere.any()
    swapped = X[:, ::-1]  # the same sums, and other points
    same = np.abs(swapped[:, None] - X).max(axis=2).min(axis=1) <= SAME
    assert np.array_equal(snapshot.taken(swapped), same)
    assert not snapshot.taken(np.full((1, d), np.nan))[0]


def test_on_a_mixed_space_taken_is_what_has_the_same_params():
    domain = as_domain({"x": Real(0.0, 1.0), "k": Integer(1, 3), "c": Categorical(["a", "b"])})
    given = [{"x": 0.5, "k": 2, "c": "a"}]
    snapshot = study(domain, X=domain.encode(given), y=[1.0], initial=1)
    others = domain.encode(
        [*given, {"x": 0.5, "k": 3, "c": "a"}, {"x": 0.5, "k": 2, "c": "b"}, given[0] | {"x": 0.6}]
    )
    np.testing.assert_array_equal(snapshot.taken(others), [True, False, False, False])


def test_what_is_dearer_than_what_is_left_is_barred():
    snapshot = priced_table(left=0.9)
    taken = snapshot.taken(TABLE.points)
    np.testing.assert_array_equal(snapshot.affordable(TABLE.points), COSTS <= 0.9)
    np.testing.assert_array_equal(snapshot.barred(TABLE.points), taken | (COSTS > 0.9))
    assert snapshot.cheapest == pytest.approx(COSTS[~taken].min(), rel=1e-12)
    found = snapshot.sup(LogEIPC())
    assert COSTS[TABLE.index_of(found.x[None, :])[0]] <= 0.9
    np.testing.assert_array_equal(replace(snapshot, left=math.inf).barred(TABLE.points), taken)


def test_where_all_is_evaluated_the_cheapest_point_costs_infinitely_much():
    snapshot = study(X=TABLE.points, initial=3)
    assert snapshot.cheapest == math.inf
    assert replace(snapshot, left=1.0).sup(LogEIPC()).x is None


def test_a_search_finds_the_little_that_can_still_be_paid():
    # Only 2e-5 of the line can be paid; a screen alone would miss it.
    cost = KnownCost(lambda p: 1.0 + 100.0 * abs(p["x"] - 0.123))
    snapshot = study(LINE, 5, cost=cost, left=1.0 + 1e-3)
    assert snapshot.cheapest == pytest.approx(1.0, abs=1e-4)
    for acquisition in (LogEIPC(), LCB()):
        found = snapshot.sup(acquisition)
        assert abs(found.x[0] - 0.123) <= 1e-5 + 1e-9
    assert replace(snapshot, left=0.5).sup(LCB()).x is None


class LeavesOutEverything:
    """A score that no point has."""

    starts = scales = None
    unit = 1.0

    def bind(self, snapshot):  # noqa: ARG002  the same everywhere
        return self

    def __call__(self, X):
        return np.full(len(X), -np.inf)

    def with_gradient(self, X):
        return self(X), np.zeros_like(X)


def test_where_a_score_leaves_out_everything_there_is_no_supremum():
    mixed = as_domain({"x": Real(0.0, 1.0), "k": Integer(1, 3)})
    for domain in (TABLE, SQUARE, mixed):
        found = study(domain, 4).sup(LeavesOutEverything())
        assert found.x is None
        assert found.value == -math.inf
