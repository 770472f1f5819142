# SPDX-License-Identifier: Apache-2.0
"""Where rules would have stopped a trajectory, from its recorded signals alone.

Nothing is fitted, sampled or evaluated: a verdict reads a record that ends at its own moment, and
each acquisition is stopped on its own trajectory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from stopwise.core.traces import Scale, Signal, Trace
from stopwise.errors import InputError
from stopwise.stopping import (
    GSS,
    PBGI,
    UCBLCB,
    After,
    Convergence,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    Smoothed,
    SRGapMedian,
    StoppingRule,
)
from stopwise_paper.run import named
from stopwise_paper.sweeping import sweep
from stopwise_paper.trajectory import Trajectory

_PRB = "regret_probability_{}_"


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a rule ends a trajectory.

    Args:
        t: Evaluations after the initial design; the last one if the rule never stops.
        stopped: Whether the rule stopped, rather than the cap.
    """

    t: int
    stopped: bool


@dataclass(frozen=True, slots=True)
class Variant:
    """How signals are read.

    Args:
        window: W of the moving average; 1 for none. For GSS and Convergence, which have windows of
            their own, it is that window (and 1 leaves it as it is).
        after: Evaluations before a rule may stop; 0 for none.
        scale: Of the average; the rule's own if left out.
    """

    window: int = 1
    after: int = 0
    scale: Scale | None = None

    def __str__(self) -> str:
        average = f"W={self.window}" + (f" {self.scale}" if self.scale else "")
        parts = [average] if self.window > 1 else []
        parts += [f"after {self.after}"] if self.after else []
        return ", ".join(parts) or "plain"

    def of(self, rule: StoppingRule) -> StoppingRule:
        """The rule, read so."""
        if self.window > 1:
            rule = self._windowed(rule)
        return After(rule, self.after) if self.after else rule

    def _windowed(self, rule: StoppingRule) -> StoppingRule:
        if isinstance(rule, GSS):
            return replace(rule, window=self.window)
        if isinstance(rule, Convergence):
            return replace(rule, patience=self.window)
        return Smoothed(rule, self.window, self.scale)


PLAIN = Variant()


def stop_of(trajectory: Trajectory, rule: StoppingRule) -> Stop:
    """The first t at which the rule stops, or the last t."""
    first = next(firing(trajectory, rule), None)
    return Stop(trajectory.T, stopped=False) if first is None else Stop(first, stopped=True)


def firing(trajectory: Trajectory, rule: StoppingRule) -> Iterator[int]:
    """The t at which the rule says stop, in order, read no further than asked."""
    swept = sweep(trajectory, rule)
    if swept is not None:
        yield from np.flatnonzero(swept).tolist()
        return
    yield from one_by_one(trajectory, rule)


def one_by_one(trajectory: Trajectory, rule: StoppingRule) -> Iterator[int]:
    """The same, from the rule's own verdicts."""
    signals: tuple[Signal, ...] = ()
    for signal in trajectory.read(rule):
        signals = (*signals, signal)
        if rule.verdict(Trace(signals, signal)).stop:
            yield signal.t


def paper_rules(trajectory: Trajectory, lam: float) -> dict[str, StoppingRule]:
    """The seven rules that the paper compares, by name; PRB where it was recorded.

    Rules of somebody else that were recorded (``Cell`` option ``rules``) come last.
    """
    rules: dict[str, StoppingRule] = {
        "pbgi": PBGI(lam),
        "logeipc-med": LogEIPCMedian(),
        "srgap-med": SRGapMedian(),
        "ucb-lcb": UCBLCB(),
    }
    prb = recorded_prb(trajectory)
    if prb is not None:
        rules["prb"] = prb
    rules["gss"] = GSS()
    rules["convergence"] = Convergence()
    own = str(trajectory.cell.option("rules", ""))
    for reference in filter(None, own.split(",")):
        rule = named(reference)
        rules[rule.name] = rule
    return rules


def recorded_prb(
    trajectory: Trajectory, estimate: str = "bound"
) -> ProbabilisticRegretBound | None:
    """The probabilistic regret bound with the epsilon that was recorded, if one was."""
    if estimate not in ("bound", "mean"):
        message = f"estimate={estimate!r} is not known: give 'bound' or 'mean'."
        raise InputError(message)
    start = _PRB.format(estimate)
    for key in trajectory.signals:
        if key.startswith(start):
            epsilon, delta = map(float, key.removeprefix(start).split("_"))
            if estimate == "mean":
                return ProbabilisticRegretBound(epsilon, delta, "mean")
            return ProbabilisticRegretBound(epsilon, delta)
    return None
