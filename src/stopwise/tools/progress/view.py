# SPDX-License-Identifier: Apache-2.0
"""The view of a study, in words; it reads what is recorded and computes no signal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stopwise.acquisition.pbgi_d import WORTH
from stopwise.core.quantity import quantity
from stopwise.core.stages import Stages
from stopwise.core.traces import Trace
from stopwise.core.units import PLAIN, SECONDS, AnswerUnits, amount
from stopwise.record.history import Observation, Trial
from stopwise.record.staged import Leg, Report
from stopwise.stopping import StoppingRule, traits_of
from stopwise.stopping.signals import GAIN_PER_COST, gained, in_currency
from stopwise.stopping.verdict import Verdict
from stopwise.study import Study
from stopwise.study.feasible_worth import MostWorth
from stopwise.study.measured_beyond import beyond_words, within_words
from stopwise.tools.progress.words import configuration, shortened, times

COMPUTING = "being computed"
_NOT_COUNTED = ("failed", "infeasible")  # of an observation, as measured


@dataclass(frozen=True, slots=True)
class Gauge:
    """A sentence, and how full its bar is; None where there is nothing to measure.

    A sentence that is too long for a terminal goes on below, unless it is one of a list.
    """

    text: str
    share: float | None = None
    in_list: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A study at one moment; frozen, so that a thread that paints can read it at any time.

    Args:
        trials: How many were told, and how many there may be.
        best: The best value and its configuration.
        spent: What was spent, of the budget if there is one.
        next: What the best candidate that is left is expected to gain and to cost.
        gains: What the choices so far promised, and what came of them.
        stops: For each rule that is obeyed, how far it is from stopping; full means stop.
        running: Trials that were asked for and not told.
        promised: The gains that running trials promise, in words, by their numbers.
        note: What an interrupt does, while the run goes on.
        leg: With stages, how far the trial that was begun last is run; ``next`` is then empty.
    """

    trials: str
    best: str
    spent: Gauge
    next: str
    gains: str
    stops: tuple[Gauge, ...]
    running: tuple[Trial, ...]
    promised: Mapping[int, str] = field(default_factory=dict)
    note: str = ""
    leg: str = ""

    @property
    def at_the_end(self) -> View:
        """The view once the run is over: nothing runs, and nothing is being computed."""
        said = tuple(gauge for gauge in self.stops if gauge.text != COMPUTING)
        left = "" if self.next == COMPUTING else self.next
        return replace(self, running=(), note="", next=left, stops=said, leg="")


def units_of(study: Study, unit: str = "") -> AnswerUnits:
    """The names and units of a study; ``unit`` is that of costs, if it is another."""
    units = study.options.units
    return replace(units, cost_unit=unit) if unit else units


def view_of(study: Study, unit: str = "") -> View:
    """The study as it stands."""
    units, promises = units_of(study, unit), study.promises
    name = study.options.gain_unit
    leg = _leg(study)
    return View(
        _trials(study),
        _best(study),
        _spent(study, units),
        "" if leg else _next(study, units),
        promises.words(name) if len(promises.told) else "",
        _stops(study),
        _running(study),
        {
            p.trial: f"promises {f'{quantity(p.promised)} {name}'.strip()}"
            for p in promises
            if p.delivered is None
        },
        leg=leg,
    )


def _running(study: Study) -> tuple[Trial, ...]:
    """The trials that run; with stages each is expected to cost what its leg does."""
    running = tuple(trial for trial in study.pending if trial not in study.paused)
    stages, legs, curves = study.options.stages, study.legs, study.curves
    if not isinstance(stages, Stages):
        return running
    shares = {
        n: (legs[n][-1].to_step - (curves[n][-1].step if n in curves else 0)) / stages.last
        for n in (trial.number for trial in running)
        if n in legs
    }
    return tuple(
        replace(trial, expected_cost=trial.expected_cost * shares[trial.number])
        if trial.expected_cost is not None and trial.number in shares
        else trial
        for trial in running
    )


