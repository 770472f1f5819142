# SPDX-License-Identifier: Apache-2.0
"""The study: ask, tell, should_stop. The only class that changes.

Everything below it is a function of a ``Snapshot``; the study keeps the history, what runs, the
recorded signals and the last hyper-parameters, and makes a snapshot when one is needed.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from stopwise import acquisition as acquisitions
from stopwise.acquisition import LCB, PBGID, Acquisition, make_acquisition
from stopwise.core.beliefs.belief import Fitted
from stopwise.core.beliefs.prices import CostModel, cost_model, is_known, known_cost
from stopwise.core.beliefs.priors import priors
from stopwise.core.checks import (
    checked_budget,
    checked_cost,
    checked_direction,
    checked_noise,
    checked_params,
    checked_replicates,
    checked_value,
    checked_whole,
    listed,
)
from stopwise.core.exchange_rate import check_lam
from stopwise.core.numerics.threads import single_threaded
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Finite, Space, as_domain
from stopwise.core.traces import Signal, Trace
from stopwise.errors import InputError
from stopwise.record.events import (
    Asked,
    AskedAgain,
    Designed,
    Dropped,
    Event,
    Judged,
    Recorded,
    Settled,
    Told,
)
from stopwise.record.history import History, Observation, Trial
from stopwise.record.journal import Journal, ResumeWarning
from stopwise.record.journal import read as read_journal
from stopwise.record.state import State
from stopwise.stopping import (
    LogEIPCMedian,
    StoppingRule,
    Verdict,
    make_rule,
)
from stopwise.study.budget import expected_range, lam_for_budget, most_payable
from stopwise.study.explanation import explain
from stopwise.study.guarantee import Guarantee, broken_assumptions, check_risk, matched_lam
from stopwise.study.hard_limits import (
    cap_verdict,
    exhausted_verdict,
    failures_verdict,
    is_exhausted,
    money_verdict,
)
from stopwise.study.initial_design import initial_design
from stopwise.study.model_updates import Believer
from stopwise.study.result import Best, Result

Rules = str | StoppingRule | Sequence[str | StoppingRule]
Cost = None | str | Callable[[Mapping[str, Any]], float] | ArrayLike | CostModel

_VERSION = version("stopwise")
_MORE = 64  # points among which an affordable one is looked for while nothing is known
_LEAST_GAIN = 1e-9  # of the spread of values: what a budget aims at where nothing seems left
_WORTH_RECORDER = LogEIPCMedian()  # its signal is free of lambda; PBGI-D reads it


class Study:
    """Bayesian optimization that stops when nothing is worth its price.

    Args:
        space: A dict of ``Real``, ``Integer`` and ``Categorical``, or ``Candidates``.
        lam: What a unit of cost is worth, in objective units; see ``exchange_rate``. (The paper's
            values are for percentage points: accuracy in [0, 1] needs values 100 times smaller.)
        cost: None (each evaluation costs 1), a callable of the params, an array with one cost per
            row of ``Candidates``, ``"seconds"`` or ``"reported"`` (told, and learned), or a
            ``CostModel``.
        budget: What may be spent in all. Without lam it also chooses: PBGI-D from
            lambda = U/(B - C) on, among what is affordable, until nothing is.
        direction: ``"minimize"`` or ``"maximize"``.
        acquisition: A name of ``ACQUISITIONS`` or an acquisition.
        stopping: A name of ``RULES``, a rule, or several: any of them stops. ``"pbgi"`` is
            ``PBGI(lam)``, the rule that the paper's theorem is about.
        watch: Rules that are recorded but not obeyed.
        noise: None where evaluations are exact, a variance in squared objective units, or
            ``"learn"``.
        replicates: With noise, whether a configuration may be evaluated again.
        prior: Of the hyper-parameters: ``"lognormal"``, ``"gamma"`` or None.
        n_initial: Size of the initial design; 2(d + 1) if left out.
        start_from: Configurations that are tried first.
        seed: Makes everything that is random repeatable.
        max_trials: A hard cap on trials, the initial design included.
        journal: A path. Everything that happens is written there, a line of JSON each, before
            the call returns; ``Study.resume(path)`` goes on with it after whatever happened.

    Example:
        >>> import stopwise as sw
        >>> study = sw.Study({"x": sw.Real(0, 1)}, lam=0.01)
        >>> while not study.should_stop().stop:
        ...     trial = study.ask()
        ...     study.tell(trial, (trial.params["x"] - 0.3) ** 2)
        >>> abs(study.best.params["x"] - 0.3) < 0.1
        True
    """

    def __init__(  # noqa: PLR0915  a line for each option, a line for each state
        self,
        space: Space,
        *,
        lam: float | None = None,
        cost: Cost = None,
        budget: float | None = None,
        direction: Literal["minimize", "maximize"] = "minimize",
        acquisition: str | Acquisition = "pbgi",
        stopping: Rules = "pbgi",
        watch: Rules = (),
        noise: float | Literal["learn"] | None = None,
        replicates: bool = False,
        prior: str | None = "lognormal",
        n_initial: int | None = None,
        start_from: Iterable[Mapping[str, Any]] = (),
        seed: int = 0,
        max_trials: int | None = None,
        journal: str | PathLike[str] | None = None,
    ) -> None:
        if lam is not None:
            check_lam(lam)
        self.space = space
        self.domain = as_domain(space)
        self.direction = checked_direction(direction)
        self.seed = checked_whole("seed", seed, least=0)
        self.max_trials = None if max_trials is None else checked_whole("max_trials", max_trials)
        default = 2 * (self.domain.d + 1)
        self.n_initial = checked_whole("n_initial", default if n_initial is None else n_initial)
        self.budget = None if budget is None else checked_budget(budget)
        by_budget = lam is None and budget is not None
        # Without lam a budget sets it, after the initial design: PBGI-D, and no rule but money.
        self.acquisition: Acquisition | None = (
            None
            if by_budget and acquisition in ("pbgi", "pbgi-d")
            else make_acquisition(acquisition, lam)
        )
        only_price = by_budget and listed(stopping) == ["pbgi"]
        self.rules = [] if only_price else self._made(stopping, lam)
        if not self.rules and budget is None:
            message = (
                "stopping=[] would never stop: give a rule; sw.stopping.FixedTrials(n) or"
                " max_trials= stop after a number, and watch= takes rules that are only recorded."
            )
            raise InputError(message)
        self.watched = self._made(watch, lam)
        self.cost_model = cost_model(cost, space)
        self._noise = checked_noise(noise)
        self._replicates = checked_replicates(replicates, noise)
        priors(prior, self.domain.d)  # refuse a name that is not known now, not at the first fit
        self._believer = Believer(self.domain, self.cost_model, self._sign, self._noise, prior)
        first = [start_from] if isinstance(start_from, Mapping) else list(start_from)
        self._believer.encoded(first)  # refuse what is not in the space now, not later
        self._start_from = [dict(params) for params in first]

        self._state = State()
        self._snapshot: Snapshot | None = None
        self._journal: Journal | None = None
        self._only_looked_at = False
        self.notes: tuple[str, ...] = ()  # what a resume had to say
        if journal is not None:
            options = {
                "lam": lam,
                "cost": cost if cost is None or isinstance(cost, str) else self.cost_model,
                "budget": budget,
                "direction": direction,
                "acquisition": acquisition,
                "stopping": stopping,
                "watch": watch,
                "noise": noise,
                "replicates": replicates,
                "prior": prior,
                "n_initial": n_initial,
                "start_from": self._start_from,
                "seed": seed,
                "max_trials": max_trials,
            }
            self._journal = Journal.begin(journal, self.domain, options, _VERSION, time.time())

    @classmethod
    def resume(cls, path: str | PathLike[str], **given: Any) -> Study:  # noqa: ANN401
        """Go on with a journal, as if nothing had happened in between.

        Trials that nobody answered are handed out again by ``ask``, oldest first.

        Args:
            path: Of the journal.
            **given: What a file cannot hold (a function as ``cost=``, a rule of one's own), and
                what is to change: lam, stopping, watch, acquisition, budget, max_trials.
        """
        study = cls._read(path, given, to_write=True)
        for note in study.notes:
            warnings.warn(note, ResumeWarning, stacklevel=2)
        return study

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Study:
        """Look at a journal, also one that is being written; nothing can be asked or told."""
        return cls._read(path, {}, to_write=False)

    @classmethod
    def _read(cls, path: str | PathLike[str], given: dict[str, Any], *, to_write: bool) -> Study:
        reading = read_journal(path, given, _VERSION, time.time(), to_write=to_write)
        try:
            study = cls(reading.space, **reading.options)
        except BaseException:
            if reading.journal is not None:
                reading.journal.close()
            raise
        study._state = reading.state
        if study._state.lam0 is not None and study.acquisition is None:
            study.acquisition = PBGID(study._state.lam0)
        study._journal, study._only_looked_at = reading.journal, not to_write
        study.notes = reading.notes
        return study

    def close(self) -> None:
        """Close the journal, so that another study may go on with it; looking still works."""
        if self._journal is not None:
            self._journal.close()

    def _check_writable(self) -> None:
        if self._only_looked_at:
            message = (
                "this study was loaded to be looked at: Study.resume(path) goes on with a journal."
            )
            raise InputError(message)

    def __repr__(self) -> str:
        best = min(
            (self._sign * float(o.value or 0.0) for o in self._state.history.succeeded),
            default=None,
        )
        told = f"{len(self._state.history)} told, {len(self._state.pending)} pending"
        return f"<Study: {told}, best {'none' if best is None else quantity(self._sign * best)}>"

    # ------------------------------------------------------------------ looking

    @property
    def history(self) -> History:
        """Every observation, in the user's units."""
        return self._state.history

    @property
    def pending(self) -> tuple[Trial, ...]:
        """Trials that were asked for and not yet told."""
        return tuple(self._state.pending.values())

    @property
    def traces(self) -> Mapping[str, Trace]:
        """The recorded signals, by key; what ``replay`` reads."""
        return dict(self._state.traces)

    @property
    def spent(self) -> float:
        """Sum of the costs charged so far."""
        return self._state.history.spent

    @property
    def best(self) -> Best | None:
        """The best configuration, the first of equals; None before any has succeeded.

        With noise it is the one with the best posterior mean, reported with its deviation.
        """
        found = self._state.history.succeeded
        if not found:
            return None
        if self._noise is None:
            best = min(found, key=lambda o: self._sign * float(o.value or 0.0))
            return Best(dict(best.params), float(best.value or 0.0), best.number)
        return self._believed_best(found)

    @single_threaded
    def _believed_best(self, found: Sequence[Observation]) -> Best:
        snapshot = self._now().prefix(len(found))  # what is believed of failures is no data
        best = found[snapshot.incumbent]
        law = snapshot.belief.objective.law(snapshot.X[[snapshot.incumbent]])
        value, std = self._sign * float(law.mean[0]), float(law.std[0])
        return Best(dict(best.params), value, best.number, std)

    def result(self) -> Result:
        """Where the study stands."""
        verdict = self.should_stop() if self._state.verdict is None else self._state.verdict
        return Result(self.best, verdict, self.spent, self._state.history, self.traces, self)

    @single_threaded
    def snapshot(self) -> Snapshot:
        """This moment as acquisitions and rules see it: encoded, and to be minimised."""
        return self._now()

    # --------------------------------------------------------------- ask and tell

    @single_threaded
    def ask(self) -> Trial:
        """The next configuration to evaluate.

        First the initial design, then what the acquisition chooses, knowing what is pending.
        """
        began = time.perf_counter()
        self._check_writable()
        if self._state.unanswered:
            trial = self._state.pending[self._state.unanswered[0]]
            self._happen(AskedAgain(trial.number), began)
            return replace(trial, params=dict(trial.params))
        if self._state.initial is None:
            self._settle_design()
        designed = self._next_of_design()
        params, fitted = self._choose() if designed is None else (designed, None)
        trial = Trial(self._state.next, params, self._foreseen(params))
        self._happen(Asked(trial, designed is not None, fitted), began)
        return replace(trial, params=dict(params))  # the caller's to change

    def tell(
        self,
        trial: Trial | Mapping[str, Any],
        value: float | None,
        cost: float | None = None,
        *,
        charge: bool | None = None,
        message: str = "",
    ) -> None:
        """Report an evaluation.

        Args:
            trial: One that was asked for (its params will do), or the params of data from
                elsewhere.
            value: The objective; None, nan or an infinity if the evaluation failed.
            cost: What was paid. It may be left out where the cost is known.
            charge: Whether it counts as spent; by default for trials of this study only.
            message: Why the evaluation failed, if it did.
        """
        began = time.perf_counter()
        self._check_writable()
        told = self._identified(trial)
        asked = told.number in self._state.pending
        checked = checked_value(value)
        if checked is None and value is not None:
            message = message or f"the value was {value!r}"
        observation = Observation(
            told.number,
            told.params,
            checked,
            self._checked_cost(told.params, cost, failed=checked is None),
            asked if charge is None else charge,
            message,
            told.expected_cost,
        )
        self._happen(Told(observation), began)

    def drop(self, trial: Trial) -> None:
        """Give a trial up: nobody will tell it, and its configuration may be chosen again.

        Args:
            trial: One of ``pending``.
        """
        began = time.perf_counter()
        self._check_writable()
        if self._state.pending.get(trial.number) != trial:
            message = (
                f"trial {trial.number} is not pending; pending are"
                f" {sorted(self._state.pending) or 'none'}."
            )
            raise InputError(message)
        self._happen(Dropped(trial.number), began)

    @single_threaded
    def should_stop(self) -> Verdict:
        """Whether to stop, and why. Asking twice gives the same answer and changes nothing."""
        began = time.perf_counter()
        if self._state.unanswered:
            return self._unanswered_verdict()
        if self._is_past_design:
            self._take_signals([*self.rules, *self.watched])
        outer = self._outer_verdict()
        verdict = self._rules_verdict() if outer is None else outer
        if self._state.pending and verdict.rule != "initial":
            running = f"for new trials; {len(self._state.pending)} still running"
            verdict = replace(verdict, reason=f"{verdict.reason} ({running})")
        if verdict != self._state.verdict:
            self._happen(Judged(verdict), began)
        return verdict

    @single_threaded
    def explain(self) -> str:
        """The answer in words: what is left to be gained, what it costs, when one would go on.

        It warns of thresholds that the model cannot resolve or that are off the data's scale.
        """
        verdict = self.should_stop()
        if not self._is_past_design:
            return f"{verdict.rule}: {verdict.reason}."
        rules = [*self.rules, *self.watched]
        return explain(self._now(), rules, verdict, self.domain.decode)

    @single_threaded
    def record(self, *rules: str | StoppingRule, lam: float | None = None) -> None:
        """Record more rules at this moment, for ``replay``; the study's path does not change.

        Before the end of the initial design there is nothing to record.
        """
        made = self._made(rules, lam)
        if self._is_past_design:
            self._take_signals(made)

    @single_threaded
    def guarantee(self, delta: float = 0.05) -> Guarantee:
        """What the paper proves for this study, and which of its assumptions do not hold here.

        Args:
            delta: Risk of the bound on the number of evaluations.
        """
        lam = matched_lam(self.rules)
        if lam is None or not self._is_past_design:
            message = (
                "a guarantee needs a PBGI stopping rule and a finished initial design; this study"
                f" has {[rule.name for rule in self.rules]} and"
                f" {len(self._state.history.succeeded)} of {self._design_size} observations."
            )
            raise InputError(message)
        check_risk(delta)
        first = self._now().prefix(self._design_size)
        empty = replace(first.prefix(0), pending=first.pending[:0], failed=None, _memo={})
        gain = expected_range(first)
        failed = sum(o.failed for o in self._state.history)
        return Guarantee(
            lam,
            gain.value,
            gain.error,
            self._design_cost,
            delta,
            empty.cheapest if is_known(self.cost_model) else None,
            broken_assumptions(
                self.acquisition,
                self.rules,
                noisy=self._noise is not None,
                failures=failed,
                pending=len(self._state.pending),
            ),
        )

    # -------------------------------------------------------------------- details

    @property
    def _design_cost(self) -> float:
        """C: what the observations up to t = 0 cost, failures among them included."""
        told, cost = 0, 0.0
        for observation in self._state.history:
            if told == self._design_size:
                break
            told += not observation.failed
            cost += observation.cost if observation.charged else 0.0
        return cost

    @property
    def _sign(self) -> float:
        return 1.0 if self.direction == "minimize" else -1.0

    def _made(self, given: Rules, lam: float | None) -> list[StoppingRule]:
        return [make_rule(rule, lam) for rule in listed(given)]

    def _identified(self, told: Trial | Mapping[str, Any]) -> Trial:
        """The pending trial that is told, or a new one for data from elsewhere."""
        if not isinstance(told, Trial):
            key = self.domain.key(self.domain.encode(checked_params(told)))
            same = [
                t
                for t in self.pending
                if self.domain.key(self._believer.encoded([t.params])) == key
            ]
            return same[0] if same else Trial(self._state.next, dict(told))
        asked = self._state.pending.get(told.number)
        if asked is not None and all(told.params.get(k) == v for k, v in asked.params.items()):
            return asked
        if asked is not None:
            state = f"has params {dict(told.params)} where this study asked for {asked.params}"
        elif any(o.number == told.number for o in self._state.history):
            state = "was told already"
        else:
            state = "was not asked of this study"
        message = (
            f"trial {told.number} {state}; pending are {sorted(self._state.pending) or 'none'}."
            " Tell each trial once, as it was asked, or tell params (a dict) for data from"
            " elsewhere."
        )
        raise InputError(message)

    def _checked_cost(
        self, params: Mapping[str, Any], given: float | None, *, failed: bool
    ) -> float:
        known = known_cost(self.cost_model, self.domain, params) if given is None else given
        if known is None and failed:
            return 0.0  # what it cost before it failed, nobody can say
        if known is None:
            message = (
                "a cost is missing: this study learns costs from what is paid, so tell it:"
                " study.tell(trial, value, cost). With minimize(), cost='seconds' measures it and"
                " cost='reported' reads it from an objective that returns (value, cost)."
            )
            raise InputError(message)
        return checked_cost(known)

    def _planned(self) -> list[dict[str, Any]]:
        """What the initial design still lacks; data told before the first ask are part of it."""
        told = len(self._state.history.succeeded)
        return self._design(self.n_initial - told, self._start_from)

    def _settle_design(self) -> None:
        """The design begins with what was told, so t counts from max(n_initial, data told)."""
        queue = self._planned()
        if self.budget is not None and is_known(self.cost_model):
            design = sum(map(self._expected, queue))
            lam_for_budget(1.0, self.budget, self.spent + design)  # refuses B <= C
        told = len(self._state.history.succeeded)
        self._happen(Designed(told + len(queue), tuple(queue)))

    def _next_of_design(self) -> dict[str, Any] | None:
        """The next affordable point of the initial design, if there is one."""
        while self._state.queue:
            params, *others = self._state.queue
            if self._is_payable(params):
                return dict(params)
            self._happen(Designed(max(self._design_size - 1, 1), tuple(others)))
        return None

    def _more_of_design(self) -> dict[str, Any] | None:
        """Another point like those of the design, affordable; where some failed, say."""
        tried = (params for size in (1, _MORE) for params in self._design(size))
        return next(filter(self._is_payable, tried), None)

    def _design(self, size: int, first: Sequence[Mapping[str, Any]] = ()) -> list[dict[str, Any]]:
        """Points of the initial design that are neither known nor pending."""
        known = [o.params for o in self._state.history] + [
            t.params for t in self._state.pending.values()
        ]
        return initial_design(
            self.domain,
            size,
            start_from=first,
            known=self.domain.encode(known) if known else np.empty((0, self.domain.width)),
            cost=self.cost_model,
            seed=self.seed,
        )

    def _choose(self) -> tuple[dict[str, Any], Fitted | None]:
        """The acquisition's choice; more of the design while there is too little to believe.

        With it come the hyper-parameters behind it, if anything was believed.
        """
        if self._is_exhausted():
            raise self._nothing_left()
        told = len(self._state.history.succeeded)
        if not told or told + len(self._state.pending) < self._design_size:
            more = self._more_of_design()
            if more is not None:
                return more, None
            if not told:
                raise self._nothing_left()
        if told >= self._design_size:
            self._take_signals([_WORTH_RECORDER])
        snapshot = self._believing(self._now())
        x = snapshot.sup(self._chooser_at(snapshot)).x
        if x is None:  # a score may be -inf wherever nothing at all can be gained
            x = snapshot.sup(LCB()).x
        if x is None:
            raise self._nothing_left()
        return self.domain.decode(x[None, :])[0], snapshot.belief.fitted

    def _nothing_left(self) -> InputError:
        money = "" if self.budget is None else f" and {self._left():g} may still be spent"
        return InputError(
            f"there is nothing left to ask: {len(self._state.history)} configurations are"
            f" evaluated, {len(self._state.pending)} pending{money}. Ask should_stop() before"
            " ask()."
        )

    def _chooser_at(self, snapshot: Snapshot) -> Acquisition:
        """The acquisition; gain per cost where only a smoothed or silenced rule still goes on.

        Once nothing is worth its price, the lowest fair value on a box is that of a copy of the
        incumbent, from which nothing is learned.
        """
        chooser = self._chooser()
        if not isinstance(chooser, acquisitions.PBGI) or isinstance(self.domain, Finite):
            return chooser
        gain_per_cost = acquisitions.LogEIPC()
        worth = snapshot.sup(gain_per_cost).value > math.log(chooser.lam)
        return chooser if worth else gain_per_cost

    def _chooser(self) -> Acquisition:
        """The acquisition; by a budget alone it is settled after the initial design."""
        if self.acquisition is None:
            snapshot = self._now()
            first = snapshot.prefix(min(self._design_size, snapshot.n))
            spread = snapshot.belief.objective.unit
            gain = max(expected_range(first).value, _LEAST_GAIN * spread)
            budget = self.budget or 0.0
            paid = min(self._design_cost, 0.999 * budget)
            chooser = PBGID(lam_for_budget(gain, budget, paid))
            if not self._is_past_design:
                return chooser  # of many at once; what is settled knows the whole design
            self._happen(Settled(chooser.lam0))
            self.acquisition = chooser
        return self.acquisition

    @property
    def _design_size(self) -> int:
        """Observations at t = 0; settled at the first ask."""
        if self._state.initial is not None:
            return self._state.initial
        return len(self._state.history.succeeded) + len(self._planned())

    @property
    def _is_past_design(self) -> bool:
        """Whether there is enough to believe something, so that rules can be asked."""
        return len(self._state.history.succeeded) >= max(self._design_size, 1)

    def _now(self) -> Snapshot:
        """The snapshot of this moment; kept until something is asked or told."""
        if self._snapshot is None:
            X, y = self._believer.observed(self._state.history)
            self._snapshot = Snapshot(
                self.domain,
                X,
                y,
                self._believer.belief(self._state),
                self._believer.encoded([t.params for t in self._state.pending.values()]),
                initial=self._design_size,
                traces=self.traces,
                seed=self.seed,
                trial=self._state.next,
                failed=self._believer.encoded([o.params for o in self._state.history if o.failed]),
                left=self._most_payable(),
                replicates=self._replicates,
            )
        return self._snapshot

    def _left(self) -> float:
        """What may still be spent: the budget less what was, and what runs is expected to be."""
        if self.budget is None:
            return math.inf
        return self.budget - self._committed()

    def _committed(self) -> float:
        """What was spent, and what runs is expected to cost, added up in this order."""
        running = (self._expected(trial.params) for trial in self._state.pending.values())
        return sum(running, self.spent)

    def _most_payable(self) -> float:
        return math.inf if self.budget is None else most_payable(self.budget, self._committed())

    def _is_payable(self, params: Mapping[str, Any]) -> bool:
        return self.budget is None or self._expected(params) <= self._most_payable()

    def _expected(self, params: Mapping[str, Any]) -> float:
        """What an evaluation is expected to cost; 0 while nothing is known of costs."""
        return self._believer.expected_cost(params, self._state)

    def _foreseen(self, params: Mapping[str, Any]) -> float | None:
        """What a trial is expected to cost, where that is known or enough was paid to learn it."""
        if is_known(self.cost_model) or self._is_past_design:
            return self._expected(params)
        return None

    def _believing(self, snapshot: Snapshot) -> Snapshot:
        """For choosing only: what runs is believed to come out at its mean."""
        if not len(snapshot.pending):
            return snapshot
        objective = snapshot.belief.posterior
        for x in snapshot.pending:
            objective = objective.append(x, float(objective.law(x[None, :]).mean[0]))
        return replace(snapshot, belief=replace(snapshot.belief, objective=objective), _memo={})

    def _take_signals(self, rules: Iterable[StoppingRule]) -> None:
        """Record each rule's signal at this number of observations, once per key."""
        began = time.perf_counter()
        snapshot = self._now()
        taken: dict[str, Signal] = {}
        for rule in rules:
            trace = self._state.traces.get(rule.key, Trace())
            if rule.key not in taken and (not len(trace) or trace.current.n != snapshot.n):
                taken[rule.key] = rule.signal(snapshot)
        if taken:
            self._happen(Recorded(taken), began)
        self._snapshot = replace(snapshot, traces=self.traces)  # what was computed is kept

    def _happen(self, event: Event, began: float | None = None) -> None:
        """Let something happen: on disk first, so that nothing done is ever lost."""
        if self._journal is not None:
            took = {} if began is None else {"seconds": time.perf_counter() - began}
            self._journal.append(event, at=time.time(), **took)
        self._state.apply(event)
        if not isinstance(event, Recorded | Judged | AskedAgain):
            self._snapshot = None

    # ------------------------------------------------------------------ verdicts

    def _unanswered_verdict(self) -> Verdict:
        """After a resume: go on, since what was begun is to be finished first."""
        numbers = ", ".join(map(str, self._state.unanswered))
        rule = self.rules[0].name if self.rules else "budget"
        sentence = (
            f"asked for before the study was resumed, and never answered: trial {numbers}; ask()"
            " hands them out again, drop() gives one up: go on"
        )
        return Verdict.not_yet(rule, sentence)

    def _outer_verdict(self) -> Verdict | None:
        """What the study itself says before any rule is asked."""
        failed = failures_verdict(self._state.history)
        if failed is not None:
            return failed
        if self._is_exhausted():
            return exhausted_verdict(len(self.domain))  # type: ignore[arg-type]  # it is finite
        ended = cap_verdict(self._state.asked, self.max_trials) or self._budget_verdict()
        if ended is not None:
            return ended
        told, size = len(self._state.history.succeeded), self._design_size
        if told < size:
            return Verdict.not_yet("initial", f"initial design, {told} of {size}", float(told))
        return None

    def _budget_verdict(self) -> Verdict | None:
        """Stop if nothing that could be asked for is expected to be affordable."""
        told = len(self._state.history.succeeded)
        if self.budget is None or (self._state.initial is None and not told):
            return None  # the first ask refuses what does not pay for the design
        if told:
            cheapest = self._now().cheapest
        else:
            cheapest = min(
                map(self._expected, self._state.queue or self._design(_MORE))
            )  # not empty
        left = self._left()
        if left > 0 and cheapest <= self._most_payable():
            return None
        return money_verdict(spent=self.spent, budget=self.budget, left=left, cheapest=cheapest)

    def _is_exhausted(self) -> bool:
        told = [o.params for o in self._state.history if o.failed or not self._replicates]
        running = [t.params for t in self._state.pending.values()]
        return is_exhausted(self.domain, self._believer.encoded(told + running))

    def _trace(self, rule: StoppingRule) -> Trace:
        """The record of a rule; its last signal is taken anew if trials were begun since.

        There is one record per number of observations, but what runs by now is not to be begun.
        """
        trace = self._state.traces[rule.key]
        if self._state.beside[rule.key] == len(self._state.pending):
            return trace
        return Trace.of((*trace.signals[:-1], rule.signal(self._now())))

    def _rules_verdict(self) -> Verdict:
        """Of the rules that are to be obeyed the first that stops answers."""
        verdicts = [rule.verdict(self._trace(rule)) for rule in self.rules]
        if not verdicts:  # the budget alone decides
            sentence = (
                f"{quantity(self._left())} of {quantity(self.budget or 0.0)} are left: go on"
            )
            verdicts = [Verdict.not_yet("budget", sentence)]
        return next((v for v in verdicts if v.stop), verdicts[0])
