# SPDX-License-Identifier: Apache-2.0
"""Eight workers on one PostgreSQL server, one of them killed in the middle of a trial."""

import multiprocessing
import signal
import time
import warnings
from collections import Counter

import optuna
import pytest
from optuna.trial import TrialState

from stopwise.integrations.optuna._callback import VERDICT
from tests.support.optuna_worker import loss, price, report_to
from tests.support.postgres import server

WORKERS = 8
PROCESSES = multiprocessing.get_context("forkserver")  # what takes long to import is there once
PROCESSES.set_forkserver_preload(["psycopg", "scipy.stats", "stopwise.integrations.optuna"])


@pytest.fixture(scope="module")
def url():
    with server() as running:
        yield running


def start(*arguments):
    """A process that works, and where its report arrives."""
    here, there = PROCESSES.Pipe(duplex=False)
    worker = PROCESSES.Process(target=report_to, args=(there, *arguments))
    worker.start()
    there.close()
    return worker, here


def run_workers(url, lam, budget):
    """The first one begins a trial and is killed in it when others have told theirs."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if "many" in optuna.get_all_study_names(url):
        optuna.delete_study(study_name="many", storage=url)
    study = optuna.create_study(study_name="many", storage=url)
    doomed, _ = start(url, lam, budget, "die")
    while not any(trial.params for trial in study.get_trials(deepcopy=False)):
        assert doomed.is_alive(), doomed.exitcode
        time.sleep(0.1)
    workers = [start(url, lam, budget) for _ in range(WORKERS - 1)]
    reports = [here.recv() for _, here in workers]
    for worker in (doomed, *(worker for worker, _ in workers)):
        worker.join(timeout=60)
    assert doomed.exitcode == -signal.SIGKILL
    assert [worker.exitcode for worker, _ in workers] == [0] * (WORKERS - 1)
    return study, reports


def bury(study, url):
    """Nobody has noticed the death yet; by now no other worker is alive, so one need not wait."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        storage = optuna.storages.RDBStorage(url, heartbeat_interval=1, grace_period=1)
        watching = optuna.load_study(study_name=study.study_name, storage=storage)
        give_up = time.monotonic() + 90
        while any(t.state == TrialState.RUNNING for t in watching.trials):
            assert time.monotonic() < give_up
            optuna.storages.fail_stale_trials(watching)
            time.sleep(0.2)


# By the rule, long before the money is gone; and by the money alone.
@pytest.mark.parametrize(
    ("lam", "budget", "rule"), [(0.03, 1000.0, "pbgi"), (None, 60.0, "budget")]
)
def test_eight_workers_one_killed(url, lam, budget, rule):
    study, reports = run_workers(url, lam, budget)
    bury(study, url)
    states = Counter(trial.state for trial in study.trials)
    assert states[TrialState.FAIL] == 1  # the one that died
    # It stopped once for all: every worker that lived ends with a written verdict. (Two that find
    # it within the same milliseconds may both write, each in its own words.)
    written = study.user_attrs[VERDICT]
    assert written["rule"] == rule
    assert {report["rule"] for report in reports} == {rule}
    assert written["reason"] in {report["reason"] for report in reports}
    # No told trial is lost.
    told = {number: value for report in reports for number, value in report["told"]}
    assert len(told) == sum(len(report["told"]) for report in reports)
    stored = {t.number: t.value for t in study.trials if t.state == TrialState.COMPLETE}
    assert told == stored
    assert all(stored[t.number] == loss(t.params) for t in study.trials if t.number in stored)
    # No point is evaluated twice, the one under the dead hand included.
    evaluated = [(t.params["layers"], t.params["units"]) for t in study.trials if t.params]
    assert len(set(evaluated)) == len(evaluated)
    # The budget holds for all of them together.
    spent = sum(price(t.params) for t in study.trials if t.params)
    assert spent <= budget
    if rule == "budget":
        assert spent > 0.8 * budget
