# SPDX-License-Identifier: Apache-2.0
"""Stopping rules that each break one law, beside sound ones that somebody else might write."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from stopwise.acquisition import LogEIPC
from stopwise.core.search.supremum import Supremum
from stopwise.stopping import (
    PBGI,
    After,
    Boundary,
    RuleTraits,
    SignalKind,
    ThresholdRule,
    Verdict,
)

CALLS = itertools.count()
SEEN = {}


def count(rule, snapshot):
    return snapshot.signal(snapshot.t)


def compare(rule, trace):
    value = trace.current.value
    return Verdict.at_least(rule.name, value, rule.n, f"{value:g} of {rule.n} evaluations")


@dataclass(frozen=True)
class Counting:
    """Stop at t = n. Sound, and quick; broken rules replace a part."""

    n: int = 5
    key: str = "counting"
    signal_scale: str = "linear"
    signal_by: Callable = count
    verdict_by: Callable = compare
    name: ClassVar[str] = "counting"

    def signal(self, snapshot):
        return self.signal_by(self, snapshot)

    def verdict(self, trace):
        return self.verdict_by(self, trace)


class MutableRule:
    name, key, signal_scale = "counting", "counting", "linear"

    def signal(self, snapshot):
        return count(self, snapshot)

    def verdict(self, trace):
        return compare(Counting(), trace)


class Unlisted(Counting):
    """As if it were one of ours."""

    __module__ = "stopwise.stopping.unlisted"


def signalling(change):
    """A rule whose signal is changed."""
    return Counting(signal_by=lambda rule, snapshot: change(count(rule, snapshot)))


def judging(change):
    """A rule whose verdict is changed."""
    return Counting(verdict_by=lambda rule, trace: change(compare(rule, trace)))


def moody(rule, snapshot):
    return snapshot.signal(next(CALLS))


def sorting(rule, snapshot):
    """It puts the values in order: for itself, it thinks."""
    snapshot.y.flags.writeable = True
    snapshot.y.sort()
    return count(rule, snapshot)


def hiding(rule, snapshot):
    """Its number depends on more than its key says."""
    return snapshot.signal(snapshot.t / rule.n)


def noting(rule, snapshot):
    SEEN["n"] = snapshot.n
    return count(rule, snapshot)


def recalling(rule, trace):
    """Its verdict knows more than the record."""
    found = compare(rule, trace)
    return replace(found, reason=f"{found.reason} after {SEEN.get('n')}")


def meddling(rule, snapshot):
    """It leaves a wrong supremum behind."""
    points = getattr(snapshot.domain, "points", snapshot.X)
    free = points[~snapshot.taken(points)]
    if len(free):
        snapshot.once(("sup", LogEIPC()), lambda: Supremum(free[-1], 0.0))
    return count(rule, snapshot)


def counting_looks(rule, snapshot):
    """It answers by how often it was asked."""
    return snapshot.signal(next(CALLS))


def level(rule, snapshot):
    """It stops at a level of y, wherever y is counted from."""
    return snapshot.signal(snapshot.best)


def variance(rule, snapshot):
    """Its signal is in squared units."""
    return snapshot.signal(np.var(snapshot.y))


def positional(rule, trace):
    """It counts questions instead of evaluations."""
    return Verdict.at_least(rule.name, len(trace) - 1, rule.n, f"asked {len(trace)} times")


@dataclass(frozen=True)
class Spread:
    """Stop when all values lie within a tolerance: what someone might write."""

    tolerance: float = 2.0
    name: ClassVar[str] = "spread"
    key: ClassVar[str] = "spread"
    signal_scale: ClassVar[str] = "linear"

    def signal(self, snapshot):
        return snapshot.signal(np.ptp(snapshot.y))

    def verdict(self, trace):
        sentence = f"values differ by {trace.current.value:g}, the tolerance is {self.tolerance:g}"
        return Verdict.at_most(self.name, trace.current.value, self.tolerance, sentence)


@dataclass(frozen=True)
class Priced(PBGI):
    """A rule with lambda and a threshold of its own."""

    threshold: Callable = math.log

    def verdict(self, trace):
        value, threshold = trace.current.value, self.threshold(self.lam)
        return Verdict.at_most(self.name, value, threshold, f"{value} beside {threshold}")


COUNT = SignalKind("counting", "linear", "evaluations", reads="values", unit=(0, 0))


@dataclass(frozen=True)
class Saying(Counting):
    """A rule that says what it is."""

    traits: object = RuleTraits(COUNT, memory=1)


def change_since(rule, trace):
    """It reads how much the number has changed since the one before."""
    last = trace.between(trace.current.t - 1, trace.current.t - 1)
    change = trace.current.value - (last[0] if last else math.nan)
    return Verdict.at_least(rule.name, change, rule.n, f"a change of {change:g}")


def judged(rule, snapshot):
    """It judges observations as the model does where they are noisy."""
    return snapshot.signal(int(np.argmin(snapshot.judged)))


def expected(rule, snapshot):
    """It asks the model how sure it is."""
    return snapshot.signal(snapshot.belief.objective(snapshot.X).std.max() > 0.0)


def worthwhile(rule, snapshot):
    """It looks at prices."""
    return snapshot.signal(snapshot.sup(LogEIPC()).value > -1.0)


@dataclass(frozen=True)
class Hasty(ThresholdRule):
    """Its sweep forgets that it must wait."""

    name: ClassVar[str] = "hasty"
    traits: ClassVar[RuleTraits] = RuleTraits(COUNT, memory=1)

    def signal(self, snapshot):
        return snapshot.signal(snapshot.t)

    def boundary(self, record):  # noqa: ARG002
        return Boundary(3.0, "at least", since=8)

    def sentence(self, now, level):
        return f"{now.value:g} beside {level:g}"

    def stops(self, record, read):  # noqa: ARG002
        return read >= 3.0


@dataclass(frozen=True)
class Patient(Hasty):
    """The same rule with the sweep that follows from its boundary."""

    stops: ClassVar[Callable] = ThresholdRule.stops


def saying(signal_by=count, **changes):
    return Saying(signal_by=signal_by, traits=RuleTraits(replace(COUNT, **changes), memory=1))


BROKEN_RULES = [
    ("value", MutableRule()),
    ("name", Counting(key="")),
    ("name", Counting(signal_scale="cubic")),
    ("name", Unlisted()),
    ("moment", signalling(lambda signal: replace(signal, n=signal.n - 1))),
    ("moment", signalling(lambda signal: replace(signal, t=signal.t + 1))),
    ("moment", signalling(lambda signal: replace(signal, value=signal.t))),
    ("pure", Counting(signal_by=moody)),
    ("pure", Counting(signal_by=sorting)),
    ("key", Counting(signal_by=hiding)),
    ("key", Counting(key="ucb_lcb_gap")),  # another rule's
    ("replay", Counting(signal_by=noting, verdict_by=recalling)),
    ("once", judging(lambda verdict: replace(verdict, reason=f"asked {next(CALLS)} times"))),
    ("watching", Counting(signal_by=meddling)),
    ("looking", Counting(signal_by=counting_looks)),
    ("nan", judging(lambda verdict: replace(verdict, stop=not verdict.value < 5))),
    ("ties", judging(lambda verdict: replace(verdict, stop=verdict.value > 5))),
    ("answers", After(Counting(), 1000)),
    ("gaps", Counting(verdict_by=positional)),
    ("reason", judging(lambda verdict: replace(verdict, reason="because"))),
    ("reason", judging(lambda verdict: replace(verdict, rule="other"))),
    ("reason", judging(lambda verdict: replace(verdict, stop=np.bool_(verdict.stop)))),
    ("reason", judging(lambda verdict: replace(verdict, reason=f"{verdict.value} of nan"))),
    ("reason", judging(lambda verdict: replace(verdict, threshold=math.nan))),
    ("shift", Counting(signal_by=level)),
    ("scale", Counting(signal_by=variance)),
    ("scale", Spread()),  # unless it says that its tolerance has a unit
    ("scale", saying(unit=(1, 0))),  # a count has none
    ("lambda", Priced(0.01, threshold=lambda lam: -math.log(lam) - 5.0)),
    ("prohibitive", Priced(0.01, threshold=lambda lam: min(-700.0, lam))),
    ("prohibitive", After(PBGI(0.01), 1000)),  # it never answers
    ("traits", Saying(traits="a counter")),
    ("traits", saying(key="other")),
    ("traits", saying(scale="log")),
    ("traits", saying(reads="tea leaves")),
    ("traits", saying(label="")),
    ("traits", Saying(traits=RuleTraits(COUNT, memory=0))),
    ("memory", Saying(verdict_by=change_since)),
    ("values", saying(judged)),
    ("values", saying(expected)),
    ("values", saying(expected, reads="judged values")),
    ("price", saying(worthwhile, reads="model")),
    ("sweep", Hasty()),
]
