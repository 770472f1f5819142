# SPDX-License-Identifier: Apache-2.0
r"""A mixture of normals, some of them softly warped, at levels on either side of the knees.

Up to its knee k a softly warped component is a normal; beyond, what a log-normal gains between
knee and level is added: :math:`\mathrm{EI}(k) + K(y) - K(k)` (``soft_warped.py``).
All components are evaluated together: most of the time of a search is spent here wherever bad
values are compressed and fair values are above the knees, as they are at most points of a screen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.laws._between import log_ei_between
from stopwise.core.beliefs.laws.normal import Normal
from stopwise.core.beliefs.laws.soft_warped import Upper
from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.numerics.normal_mixture import MixtureImprovement, components_at_price
from stopwise.core.numerics.soft_log import soft_exp
from stopwise.core.numerics.standard_improvement import LOG_SQRT_2PI, log_h_and_ratios


class SoftStack(NamedTuple):
    """Weights, (components, 1), and the others, (components, points).

    Attributes:
        weights: Positive.
        mean: Of the normals.
        std: Positive.
        knee: Infinite where a component is not warped.
        tau: The scale of the warp; 1 where there is none.
    """

    weights: Array
    mean: Array
    std: Array
    knee: Array
    tau: Array

    def at(self, points: Mask) -> SoftStack:
        """The mixture at some of the points."""
        return SoftStack(self.weights, *(array[:, points] for array in self[1:]))

    def right_of_root(self, price: Array) -> Array:
        """Levels at which EI is at least the price: see ``right_of_root`` in _mixture_rates.py."""
        with np.errstate(all="ignore"):
            values = components_at_price(self.weights[:, 0], self.mean, self.std, price)
        return np.asarray(soft_exp(values, self.knee, self.tau).min(axis=0))

    def improvement(self, level: Array) -> MixtureImprovement:
        """Log EI of the mixture at a level, with its slopes and rates."""
        of = self._components(level)
        terms = np.log(self.weights) + of.log_ei
        largest = terms.max(axis=0)
        shares = np.exp(terms - largest)
        total = shares.sum(axis=0)
        shares /= total
        return MixtureImprovement(
            largest + np.log(total),
            shares * of.d_mean,
            shares * of.d_std,
            (shares * of.rate).sum(axis=0),
            (shares * of.bend).sum(axis=0),
        )

    def _components(self, level: Array) -> MixtureImprovement:
        """The same of each component, (components, points)."""
        up_to = np.minimum(level, self.knee)
        log_h, cdf_ratio, pdf_ratio = log_h_and_ratios((up_to - self.mean) / self.std)
        d_mean, d_std = cdf_ratio / self.std, pdf_ratio / self.std
        of = MixtureImprovement(
            np.log(self.std) + log_h, d_mean, d_std, d_mean.copy(), d_std / self.std
        )
        beyond = level > self.knee
        if beyond.any():
            levels = np.broadcast_to(level, beyond.shape)[beyond]
            upper = Upper(
                Normal(self.mean[beyond], self.std[beyond]), self.knee[beyond], self.tau[beyond]
            )
            there = _beyond(upper, levels, *(array[beyond] for array in of[:3]))
            for array, values in zip(of, there, strict=True):
                array[beyond] = values
        return of


def _beyond(
    upper: Upper, level: Array, log_ei: Array, d_mean: Array, d_std: Array
) -> MixtureImprovement:
    """Of each component beyond its knee, from its log EI there and the slopes of that."""
    more, slopes = log_ei_between(upper, upper.knee, level)
    total = np.logaddexp(log_ei, more)
    share, rest = np.exp(log_ei - total), np.exp(more - total)
    z = upper.z_score(level).value
    log_slope = -np.log1p((level - upper.knee) / upper.tau)
    log_density = log_slope - 0.5 * z * z - LOG_SQRT_2PI - np.log(upper.normal.std)
    return MixtureImprovement(
        total,
        share * d_mean - rest * slopes[0],
        share * d_std + rest * slopes[1],
        np.exp(scipy_parts.special.log_ndtr(z) - total),
        np.exp(log_density - total),
    )