def _leg(study: Study) -> str:
    """With stages, how far the trial that was begun last is run, and what that is worth."""
    running = [t.number for t in study.pending if t not in study.paused and study.legs]
    if not running or not isinstance(study.options.stages, Stages):
        return ""
    return leg_words(study, running[-1])


def leg_words(study: Study, number: int) -> str:
    """How far a trial is run, and what that is worth."""
    stages = study.options.stages
    assert isinstance(stages, Stages)  # noqa: S101  the caller has seen to it
    leg = study.legs[number][-1]
    words = f"trial {number} to step {leg.to_step} of {stages.last}"
    if leg.worth is None:
        return words
    verb = "going on" if number in study.curves else "starting"
    return f"{words}, worth {verb}: {times(leg.worth)} its price"


def told(observation: Observation, units: AnswerUnits = PLAIN) -> str:
    """One evaluation: what it came to and what it cost."""
    cost = units.cost(observation.cost)
    if observation.failed:
        why = f": {shortened(observation.message, 60)}" if observation.message else ""
        return f"trial {observation.number} failed after {cost}{why}"
    value = units.value(float(observation.value or 0.0))
    text = f"trial {observation.number}: {value} for {cost}"
    return f"{text}, {beyond_words(units)}" if observation.infeasible else text


def reported(
    report: Report, stages: Stages, units: AnswerUnits = PLAIN, leg: Leg | None = None
) -> str:
    """One stage: what it came to, what the trial has cost so far, and why it was run to here."""
    at = f"at step {report.step} of {stages.last}"
    text = f"trial {report.trial}: {units.value(report.value)} {at} for {units.cost(report.cost)}"
    if leg is None or leg.worth is None:
        return text
    verb = "starting" if report.step == stages.steps[0] else "going on"
    return f"{text}, was worth {verb}: {times(leg.worth)} its price"


def _trials(study: Study) -> str:
    count, in_stages = len(study.history), study.options.stages is not None
    failed, infeasible = (sum(getattr(o, of) for o in study.history) for of in _NOT_COUNTED)
    text = f"{count + len(study.pending)} begun" if in_stages else f"{count}"
    if study.max_trials is not None:
        text += f" of at most {study.max_trials}"
    text += f", {count - failed} finished" if in_stages else ""
    text += f", {failed} failed" if failed else ""
    return f"{text}, {infeasible} {beyond_words(study.options.units)}" if infeasible else text


def _best(study: Study) -> str:
    best = study.best
    if best is None:
        return "none yet"
    worth = study.worth(best.value)
    worth_words = "" if worth is None else f", worth {in_currency(worth, study.options.currency)}"
    at = f"(trial {best.number}{within_words(best, study.options)})"
    value = study.options.units.value(best.value, best.std)
    return f"{value}{worth_words} {at} {configuration(best.params)}"


def _spent(study: Study, units: AnswerUnits) -> Gauge:
    spent = units.cost(study.spent)
    ours = f"; stopwise itself took {amount(study.own_seconds, SECONDS)}"
    if study.budget is None:
        return Gauge(f"{spent}{ours}")
    share = min(study.spent / study.budget, 1.0)
    return Gauge(f"{spent} of {units.cost(study.budget)}{ours}", share)


def _next(study: Study, units: AnswerUnits) -> str:
    """From the record of the gain per cost, which PBGI takes and every acquisition's ask."""
    record = study.traces.get(WORTH, Trace())
    facts = record.current.facts
    if "gain" not in facts:
        return ""
    if _is_stale(study, record):
        return "" if study.verdict is not None and study.verdict.stop else COMPUTING
    if math.isnan(facts["cost"]):
        return "nothing left that could gain anything"
    cost = units.cost(facts["cost"])
    return f"the best candidate left is expected to {gained(record.current)} for {cost}"


