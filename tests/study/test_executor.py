# SPDX-License-Identifier: Apache-2.0
"""Evaluations side by side, on any executor: how many, in what order, and how they end."""

import math
import os
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError
from stopwise.stopping import FixedTrials
from tests.support.small_studies import LINE, bowl, rows, valley

TABLE = sw.Candidates(rows(40))


def in_another_process(params):
    """At the top of the module, so that another process can find it."""
    if params["x"] > 0.8:
        message = f"x = {params['x']:.1f} in another process"
        raise RuntimeError(message)
    return os.getpid() + 1e6 * bowl(params)


class Watched:
    """An objective that counts how many of its calls run at the same time."""

    def __init__(self, objective, seconds=0.003):
        self.objective, self.seconds = objective, seconds
        self.lock = threading.Lock()
        self.running = self.most = self.calls = 0

    def __call__(self, params):
        with self.lock:
            self.running += 1
            self.calls += 1
            self.most = max(self.most, self.running)
        time.sleep(self.seconds)
        with self.lock:
            self.running -= 1
        return self.objective(params)


class AtOnce(Executor):
    """An executor of one's own: it evaluates in submit, and does not say how many it can."""

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001  as any executor does
            future.set_exception(error)
        return future


class Backwards(Executor):
    """Holds what it is given until it has ``hold`` of them, then does the last one first."""

    _max_workers = 3

    def __init__(self, hold):
        self.hold, self.waiting, self.most = hold, [], 0
        self.lock = threading.Lock()

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        with self.lock:
            self.waiting.append((future, function, args, kwargs))
            self.most = max(self.most, len(self.waiting))
            full = len(self.waiting) >= self.hold
        # What is held is done shortly after in any case, as a study may want no more.
        threading.Timer(0.0 if full else 0.02, self.finish).start()
        return future

    def finish(self):
        with self.lock:
            held, self.waiting = self.waiting, []
        for future, function, args, kwargs in reversed(held):
            future.set_result(function(*args, **kwargs))


# ------------------------------------------------------------------------------- how many


@pytest.mark.parametrize(
    ("threads", "workers", "most"), [(3, None, 3), (8, 2, 2), (1, None, 1), (2, 6, 2)]
)
def test_never_more_at_once_than_there_are_workers(threads, workers, most):
    objective = Watched(valley)
    with ThreadPoolExecutor(threads) as executor:
        result = sw.minimize(
            objective, TABLE, lam=0.1, stopping=FixedTrials(8), executor=executor, workers=workers,
            n_initial=6, max_trials=14,
        )  # fmt: skip
    assert objective.most <= most
    assert len(result.history) == objective.calls == 14


def test_never_more_are_handed_out_than_there_are_workers():
    handed_out = []

    class Counting(ThreadPoolExecutor):
        def submit(self, *args, **kwargs):
            future = super().submit(*args, **kwargs)
            handed_out.append(future)
            assert sum(not f.done() for f in handed_out) <= 3
            return future

    with Counting(3) as executor:
        sw.minimize(
            Watched(valley), TABLE, lam=0.1, stopping=FixedTrials(8), executor=executor,
            n_initial=6, max_trials=14,
        )  # fmt: skip
    assert len(handed_out) == 14


def test_an_executor_that_does_not_say_how_many_workers_it_has_needs_to_be_told():
    with pytest.raises(InputError) as error:
        sw.minimize(bowl, LINE, lam=0.1, executor=AtOnce())
    assert str(error.value).startswith("AtOnce does not say how many workers it has: give work")
    result = sw.minimize(bowl, LINE, lam=1e-3, executor=AtOnce(), workers=2)
    assert abs(result.best.params["x"] - 0.3) < 0.05


@pytest.mark.parametrize("workers", [0, -1, 2.5])
def test_workers_are_a_whole_number(workers):
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(InputError, match=r"workers=.*: give a whole number of at least 1"),
    ):
        sw.minimize(bowl, LINE, lam=0.1, executor=executor, workers=workers)


@pytest.mark.parametrize("executor", [ThreadPoolExecutor, 4, "threads"], ids=repr)
def test_what_is_no_executor_is_refused(executor):
    with pytest.raises(InputTypeError, match=r"executor=.*: give an executor of concurrent"):
        sw.minimize(bowl, LINE, lam=0.1, executor=executor, workers=2)


def test_workers_without_an_executor_are_refused():
    with pytest.raises(InputError, match=r"workers=4 without an executor: give one too"):
        sw.minimize(bowl, LINE, lam=0.1, workers=4)


# ------------------------------------------------------------------------------- which answers


@pytest.mark.parametrize("cost", [None, lambda p: 1.0 + p["x"]], ids=["unit", "known"])
def test_one_worker_gives_the_same_as_none_bit_for_bit(cost):
    alone = sw.minimize(valley, TABLE, lam=0.05, cost=cost)
    with ThreadPoolExecutor(1) as executor:
        assert sw.minimize(valley, TABLE, lam=0.05, cost=cost, executor=executor) == alone
    own = sw.minimize(valley, TABLE, lam=0.05, cost=cost, executor=AtOnce(), workers=1)
    assert own == alone


def test_what_returns_at_the_same_time_is_told_in_the_order_in_which_it_was_asked():
    results = [sw.minimize(bowl, LINE, lam=1e-3, executor=AtOnce(), workers=5) for _ in range(3)]
    for result in results:
        assert [o.number for o in result.history] == list(range(len(result.history)))
        assert result == results[0]


def test_in_whatever_order_they_come_back_values_stay_with_their_params():
    executor = Backwards(hold=3)
    result = sw.minimize(valley, TABLE, lam=1e-9, executor=executor, stopping=FixedTrials(9))
    assert executor.most == 3
    assert len({o.number for o in result.history}) == len(result.history)
    for observation in result.history:
        assert observation.value == valley(observation.params)
    assert len({o.params["x"] for o in result.history}) == len(result.history)


