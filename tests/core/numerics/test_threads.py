# SPDX-License-Identifier: Apache-2.0
"""BLAS runs on one thread inside a step, and as the user wants it outside."""

import dataclasses
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import threadpoolctl

import stopwise as sw
from stopwise.core.numerics import threads as _threads
from stopwise.stopping import Immediate

SPACE = {"x": sw.Real(0.0, 1.0)}


def threads():
    """The numbers of threads of all BLAS libraries."""
    pools = threadpoolctl.threadpool_info()
    return {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    """The user's own choice: two threads, also where the environment says one."""
    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):
        _threads._let_others_set_it(threadpoolctl.ThreadpoolController())
        if threads() != {2}:
            pytest.skip("this BLAS takes no second thread")
        yield


@dataclasses.dataclass(frozen=True)
class Spy(Immediate):
    """A rule that notes how many threads there are while it computes."""

    seen: list = dataclasses.field(default_factory=list, hash=False, compare=False)
    key: str = "spy"

    def signal(self, snapshot):
        self.seen.append(threads())
        return snapshot.signal(snapshot.t)


def test_a_step_has_one_thread_and_the_objective_those_of_the_user(two_threads):
    spy, inside = Spy(), []

    def objective(params):
        inside.append(threads())
        return params["x"]

    result = sw.minimize(
        objective, SPACE, lam=0.1, stopping=sw.stopping.FixedTrials(2), watch=[spy]
    )
    assert len(result.history) == 6
    assert inside == [{2}] * 6
    assert spy.seen == [{1}] * 3
    assert threads() == {2}


def test_every_step_is_limited_and_restored(two_threads):
    spy = Spy()

    @dataclasses.dataclass(frozen=True)
    class Choose:
        def bind(self, snapshot):
            spy.seen.append(threads())
            return sw.acquisition.LogEIPC().bind(snapshot)

    study = sw.Study(SPACE, lam=0.1, acquisition=Choose(), watch=[spy])
    for i in range(4):
        study.tell({"x": i / 3}, 1.0 * i)
    for step in (study.ask, study.explain, study.result, lambda: study.record(spy)):
        spy.seen.clear()
        study.tell({"x": 0.5}, 1.0)
        step()
        assert spy.seen == [{1}]
        assert threads() == {2}


def test_threads_are_restored_after_an_error(two_threads):
    @dataclasses.dataclass(frozen=True)
    class Broken(Spy):
        def signal(self, snapshot):
            super().signal(snapshot)
            raise ZeroDivisionError

    rule = Broken()
    study = sw.Study(SPACE, lam=0.1, stopping=rule, n_initial=1)
    study.tell({"x": 0.5}, 1.0)
    with pytest.raises(ZeroDivisionError):
        study.should_stop()
    assert rule.seen == [{1}]
    assert threads() == {2}


# ---------------------------------------------------------------------- overlapping calls


def test_the_last_of_overlapping_calls_restores(two_threads):
    """The first to begin is not the last to end, so none may restore what it has found."""
    first, second = threading.Event(), threading.Event()
    seen = {}

    def begins_first():
        with _threads.one_blas_thread():
            first.set()
            assert second.wait(10)
        seen["first ended"] = threads()

    def ends_last():
        assert first.wait(10)
        with _threads.one_blas_thread():
            second.set()
            early.join(10)
            seen["second alone"] = threads()

    early, late = threading.Thread(target=begins_first), threading.Thread(target=ends_last)
    early.start()
    late.start()
    late.join(10)
    assert seen == {"first ended": {1}, "second alone": {1}}
    assert threads() == {2}


def test_nested_calls_restore_when_the_outermost_ends(two_threads):
    with _threads.one_blas_thread():
        with _threads.one_blas_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


def test_studies_in_several_threads_leave_the_threads_of_the_user(two_threads):
    together = threading.Barrier(4)

    def run(seed):
        study = sw.Study(SPACE, lam=1e-9, seed=seed, n_initial=2, surrogate="plain")
        together.wait(10)
        for _ in range(6):
            study.should_stop()
            trial = study.ask()
            study.tell(trial, (trial.params["x"] - 0.3) ** 2)

    for _ in range(3):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(run, range(4)))
        assert threads() == {2}


def test_what_the_user_sets_between_calls_is_kept(two_threads):
    with _threads.one_blas_thread():
        pass
    with threadpoolctl.threadpool_limits(limits=1, user_api="blas"):
        with _threads.one_blas_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


