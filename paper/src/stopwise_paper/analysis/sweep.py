# SPDX-License-Identifier: Apache-2.0
"""Verdicts over a whole trajectory at once, for rules that compare a recorded number with another.

A figure asks for some hundred thousand stops. These are the rules' verdicts, in arrays and without
their sentences; rules that are not known here answer one by one (``stopwise_paper.replay``).
"""

from __future__ import annotations

import math
from functools import reduce
from statistics import median

import numpy as np

from stopwise.core.traces import Scale
from stopwise.stopping import (
    PBGI,
    UCBLCB,
    After,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    Smoothed,
    SRGapMedian,
    StoppingRule,
)
from stopwise_paper.arrays import Array, Mask
from stopwise_paper.trajectory import Trajectory

Fires = Mask

_MEDIANS = (LogEIPCMedian, SRGapMedian)
_KNOWN = (PBGI, UCBLCB, ProbabilisticRegretBound, *_MEDIANS)
_TIE = 1e-12  # sums of a few numbers are rounded by less


def sweep(trajectory: Trajectory, rule: StoppingRule) -> Fires | None:
    """At which t the rule says stop, (T + 1,); None if it must be asked one by one."""
    earliest, inner, smoothed = 0, rule, None
    while isinstance(inner, After | Smoothed):
        if isinstance(inner, After):
            earliest = max(earliest, inner.trials)
        else:
            smoothed = inner
        inner = inner.rule
    if type(inner) not in _KNOWN or inner.key not in trajectory.signals:
        return None  # somebody's own rule may be made of one of ours
    values = trajectory.signals[inner.key].value
    threshold = _threshold(inner, values)
    if threshold is None:
        return None
    if isinstance(inner, _MEDIANS):
        earliest = max(earliest, inner.initial + 1)
    read = values
    if smoothed is not None:
        read = averaged(values, smoothed.window, inner.signal_scale, smoothed.scale)
        if np.isclose(read, threshold, rtol=_TIE, atol=_TIE).any():
            return None  # rounding would decide: the rule itself does
    fires = (read <= threshold) & ~np.isnan(values)
    fires[:earliest] = False
    return np.asarray(fires)


def averaged(
    values: Array, window: int, given: Scale = "log", wanted: Scale | None = None
) -> Array:
    """The moving average that ``Smoothed`` reads: of answers, over what there is at first.

    Args:
        values: Recorded numbers; nan where there is no answer.
        window: Over how many.
        given: Their scale.
        wanted: The scale of the average, if it is another.
    """
    n = len(values)
    lags = [np.r_[np.full(lag, math.nan), values[: n - lag]] for lag in range(min(window, n))]
    there = [~np.isnan(lagged) for lagged in lags]
    pairs = list(zip(lags, there, strict=True))
    count = np.maximum(np.sum(there, axis=0), 1)
    if wanted in (None, given):
        answers = [np.where(own, v, 0.0) for v, own in pairs]
        return np.asarray(np.sum(answers, axis=0) / count)
    if wanted == "linear":
        numbers = (np.where(own, v, -math.inf) for v, own in pairs)
        return np.asarray(reduce(np.logaddexp, numbers) - np.log(count))
    logs = [np.log(np.where(own & (v > 0.0), v, 1.0)) for v, own in pairs]
    gone = np.any([own & (v <= 0.0) for v, own in pairs], axis=0)
    return np.asarray(np.where(gone, 0.0, np.exp(np.sum(logs, axis=0) / count)))


def _threshold(rule: StoppingRule, values: Array) -> float | None:
    """What the number is compared with."""
    if isinstance(rule, PBGI):
        return math.log(rule.lam)
    if isinstance(rule, UCBLCB):
        return rule.theta
    if isinstance(rule, ProbabilisticRegretBound):
        return rule.level
    if isinstance(rule, LogEIPCMedian):
        return math.log(rule.eta) + _first_median(values, rule.initial)
    if isinstance(rule, SRGapMedian):
        return rule.chi * _first_median(values, rule.initial)
    return None


def _first_median(values: Array, initial: int) -> float:
    first = values[1 : initial + 1]
    return float(median(first[~np.isnan(first)].tolist() or [math.nan]))
