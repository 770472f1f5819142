# SPDX-License-Identifier: Apache-2.0
"""Fair values of a mixture of any laws: its EI with its rates, and where a search begins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stopwise.core.beliefs.laws._components import Components, knee_of, normal_below_knee
from stopwise.core.beliefs.laws._log_sum import log_sum, scaled, shares, weighted_logs
from stopwise.core.beliefs.laws._patched import joined, merged
from stopwise.core.beliefs.laws._roots import Rates
from stopwise.core.beliefs.laws.law import Law, WithSlopes
from stopwise.core.beliefs.laws.soft_warped import SoftWarped
from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.numerics.soft_log import soft_exp

Laws = Sequence[Law]


def right_of_root(weights: Array, laws: Laws, price: Array | float) -> Array:
    """Levels at which EI is at least the price c: min g_i(c/w_i) over the components, or above.

    A softly warped component is not asked for its fair value: it is at most that of its normal,
    unwarped, because the warp's inverse stretches differences.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        components = Components.of(weights, [normal_below_knee(law) for law in laws])
        values = components.values(lambda law, w: law.fair_value(price / w).value)
        for value, law, w in zip(values, laws, weights, strict=True):
            if isinstance(law, SoftWarped):
                value[...] = soft_exp(value, law.knee, law.tau)
                over = np.isinf(value)
                if over.any():  # of prices far beyond tau: the bound overflows, its own does not
                    prices = np.broadcast_to(price / w, over.shape)[over]
                    value[over] = law.at(over).fair_value(prices).value
    values[weights == 0.0] = np.inf
    return np.asarray(values.min(axis=0))


def rates_of_mixture(weights: Array, laws: Laws, level: Array) -> Rates:
    """Log EI and its rates; levels beyond a knee apart from the others."""
    beyond = level > min(map(knee_of, laws))
    if beyond.all() or not beyond.any():
        return _rates(weights, laws, level)
    there = _rates(weights, _at(laws, beyond), level[beyond])
    elsewhere = _rates(weights, _at(laws, ~beyond), level[~beyond])
    return _merged(beyond, there, elsewhere)


def _rates(weights: Array, laws: Laws, level: Array) -> Rates:
    """Those of the components, weighted by their shares in EI."""
    components = Components.up_to(level, weights, laws)
    parts = components.rates(level)
    terms = weighted_logs(weights, np.array([part.log_ei.value for part in parts]))
    total = log_sum(terms)
    pairs = list(zip(shares(terms, total), parts, strict=True))
    slopes = tuple(scaled(share, slope) for share, part in pairs for slope in part.log_ei.slopes)
    rate = np.sum([scaled(share, part.rate) for share, part in pairs], axis=0)
    bend = np.sum([scaled(share, part.bend) for share, part in pairs], axis=0)
    return Rates(WithSlopes(total, slopes), rate, bend)


def _merged(where: Mask, there: Rates, elsewhere: Rates) -> Rates:
    """The rates of two parts of the points."""
    log_ei = merged(where, there.log_ei, elsewhere.log_ei)
    rate = joined(where, there.rate, elsewhere.rate)
    return Rates(log_ei, rate, joined(where, there.bend, elsewhere.bend))


def _at(laws: Laws, where: Mask) -> list[Law]:
    return [law.at(where) for law in laws]
