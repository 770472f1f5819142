# SPDX-License-Identifier: Apache-2.0
"""Drawn studies are run to their verdict, and what must hold of every study is checked."""

from __future__ import annotations

import contextlib
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings

import stopwise as sw
from stopwise.core.search.supremum import Search
from stopwise.errors import InputError, StopwiseError
from stopwise.study.choosing import NothingLeftError
from tests.torture.drawn import FIXED, SPACES, drawn_studies

LOT = 50  # studies that are drawn from one seed
REFUSED = "refused"  # the outcome of a study whose options are not allowed
TOO_SMALL = "does not exceed the"  # a budget that does not pay for the initial design


class QuickStudy(sw.Study):
    """A study that looks for its suprema less thoroughly."""

    _search = Search(raw=16, restarts=1)


class Run:
    """A drawn study, run to its verdict or to an error of stopwise."""

    def __init__(self, drawn, folder):
        self.drawn, self.rng = drawn, np.random.default_rng(0)
        self.path = folder / "study.jsonl" if drawn.resumes is not None else None
        self.evaluated, self.asked = 0, {}
        self.study = None

    def to_the_end(self):
        """The verdict."""
        self.study = QuickStudy(
            SPACES[self.drawn.space], journal=self.path, **self.drawn.all_options()
        )
        self._tell_from_elsewhere()
        while True:
            while len(self.study.pending) < self.drawn.at_once:
                verdict = self.study.should_stop()
                if verdict.stop:
                    break
                self._ask()
            if not self.study.pending:
                return self.study.should_stop()
            pending = self.study.pending
            self._tell(pending[int(self.rng.integers(len(pending)))])
            if self.evaluated == self.drawn.resumes:
                self._resume()

    def _tell_from_elsewhere(self):
        for params in self._some_params()[: self.drawn.told]:
            self.asked[len(self.asked)] = params
            self._tell(params)

    def _some_params(self):
        domain = self.study.domain
        points = getattr(domain, "points", None)
        X = domain.sobol(2, np.random.default_rng(1)) if points is None else points
        return domain.decode(X)

    def _ask(self):
        trial = self._asked()
        check_inside(self.study.domain, trial.params)
        self.asked[trial.number] = trial.params  # one that was not answered is asked for again
        if "drop" in self.drawn.also and trial.number == 1:
            self.study.drop(trial)  # its configuration may be chosen again
            del self.asked[trial.number]

    def _asked(self):
        if "fixed" in self.drawn.also and self.evaluated % 2:
            fixed = FIXED[self.drawn.space]
            with contextlib.suppress(NothingLeftError):
                trial = self.study.ask(fixed=fixed)
                assert fixed.items() <= trial.params.items()
                return trial
        return self.study.ask()

    def _tell(self, trial):
        params = trial.params if isinstance(trial, sw.Trial) else trial
        fails = self.drawn.fails[self.evaluated % len(self.drawn.fails)]
        value = None if fails else self.drawn.value(params, self.rng)
        paid = self.drawn.cost(params) if self.drawn.options["cost"] == "reported" else None
        self.evaluated += 1
        outcomes = None if fails else self.drawn.outcomes(params, self.rng)
        if "repeat" in self.drawn.also and not fails:
            value = [value, self.drawn.value(params, self.rng)]
        self.study.tell(trial, value, paid, outcomes=outcomes)
        if "amend" in self.drawn.also:
            self._amend()

    def _amend(self):
        """Correct one report, and a second time what it cost."""
        told = self.study.history[int(self.rng.integers(len(self.study.history)))]
        if self.rng.random() < 0.5:
            value = self.drawn.value(told.params, self.rng)
            outcomes = self.drawn.outcomes(told.params, self.rng)
            self.study.amend(told.number, value, outcomes=outcomes)
        elif self.rng.random() < 0.5:
            self.study.amend(told.number, None, message="it was wrong")
        self.study.amend(told.number, cost=self.drawn.cost(told.params))

    def _resume(self):
        before = state_of(self.study)
        self.study.close()
        given = {"cost": self.drawn.cost} if self.drawn.options["cost"] == "known" else {}
        self.study = QuickStudy.resume(self.path, **given)
        assert state_of(self.study) == before


def state_of(study):
    """All that is recorded of a study, and its answer if it waits for none."""
    verdict = None if study.pending else study.should_stop()
    return study.history, study.pending, study.spent, dict(study.traces), verdict, study.best


def check_inside(domain, params):
    """A proposal is a configuration of the space."""
    X = domain.encode(params)
    assert np.array_equal(X, domain.snap(X))
    assert np.all((X >= 0.0) & (X <= 1.0))
    assert domain.decode(X) == [dict(params)]


def check(drawn, make_run=Run, refused_late=TOO_SMALL):
    """Check that a study ends with a verdict, without a warning, and repeats no proposal.

    Its options may be refused, in words, and its budget at the first ask; nothing may later.

    Args:
        drawn: The study.
        make_run: What runs it, of the study and a folder.
        refused_late: Words of the one error that may come after the options were accepted.

    Returns:
        The rule that ended it, or ``REFUSED``.
    """
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        run = make_run(drawn, Path(folder))
        try:
            outcome = run.to_the_end().rule
            run.study.explain()
            with contextlib.suppress(InputError):  # not every rule has one
                run.study.guarantee()
            assert run.study.result().best == run.study.best
        except StopwiseError as refusal:
            outcome = REFUSED
            if run.study is not None and not (refused_late and refused_late in str(refusal)):
                raise
        finally:
            if run.study is not None:
                run.study.close()
    check_once(run)
    return outcome


def check_once(run):
    """Nothing is proposed twice, unless replicates are allowed."""
    if run.asked and not run.drawn.options["replicates"]:
        domain = run.study.domain
        keys = domain.key(domain.encode(list(run.asked.values())))
        assert len(set(keys)) == len(keys), run.asked


def run_lot(number, studies=None, check=check, size=LOT):
    """Run the studies of a lot.

    Args:
        number: Its seed.
        studies: A strategy that draws them; any studies without stages if left out.
        check: What is done with each; returns how it ended.
        size: Number of studies.

    Returns:
        How often they ended in which way, and what is wrong with those that did not end well.
    """
    outcomes, failures = Counter(), []

    # A study is short to read as it was drawn, and shrinking it takes minutes.
    @seed(number)
    @settings(
        max_examples=size,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        database=None,
        deadline=None,
        derandomize=False,
    )
    @given(drawn_studies() if studies is None else studies)
    def run(drawn):
        try:
            outcomes[check(drawn)] += 1
        except Exception as error:  # noqa: BLE001  whatever it is, the others are run too
            outcomes["failed"] += 1
            failures.append(f"{drawn}\n{''.join(traceback.format_exception(error)[-8:])}")

    run()
    return outcomes, failures
