# SPDX-License-Identifier: Apache-2.0
"""Wrappers around any rule: a stabilisation period, a moving average.

They change what a verdict reads, never what is recorded, so they too can be swept in replay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.errors import InputError
from stopwise.stopping._checks import check_count
from stopwise.stopping._moving_average import mean_on, moving_average
from stopwise.stopping.rule import StoppingRule
from stopwise.stopping.sweeps import stops_of
from stopwise.stopping.threshold_rule import SignalColumns
from stopwise.stopping.traits import RuleTraits, traits_of
from stopwise.stopping.verdict import Verdict

_ROUNDING = 1e-12  # sums of a few numbers are rounded by less


@dataclass(frozen=True, slots=True)
class _Wrapper:
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
class After(_Wrapper):
    r"""Another rule, silent for the first evaluations: it may stop where :math:`t \ge T_0`.

    Assumes that early signals mislead, because little is known; the paper's theorem does not cover
    evaluations that are forced so.

    Args:
        rule: Any rule.
        trials: Evaluations after the initial design before it may stop, :math:`T_0`.

    References:
        Xie et al. (2026), Section 3.2.
    """

    trials: int

    def __post_init__(self) -> None:
        check_count("After", "trials", self.trials)

    @property
    def traits(self) -> RuleTraits:
        """Those of the rule inside, but for the stop that is forbidden at first."""
        inside = traits_of(self.rule)
        first = "evaluation" if self.trials == 1 else f"{self.trials} evaluations"
        return replace(
            inside,
            breaks=(f"no stop within the first {first} (stabilisation)", *inside.breaks),
            inner=self.rule,
            manner=f"from trial {self.trials} on",
        )

    def verdict(self, trace: Trace) -> Verdict:
        """The rule's verdict, from t = trials on."""
        now = trace.current
        if now.t < self.trials:
            sentence = f"stabilisation, {now.t} of {self.trials} evaluations: go on"
            return Verdict.not_yet(self.name, sentence, now.value)
        return self.rule.verdict(trace)

    def stops(self, record: SignalColumns, read: Array) -> Mask | None:
        """At which moments the verdict is to stop; see ``sweep``."""
        inside = stops_of(self.rule, record, read)
        return None if inside is None else inside & (record.t >= self.trials)


@dataclass(frozen=True, slots=True)
class Smoothed(_Wrapper):
    r"""Another rule, reading a moving average of its signal.

    .. math:: \bar s_t = \frac{1}{W} \sum_{i=0}^{W-1} s_{t-i}

    Assumes that a signal scatters about what it says, as where suprema are found numerically; the
    paper's theorem does not cover it. Values without an answer are skipped, and at first the
    window is what there is. Only the current number is averaged: a median threshold comes from
    the raw record.

    Args:
        rule: Any rule that is not smoothed yet.
        window: Over how many evaluations, W.
        scale: ``"log"`` averages logarithms, ``"linear"`` the numbers themselves; the scale of the
            rule's own signal if left out.

    References:
        Xie et al. (2026), Section 3.2.
    """

    window: int
    scale: Scale | None = None

    def __post_init__(self) -> None:
        check_count("Smoothed", "window", self.window)
        if self.scale not in (None, "log", "linear"):
            message = f"Smoothed(scale={self.scale!r}): give 'log', 'linear' or leave it out."
            raise InputError(message)
        inside: StoppingRule | None = self.rule
        while inside is not None:  # a wrapper is made after what is inside
            if isinstance(inside, Smoothed):
                message = (
                    f"Smoothed({self.rule!r}, {self.window}): that rule is smoothed already, and"
                    " would read its own average only. Give one window."
                )
                raise InputError(message)
            inside = traits_of(inside).inner

    @property
    def traits(self) -> RuleTraits:
        """Those of the rule inside, but for the average."""
        inside = traits_of(self.rule)
        averaged = f"the signal is averaged over {self.window} evaluations (smoothing)"
        return replace(
            inside,
            memory=max(self.window, inside.memory),
            breaks=(averaged, *inside.breaks) if self.window > 1 else inside.breaks,
            inner=self.rule,
            manner=f"averaged over {self.window}",
        )

    def verdict(self, trace: Trace) -> Verdict:
        """The rule's verdict on the average over t - W + 1 .. t."""
        now = trace.current
        values = trace.between(now.t - self.window + 1, now.t)
        if math.isnan(now.value) or not values:
            return self.rule.verdict(trace)
        average = mean_on(self._scale, values, self.signal_scale)
        return self.rule.verdict(replace(trace, now=replace(now, value=average)))

    def stops(self, record: SignalColumns, read: Array) -> Mask | None:
        """At which moments the verdict is to stop; see ``sweep``.

        Sums of columns are rounded otherwise than the verdict's own mean; where that could decide,
        there is no answer.
        """
        average = moving_average(record, self.window, self.signal_scale, self._scale)
        average = np.where(np.isnan(read), math.nan, average)
        slack = np.where(np.isfinite(average), _ROUNDING * (1.0 + np.abs(average)), 0.0)
        below = stops_of(self.rule, record, average - slack)
        above = stops_of(self.rule, record, average + slack)
        return below if np.array_equal(below, above) else None  # type: ignore[arg-type]

    @property
    def _scale(self) -> Scale:
        return self.scale or self.signal_scale
