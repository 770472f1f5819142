# SPDX-License-Identifier: Apache-2.0
"""A study may be used from several threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import stopwise as sw
from stopwise.study.external import ExternalStudy
from tests.support.interrupted import essence

SPACE = {"x": sw.Real(0.0, 1.0), "n": sw.Integer(1, 9)}
THREADS = 16


@pytest.mark.parametrize("n_initial", [12, 90])
def test_sixteen_threads_ask_and_tell(tmp_path, n_initial):
    path = tmp_path / "run.jsonl"
    study = sw.Study(SPACE, lam=1e-9, n_initial=n_initial, cost="reported", journal=path)
    together = threading.Barrier(THREADS)
    each = 2 if n_initial == 12 else 5

    def work(_):
        trials = []
        together.wait()
        for _ in range(each):
            trial = study.ask()
            trials.append(trial)
            assert study.best is None or study.spent > 0
            study.tell(trial, (trial.params["x"] - 0.3) ** 2, float(trial.params["n"]))
            study.should_stop()
            assert trial.number in {o.number for o in study.history}
        return trials

    with ThreadPoolExecutor(THREADS) as pool:
        trials = [trial for done in pool.map(work, range(THREADS)) for trial in done]
    assert sorted(t.number for t in trials) == list(range(THREADS * each))
    assert len({(t.params["x"], t.params["n"]) for t in trials}) == THREADS * each
    assert sorted(o.number for o in study.history) == list(range(THREADS * each))
    assert not study.pending
    live = essence(study)
    study.close()
    assert essence(sw.Study.resume(path)) == live


def test_what_reads_waits_for_what_writes():
    """Every public method and property holds the lock."""
    outside = {"close", "load", "resume", "spent", "encoded"}  # encoded reads no state
    outside |= {"own_seconds"}  # a number that only grows, and that those who wait may look at
    names = [
        name for name in dir(ExternalStudy) if not name.startswith("_") and name not in outside
    ]
    for name in names:
        member = getattr(ExternalStudy, name)
        function = member.fget if isinstance(member, property) else member
        while hasattr(function, "__wrapped__") and function.__name__ != "alone":
            if function.__code__.co_name == "alone":
                break
            function = function.__wrapped__
        assert function.__code__.co_name == "alone", name
