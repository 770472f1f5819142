# SPDX-License-Identifier: Apache-2.0
"""The laws of traits: a rule is what it says it is. Each is a line of ``RULE_LAWS``."""

from __future__ import annotations

import math
from typing import get_args

from stopwise.core.traces import Trace
from stopwise.stopping import RuleTraits, StoppingRule, sweep, traits_of
from stopwise.stopping.signals import Reads
from stopwise.testing._law import Case, Law, LawBroken, same
from stopwise.testing._problems import at_other_prices, without_model
from stopwise.testing._records import (
    alike,
    all_of,
    lengthened,
    level,
    moments,
    prefixes,
    recorded,
)

RuleCase = Case[StoppingRule]


def traits(case: RuleCase) -> None:
    """Traits, if a rule has any, are in order and of the rule's own signal."""
    rule = case.subject
    said = getattr(rule, "traits", None)
    if said is None:
        return
    if not isinstance(said, RuleTraits):
        raise LawBroken(f"its traits are {said!r}; give RuleTraits, or leave them out")
    same("key, of the rule and in its traits", rule.key, said.signal.key)
    same("scale, of the rule and in its traits", rule.signal_scale, said.signal.scale)
    if said.signal.reads not in get_args(Reads):
        raise LawBroken(f"its signal reads {said.signal.reads!r}; give one of {get_args(Reads)}")
    if not said.signal.label or not said.memory >= 1:
        raise LawBroken(
            f"the label of its signal is {said.signal.label!r} and its memory {said.memory!r};"
            " give words, and a number of at least 1"
        )


def memory(case: RuleCase) -> None:
    """A verdict reads no further back than the rule says."""
    rule, reach = case.subject, traits_of(case.subject).memory
    if math.isinf(reach):
        return
    for trace in all_of(rule):
        recent = Trace(trace.signals[-int(reach) :], trace.now)
        what = f"t = {trace.current.t}: the verdict on the record and on its last {reach} signals"
        same(what, rule.verdict(trace), rule.verdict(recent))


def values(case: RuleCase) -> None:
    """A signal of values alone is the same where there is no model to read."""
    rule = case.subject
    kind = traits_of(rule).signal
    for what, snapshot in moments():
        if not kind.reads_model(exact=snapshot.belief.objective.exact):
            bare = without_model(snapshot, judged=kind.reads == "judged values")
            with_model, without = rule.signal(snapshot), rule.signal(bare)
            alike(f"{what}: the signal, with a model and without", with_model, without)


def price(case: RuleCase) -> None:
    """A signal that reads no price is the same at other prices."""
    rule = case.subject
    if traits_of(rule).signal.reads_price:
        return
    for what, snapshot in moments():
        here, elsewhere = rule.signal(snapshot), rule.signal(at_other_prices(snapshot))
        alike(f"{what}: the signal, at other prices", here, elsewhere)


def swept(case: RuleCase) -> None:
    """A sweep, if the rule offers one, stops where the verdicts do."""
    rule = case.subject
    record = recorded(rule)
    long = lengthened(record)
    threshold = rule.verdict(long).threshold
    levels = (level(long, threshold + side * (1.0 + abs(threshold))) for side in (-0.5, 0.5))
    for trace in (record, long, Trace.of(record.signals[::3]), *levels):
        stops = sweep(rule, [s.t for s in trace], [s.value for s in trace])
        if stops is None:
            continue
        for prefix, stop in zip(prefixes(trace), stops.tolist(), strict=True):
            verdict = rule.verdict(prefix)
            if verdict.stop != stop:
                raise LawBroken(
                    f"t = {prefix.current.t}: stop is {stop} in the sweep of a record of"
                    f" {len(trace)}, and the verdict is {verdict!r}"
                )


TRAIT_LAWS: tuple[Law[StoppingRule], ...] = (
    Law("traits", "Its traits, if it has any, are in order and of its own signal.", traits),
    Law("memory", "A verdict reads no further back than the memory says.", memory),
    Law("values", "A signal that says it reads values does not read the model.", values),
    Law("price", "A signal that says it reads no price does not change with prices.", price),
    Law("sweep", "A sweep over a record stops where the verdicts do.", swept),
)