def _stops(study: Study) -> tuple[Gauge, ...]:
    """How far each rule that is obeyed is from stopping; a hard limit that has stopped it."""
    ended = study.verdict
    measured = {rule.name for rule in study.rules if rule.key in study.traces}
    if ended is not None and ended.stop and ended.rule not in measured:
        return (Gauge(f"{ended.rule}: {ended.reason}", 1.0),)
    if not any(rule.key in study.traces for rule in study.rules):
        first = _not_before(study)
        if first:
            return (Gauge(f"not before {first}"),)
    if not study.rules:
        words = "when nothing that is left is affordable"
        if ended is not None and ended.rule == "budget":
            words = ended.reason  # with the lam that the budget has set
        return (Gauge(words),)
    recorded = [rule for rule in study.rules if rule.key in study.traces]
    if any(_is_stale(study, study.traces[rule.key]) for rule in recorded):
        return (Gauge(COMPUTING),)
    return tuple(_distance(rule, study.traces[rule.key]) for rule in recorded)


def _not_before(study: Study) -> str:
    """What must have happened before rules are asked; empty if it has."""
    in_stages, wanted = study.options.stages is not None, study.n_initial
    known = len(study.history.succeeded)
    if in_stages:  # first stages, and what has failed before its own
        known = len({*study.curves, *(o.number for o in study.history)})
    if known < wanted:
        return f"the initial design is done, {known} of {wanted}"
    if in_stages:
        return "a trial has finished"
    if not study.options.limits:
        return ""
    given_up = ", or none is likely enough for its price" if MostWorth.key in study.traces else ""
    if study.options.noise is not None:
        believed = f"an evaluation is believed to keep all limits{given_up}"
        return "" if study.best is not None else believed
    return "" if study.history.feasible else f"an evaluation keeps all limits{given_up}"


def _is_stale(study: Study, record: Trace) -> bool:
    """Whether evaluations have come back since the last signal, so that it says nothing of now."""
    in_stages = study.options.stages is not None  # signals count reports there
    return not in_stages and record.current.n != len(study.history.succeeded)


def _distance(rule: StoppingRule, record: Trace) -> Gauge:
    verdict = rule.verdict(record)  # free: it reads recorded signals only
    if math.isnan(verdict.value) or math.isnan(verdict.threshold):
        return Gauge(f"{rule.name}: {verdict.reason}")
    traits = traits_of(rule)
    if traits.lam is None or traits.signal.unit != GAIN_PER_COST.unit:
        return Gauge(_compared(rule, verdict), 1.0 if verdict.stop else None)
    averaged = not math.isclose(verdict.value, record.current.value, abs_tol=1e-9)
    ratio = math.exp(min(verdict.value - verdict.threshold, 700.0))
    text = f"the best candidate left is worth {times(ratio)} its price"
    text += " (recent average)" if averaged else ""
    return Gauge(text, 1.0 if verdict.stop else _covered(record, verdict))


def _covered(record: Trace, verdict: Verdict) -> float | None:
    """How much of the way to the threshold is behind us, from the highest signal recorded."""
    excess = [s.value - verdict.threshold for s in record if math.isfinite(s.value)]
    left = verdict.value - verdict.threshold
    if not excess or not math.isfinite(left):
        return None
    return 1.0 - left / max(*excess, left) if left > 0 else 1.0


def _compared(rule: StoppingRule, verdict: Verdict) -> str:
    value, threshold = verdict.value, verdict.threshold
    if rule.signal_scale == "log":
        value, threshold = (math.exp(min(v, 700.0)) for v in (value, threshold))
    answer = "stop" if verdict.stop else "go on"
    at = quantity(threshold, value)
    return f"{rule.name}: {quantity(value, threshold)} where it stops at {at}: {answer}"


def summary(stops: Sequence[Gauge]) -> str:
    """The rules on one line."""
    return "; ".join(gauge.text for gauge in stops)
