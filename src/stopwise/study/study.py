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
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self, overload

from stopwise import __version__
from stopwise.core.beliefs.prices import cost_model
from stopwise.core.beliefs.refits import RefitPolicy
from stopwise.core.checks import checked_whole
from stopwise.core.numerics.threads import single_threaded
from stopwise.core.search.supremum import Search
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Space, as_domain
from stopwise.core.space.finite import accepting_off_table
from stopwise.core.space.held import Holding
from stopwise.record.events import TrialTold, VerdictGiven
from stopwise.record.history import Trial
from stopwise.record.journal import Journal, ResumeWarning
from stopwise.record.journal.codec import ParamsCodec
from stopwise.stopping import StoppingRule, Verdict
from stopwise.study.asking import Asking
from stopwise.study.budget import Budget
from stopwise.study.budget_worth import WorthRecorder
from stopwise.study.choosing import Choosing
from stopwise.study.context import StudyContext
from stopwise.study.deciding import Deciding, made_rules, obeyed_rules
from stopwise.study.evaluation import Evaluation, unpacked
from stopwise.study.event_log import EventLog
from stopwise.study.exclusive import exclusive
from stopwise.study.guarantee import Guarantee, guarantee_of
from stopwise.study.identifying import TrialGiven, trial_or_params
from stopwise.study.initial_design import InitialDesign
from stopwise.study.likely_mistakes import warn_of_likely_mistakes
from stopwise.study.model_updates import ModelUpdates
from stopwise.study.options import StudyOptions
from stopwise.study.plain_space import plain_space
from stopwise.study.promising import Promising
from stopwise.study.result import Result
from stopwise.study.resuming import ResumedStudy, load, resume
from stopwise.study.signatures import explain_options, spells_out_options
from stopwise.study.snapshots import Snapshots
from stopwise.study.spending import Spending
from stopwise.study.staged.study import StagedStudy
from stopwise.study.staged.telling import refuse_stages
from stopwise.study.telling import Value, observations_of, was_told


