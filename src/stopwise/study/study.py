# SPDX-License-Identifier: Apache-2.0
"""The study: ask, tell and should_stop.

A study is the only object that changes; acquisitions and rules are functions of a ``Snapshot``.
Its work is done by the parts beside this file: the event log, the model updates, the initial
design, choosing and deciding.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

from stopwise.core.beliefs.prices import cost_model
from stopwise.core.beliefs.refits import RefitPolicy
from stopwise.core.numerics.threads import single_threaded
from stopwise.core.search.supremum import Search
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Space, as_domain
from stopwise.errors import JournalError
from stopwise.record.events import (
    TrialAsked,
    TrialAskedAgain,
    TrialDropped,
    TrialTold,
    VerdictGiven,
)
from stopwise.record.history import Trial
from stopwise.record.journal import Journal, ResumeWarning
from stopwise.record.journal.codec import ParamsCodec
from stopwise.record.outcomes import Outcome
from stopwise.stopping import StoppingRule, Verdict
from stopwise.study.budget import Budget
from stopwise.study.choosing import Choice, Choosing
from stopwise.study.context import StudyContext
from stopwise.study.deciding import Deciding, made_rules, obeyed_rules
from stopwise.study.event_log import EventLog
from stopwise.study.exclusive import exclusive
from stopwise.study.explanation import explain
from stopwise.study.guarantee import Guarantee, guarantee_of
from stopwise.study.initial_design import InitialDesign
from stopwise.study.model_updates import ModelUpdates
from stopwise.study.options import StudyOptions, explain_options, plain_space, spells_out_options
from stopwise.study.promising import Promising
from stopwise.study.readable import ReadableStudy
from stopwise.study.readings import Readings, readings_of
from stopwise.study.result import Result
from stopwise.study.resuming import ResumedStudy, load, resume
from stopwise.study.snapshots import Snapshots
from stopwise.study.spending import Spending
from stopwise.study.telling import check_pending, observation_of, was_told

_VERSION = version("stopwise")


class Study(ReadableStudy):
    """Bayesian optimization that stops when no further evaluation is worth its price.

    Args:
        space: A dict of ``Real``, ``Integer``, ``Categorical`` and ``Ordinal``, ``Candidates``, or
            a ``ConfigurationSpace``.
        journal: Path of a journal. Every event is written there as a line of JSON before the
            call returns; ``Study.resume(path)`` continues the study from it.
        **options: Each option of ``StudyOptions``.

    A study may be used from several threads: its methods take turns.

    Example:
        >>> import stopwise as sw
        >>> study = sw.Study({"x": sw.Real(0, 1)}, lam=0.01)
        >>> while not study.should_stop().stop:
        ...     trial = study.ask()
        ...     study.tell(trial, (trial.params["x"] - 0.3) ** 2)
        >>> abs(study.best.params["x"] - 0.3) < 0.1
        True
    """

    _refits: RefitPolicy | None = None  # that of ModelUpdates
    _search = Search()
    _warm_starts = False

    @spells_out_options()
    def __init__(
        self,
        space: Space,
        *,
        journal: str | PathLike[str] | None = None,
        **options: Any,  # noqa: ANN401  StudyOptions checks them
    ) -> None:
        space, options = plain_space(space, options)
        checked = StudyOptions.of(options, also=("journal",))
        self._set_up(space, checked, EventLog())
        if journal is not None:
            written = checked.as_json(ParamsCodec(self.domain), space)
            begun = Journal.begin(journal, self.domain, written, _VERSION, time.time())
            self._context.log = EventLog(journal=begun)

    def _set_up(self, space: Space, options: StudyOptions, log: EventLog) -> None:
        """Put the parts together; unusable options are refused now, not at the first ask."""
        self._lock = threading.RLock()
        self.space, self.options = space, options
        self.direction, self.seed = options.direction, options.seed
        self.max_trials = options.max_trials
        self.domain = domain = as_domain(space, options.constraints)  # type: ignore[arg-type]
        self.cost_model = costs = cost_model(options.cost, space)
        model = ModelUpdates(domain, costs, options, self._refits)
        model.encoded.encode(options.start_from)  # type: ignore[arg-type]  # a list by now
        budget = Budget(options.budget)
        self._context = context = StudyContext(options, domain, costs, log, model, budget)
        self._spending = spending = Spending(context)
        self._design = design = InitialDesign(context, spending)
        self._snapshots = snapshots = Snapshots(
            context, design, spending, self._search, warm_starts=self._warm_starts
        )
        self._promising = Promising(context)
        self._choosing = Choosing(context, design, spending, snapshots, self._promising)
        self.rules = obeyed_rules(options)
        self.watched = made_rules(options.watch, options.lam)
        self._deciding = Deciding(context, design, spending, snapshots, self.rules)
        self._not_returned = -1  # number of a trial whose ask was interrupted
        self.notes: tuple[str, ...] = ()  # of a resume, for the user to read

    @classmethod
    def resume(cls, path: str | PathLike[str], **given: Any) -> Study:  # noqa: ANN401
        """Continue the study of a journal, as if it had not been interrupted.

        Trials that were not told are handed out again by ``ask``, oldest first.

        Args:
            path: Path of the journal.
            **given: Objects that a file cannot hold (a function as ``cost=``, a rule that you
                wrote), and options to change: lam, stopping, watch, acquisition, budget,
                max_trials.
        """
        study = cls._of(resume(path, given, _VERSION))
        for note in study.notes:
            warnings.warn(note, ResumeWarning, stacklevel=2)
        return study

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Study:
        """Look at a journal, also one that is being written; nothing can be asked or told."""
        return cls._of(load(path))

    @classmethod
    def _of(cls, resumed: ResumedStudy) -> Study:
        study = cls.__new__(cls)
        log = EventLog(resumed.state, resumed.journal, read_only=resumed.journal is None)
        try:
            study._set_up(resumed.space, resumed.options, log)  # noqa: SLF001  its own class
            if resumed.event is not None:  # only now: options that cannot be are refused above
                log.commit(resumed.event)
        except BaseException:
            log.close()
            raise
        study.notes = resumed.notes
        return study

    @exclusive
    def move_journal(self, path: str | PathLike[str] | None = None) -> Path:
        """Write the whole journal to another file, and go on there.

        For a journal that was deleted or replaced, or whose disk is full.

        Args:
            path: Path of the new file; a free name beside the old one if left out.

        Returns:
            Path of the new file.
        """
        return self._context.log.move(path)

    def close(self) -> None:
        """Close the journal, so that another study may continue it; this one can be looked at."""
        with self._lock:
            self._context.log.close()

    # ------------------------------------------------------------------ looking

    @exclusive
    def result(self) -> Result:
        """The result so far."""
        latest = self._context.state.verdict
        verdict = self.should_stop() if latest is None else latest
        return Result(self.best, verdict, self.spent, self.history, self.traces, self)

    @exclusive
    @single_threaded
    def snapshot(self) -> Snapshot:
        """This moment as acquisitions and rules see it: encoded, and to be minimised."""
        return self._snapshots.now()

    # --------------------------------------------------------------- ask and tell

    @exclusive
    def ask(self) -> Trial:
        """The next configuration to evaluate.

        First the initial design, then the acquisition's choices, which account for pending trials.
        After an ask that was interrupted, the trial that it was about to return.
        """
        self._context.log.check_writable()
        trial = self._context.state.pending.get(self._not_returned)
        if trial is None:
            try:
                trial = self._next_trial()
            except JournalError:
                self._not_returned = -1  # it was not asked
                raise
        trial = replace(trial, params=dict(trial.params))  # a copy, which the caller may change
        self._not_returned = -1
        return trial

    @single_threaded
    def _next_trial(self) -> Trial:
        began, log = time.perf_counter(), self._context.log
        state = log.state
        if state.unanswered:
            number = self._not_returned = state.unanswered[0]
            log.commit(TrialAskedAgain(number), began)
            return state.pending[number]
        self._design.plan()
        designed = self._design.next()
        choice = self._choosing.choose() if designed is None else Choice(designed)
        cost = self._spending.foreseen(choice.params, design_done=self._design.is_done)
        trial = Trial(log.state.next, choice.params, cost)
        self._not_returned = trial.number
        asked = TrialAsked(
            trial, designed is not None, choice.fitted, choice.promised, choice.foresight
        )
        log.commit(asked, began)
        return trial

    @exclusive
    def tell(
        self,
        trial: Trial | Mapping[str, Any],
        value: float | Outcome | None,
        cost: float | None = None,
        *,
        charge: bool | None = None,
        message: str = "",
        outcomes: Mapping[str, float] | None = None,
    ) -> None:
        """Report an evaluation. To tell a trial again, with the same value and cost, is harmless.

        Args:
            trial: One that was asked for (its params will do), or the params of data from
                elsewhere.
            value: The objective; None, nan or a value beyond 1e100, as infinities are, if the
                evaluation failed; or an outcome of ``stopwise.record.outcomes``, such as
                ``Pruned("at epoch 3")``.
            cost: The cost that was paid. It may be left out where it is known in advance.
            charge: Whether it counts as spent; by default for trials of this study only.
            message: Why the evaluation failed, if it did.
            outcomes: What was measured besides, by name: each outcome that has ``limits``.
        """
        began = time.perf_counter()
        self._context.log.check_writable()
        if was_told(self._context, trial, value, cost, message=message, outcomes=outcomes):
            return
        observation = observation_of(
            self._context, trial, value, cost, charge=charge, message=message, outcomes=outcomes
        )
        delivered = self._promising.delivered(observation)
        self._context.log.commit(TrialTold(observation, delivered), began)

    @exclusive
    def drop(self, trial: Trial) -> None:
        """Give a trial up: it will not be told, and its configuration may be chosen again.

        Args:
            trial: One of ``pending``.
        """
        began = time.perf_counter()
        self._context.log.check_writable()
        check_pending(self._context, trial)
        self._context.log.commit(TrialDropped(trial.number), began)

    @exclusive
    @single_threaded
    def should_stop(self) -> Verdict:
        """Whether to stop, and why. Asking twice gives the same answer and changes nothing."""
        began, log = time.perf_counter(), self._context.log
        if log.state.unanswered:
            return self._deciding.unanswered()
        if self._design.is_done:
            self._snapshots.record([*self.rules, *self.watched])
        verdict = self._deciding.verdict()
        if verdict != log.state.verdict:
            log.commit(VerdictGiven(verdict), began)
        return verdict

    @exclusive
    @single_threaded
    def explain(self) -> str:
        """The verdict in words: the gain still expected, its cost, and for which lam to go on.

        It says what came of earlier choices, warns of thresholds that the model cannot resolve or
        that are far off the data's scale, and names bounds that the values seem to have.
        """
        verdict = self.should_stop()
        if not self._design.is_done:
            return f"{verdict.rule}: {verdict.reason}."
        rules = [*self.rules, *self.watched]
        return explain(self._context, self._snapshots.now(), rules, verdict)

    @exclusive
    @single_threaded
    def readings(self) -> Readings | None:
        """How the model reads bad values, and the trust in its promises; None if in one way."""
        now = self._snapshots.now() if self.history.succeeded else None
        return None if now is None else readings_of(self._context, now.belief.objective)

    @exclusive
    @single_threaded
    def record(self, *rules: str | StoppingRule, lam: float | None = None) -> None:
        """Record signals of more rules now, for ``replay``; the study's path does not change.

        Before the end of the initial design there is nothing to record.
        """
        made = made_rules(rules, lam)
        if self._design.is_done:
            self._snapshots.record(made)

    @exclusive
    @single_threaded
    def guarantee(self, delta: float = 0.05) -> Guarantee:
        """What the paper proves for this study, and which of its assumptions do not hold here.

        Args:
            delta: Risk of the bound on the number of evaluations.
        """
        return guarantee_of(
            self._context, self._design, self._snapshots, self._choosing, self.rules, delta
        )


explain_options(Study)
