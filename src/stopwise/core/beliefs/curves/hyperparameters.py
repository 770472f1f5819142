# SPDX-License-Identifier: Apache-2.0
r"""Hyper-parameters of curves, and the covariance of stages that they give.

A standardised report at stage i, whose time is :math:`t_i`, is
:math:`z_i(x) = m_i + \sigma_i u_i(x)`. Two reports have the covariance

.. math:: \sigma_i\sigma_j\,\bigl[(1 - \nu)\,e^{-a|t_i - t_j|}\,k(x, x')
          + \nu\,e^{g(t_i + t_j) - b|t_i - t_j|}\,[\text{same trial}]\bigr] + 4 + w^2\min(t_i, t_j)

The first part is what configurations near each other share; the second is each trial's own, such
as its seed; the third is the mean of a stage, which all trials share ("early values are worse"),
learned as a random walk. Along a curve each part forgets what it was at a constant rate. The
scales :math:`\sigma_i` are free, because early values of real curves often differ *less* than
final ones: all are still near chance. A trial's own part need not grow as much (g): else a little
noise in early values promises that another trial, just beside a good one, ends far better, and
ever more of them are begun.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.kernels import DEFAULT_KERNEL, Kernel
from stopwise.core.numerics.arrays import Array

_MEAN_VARIANCE = 4.0  # of the mean of the first stage
_MEAN_WALK = 0.09  # variance that the mean of a stage gains in a unit of time


@dataclass(frozen=True, slots=True, eq=False)
class CurveHyperparameters:
    """What a fit of curves decides, in standardised units.

    Args:
        lengthscales: One per parameter, in units of the encoded cube.
        own: The share of the variance that is each trial's own, nu.
        forgetting: The rate a at which what neighbours share is forgotten along a curve.
        own_forgetting: The rate b at which a trial's own part is.
        own_growth: The log g by which the scale of a trial's own part grows in a unit of time,
            beyond the growth of all.
        growth: Log of the scale of each stage over that of the one before, (stages - 1,).
        kernel: The correlation function of configurations.
    """

    lengthscales: Array
    own: float
    forgetting: float
    own_forgetting: float
    own_growth: float
    growth: Array
    kernel: Kernel = DEFAULT_KERNEL


@dataclass(frozen=True, slots=True, eq=False)
class StageCovariances:
    """Covariances of the stages of curves, each (stages, stages).

    Args:
        neighbours: Of two trials with the same configuration, but for their own parts.
        own: What a trial adds to that by itself.
        mean: What all trials share.
    """

    neighbours: Array
    own: Array
    mean: Array

    @property
    def total(self) -> Array:
        """Of the reports of one trial."""
        return self.neighbours + self.own + self.mean


def stage_covariances(hyper: CurveHyperparameters, times: Array) -> StageCovariances:
    """The covariances of stages at these times."""
    apart = np.abs(times[:, None] - times[None, :])
    scales = np.exp(np.concatenate([[0.0], np.cumsum(hyper.growth)]))
    both = scales[:, None] * scales[None, :]
    own_scales = scales * np.exp(hyper.own_growth * times)
    return StageCovariances(
        (1.0 - hyper.own) * both * np.exp(-hyper.forgetting * apart),
        hyper.own * own_scales[:, None] * own_scales * np.exp(-hyper.own_forgetting * apart),
        _MEAN_VARIANCE + _MEAN_WALK * np.minimum(times[:, None], times[None, :]),
    )
