# SPDX-License-Identifier: Apache-2.0
"""Moving averages of a signal, on the scale of its record or on the other one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.traces import Scale
from stopwise.stopping.threshold_rule import SignalColumns


def mean_on(averaged: Scale, values: Sequence[float], recorded: Scale) -> float:
    """Average numbers on one scale that are recorded on another; the result is as recorded."""
    from statistics import fmean  # which takes long to import

    if averaged == recorded:
        return fmean(values)
    if averaged == "linear":  # logarithms, averaged as the numbers they stand for
        top = max(values)
        if math.isinf(top):
            return top
        return top + math.log(fmean(math.exp(v - top) for v in values))
    if min(values) <= 0.0:  # a number that has reached zero takes the geometric mean with it
        return 0.0
    return math.exp(fmean(math.log(v) for v in values))


def moving_average(
    record: SignalColumns, window: int, recorded: Scale, averaged: Scale | None = None
) -> Array:
    """``mean_on`` of the answers at t - W + 1 .. t, for every moment t of a record, (m,).

    Args:
        record: The recorded numbers; nan where there is no answer.
        window: Over how many evaluations, W; at first over what there is.
        recorded: The scale of the record.
        averaged: The scale of the average, if it is another.

    Returns:
        The averages; what they are where a window holds no answer is left open.
    """
    m = len(record.values)
    values, present = [], []
    for lag in range(min(window, m)):  # at most W recorded moments lie within W evaluations
        earlier = np.r_[np.full(lag, math.nan), record.values[: m - lag]]
        in_window = np.r_[np.zeros(lag, bool), record.t[lag:] - record.t[: m - lag] < window]
        values.append(earlier)
        present.append(in_window & ~np.isnan(earlier))
    count = np.maximum(np.sum(present, axis=0), 1)
    pairs = list(zip(values, present, strict=True))
    if averaged in (None, recorded):
        answers = [np.where(there, v, 0.0) for v, there in pairs]
        return np.asarray(np.sum(answers, axis=0) / count)
    if averaged == "linear":
        logarithms = (np.where(there, v, -math.inf) for v, there in pairs)
        return np.asarray(reduce(np.logaddexp, logarithms) - np.log(count))
    logs = [np.log(np.where(there & (v > 0.0), v, 1.0)) for v, there in pairs]
    zero = np.any([there & (v <= 0.0) for v, there in pairs], axis=0)
    return np.asarray(np.where(zero, 0.0, np.exp(np.sum(logs, axis=0) / count)))
