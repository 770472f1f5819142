# SPDX-License-Identifier: Apache-2.0
r"""Integrals of a cdf over a smooth loss, :math:`\int_l^h F(y) L'(y)\,dy`, by quadrature.

The line is cut into panels at quantiles of the law and where the loss bends (``panels.py``), and
each panel is integrated by the Gauss-Kronrod rule. Panels that this does not resolve are halved:
those on which Gauss and Kronrod disagree, and those on which the rule does not give L(b) - L(a)
for the integral of L' itself, so that no step of the loss is overlooked. Above the quantile at 8.5
deviations the cdf is 1, and the integral a difference of losses.

The relative error is below 1e-11 for a normal law and a sigmoid from a thousandth to a thousand of
its deviations wide, for levels down to 100 deviations below the mean (tests compare some of them
with mpmath and with a finer rule).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.laws._log_sum import (
    log_sum,
    log_sum_with_slopes,
    mixed,
    scaled,
)
from stopwise.core.beliefs.laws._parts import components
from stopwise.core.beliefs.laws.law import Law, WithSlopes
from stopwise.core.beliefs.laws.loss import Loss
from stopwise.core.beliefs.laws.panels import CERTAIN, Bends, Panels
from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.numerics.gauss_kronrod import GAUSS_WEIGHTS, KRONROD_NODES, KRONROD_WEIGHTS
from stopwise.core.numerics.standard_improvement import LOG_SQRT_2PI

_CLOSE = 1e-7  # of the integral: how far Gauss and Kronrod may differ
_NOISE = 64.0  # roundings of a value at the top of a panel
_ROUNDING = 4.0 * np.finfo(np.float64).eps  # of a difference of losses
_LEAST = 1e-300  # of what is integrated before: less is nothing, and has no slopes
_MOST_HALVINGS = 45
_BLOCK = 2048  # points times components at a time


def log_integral(loss: Loss, law: Law, low: Array, high: Array, bends: Bends) -> WithSlopes:
    """Log of the integral of F dL from low, which may be -inf, to high, with its slopes.

    Args:
        loss: The loss L.
        law: The law with the cdf F; the components of a mixture are integrated one by one.
        low: Lower ends, one a point.
        high: Upper ends, one a point; inf for the whole line.
        bends: Where the loss bends.
    """
    weights, laws = components(law)
    n, size = len(high), max(_BLOCK // len(laws), 1)
    if n <= size:
        return mixed(weights, _of_block(loss, laws, low, high, bends))
    parts = []
    for start in range(0, n, size):
        where = np.zeros(n, dtype=bool)
        where[start : start + size] = True
        here = [part.at(where) for part in laws]
        of_block = _of_block(loss, here, low[where], high[where], bends)
        parts.append(mixed(weights, of_block))
    slopes = zip(*(part.slopes for part in parts), strict=True)
    return WithSlopes(
        np.concatenate([part.value for part in parts]), tuple(map(np.concatenate, slopes))
    )


def _of_block(
    loss: Loss, laws: Sequence[Law], low: Array, high: Array, bends: Bends
) -> list[WithSlopes]:
    """The integral of each law."""
    ceilings = [law.quantile(CERTAIN).value for law in laws]
    tops = [np.minimum(high, ceiling) for ceiling in ceilings]
    panels, tolerance = Panels.of(laws, low, tops, bends), _tolerance(laws, tops)
    pairs = zip(laws, ceilings, strict=True)
    rounds = [[_above(loss, law, np.maximum(end, low), high) for law, end in pairs]]
    unresolved = np.ones(len(panels.owner), dtype=bool)
    while unresolved.any():  # the last round resolves everything
        last = len(rounds) > _MOST_HALVINGS
        terms = _terms(loss, panels, len(tolerance), by_growth=last)
        unresolved = np.zeros(len(panels.owner), dtype=bool)
        if not last:
            before = [np.concatenate([part.value for part in parts]) for parts in rounds]
            wrong = _log_errors(loss, panels, terms, before)
            unresolved = wrong > tolerance[panels.owner]
        rounds.append(_summed(panels, terms, ~unresolved))
        panels = panels.halves_of(unresolved) if unresolved.any() else panels
    return [log_sum_with_slopes(parts) for parts in zip(*rounds, strict=True)]


def _tolerance(laws: Sequence[Law], tops: Sequence[Array]) -> Array:
    """The disagreement of the rules that is allowed, in logs.

    Far below all that f can be, the rounding of a value alone moves log F by so much that halving
    a panel resolves nothing.
    """
    pairs = zip(laws, tops, strict=True)
    with np.errstate(over="ignore", invalid="ignore"):
        rates = [np.exp(law.log_density(top) - law.log_cdf(top)) for law, top in pairs]
        rounding = np.concatenate(rates) * np.spacing(np.abs(np.concatenate(tops)))
        return np.asarray(np.log(_CLOSE + _NOISE * np.nan_to_num(rounding, nan=0.0)))


def _above(loss: Loss, law: Law, low: Array, high: Array) -> WithSlopes:
    """The integral where the cdf is 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        top = np.where(np.isposinf(high), loss.high, loss(np.minimum(high, np.finfo("f8").max)))
        value = np.log(np.where(high > low, np.maximum(top - loss(low), 0.0), 0.0))
    return WithSlopes(value, tuple(np.zeros_like(value) for _ in law.parameters))


