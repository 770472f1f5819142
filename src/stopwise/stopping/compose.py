# SPDX-License-Identifier: Apache-2.0
"""Wrappers around any rule: a stabilisation period, a moving average.

They change what a verdict reads, never what is recorded, so they too can be swept in replay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import fmean

from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.errors import InputError
from stopwise.stopping._rule import StoppingRule, check_count
from stopwise.stopping.verdict import Verdict


@dataclass(frozen=True, slots=True)
class _Wrapped:
    """What every wrapper passes through: the record is that of the rule inside."""

    rule: StoppingRule

    @property
    def name(self) -> str:
        """The name of the rule inside."""
        return self.rule.name

    @property
    def signal_scale(self) -> Scale:
        """The scale of the rule inside."""
        return self.rule.signal_scale

    @property
    def key(self) -> str:
        """The record of the rule inside."""
        return self.rule.key

    def signal(self, snapshot: Snapshot) -> Signal:
        """The signal of the rule inside."""
        return self.rule.signal(snapshot)


@dataclass(frozen=True, slots=True)
class After(_Wrapped):
    """Another rule, silent for the first ``trials`` evaluations (Xie et al. 2026, Section 3.2).

    The paper's theorem does not cover evaluations that are forced so.

    Args:
        rule: Any rule.
        trials: Evaluations after the initial design before it may stop.
    """

    trials: int

    def __post_init__(self) -> None:
        check_count("After", "trials", self.trials)

    def verdict(self, trace: Trace) -> Verdict:
        """The rule's verdict, from t = trials on."""
        now = trace.current
        if now.t < self.trials:
            sentence = f"stabilisation, {now.t} of {self.trials} evaluations: go on"
            return Verdict.not_yet(self.name, sentence, now.value)
        return self.rule.verdict(trace)


@dataclass(frozen=True, slots=True)
class Smoothed(_Wrapped):
    """Another rule, reading a moving average of its signal (Xie et al. 2026, Section 3.2).

    Values without an answer are skipped, and at first the window is what there is. Only the
    current number is averaged: a median threshold comes from the raw record.

    Args:
        rule: Any rule that is not smoothed yet.
        window: Over how many evaluations, W.
        scale: ``"log"`` averages logarithms, ``"linear"`` the numbers themselves; the scale of the
            rule's own signal if left out.
    """

    window: int
    scale: Scale | None = None

    def __post_init__(self) -> None:
        check_count("Smoothed", "window", self.window)
        if self.scale not in (None, "log", "linear"):
            message = f"Smoothed(scale={self.scale!r}): give 'log', 'linear' or leave it out."
            raise InputError(message)
        inner: object = self.rule
        while isinstance(inner, _Wrapped):
            if isinstance(inner, Smoothed):
                message = (
                    f"Smoothed({self.rule!r}, {self.window}): that rule is smoothed already, and"
                    " would read its own average only. Give one window."
                )
                raise InputError(message)
            inner = inner.rule

    def verdict(self, trace: Trace) -> Verdict:
        """The rule's verdict on the average over t - W + 1 .. t."""
        now = trace.current
        values = trace.between(now.t - self.window + 1, now.t)
        if math.isnan(now.value) or not values:
            return self.rule.verdict(trace)
        average = _mean(values, self.signal_scale, self.scale or self.signal_scale)
        return self.rule.verdict(replace(trace, now=replace(now, value=average)))


def _mean(values: list[float], given: Scale, wanted: Scale) -> float:
    """Average on one scale of numbers given on another; the result is on the given one."""
    if given == wanted:
        return fmean(values)
    if wanted == "linear":  # logarithms, averaged as the numbers they stand for
        top = max(values)
        if math.isinf(top):
            return top
        return top + math.log(fmean(math.exp(v - top) for v in values))
    if min(values) <= 0.0:  # a number that has reached zero takes the geometric mean with it
        return 0.0
    return math.exp(fmean(math.log(v) for v in values))
