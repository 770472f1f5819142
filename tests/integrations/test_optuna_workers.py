# SPDX-License-Identifier: Apache-2.0
"""Eight workers on one PostgreSQL server, one of them killed in the middle of a trial."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter

import optuna
import pytest
from optuna.trial import TrialState

from stopwise.integrations.optuna._callback import VERDICT
from tests.support.optuna_worker import loss, price
from tests.support.postgres import server
from tests.support.repository import SUPPORT

WORKERS = 8
SCRIPT = SUPPORT / "optuna_worker.py"


@pytest.fixture(scope="module")
def url():
    with server() as running:
        yield running


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, SCRIPT, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )


def run_workers(url, lam, budget):
    """The first one begins a trial and is killed in it when others have told theirs."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if "many" in optuna.get_all_study_names(url):
        optuna.delete_study(study_name="many", storage=url)
    study = optuna.create_study(study_name="many", storage=url)
    doomed = start(url, lam, budget, "die")
    while not any(trial.params for trial in study.get_trials(deepcopy=False)):
        assert doomed.poll() is None, doomed.communicate()
        time.sleep(0.1)
    workers = [doomed, *(start(url, lam, budget) for _ in range(WORKERS - 1))]
    outputs = [worker.communicate(timeout=500) for worker in workers]
    codes = [worker.returncode for worker in workers]
    assert codes == [-signal.SIGKILL] + [0] * (WORKERS - 1), [error for _, error in outputs]
    return study, [json.loads(output) for output, _ in outputs[1:]]


def bury(study, url):
    """If no worker began a trial after the death, nobody has noticed yet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        storage = optuna.storages.RDBStorage(url, heartbeat_interval=3, grace_period=30)
        watching = optuna.load_study(study_name=study.study_name, storage=storage)
        give_up = time.monotonic() + 90
        while any(t.state == TrialState.RUNNING for t in watching.trials):
            assert time.monotonic() < give_up
            optuna.storages.fail_stale_trials(watching)
            time.sleep(0.2)


# By the rule, long before the money is gone; and by the money alone.
@pytest.mark.parametrize(("lam", "budget", "rule"), [(0.03, 1000.0, "pbgi"), (0, 60.0, "budget")])
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
