# SPDX-License-Identifier: Apache-2.0
"""Replay: where rules would have stopped a trajectory, from its recorded signals alone.

Nothing is fitted, sampled or evaluated: the verdict at t reads the signals up to t, and each
acquisition is stopped on its own trajectory. A figure asks for some hundred thousand stops, so a
rule is asked about the whole record at once where it can be (``stopwise.stopping.sweep``), and
step by step otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from stopwise.errors import InputError
from stopwise.stopping import (
    GSS,
    PBGI,
    UCBLCB,
    After,
    Convergence,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    Scale,
    Signal,
    Smoothed,
    SRGapMedian,
    StoppingRule,
    Trace,
    sweep,
)
from stopwise_paper.arrays import Mask
from stopwise_paper.plugins import load_plugin
from stopwise_paper.runs.trajectory import Trajectory

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
    """A way to read signals.

    Args:
        window: W of the moving average; 1 for none. For GSS and Convergence, which already have a
            window, it replaces that window (and 1 leaves it as it is).
        after: Evaluations before a rule may stop; 0 for none.
        scale: Scale of the average; that of the rule's signal if left out.
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
        """The rule, reading its signals in this way."""
        if self.window > 1:
            rule = self._windowed(rule)
        return After(rule, self.after) if self.after else rule

    def _windowed(self, rule: StoppingRule) -> StoppingRule:
        # The paper varies the windows of these two; which parameter that is, no trait says.
        if isinstance(rule, GSS):
            return replace(rule, window=self.window)
        if isinstance(rule, Convergence):
            return replace(rule, patience=self.window)
        return Smoothed(rule, self.window, self.scale)


PLAIN = Variant()


def stop_of(trajectory: Trajectory, rule: StoppingRule) -> Stop:
    """The first t at which the rule stops, or the last t."""
    first = next(stopping_times(trajectory, rule), None)
    return Stop(trajectory.T, stopped=False) if first is None else Stop(first, stopped=True)


def stopping_times(trajectory: Trajectory, rule: StoppingRule) -> Iterator[int]:
    """The t at which the rule says stop, in order, computed no further than asked."""
    stops = _swept(trajectory, rule)
    if stops is None:
        yield from step_by_step(trajectory, rule)
    else:
        yield from np.flatnonzero(stops).tolist()


def _swept(trajectory: Trajectory, rule: StoppingRule) -> Mask | None:
    """At which t the rule says stop, (T + 1,); None if it must be asked step by step."""
    recorded = trajectory.signals.get(rule.key)
    if recorded is None:
        return None
    return sweep(rule, np.arange(len(recorded.value)), recorded.value)


def step_by_step(trajectory: Trajectory, rule: StoppingRule) -> Iterator[int]:
    """The t at which the rule says stop, from the verdicts of the rule itself."""
    signals: tuple[Signal, ...] = ()
    for signal in trajectory.read(rule):
        signals = (*signals, signal)
        if rule.verdict(Trace(signals, signal)).stop:
            yield signal.t


def paper_rules(trajectory: Trajectory, lam: float) -> dict[str, StoppingRule]:
    """The seven rules that the paper compares, by name; PRB where it was recorded.

    Plugin rules that were recorded (``Cell`` option ``rules``) come last.
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
    plugins = str(trajectory.cell.option("rules", ""))
    for reference in filter(None, plugins.split(",")):
        rule = load_plugin(reference)
        rules[rule.name] = rule
    return rules


def pbgi_alone(_trajectory: Trajectory, lam: float) -> dict[str, StoppingRule]:
    """The PBGI/LogEIPC rule alone, by name."""
    return {"pbgi": PBGI(lam)}


def recorded_prb(
    trajectory: Trajectory, estimate: str = "bound"
) -> ProbabilisticRegretBound | None:
    """The probabilistic regret bound with the epsilon that was recorded; None if none was."""
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