def test_when_a_thread_has_ended_its_call_any_other_may_set_the_number(two_threads):
    done, looked = threading.Event(), threading.Event()

    def call():
        with _threads.one_blas_thread():
            pass
        done.set()
        looked.wait(10)  # a thread that has ended would stand in nobody's way

    other = threading.Thread(target=call)
    other.start()
    assert done.wait(10)
    with threadpoolctl.threadpool_limits(limits=1, user_api="blas"):
        now = threads()
    looked.set()
    other.join(10)
    assert now == {1}


def test_an_interrupt_while_entering_leaves_nobody_inside(two_threads, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    for name in ("_controller", "_let_others_set_it"):
        monkeypatch.setattr(_threads, name, interrupted)
        with pytest.raises(KeyboardInterrupt), _threads.one_blas_thread():
            pass
        monkeypatch.undo()
    with _threads.one_blas_thread():
        assert threads() == {1}
    assert threads() == {2}


def test_the_libraries_are_looked_up_once(monkeypatch):
    made = []

    class Counted(threadpoolctl.ThreadpoolController):
        def __init__(self):
            made.append(self)
            super().__init__()

    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", Counted)
    _threads._controller.cache_clear()
    try:
        sw.minimize(lambda p: p["x"], SPACE, lam=0.1, stopping="immediate")
        assert len(made) == 1
    finally:
        _threads._controller.cache_clear()


def test_a_limited_function_keeps_its_name_and_its_answer():
    @_threads.single_threaded
    def double(number, *, plus=0):
        """Twice."""
        return 2 * number + plus

    assert (double.__name__, double.__doc__) == ("double", "Twice.")
    assert double(3, plus=1) == 7


# --------------------------------------------------------- BLAS libraries that use OpenMP


class Limits:
    """A stand-in for threadpoolctl where BLAS uses OpenMP: notes what is limited and restored."""

    def __init__(self, noted, about=()):
        self.noted, self.about, self.lib_controllers = noted, about, []

    def select(self, **which):
        return Limits(self.noted, tuple(which.items()))

    def limit(self, **limits):
        self.noted.append(("limit", *self.about, *limits.items()))
        return Limits(self.noted, (*self.about, *limits.items()))

    def restore_original_limits(self):
        self.noted.append(("restore", *self.about))


def test_with_openmp_each_call_limits_its_own_thread_and_restores_it(monkeypatch):
    noted, limit = [], _threads._Limit()
    monkeypatch.setattr(_threads, "_controller", lambda: Limits(noted))
    own = (("threading_layer", "openmp"), ("limits", 1))
    of_all = (("limits", 1), ("user_api", "blas"))
    limit.enter("one")
    limit.enter("another")
    limit.leave("one")
    limit.leave("another")
    limit.leave("nobody")
    assert noted == [
        ("limit", *own), ("limit", *of_all), ("limit", *own),
        ("restore", *own), ("restore", *of_all), ("restore", *own),
    ]  # fmt: skip


# --------------------------------------------------------- libraries that are loaded later

LATE = """
import json, threadpoolctl
from stopwise.core.numerics import scipy_parts, threads

def counts():
    pools = threadpoolctl.threadpool_info()
    return [pool["num_threads"] for pool in pools if pool["user_api"] == "blas"]

import numpy
threadpoolctl.threadpool_limits(limits=2, user_api="blas")
seen = {}
with threads.one_blas_thread():
    seen["numpy alone"] = counts()
    scipy_parts.blas
    seen["with scipy"] = counts()
    with threads.one_blas_thread():
        seen["inside"] = counts()
seen["after"] = counts()
with threads.one_blas_thread():
    seen["again"] = counts()
print(json.dumps(seen))
"""


def test_a_library_that_is_loaded_within_a_step_is_limited_and_restored():
    done = subprocess.run(
        [sys.executable, "-c", LATE],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},
    )
    seen = json.loads(done.stdout)
    assert set(seen["numpy alone"]) == {1}
    assert len(seen["with scipy"]) > len(seen["numpy alone"])
    assert set(seen["with scipy"] + seen["inside"] + seen["again"]) == {1}
    assert set(seen["after"]) == {2}


def test_what_is_limited_again_is_restored_once(two_threads):
    with _threads.one_blas_thread():
        _threads.limit_new_libraries()
        assert threads() == {1}
    assert threads() == {2}
    _threads.limit_new_libraries()
    assert threads() == {2}