class _Terms(NamedTuple):
    """The integrand at the nodes of panels, (nodes, panels).

    Attributes:
        z: Z-scores and their slopes, by law.
        log_weight: L' times the width of the panel, in logs.
        parts: The integrand over its largest value at the panel's point.
        shift: The log of that value, for each point.
    """

    z: list[WithSlopes]
    log_weight: Array
    parts: Array
    shift: Array


def _terms(loss: Loss, panels: Panels, n: int, *, by_growth: bool) -> _Terms:
    """The integrand; of panels so narrow that the cdf is constant, by the growth of the loss."""
    width = panels.high - panels.low
    y = panels.low + KRONROD_NODES[:, None] * width
    z = panels.z_scores(y)
    log_cdf = scipy_parts.special.log_ndtr(np.concatenate([score.value for score in z], axis=1))
    with np.errstate(divide="ignore"):
        if by_growth:
            growth = np.maximum(loss(panels.high) - loss(panels.low), 0.0)
            log_weight = np.broadcast_to(np.log(growth), y.shape)
        else:
            log_weight = loss.log_slope(y) + np.log(width)
    log_cdf += log_weight
    largest = np.full(n, -np.inf)
    np.maximum.at(largest, panels.owner, log_cdf.max(axis=0))
    shift = np.where(np.isfinite(largest), largest, 0.0)
    log_cdf -= shift[panels.owner]
    return _Terms(z, log_weight, np.exp(log_cdf, out=log_cdf), shift)


def _log_errors(loss: Loss, panels: Panels, terms: _Terms, before: list[Array]) -> Array:
    """The log of how far panels may be wrong, over the whole integral."""
    n = len(terms.shift)
    kronrod = KRONROD_WEIGHTS @ terms.parts
    wrong = np.abs(kronrod - GAUSS_WEIGHTS @ terms.parts)
    slope = KRONROD_WEIGHTS @ np.exp(terms.log_weight)
    first, last = loss(panels.low), loss(panels.high)
    missed = np.abs(slope - (last - first)) - _ROUNDING * (np.abs(first) + np.abs(last))
    z = np.concatenate([score.value[-1] for score in terms.z])
    with np.errstate(divide="ignore", invalid="ignore"):
        now = np.log(np.bincount(panels.owner, kronrod, n)) + terms.shift
        total = log_sum(np.array([*before, now]))
        worst = np.log(wrong) + (terms.shift - total)[panels.owner]
        missed = (
            np.log(np.maximum(missed, 0.0)) + scipy_parts.special.log_ndtr(z) - total[panels.owner]
        )
        worst = np.fmax(worst, missed)
    return np.where(np.isnan(worst), -np.inf, worst)


def _summed(panels: Panels, terms: _Terms, resolved: Mask) -> list[WithSlopes]:
    """The integral over panels in logs, and its slopes: those of log F are phi/Phi dz."""
    of_panels = np.where(resolved, KRONROD_WEIGHTS @ terms.parts, 0.0)
    total = np.bincount(panels.owner, of_panels, len(terms.shift))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        values = np.split(np.log(total) + terms.shift, len(panels.laws))
        share = np.where(resolved, 1.0 / np.where(total > _LEAST, total, 1.0)[panels.owner], 0.0)
        log_scale = terms.log_weight - (terms.shift[panels.owner] + LOG_SQRT_2PI)
        answers = []
        n = len(values[0])
        for i, here in enumerate(panels.slices):
            z, dz = terms.z[i]
            rate = np.exp(log_scale[:, here] - 0.5 * z * z)
            rate *= KRONROD_WEIGHTS[:, None] * share[here]
            owner = panels.owner[here] - i * n
            sums = (np.bincount(owner, _products(rate, along), n) for along in dz)
            answers.append(WithSlopes(values[i], tuple(map(np.asarray, sums))))
    return answers


def _products(rate: Array, along: Array) -> Array:
    """Sums over nodes; a rate of 0 counts for nothing, even if the slope is infinite."""
    sums: Array = np.einsum("ij,ij->j", rate, np.broadcast_to(along, rate.shape))
    return sums if np.isfinite(sums).all() else scaled(rate, along).sum(axis=0)
