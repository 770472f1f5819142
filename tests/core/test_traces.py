# SPDX-License-Identifier: Apache-2.0
"""Signals, traces and verdicts; and the snapshot that they are taken from."""

import dataclasses
import math
from dataclasses import replace

import numpy as np
import pytest

from stopwise.acquisition import LCB, LogEIPC
from stopwise.core.beliefs.prices import KnownCost
from stopwise.core.numerics.seeds import stream
from stopwise.core.quantity import quantity
from stopwise.core.space import Categorical, Integer, Real, as_domain
from stopwise.core.traces import Signal, Trace
from stopwise.stopping.verdict import Verdict
from tests.support.textbook import COSTS, LINE, SQUARE, TABLE, Textbook, priced_table, study


def signals(*pairs):
    return tuple(Signal(t, t + 5, value) for t, value in pairs)


# ----------------------------------------------------------------------------------- traces


def test_a_trace_asks_about_its_last_signal():
    trace = Trace.of(signals((0, 1.0), (1, 2.0), (4, 3.0)))
    assert len(trace) == 3
    assert [s.value for s in trace] == [1.0, 2.0, 3.0]
    assert trace.current is trace.signals[-1]
    assert trace.current.t == 4


def test_an_empty_trace_has_no_answer():
    for empty in (Trace(), Trace.of(())):
        assert len(empty) == 0
        assert not list(empty)
        assert math.isnan(empty.current.value)
        assert (empty.current.t, empty.current.n) == (0, 0)
        assert empty.between(-100, 100) == []


def test_values_are_found_by_t_and_not_by_position():
    trace = Trace.of(signals((0, 0.5), (2, 1.0), (3, math.nan), (7, -math.inf), (9, 4.0)))
    assert trace.between(0, 9) == [0.5, 1.0, -math.inf, 4.0]
    assert trace.between(1, 6) == [1.0]
    assert trace.between(2, 2) == [1.0]
    assert trace.between(4, 6) == []
    assert trace.between(9, 2) == []


def test_a_trace_as_it_was():
    trace = Trace.of(signals((0, 0.5), (2, 1.0), (7, 4.0)))
    assert trace.upto(5).current.value == 0.5
    assert trace.upto(6) == trace.upto(5)  # n = 6 was never asked about
    assert trace.upto(7).current.t == 2
    assert trace.upto(100) == trace
    assert trace.upto(4) == Trace()


def test_records_cannot_be_changed():
    for thing, name in ((Signal(0, 0, 1.0), "value"), (Trace(), "now")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Verdict.not_yet("pbgi", "wait").stop = True


# --------------------------------------------------------------------------------- verdicts


@pytest.mark.parametrize(
    ("value", "low", "high"), [(1.0, True, False), (2.0, True, True), (3.0, False, True)]
)
def test_ties_stop(value, low, high):
    at_most = Verdict.at_most("rule", value, 2.0, "it is small")
    at_least = Verdict.at_least("rule", value, 2.0, "it is large")
    assert (at_most.stop, at_least.stop) == (low, high)
    assert (bool(at_most), bool(at_least)) == (low, high)
    assert str(at_most) == f"it is small: {'stop' if low else 'go on'}"
    assert at_least.reason == f"it is large: {'stop' if high else 'go on'}"
    assert (at_most.rule, at_most.value, at_most.threshold) == ("rule", value, 2.0)


def test_no_answer_never_stops():
    assert not Verdict.at_most("rule", math.nan, 2.0, "x").stop
    assert not Verdict.at_least("rule", math.nan, 2.0, "x").stop
    wait = Verdict.not_yet("rule", "patience: go on", 7.0)
    assert not wait.stop
    assert wait.value == 7.0
    assert math.isnan(wait.threshold)
    assert str(wait) == "patience: go on"
    assert math.isnan(Verdict.not_yet("rule", "x").value)


def test_infinities_are_answers():
    assert Verdict.at_most("rule", -math.inf, -50.0, "x").stop
    assert not Verdict.at_most("rule", math.inf, 50.0, "x").stop


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (0.00041239, "0.0004124"),
        (123456.0, "123,456"),
        (9999.4, "9999"),
        (9999.6, "10,000"),
        (12345678.0, "1.235e+07"),
        (1234.4, "1234"),
        (-2.5e-9, "-2.5e-09"),
        (math.inf, "inf"),
        (math.nan, "nan"),
    ],
)
def test_quantities_have_four_digits(value, text):
    assert quantity(value) == text


# --------------------------------------------------------------------------------- snapshots


def test_a_snapshot_counts():
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
    trace = Trace.of(signals((0, 1.0)))
    snapshot = study(traces={"gap": trace})
    assert snapshot.trace("gap") is trace
    assert snapshot.trace("other") == Trace()


def test_things_are_computed_once():
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


def test_a_snapshot_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        study().seed = 3


# ----------------------------------------------------------------------- what is not to be had


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


def test_nothing_left_costs_nothing_less_than_infinity():
    snapshot = study(X=TABLE.points, initial=3)
    assert snapshot.cheapest == math.inf
    assert replace(snapshot, left=1.0).sup(LogEIPC()).x is None


def test_short_of_money_a_search_still_finds_the_little_that_can_be_paid():
    # Only a corner of about 1 % of the line is affordable; a screen alone may miss it.
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