class Study(StagedStudy):
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
        warn_of_likely_mistakes(space, options)
        space, options = plain_space(space, options)
        checked = StudyOptions.of(options, also=("journal",))
        self._set_up(space, checked, EventLog())
        if journal is not None:
            written = checked.as_json(ParamsCodec(self.domain), space)
            begun = Journal.begin(journal, self.domain, written, __version__, time.time())
            self._context.log = EventLog(journal=begun)

    def _set_up(self, space: Space, options: StudyOptions, log: EventLog) -> None:
        """Put the parts together; unusable options are refused now, not at the first ask."""
        self._lock = threading.RLock()
        self.space, self.options = space, options
        self.direction, self.seed = options.direction, options.seed
        self.max_trials = options.max_trials
        domain = as_domain(space, options.constraints)  # type: ignore[arg-type]
        if options.start_from:  # which is proposed, so it is never off the table
            domain.encode(options.start_from)  # type: ignore[arg-type]  # a list by now
        self.domain = domain = accepting_off_table(domain) if options.off_table else domain
        self.cost_model = costs = cost_model(options.cost, space)
        model = ModelUpdates(domain, costs, options, self._refits)
        budget = Budget(options.budget)
        self._context = context = StudyContext(options, domain, costs, log, model, budget)
        self._spending = spending = Spending(context)
        self._design = design = InitialDesign(context, spending)
        self._snapshots = snapshots = Snapshots(
            context, design, spending, self._search, warm_starts=self._warm_starts
        )
        self._promising = promising = Promising(context)
        self._choosing = Choosing(context, design, spending, snapshots, promising)
        self.rules = obeyed_rules(options)
        self.watched = made_rules(options.watch, options.lam)
        self._unobeyed = [WorthRecorder()] * (options.budget_decides or options.trials_decide)
        self._deciding = Deciding(context, design, spending, snapshots, self.rules)
        self._asking = Asking(context, design, spending, self._choosing)
        self._staged = None
        if options.stages is not None:
            from stopwise.study.staged.parts import staged_parts  # which loads much

            parts = staged_parts(context, spending, self._search, self.rules, self.watched)
            self._design, self._snapshots, self._deciding, self._asking, _ = parts  # type: ignore[assignment]
            self._staged = parts
        self.notes: tuple[str, ...] = ()  # of a resume, for the user to read

    @classmethod
    def resume(cls, path: str | PathLike[str], *, again: bool = True, **given: Any) -> Study:  # noqa: ANN401
        """Continue the study of a journal, as if it had not been interrupted.

        Args:
            path: Path of the journal.
            again: Whether trials that were not told are handed out again by ``ask``, oldest
                first; False if somebody else is at work on them.
            **given: Objects that a file cannot hold (a function as ``cost=``, a rule that you
                wrote), and options to change: lam, stopping, watch, acquisition, budget,
                max_trials, value_name, cost_unit, off_table.
        """
        study = cls._of(resume(path, given, __version__, again=again))
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
        study.notes, study._context.lacking = resumed.notes, resumed.lacking  # noqa: SLF001
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

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

    @overload
    def ask(self, /, n: None = None, *, fixed: Mapping[str, Any] | None = None) -> Trial: ...

    @overload
    def ask(self, /, n: int, *, fixed: Mapping[str, Any] | None = None) -> list[Trial]: ...

    @exclusive
    def ask(
        self, n: int | None = None, *, fixed: Mapping[str, Any] | None = None
    ) -> Trial | list[Trial]:
        """The next configuration to evaluate.

        First the initial design, then the acquisition's choices, which account for pending trials.
        After an ask that was interrupted, the trial that it was about to return.

        Args:
            n: For a list of so many different trials; if there are fewer, a warning says why.
            fixed: Parameters that the trial must have at given values, such as ``{"act":
                "relu"}``; the others are chosen. A parameter with a condition needs those that
                it depends on fixed too.
        """
        self._context.log.check_writable()
        holding = None if fixed is None else Holding.of(self.domain, fixed)
        count = 1 if n is None else checked_whole("n", n)
        trials = self._asking.trials(count, holding)
        return trials[0] if n is None else trials

    @exclusive
    def tell(
        self,
        trial: TrialGiven,
        value: Value | Evaluation | Sequence[Value],
        cost: float | Sequence[float] | None = None,
        *,
        charge: bool | None = None,
        message: str = "",
        outcomes: Mapping[str, float] | None = None,
        step: int | None = None,
        done: bool | None = None,
    ) -> None:
        """Report an evaluation. To tell a trial again, with the same value and cost, is harmless.

        Args:
            trial: One that was asked for, its number or its params; or the params of data from
                elsewhere.
            value: The objective; None, nan or a value beyond 1e100, as infinities are, if the
                evaluation failed; an ``Evaluation``; or an outcome of
                ``stopwise.record.outcomes``, such as ``Pruned("at epoch 3")``. With noise, a list:
                repeats of this evaluation, each of which counts as one and is paid for.
            cost: The cost that was paid. It may be left out where it is known in advance. Of
                repeats a list, or what they cost together.
            charge: Whether it counts as spent; by default for trials of this study only. Without
                noise, params of a finished trial are one more evaluation only if this is given.
            message: Why the evaluation failed, if it did.
            outcomes: What was measured besides, by name: each outcome that has ``limits``, and
                any others.
            step: With stages, the step that was reached. It may be left out of data from
                elsewhere and of a trial that was handed out to its last step. The cost is then
                what the trial has cost so far, all its steps together.
            done: Whether the trial has ended; by default if it is at its last step.
        """
        began = time.perf_counter()
        self._context.log.check_writable()
        plain, cost, outcomes = unpacked(value, cost, outcomes)
        which = trial_or_params(self._context, trial)
        if self._staged is not None:
            self._tell_stage(which, plain, cost, (step, done, charge), message)
            return
        refuse_stages(step, done)
        said: dict[str, Any] = {"charge": charge, "message": message, "outcomes": outcomes}
        if was_told(self._context, which, plain, cost, **said):
            return
        told, *further = observations_of(self._context, which, plain, cost, **said)
        delivered = self._promising.delivered(told)
        self._context.log.commit(TrialTold(told, delivered, tuple(further)), began)

    @exclusive
    @single_threaded
    def should_stop(self) -> Verdict:
        """Whether to stop, and why. Asking twice gives the same answer and changes nothing."""
        began, log = time.perf_counter(), self._context.log
        if log.state.unanswered:
            return self._deciding.unanswered()
        self._design.give_up()
        if self._design.is_done:
            self._snapshots.record([*self.rules, *self.watched, *self._unobeyed])
            self._choosing.set_lam_of_budget()
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
        from stopwise.study.explanation import explain  # which loads much

        verdict = self.should_stop()
        if not self._design.is_done or self._staged is not None:
            return f"{verdict.rule}: {verdict.reason}."
        rules = [*self.rules, *self.watched]
        return explain(self._context, self._snapshots.now(), rules, verdict)

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
