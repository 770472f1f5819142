# SPDX-License-Identifier: Apache-2.0
"""Departures: where the published code differs from the paper, as switches of the replay.

They exist to explain published numbers: switch one on and see what it changes. The library has
none of them. t is our index: the decision at t knows t evaluations and is scored at t.

The published code has its own deviation for almost every rule. This module imitates them, so it
knows rules by class and name. Other modules make the rules that the paper compares, and otherwise
ask a rule for its traits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from statistics import median

import numpy as np

from stopwise.errors import InputError
from stopwise.stopping import (
    GSS,
    Convergence,
    LogEIPCMedian,
    Smoothed,
    SRGapMedian,
    StoppingRule,
)
from stopwise_paper.analysis.replay import Stop, recorded_prb, stopping_times
from stopwise_paper.arrays import Array, Mask
from stopwise_paper.runs.trajectory import (
    LOG_GAIN_PER_COST,
    RecordedSignal,
    Trajectory,
    reads_values_alone,
)

DEPARTURES = {
    "late-index": "rules of the model are scored one evaluation after the one they decide at",
    "late-incumbent": "GSS and Convergence too read an incumbent that is one evaluation old",
    "short-cap": "the last evaluation is left out: a rule that never stops is scored at T - 1",
    "burn-in": "no rule may stop before 20 evaluations",
    "linear-average": "signals are averaged over 20 evaluations, logarithms as the numbers behind",
    "early-median": "median rules may stop before their 20 first values are known, by using them",
    "mixed-spaces": "LogEIPC-med compares an average of EI/c with a logarithm plus a median of it",
    "chi-0.1": "SRGap-med stops at a tenth of the median instead of a hundredth",
    "trace-iqr": "GSS takes the interquartile range of the incumbents, not of the values",
    "flat-stops": "with trace-iqr: incumbents without spread stop GSS instead of being no answer",
    "window-20": "GSS looks back over 20 evaluations instead of 5",
    "patience-4": "Convergence waits for 4 evaluations instead of 5",
    "patience-19": "Convergence waits for 19 evaluations instead of 5",
    "no-improvement": "the PBGI rule also waits for an evaluation that does not improve",
    "pbgi-index": "every acquisition is stopped where the rule stops the PBGI trajectory",
    "ei-floor": "data err by 1e-3 in the model, so EI beside the incumbent stays at about 4e-4",
    "prb-mean": "PRB compares the plain fraction of paths, without a confidence bound",
}

# Departures that changed what was evaluated or recorded: no replay of ours can show them.
NOT_REPLAYABLE = {
    "lcb-sign": "on tables LCB looked for the worst configurations: its trajectory is another one",
    "ts-seed": "on tables Thompson sampling drew with one seed at every step",
    "kappa-direction": "on tables UCB-LCB, also inside SRGap-med, bounded the gap to the worst",
    "mask-shift": "in 1D points were taken some grid cells to the left of the chosen ones",
    "pbgi-gradient": "in 8D PBGI climbed with a wrong gradient of the cost",
    "lcb-beta": "with costs that vary LCB's beta counted cost, not evaluations",
    "srgap-points": "SRGap-med used chosen points instead of incumbents, and another divergence",
    "prb-fraction": "on tables PRB compared the plain fraction of paths, which we did not record",
    "beta-count": "beta of the bounds counted evaluations after the initial design, not all",
    "wide-bounds": "data err by 1e-3 in the model, so bounds do not close beside them",
    "prb-epsilon": "on NATS-Bench epsilon was ten times as large",
    "initial-design": "designs were independent uniform points, on tables with repetition",
}

# The departures of the published runs of each experiment that can be replayed.
_TABLES = ("late-index", "late-incumbent", "burn-in", "trace-iqr", "flat-stops", "no-improvement")
PUBLISHED_DEPARTURES: dict[str, tuple[str, ...]] = {
    "gp1d": (
        "late-index",
        "short-cap",
        "ei-floor",
        "early-median",
        "trace-iqr",
        "patience-4",
        "prb-mean",
    ),
    "gp8d": (
        "late-index",
        "ei-floor",
        "short-cap",
        "burn-in",
        "linear-average",
        "mixed-spaces",
        "trace-iqr",
        "window-20",
        "patience-19",
    ),
    "lcbench": (*_TABLES, "pbgi-index", "chi-0.1"),
    "unknown-cost": (*_TABLES, "pbgi-index", "chi-0.1"),
    "nats": (*_TABLES, "pbgi-index"),
}

_FLOOR = math.sqrt(1e-6 / (2.0 * math.pi))  # EI at the incumbent, with a deviation of 1e-3
_WINDOW = 20  # steps of averages, medians and the burn-in of the published code


def check_departures(departures: Iterable[str]) -> frozenset[str]:
    """The departures as a set; names that are unknown or cannot be replayed are refused."""
    names = frozenset(departures)
    for name in sorted(names - DEPARTURES.keys()):
        if name in NOT_REPLAYABLE:
            message = f"{name!r} cannot be replayed: {NOT_REPLAYABLE[name]}."
        else:
            message = f"there is no departure {name!r}; there are {', '.join(DEPARTURES)}."
        raise InputError(message)
    return names


def stop_with_departures(
    trajectory: Trajectory,
    rule: StoppingRule,
    departures: frozenset[str],
    donor: Trajectory | None = None,
) -> Stop:
    """Where the rule would have stopped with departures of the published code.

    Args:
        trajectory: The trajectory that is stopped.
        rule: One of the paper's rules, as it is (not wrapped).
        departures: Names of ``DEPARTURES``.
        donor: The PBGI trajectory of the same seed, which ``pbgi-index`` reads.
    """
    last = trajectory.T - (1 if "short-cap" in departures else 0)
    source = donor if donor is not None and "pbgi-index" in departures else trajectory
    source = _floored(source) if "ei-floor" in departures else source
    delay = _delay(rule, departures)
    earliest = _WINDOW if "burn-in" in departures else 0
    for t in _stopping_times(source, rule, departures):
        if earliest <= t + delay <= last:
            return Stop(t + delay, stopped=True)
    return Stop(last, stopped=False)


def _floored(trajectory: Trajectory) -> Trajectory:
    """The trajectory with gains per cost that are at least those beside the incumbent."""
    paid = trajectory.cost[trajectory.best_row[trajectory.n_initial - 1 :]]
    raised = np.maximum(
        trajectory.signals[LOG_GAIN_PER_COST].value, math.log(_FLOOR) - np.log(paid)
    )
    return replace(
        trajectory, signals={**trajectory.signals, LOG_GAIN_PER_COST: RecordedSignal(raised)}
    )


def _delay(rule: StoppingRule, departures: frozenset[str]) -> int:
    name = "late-incumbent" if reads_values_alone(rule) else "late-index"
    return int(name in departures)


def _stopping_times(
    trajectory: Trajectory, rule: StoppingRule, departures: frozenset[str]
) -> Iterator[int]:
    """The t at which the rule says stop, in order."""
    best = trajectory.incumbent[trajectory.n_initial - 1 :]
    if isinstance(rule, GSS) and "trace-iqr" in departures:
        window = _WINDOW if "window-20" in departures else rule.window
        yield from _indices(_gss_of_incumbents(best, rule.phi, window, departures))
    elif isinstance(rule, LogEIPCMedian) and "mixed-spaces" in departures:
        yield from _indices(_mixed_spaces(trajectory.signals[rule.key].value, rule.eta))
    elif isinstance(rule, LogEIPCMedian | SRGapMedian) and "early-median" in departures:
        yield from _indices(_early_median(trajectory.signals[rule.key].value, rule))
    else:
        wait = rule.name == "pbgi" and "no-improvement" in departures
        for t in stopping_times(trajectory, _adapted(trajectory, rule, departures)):
            if not wait or (t > 0 and best[t] == best[t - 1]):
                yield t


def _adapted(
    trajectory: Trajectory, rule: StoppingRule, departures: frozenset[str]
) -> StoppingRule:
    """The rule with the parameters of the published code, or averaged."""
    if isinstance(rule, Convergence):
        patience = {"patience-4": 4, "patience-19": 19}
        return Convergence(
            next((n for k, n in patience.items() if k in departures), rule.patience)
        )
    if isinstance(rule, GSS):
        return GSS(rule.phi, _WINDOW) if "window-20" in departures else rule
    if isinstance(rule, SRGapMedian) and "chi-0.1" in departures:
        rule = SRGapMedian(0.1, rule.initial)
    if rule.name == "prb" and "prb-mean" in departures:
        rule = recorded_prb(trajectory, "mean") or rule
    return Smoothed(rule, _WINDOW, "linear") if "linear-average" in departures else rule


def _gss_of_incumbents(best: Array, phi: float, window: int, departures: frozenset[str]) -> Mask:
    stops = np.zeros(len(best), dtype=np.bool_)
    for t in range(window, len(best)):
        low, high = _quantile(best[t::-1], 0.25), _quantile(best[t::-1], 0.75)
        gained = best[t - window] - best[t]
        flat = high - low == 0.0
        stops[t] = "flat-stops" in departures if flat else gained < phi * (high - low)
    return stops


def _quantile(ascending: Array, share: float) -> float:
    """np.quantile of numbers in ascending order, without sorting."""
    at = share * (len(ascending) - 1)
    i, rest = int(at), at - int(at)
    return float(ascending[i] + rest * (ascending[min(i + 1, len(ascending) - 1)] - ascending[i]))


def _early_median(values: Array, rule: LogEIPCMedian | SRGapMedian) -> Mask:
    first = [v for v in values[:_WINDOW].tolist() if not math.isnan(v)]
    if isinstance(rule, LogEIPCMedian):
        threshold = math.log(rule.eta) + median(first)
    else:
        threshold = rule.chi * median(first)
    return np.asarray(values < threshold, dtype=np.bool_)


def _mixed_spaces(logs: Array, eta: float) -> Mask:
    gains = np.exp(logs)
    threshold = math.log(eta) + float(np.median(gains[:_WINDOW]))
    means = np.array([gains[max(t - _WINDOW + 1, 0) : t + 1].mean() for t in range(len(gains))])
    return means < threshold


def _indices(stops: Mask) -> Iterator[int]:
    yield from np.flatnonzero(stops).tolist()
