# SPDX-License-Identifier: Apache-2.0
"""The sweep: verdicts over a whole trajectory at once, as arrays.

A figure asks for some hundred thousand stops. Rules that compare a recorded number with a
threshold are answered here, without their sentences; other rules answer step by step
(``stopwise_paper.analysis.replay``).
"""

from __future__ import annotations

import math
from functools import reduce
from statistics import median
from typing import Literal

import numpy as np

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
from stopwise_paper.runs.trajectory import Trajectory

Scale = Literal["log", "linear"]

_MEDIAN_RULES = (LogEIPCMedian, SRGapMedian)
_THRESHOLD_RULES = (PBGI, UCBLCB, ProbabilisticRegretBound, *_MEDIAN_RULES)
_TIE = 1e-12  # sums of a few numbers are rounded by less


def sweep(trajectory: Trajectory, rule: StoppingRule) -> Mask | None:
    """At which t the rule says stop, (T + 1,); None if it must be asked step by step."""
    earliest, inner, smoothed = 0, rule, None
    while isinstance(inner, After | Smoothed):
        if isinstance(inner, After):
            earliest = max(earliest, inner.trials)
        else:
            smoothed = inner
        inner = inner.rule
    # By exact type: a subclass may decide otherwise.
    if type(inner) not in _THRESHOLD_RULES or inner.key not in trajectory.signals:
        return None
    values = trajectory.signals[inner.key].value
    threshold = _threshold(inner, values)
    if threshold is None:
        return None
    if isinstance(inner, _MEDIAN_RULES):
        earliest = max(earliest, inner.initial + 1)
    read = values
    if smoothed is not None:
        read = averaged(values, smoothed.window, inner.signal_scale, smoothed.scale)
        if np.isclose(read, threshold, rtol=_TIE, atol=_TIE).any():
            return None  # rounding would decide: the rule itself does
    stops = (read <= threshold) & ~np.isnan(values)
    stops[:earliest] = False
    return np.asarray(stops)


def averaged(
    values: Array, window: int, scale: Scale = "log", average_scale: Scale | None = None
) -> Array:
    """The moving average that ``Smoothed`` reads: nan is skipped, and the first windows are short.

    Args:
        values: Recorded numbers; nan where there is no answer.
        window: Number of steps.
        scale: Their scale.
        average_scale: The scale of the average, if it is another.
    """
    n = len(values)
    lags = [np.r_[np.full(lag, math.nan), values[: n - lag]] for lag in range(min(window, n))]
    answered = [~np.isnan(lagged) for lagged in lags]
    pairs = list(zip(lags, answered, strict=True))
    count = np.maximum(np.sum(answered, axis=0), 1)
    if average_scale in (None, scale):
        answers = [np.where(use, v, 0.0) for v, use in pairs]
        return np.asarray(np.sum(answers, axis=0) / count)
    if average_scale == "linear":
        numbers = (np.where(use, v, -math.inf) for v, use in pairs)
        return np.asarray(reduce(np.logaddexp, numbers) - np.log(count))
    logs = [np.log(np.where(use & (v > 0.0), v, 1.0)) for v, use in pairs]
    zero = np.any([use & (v <= 0.0) for v, use in pairs], axis=0)
    return np.asarray(np.where(zero, 0.0, np.exp(np.sum(logs, axis=0) / count)))


def _threshold(rule: StoppingRule, values: Array) -> float | None:
    """The level that the number is compared with."""
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
