# SPDX-License-Identifier: Apache-2.0
"""Sums of exponentials, in logs and without nan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stopwise.core.beliefs.laws.law import WithSlopes
from stopwise.core.numerics.arrays import Array


def log_sum(terms: Array) -> Array:
    """Log of the sum of exponentials over the first axis; -inf of nothing, inf of an infinity.

    A sum of one term is that term, to the last bit.
    """
    largest = np.max(terms, axis=0)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(over="ignore", divide="ignore"):
        total: Array = np.log(np.sum(np.exp(terms - shift), axis=0)) + shift
    return total


def weighted_logs(weights: Array, values: Array) -> Array:
    """Logs along the first axis, each plus its log weight; -inf where there is no weight."""
    w = weights.reshape(-1, *[1] * (values.ndim - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(w > 0.0, np.log(w) + values, -np.inf)


def shares(terms: Array, total: Array) -> Array:
    """The part of each term in the sum: exp(term - total); 0 where the sum is 0 or infinite."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(total), np.exp(np.minimum(terms - total, 0.0)), 0.0)


def scaled(factor: Array, slope: Array) -> Array:
    """A slope times a factor; 0 where the factor is 0, even if the slope is infinite."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(factor != 0.0, factor * slope, 0.0)


def mixed(weights: Array, parts: Sequence[WithSlopes]) -> WithSlopes:
    """Log of a weighted sum over components; its slopes are those in the parameters of each."""
    if len(parts) == 1:
        return parts[0]
    terms = weighted_logs(weights, np.array([part.value for part in parts]))
    total = log_sum(terms)
    of_parts = zip(shares(terms, total), parts, strict=True)
    slopes = tuple(scaled(share, slope) for share, part in of_parts for slope in part.slopes)
    return WithSlopes(total, slopes)


def log_sum_with_slopes(parts: Sequence[WithSlopes]) -> WithSlopes:
    """Log of the sum of quantities that depend on the same parameters, with its slopes."""
    terms = np.array(np.broadcast_arrays(*(part.value for part in parts)))
    total = log_sum(terms)
    of_parts = shares(terms, total)
    slopes = (
        np.sum([scaled(*pair) for pair in zip(of_parts, along, strict=True)], axis=0)
        for along in zip(*(part.slopes for part in parts), strict=True)
    )
    return WithSlopes(total, tuple(slopes))
