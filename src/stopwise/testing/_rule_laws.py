# SPDX-License-Identifier: Apache-2.0
"""The laws of stopping rules. Each is one function, and a line of ``RULE_LAWS``."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np

from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Trace
from stopwise.record.replay import replay
from stopwise.stopping import RULES, StoppingRule, traits_of
from stopwise.stopping.verdict import Verdict
from stopwise.testing._law import (
    Case,
    Law,
    LawBroken,
    is_a_value,
    numbers_of,
    same,
    with_parameters,
)
from stopwise.testing._looking import rule_looked_at
from stopwise.testing._problems import in_other_units, prohibitive_costs, with_costs
from stopwise.testing._records import (
    alike,
    all_of,
    contents,
    lengthened,
    level,
    moments,
    moves_by,
    near,
    prefixes,
    recorded,
    relatives,
    same_decisions,
)
from stopwise.testing._studies import live, told
from stopwise.testing._trait_laws import TRAIT_LAWS

RuleCase = Case[StoppingRule]

_FACTOR = 4.0  # a power of two, so that a change of units does not round
_SHIFT = 3.0
_LAMBDAS = np.geomspace(1e-8, 1e2, 21)


def name(case: RuleCase) -> None:
    """Name, key and scale are in order; a rule of stopwise's own is listed in RULES."""
    rule = case.subject
    words: dict[str, object] = {"name": rule.name, "key": rule.key}
    for what, given in words.items():
        if not given or not isinstance(given, str):
            raise LawBroken(f"its {what} is {given!r}; give a word")
    if rule.signal_scale not in ("log", "linear"):
        raise LawBroken(f"its signal_scale is {rule.signal_scale!r}; give 'log' or 'linear'")
    if type(rule).__module__.startswith("stopwise.stopping.") and rule.name not in RULES:
        raise LawBroken(f"its name {rule.name!r} is not among {', '.join(RULES)}")


def moment(case: RuleCase) -> None:
    """A signal is of the snapshot's t and n, on every kind of domain."""
    for what, snapshot in moments():
        signal = case.subject.signal(snapshot)
        same(f"{what}: t of snapshot and signal", snapshot.t, signal.t)
        same(f"{what}: n of snapshot and signal", snapshot.n, signal.n)
        if not isinstance(signal.value, float):
            raise LawBroken(f"{what}: the value is {signal.value!r}, not a float")


def pure(case: RuleCase) -> None:
    """Asked twice, or of an equal snapshot, a signal is the same; the snapshot is untouched."""
    rule = case.subject
    for (what, snapshot), (_, twin) in zip(moments(), moments(), strict=True):
        before = contents(snapshot)
        signal = rule.signal(snapshot)
        for part, content in contents(snapshot).items():
            same(f"{what}: {part} of the snapshot, before and after", before[part], content)
        alike(f"{what}: the signal, asked twice", signal, rule.signal(snapshot))
        alike(f"{what}: the signal of an equal snapshot", signal, rule.signal(twin))
    trace = recorded(rule)
    same("the verdict, asked twice", rule.verdict(trace), rule.verdict(trace))


def key(case: RuleCase) -> None:
    """Rules that share a key share the number: it names all that the signal depends on."""
    rule = case.subject
    mine = recorded(rule)
    for other in relatives(rule):
        if other.key == rule.key and other != rule:
            what = f"{rule.key!r}, recorded by {rule!r} and by {other!r}"
            for signal, theirs in zip(mine, recorded(other), strict=True):
                alike(what, signal, theirs)


def replayed(case: RuleCase) -> None:
    """A verdict reads only the record: replay gives what the study said, word by word."""
    study, verdicts = live([case.subject], tree=True)
    [again] = replay(study.traces, [case.subject])
    for t, verdict in verdicts.items():
        same(f"t = {t}: the verdict, live and replayed", verdict, again.verdicts[t])


def once(case: RuleCase) -> None:
    """Asking twice adds nothing to the record and gives the same answer."""
    study, _ = live([case.subject], steps=3)
    first, record = study.should_stop(), study.traces
    same("the answer, asked twice", first, study.should_stop())
    same("the record, after one question and after two", record, study.traces)


