# SPDX-License-Identifier: Apache-2.0
"""What is kept is given back only where it was computed from the same records."""

import pytest

from stopwise.core.memo import Memo, TrackedTraces
from stopwise.core.traces import Signal, Trace


def trace_of(*values):
    return Trace.of(tuple(Signal(t, t + 3, value) for t, value in enumerate(values)))


class Counter:
    """Counts how often it was computed; reads the traces under some keys."""

    def __init__(self, memo, *keys):
        self.memo, self.keys, self.calls = memo, keys, 0

    def __call__(self, traces, key="it"):
        tracked = TrackedTraces(traces, self.memo)

        def compute():
            self.calls += 1
            return [tracked.get(k) for k in self.keys]

        return self.memo.once(key, traces, compute)


def test_what_reads_no_trace_is_computed_once():
    counter = Counter(Memo())
    assert counter({}) is counter({"a": trace_of(1.0)})
    assert counter.calls == 1


def test_what_reads_a_trace_is_computed_again_when_the_trace_grows():
    counter = Counter(Memo(), "a")
    before, after = {"a": trace_of(1.0)}, {"a": trace_of(1.0, 2.0)}
    assert counter(before) == [before["a"]]
    assert counter({**before, "b": trace_of(5.0)}) == [before["a"]]
    assert counter.calls == 1
    assert counter(after) == [after["a"]]
    assert counter.calls == 2
    assert counter(before) == [before["a"]]  # and of the earlier record it is still known
    assert counter.calls == 2


def test_a_missing_trace_is_read_too():
    counter = Counter(Memo(), "a")
    assert counter({}) == [None]
    assert counter({"a": trace_of(1.0)}) == [trace_of(1.0)]
    assert counter.calls == 2


def test_looking_at_all_traces_reads_all_of_them():
    memo, calls = Memo(), []

    def names(traces):
        tracked = TrackedTraces(traces, memo)
        return memo.once("names", traces, lambda: calls.append(1) or sorted(tracked))

    assert names({"a": trace_of(1.0)}) == ["a"]
    assert names({"a": trace_of(1.0, 2.0)}) == ["a"]
    assert len(calls) == 2


def test_an_outer_computation_has_read_what_the_inner_one_read():
    memo, calls = Memo(), []

    def outer(traces):
        tracked = TrackedTraces(traces, memo)

        def inner():
            return len(tracked.get("a", Trace()))

        return memo.once(
            "outer", traces, lambda: calls.append(1) or 10 * memo.once("inner", traces, inner)
        )

    assert [outer({"a": trace_of(1.0)}) for _ in range(2)] == [10, 10]
    assert outer({"a": trace_of(1.0, 2.0)}) == 20
    assert outer({"a": trace_of(1.0, 2.0)}) == 20
    assert len(calls) == 2


def test_an_error_is_not_kept():
    memo = Memo()

    def fails():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        memo.once("it", {}, fails)
    assert memo.once("it", {}, lambda: 7) == 7


def test_suprema_are_noted_also_when_they_were_kept():
    memo = Memo()

    def ask():
        found = memo.once("sup", {}, object)
        memo.note_supremum(found)
        return found

    first, reads = memo.tracked(ask)
    again, reads_again = memo.tracked(lambda: memo.once("signal", {}, ask))
    once_more, reads_once_more = memo.tracked(lambda: memo.once("signal", {}, ask))
    assert first is again is once_more
    assert reads.suprema == reads_again.suprema == reads_once_more.suprema == [first]