def test_threads_evaluate_side_by_side():
    meeting = threading.Barrier(3, timeout=20)
    calls = []

    def objective(params):
        calls.append(params)
        if len(calls) <= 3:
            meeting.wait()  # three must be here at once, or nobody gets on
        return bowl(params)

    with ThreadPoolExecutor(3) as executor:
        result = sw.minimize(objective, LINE, lam=1e-2, executor=executor, n_initial=6)
    assert result.verdict.stop
    assert "running" not in result.verdict.reason
    assert len(result.history) == len(calls)
    assert all(not o.failed for o in result.history)
    assert len({o.number for o in result.history}) == len(calls)
    assert len({o.params["x"] for o in result.history}) == len(calls)


def test_three_at_once_find_what_one_finds():
    with ThreadPoolExecutor(3) as executor:
        result = sw.minimize(Watched(valley), TABLE, lam=0.01, executor=executor)
    assert result.best.value == min(map(valley, (TABLE.domain.params(i) for i in range(40))))
    assert result.verdict.rule == "pbgi"


@pytest.mark.parametrize("kind", ["fork", "spawn"])
def test_processes_return_values_costs_and_errors(kind):
    import multiprocessing

    if kind not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {kind} here")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(kind)) as executor:
        result = sw.minimize(
            in_another_process, LINE, lam=1e-3, cost="seconds", executor=executor, max_trials=8,
            start_from=[{"x": 0.9}],
        )  # fmt: skip
    processes = {round(o.value - 1e6 * bowl(o.params)) for o in result.history.succeeded}
    assert 1 <= len(processes) <= 2
    assert os.getpid() not in processes
    failed = [o for o in result.history if o.failed]
    assert "RuntimeError: x = 0.9 in another process" in {o.message for o in failed}
    assert all(o.cost > 0 for o in result.history)


# -------------------------------------------------------------------------------- how they end


class _Releasing(ThreadPoolExecutor):
    """Sets an event when the first evaluation is back."""

    def __init__(self, workers):
        super().__init__(workers)
        self.first_is_back = threading.Event()

    def submit(self, *args, **kwargs):
        future = super().submit(*args, **kwargs)
        future.add_done_callback(lambda _: self.first_is_back.set())
        return future


def test_on_stopping_what_runs_is_let_finish_and_counted():
    """The first to come back ends it; the two that still run are waited for."""

    def objective(params):
        if params["x"] == 0.0:
            return 5.0
        assert executor.first_is_back.wait(20)
        time.sleep(0.05)
        return 1.0

    with _Releasing(3) as executor:
        result = sw.minimize(
            objective, LINE, lam=1.0, executor=executor, n_initial=1, stopping="immediate",
            start_from=[{"x": 0.0}],
        )  # fmt: skip
    assert result.history[0].value == 5.0
    assert [o.value for o in result.history[1:]] == [1.0, 1.0]
    assert (result.spent, result.best.value) == (3.0, 1.0)
    assert (result.verdict.rule, result.verdict.stop) == ("immediate", True)
    assert "running" not in result.verdict.reason


def test_what_comes_back_late_can_change_the_answer():
    """Stopped for new trials, but the one that ran is so good that it is worth going on."""

    def objective(params):
        if params["n"] == 0:
            return 1.0
        assert executor.first_is_back.wait(20)
        time.sleep(0.05)
        return -50.0 * params["n"]

    with _Releasing(2) as executor:
        result = sw.minimize(
            objective, {"n": sw.Integer(0, 30)}, lam=0.5, executor=executor, n_initial=1,
            start_from=[{"n": 0}],
        )  # fmt: skip
    assert result.verdict.stop
    assert len(result.history) > 2


def test_failures_side_by_side_are_recorded_and_ten_in_a_row_end_it():
    def objective(params):
        raise OverflowError(params["x"])

    with ThreadPoolExecutor(3) as executor:
        result = sw.minimize(objective, LINE, lam=1e-3, executor=executor)
    assert 10 <= len(result.history) <= 12  # those that ran are counted
    assert all(o.failed and o.message.startswith("OverflowError: ") for o in result.history)
    assert (result.verdict.rule, result.best) == ("failures", None)


def test_what_the_executor_itself_raises_is_not_a_failed_evaluation():
    class Broken(Executor):
        def submit(self, *_, **__):
            future = Future()
            future.set_exception(ConnectionError("the cluster is gone"))
            return future

    with pytest.raises(ConnectionError, match="the cluster is gone"):
        sw.minimize(bowl, LINE, lam=0.1, executor=Broken(), workers=2)


@pytest.mark.parametrize("workers", [2, 5])
def test_a_budget_holds_side_by_side(workers):
    with ThreadPoolExecutor(workers) as executor:
        result = sw.minimize(
            Watched(valley, 0.001),
            TABLE,
            budget=20.0,
            cost=lambda p: 0.5 + 0.1 * p["x"],
            executor=executor,
        )
    assert result.verdict.rule == "budget"
    assert result.spent <= 20.0
    assert result.spent == sum(0.5 + 0.1 * o.params["x"] for o in result.history)


def test_seconds_side_by_side_are_those_of_each_body():
    with ThreadPoolExecutor(4) as executor:
        result = sw.minimize(
            lambda p: time.sleep(0.03) or bowl(p),
            LINE,
            lam=1e-3,
            cost="seconds",
            executor=executor,
            max_trials=8,
        )
    assert all(0.029 < o.cost < 5.0 for o in result.history)
    assert math.isclose(result.spent, sum(o.cost for o in result.history))