def watching(case: RuleCase) -> None:
    """Watching or obeying the rule does not change what a study evaluates."""
    alone, _ = live([])
    for obeyed in (False, True):
        study, _ = live([case.subject], obeyed=obeyed)
        how = "obeyed" if obeyed else "watched"
        for n, (one, other) in enumerate(zip(told(alone), told(study), strict=True)):
            same(f"evaluation {n}, without the rule and with it {how}", one, other)


def nan(case: RuleCase) -> None:
    """Nan never stops, nor does an empty record."""
    for trace in all_of(case.subject):
        now = replace(trace.current, value=math.nan)
        verdict = case.subject.verdict(Trace((*trace.signals[:-1], now), now))
        if verdict.stop:
            raise LawBroken(f"t = {now.t}: the value is nan and the verdict is {verdict!r}")


def ties(case: RuleCase) -> None:
    """A value equal to the threshold stops."""
    for trace in all_of(case.subject):
        threshold = case.subject.verdict(trace).threshold
        if not math.isfinite(threshold):
            continue
        for verdict in near(case.subject, trace, threshold):
            if verdict.value == verdict.threshold and not verdict.stop:
                raise LawBroken(f"t = {trace.current.t}: a tie goes on: {verdict!r}")


def answers(case: RuleCase) -> None:
    """It answers somewhere in the records it is judged by; else most laws would say nothing."""
    verdicts = [case.subject.verdict(trace) for trace in all_of(case.subject)]
    _require_an_answer("the records of up to 64 evaluations", verdicts)


def _require_an_answer(where: str, verdicts: list[Verdict]) -> None:
    if all(math.isnan(verdict.threshold) for verdict in verdicts):
        raise LawBroken(
            f"it never answered in {where}, so nothing was checked there; the last of"
            f" {len(verdicts)} verdicts is {verdicts[-1]!r}. Give it shorter windows or waiting"
            " times for the check"
        )


def gaps(case: RuleCase) -> None:
    """Several tells may lie between two questions: a record is read by t, not by position."""
    rule = case.subject
    record = recorded(rule)
    rule.verdict(Trace.of(record.signals[::7]))
    signals = level(lengthened(record)).signals  # one number, so that gaps hide none
    for last in (7, 21, len(signals) - 1):
        kept = [s for s in signals[:last] if s.t % 3 != 2]
        full, thin = (Trace.of((*past, signals[last])) for past in (signals[:last], kept))
        one, other = rule.verdict(full), rule.verdict(thin)
        same(f"t = {last}: stop, asked every time and with gaps", one.stop, other.stop)
        numbers = (one.value, one.threshold), (other.value, other.threshold)
        if not np.allclose(*numbers, equal_nan=True):
            raise LawBroken(
                f"t = {last}: value and threshold were {numbers[0]} when asked every time and are"
                f" {numbers[1]} with gaps"
            )


def reason(case: RuleCase) -> None:
    """A verdict bears the rule's name and a reason: numbers where it answers, and never nan."""
    for trace in all_of(case.subject):
        verdict = case.subject.verdict(trace)
        same("the name, of the rule and in its verdict", case.subject.name, verdict.rule)
        if not isinstance(verdict.stop, bool):
            raise LawBroken(f"stop is {verdict.stop!r}, not True or False")
        numbered = any(c.isdigit() for c in verdict.reason)
        if not verdict.reason or (math.isfinite(verdict.value) and not numbered):
            raise LawBroken(f"t = {trace.current.t}: the reason has no numbers: {verdict!r}")
        if len(trace) and re.search(r"\bnan\b", verdict.reason, re.IGNORECASE):
            raise LawBroken(f"t = {trace.current.t}: the reason says nan: {verdict!r}")
        if verdict.stop and math.isnan(verdict.threshold):
            raise LawBroken(f"t = {trace.current.t}: it stops at a threshold of nan: {verdict!r}")


def shift(case: RuleCase) -> None:
    """A constant added to y leaves signal and decision as they are."""
    rule = case.subject
    before = rule, recorded(rule)
    after = rule, recorded(rule, lambda s: in_other_units(s, shift=_SHIFT))
    moves_by(f"y + {_SHIFT}", before, after, (0,), by=1.0)
    same_decisions(f"y + {_SHIFT}", before, after)


