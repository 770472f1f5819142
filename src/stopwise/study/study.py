# SPDX-License-Identifier: Apache-2.0
"""The study: ask, tell and should_stop.

A study is the only object that changes; acquisitions and rules are functions of a ``Snapshot``.
Its work is done by the parts beside this file: the event log, the model updates, the initial
design, choosing and deciding.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from os import PathLike
from typing import Any

from stopwise.acquisition import Acquisition
from stopwise.core.beliefs.prices import cost_model
from stopwise.core.beliefs.refits import RefitPolicy
from stopwise.core.numerics.threads import single_threaded
from stopwise.core.quantity import quantity
from stopwise.core.search.supremum import Search
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Space, as_domain
from stopwise.core.traces import Trace
from stopwise.record.events import (
    TrialAsked,
    TrialAskedAgain,
    TrialDropped,
    TrialTold,
    VerdictGiven,
)
from stopwise.record.history import History, Trial
from stopwise.record.journal import Journal, ResumeWarning
from stopwise.record.journal.codec import ParamsCodec
from stopwise.record.outcomes import Outcome
from stopwise.record.promises import Promises
from stopwise.stopping import StoppingRule, Verdict
from stopwise.study.best import best_of
from stopwise.study.budget import Budget
from stopwise.study.choosing import Choice, Choosing
from stopwise.study.context import StudyContext
from stopwise.study.deciding import Deciding, made_rules, obeyed_rules
from stopwise.study.event_log import EventLog
from stopwise.study.explanation import explain
from stopwise.study.guarantee import Guarantee, guarantee_of
from stopwise.study.initial_design import InitialDesign
from stopwise.study.model_updates import ModelUpdates
from stopwise.study.options import StudyOptions, explain_options, spells_out_options
from stopwise.study.promising import Promising
from stopwise.study.readings import Readings, readings_of
from stopwise.study.result import Best, Result
from stopwise.study.resuming import ResumedStudy, load, resume
from stopwise.study.snapshots import Snapshots
from stopwise.study.spending import Spending
from stopwise.study.telling import check_pending, observation_of

_VERSION = version("stopwise")


class Study:
    """Bayesian optimization that stops when no further evaluation is worth its price.

    Args:
        space: A dict of ``Real``, ``Integer`` and ``Categorical``, or ``Candidates``.
        journal: Path of a journal. Every event is written there as a line of JSON before the
            call returns; ``Study.resume(path)`` continues the study from it.
        **options: Each option of ``StudyOptions``.

    Example:
        >>> import stopwise as sw
        >>> study = sw.Study({"x": sw.Real(0, 1)}, lam=0.01)
        >>> while not study.should_stop().stop:
        ...     trial = study.ask()
        ...     study.tell(trial, (trial.params["x"] - 0.3) ** 2)
        >>> abs(study.best.params["x"] - 0.3) < 0.1
        True
    """

    _refits: RefitPolicy | None = None  # fit at every observation
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
        checked = StudyOptions.of(options, also=("journal",))
        self._set_up(space, checked, EventLog())
        if journal is not None:
            written = checked.as_json(ParamsCodec(self.domain), space)
            begun = Journal.begin(journal, self.domain, written, _VERSION, time.time())
            self._context.log = EventLog(journal=begun)

    def _set_up(self, space: Space, options: StudyOptions, log: EventLog) -> None:
        """Put the parts together; unusable options are refused now, not at the first ask."""
        self.space, self.options = space, options
        self.direction, self.seed = options.direction, options.seed
        self.max_trials = options.max_trials
        self.domain = domain = as_domain(space)
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

    def close(self) -> None:
        """Close the journal, so that another study may continue it; this one can be looked at."""
        self._context.log.close()

    def __repr__(self) -> str:
        values = [self.options.sign * float(o.value or 0.0) for o in self.history.succeeded]
        best = quantity(self.options.sign * min(values)) if values else "none"
        return f"<Study: {len(self.history)} told, {len(self.pending)} pending, best {best}>"

    # ------------------------------------------------------------------ looking

    @property
    def n_initial(self) -> int:
        """Number of observations that the initial design is to have."""
        return self._design.wanted

    @property
    def budget(self) -> float | None:
        """What may be spent in all."""
        return self._context.budget.total

    @property
    def acquisition(self) -> Acquisition | None:
        """The acquisition; None until a budget has chosen its lambda."""
        return self._choosing.acquisition

    @property
    def history(self) -> History:
        """Every observation, in the user's units."""
        return self._context.history

    @property
    def pending(self) -> tuple[Trial, ...]:
        """Trials that were asked for and not yet told."""
        return tuple(self._context.state.pending.values())

    @property
    def traces(self) -> Mapping[str, Trace]:
        """The recorded signals, by key; what ``replay`` reads."""
        return self._snapshots.traces

    @property
    def promises(self) -> Promises:
        """The gain promised by each choice of the acquisition, and the gain that came of it."""
        return Promises(tuple(self._context.state.promises.values()))

    @property
    def spent(self) -> float:
        """Sum of the costs charged so far."""
        return self.history.spent

    @property
    def best(self) -> Best | None:
        """The best configuration, the first of equals; None before any has succeeded.

        With noise it is the one with the best posterior mean, reported with its deviation.
        """
        return best_of(self._context, self._snapshots)

    def result(self) -> Result:
        """The result so far."""
        latest = self._context.state.verdict
        verdict = self.should_stop() if latest is None else latest
        return Result(self.best, verdict, self.spent, self.history, self.traces, self)

    @single_threaded
    def snapshot(self) -> Snapshot:
        """This moment as acquisitions and rules see it: encoded, and to be minimised."""
        return self._snapshots.now()

    # --------------------------------------------------------------- ask and tell

    @single_threaded
    def ask(self) -> Trial:
        """The next configuration to evaluate.

        First the initial design, then the acquisition's choices, which account for pending trials.
        """
        began = time.perf_counter()
        log, state = self._context.log, self._context.state
        log.check_writable()
        if state.unanswered:
            trial = state.pending[state.unanswered[0]]
            log.commit(TrialAskedAgain(trial.number), began)
            return replace(trial, params=dict(trial.params))
        self._design.plan()
        designed = self._design.next()
        choice = self._choosing.choose() if designed is None else Choice(designed)
        cost = self._spending.foreseen(choice.params, design_done=self._design.is_done)
        trial = Trial(state.next, choice.params, cost)
        asked = TrialAsked(
            trial, designed is not None, choice.fitted, choice.promised, choice.foresight
        )
        log.commit(asked, began)
        return replace(trial, params=dict(trial.params))  # a copy, which the caller may change

    def tell(
        self,
        trial: Trial | Mapping[str, Any],
        value: float | Outcome | None,
        cost: float | None = None,
        *,
        charge: bool | None = None,
        message: str = "",
    ) -> None:
        """Report an evaluation.

        Args:
            trial: One that was asked for (its params will do), or the params of data from
                elsewhere.
            value: The objective; None, nan or an infinity if the evaluation failed; or an outcome
                of ``stopwise.record.outcomes``, such as ``Pruned("at epoch 3")``.
            cost: The cost that was paid. It may be left out where it is known in advance.
            charge: Whether it counts as spent; by default for trials of this study only.
            message: Why the evaluation failed, if it did.
        """
        began = time.perf_counter()
        self._context.log.check_writable()
        observation = observation_of(
            self._context, trial, value, cost, charge=charge, message=message
        )
        delivered = self._promising.delivered(observation)
        self._context.log.commit(TrialTold(observation, delivered), began)

    def drop(self, trial: Trial) -> None:
        """Give a trial up: it will not be told, and its configuration may be chosen again.

        Args:
            trial: One of ``pending``.
        """
        began = time.perf_counter()
        self._context.log.check_writable()
        check_pending(self._context, trial)
        self._context.log.commit(TrialDropped(trial.number), began)

    @single_threaded
    def should_stop(self) -> Verdict:
        """Whether to stop, and why. Asking twice gives the same answer and changes nothing."""
        began, state = time.perf_counter(), self._context.state
        if state.unanswered:
            return self._deciding.unanswered()
        if self._design.is_done:
            self._snapshots.record([*self.rules, *self.watched])
        verdict = self._deciding.verdict()
        if verdict != state.verdict:
            self._context.log.commit(VerdictGiven(verdict), began)
        return verdict

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

    @single_threaded
    def readings(self) -> Readings | None:
        """How the model reads bad values, and the trust in its promises; None if in one way."""
        now = self._snapshots.now() if self.history.succeeded else None
        return None if now is None else readings_of(self._context, now.belief.objective)

    @single_threaded
    def record(self, *rules: str | StoppingRule, lam: float | None = None) -> None:
        """Record signals of more rules now, for ``replay``; the study's path does not change.

        Before the end of the initial design there is nothing to record.
        """
        made = made_rules(rules, lam)
        if self._design.is_done:
            self._snapshots.record(made)

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