def scale(case: RuleCase) -> None:
    """In other units signal and threshold stay or move by the factor; the decision stays.

    By which power of it, a rule may say as the unit of its signal; then it must be that one.
    """
    before = case.subject, recorded(case.subject)
    unit = traits_of(case.subject).signal.unit
    of_objective, of_cost = ((0, 1), (0, 1, -1)) if unit is None else ((unit[0],), (unit[1],))

    def in_other_y(snapshot: Snapshot) -> Snapshot:
        return in_other_units(snapshot, factor=_FACTOR)

    def in_other_cost(snapshot: Snapshot) -> Snapshot:
        return in_other_units(snapshot, cost=_FACTOR)

    for what, other, change, powers in (
        (f"{_FACTOR} y", case.rescaled(objective=_FACTOR), in_other_y, of_objective),
        (f"{_FACTOR} cost", case.rescaled(cost=_FACTOR), in_other_cost, of_cost),
    ):
        after = other, recorded(other, change)
        moves_by(what, before, after, powers, by=_FACTOR)
        same_decisions(what, before, after)


def larger_lambda(case: RuleCase) -> None:
    """A larger lambda does not stop later on the same record; for rules that take lam."""
    if "lam" not in numbers_of(case.subject):
        return
    record, earlier = recorded(case.subject), math.inf
    for lam in _LAMBDAS.tolist():
        rule = with_parameters(case.subject, {"lam": lam})
        stops = (trace.current.t for trace in prefixes(record) if rule.verdict(trace).stop)
        now = next(stops, math.inf)
        if now > earlier:
            raise LawBroken(f"lam = {lam!r} stops at t = {now}, a smaller one at t = {earlier}")
        earlier = now


def prohibitive(case: RuleCase) -> None:
    """Where every price exceeds the objective's range, the first answer is to stop."""
    lam = numbers_of(case.subject).get("lam")
    if lam is None:
        return
    costs = prohibitive_costs(lam)
    verdicts = []
    for trace in prefixes(recorded(case.subject, lambda s: with_costs(s, costs))):
        verdict = case.subject.verdict(trace)
        verdicts.append(verdict)
        if verdict.stop:
            return
        if not math.isnan(verdict.threshold):
            raise LawBroken(
                f"at t = {trace.current.t} every evaluation costs {costs[0]:.9g}, worth"
                f" {lam * costs[0]:.9g}, ten times the range of y, and it goes on: {verdict!r}"
            )
    _require_an_answer("the run at prohibitive costs", verdicts)


RULE_LAWS: tuple[Law[StoppingRule], ...] = (
    Law("value", "It is hashable, frozen, and equal to its copies.", is_a_value),
    Law("name", "Name, key and scale are in order; our own names are in RULES.", name),
    Law("moment", "A signal is of the snapshot's t and n.", moment),
    Law("pure", "Asking twice gives the same; the snapshot is not changed.", pure),
    Law("key", "Rules that share a key share the number.", key),
    Law("replay", "Replay gives the live verdicts, word by word.", replayed),
    Law("once", "Asking twice adds nothing to the record.", once),
    Law("watching", "Watching a rule does not change what is evaluated.", watching),
    Law("looking", "Looking at a signal does not change a study's path.", rule_looked_at),
    Law("nan", "No answer (nan) never stops.", nan),
    Law("ties", "A value equal to the threshold stops.", ties),
    Law("answers", "It answers somewhere in the records that it is judged by.", answers),
    Law("gaps", "Several tells may lie between two questions.", gaps),
    Law(
        "reason",
        "A verdict gives a reason, with numbers where there is an answer and never nan; a stop has"
        " a threshold.",
        reason,
    ),
    Law("shift", "A constant added to y changes neither signal nor decision.", shift),
    Law(
        "scale",
        "In other units of y or of cost, with the parameters in step, a log signal moves by the"
        " logarithm of the factor and a linear one by the factor, or stays, as the unit in its"
        " traits says; its threshold moves with it, and the decision stays.",
        scale,
    ),
    Law("lambda", "A larger lam does not stop later on the same record.", larger_lambda),
    Law(
        "prohibitive",
        "Where every price exceeds the range of y, the first answer of a rule with lam is to"
        " stop.",
        prohibitive,
    ),
    *TRAIT_LAWS,
)
