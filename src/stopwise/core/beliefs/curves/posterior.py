# SPDX-License-Identifier: Apache-2.0
"""The belief in final values, given reports at any stage.

It offers what acquisitions ask of a model of the objective (``Surrogate``): the law of the final
value of a new configuration, with gradients; and beyond that the law of trials that were begun,
and how far each stage to come is expected to move the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stopwise.core.beliefs.curves.data import CurveData
from stopwise.core.beliefs.curves.fit import CurveFit
from stopwise.core.beliefs.curves.hyperparameters import StageCovariances
from stopwise.core.beliefs.curves.likelihood import NUGGET, CurveCovariance
from stopwise.core.beliefs.curves.new_trials import NewTrials
from stopwise.core.beliefs.kernel_basis import KernelBasis
from stopwise.core.beliefs.laws import Law, Normal
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.beliefs.surrogate import Marginals
from stopwise.core.beliefs.warps import Warp
from stopwise.core.numerics import cholesky
from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.numerics.rows import unique_rows

NEW = -1  # the trial of a configuration that was not begun
_BLOCK = 512  # rows per pass over many candidates


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class CurvePosterior:
    """What is believed of final values after some reports; made by ``condition_curves``.

    Args:
        data: The reports.
        fit: Hyper-parameters, and the maps to standardised values.
        z: Standardised values.
    """

    data: CurveData
    fit: CurveFit
    z: Array

    def __len__(self) -> int:
        """Number of reports."""
        return len(self.data)

    @property
    def exact(self) -> bool:
        """The final value of a trial that has finished is known."""
        return True

    @property
    def unit(self) -> float:
        """A typical difference of two final values: their prior deviation."""
        variance = self._stages.neighbours[-1, -1] + self._stages.own[-1, -1]
        return self._scale * float(np.sqrt(variance))

    @property
    def resolution(self) -> float:
        """What the nugget blurs values by."""
        return self._scale * float(np.sqrt(NUGGET))

    @cached_property
    def column_lengthscales(self) -> Array:
        """The length scale of each column."""
        return np.asarray(self.fit.hyper.lengthscales[self.data.groups])

    def relative_to(self, x: Array, value: float) -> Marginals:  # noqa: ARG002  it is exact
        """Itself: a finished value is exact, so nothing is gained by differences."""
        return self

    def law(self, X: Array) -> Law:
        """The law of the final value of a new trial at each row of X, in the user's units."""
        mean, variance = np.empty(len(X)), np.empty(len(X))
        for start in range(0, len(X), _BLOCK):
            rows = slice(start, start + _BLOCK)
            kernels = self._basis.values(self._scaled(X[rows])).T
            mean[rows], square, _ = self._new_trials(kernels)
            variance[rows] = self._prior_variance - square
        return self._warp.law(self._normal(mean, variance))

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """The law and the gradients of its parameters in x; for a few rows at a time."""
        kernels = self._basis.at(self._scaled(X))
        mean, square, u = self._new_trials(kernels.values.T)
        normal = self._normal(mean, self._prior_variance - square)
        pull = self._new_trials.pull(u).T  # d variance = -2 pull d kernels
        weights = np.broadcast_to(self._new_trials.weights, pull.shape)
        in_scaled = kernels.gradients(weights, pull)
        slopes = self.fit.hyper.kernel.warp_slope(X) / self.column_lengthscales * self._scale
        d_mean, d_half_variance = in_scaled * slopes
        return self._warp.law(normal), (
            d_mean,
            -d_half_variance * self._scale / normal.std[:, None],
        )

    def law_of_trials(self, X: Array, trial: Indices) -> Law:
        """The law of the final values of trials that have reported, in the user's units.

        Args:
            X: Their configurations, encoded.
            trial: Which trials they are, as in the data.
        """
        same = self.data.trial[:, None] == np.asarray(trial)[None, :]
        own = self._stages.own[self.data.stage, -1][:, None] * same
        to_final, mean = self._to_final[:, :, None]
        cross = self._kernels(X) * to_final + mean + own
        u = cholesky.times_lower(self._whitener, np.asfortranarray(cross))
        variance = self._prior_variance - np.einsum("ij,ij->j", u, u)
        return self._warp.law(self._normal(self._residual @ u, variance))

    def steps(self, X: Array, stage: int, trial: Indices) -> Array:
        """Deviations of the steps that means of final values take at the stages to come.

        Their squares add up to the variance of the final value, in units of the warp.

        Args:
            X: Configurations, encoded.
            stage: The stage that was reported last by all of them; -1 if none was.
            trial: Which trials they are, as in the data; ``NEW`` where one was not begun.
        """
        ahead = np.arange(stage + 1, self.data.times.size)
        _, covariances = self._joint(X, ahead, trial)
        diagonal = np.arange(ahead.size)
        covariances[:, diagonal, diagonal] += NUGGET
        # The final value is the sum of what each stage adds to its mean.
        last = [cholesky.factorise(covariance)[0][-1] for covariance in covariances]
        return np.asarray(np.abs(np.array(last)) * self._scale)

    def believing(self, X: Array, trial: Indices, stage: Indices) -> CurvePosterior:
        """As if trials had reported what is expected of them at stages to come."""
        means = [
            self._joint(X[[row]], stage[[row]], trial[[row]])[0].item() for row in range(len(X))
        ]
        return CurvePosterior(self.data.with_(X, trial, stage), self.fit, np.append(self.z, means))

    # ------------------------------------------------------------------ details

    @cached_property
    def _covariance(self) -> CurveCovariance:
        return CurveCovariance(self.data, self.fit.hyper)

    @property
    def _stages(self) -> StageCovariances:
        return self._covariance.stages

    @cached_property
    def _whitener(self) -> Array:
        lower, _ = cholesky.factorise(self._covariance.matrix)
        return cholesky.inverse_factor(lower)

    @cached_property
    def _residual(self) -> Array:
        return cholesky.times_lower(self._whitener, np.asfortranarray(self.z[:, None]))[:, 0]

    @cached_property
    def _configurations(self) -> tuple[Array, Indices]:
        """Different configurations, in length scales, and which of them each report is of."""
        return unique_rows(self._covariance.scaled)

    @cached_property
    def _basis(self) -> KernelBasis:
        return KernelBasis(self.fit.hyper.kernel, self._configurations[0])

    @cached_property
    def _to_final(self) -> Array:
        """Of each report, for its covariance with a final value: a kernel's factor, and the rest.

        (2, n).
        """
        stage = self.data.stage
        return np.array([self._stages.neighbours[stage, -1], self._stages.mean[stage, -1]])

    @cached_property
    def _new_trials(self) -> NewTrials:
        which = self._configurations[1]
        return NewTrials.of(self._whitener, self._residual, self._to_final, which)

    @property
    def _prior_variance(self) -> float:
        return float(self._stages.total[-1, -1])

    @property
    def _standardiser(self) -> Standardiser:
        return self.fit.scales.standardiser

    @property
    def _scale(self) -> float:
        return self._standardiser.scale

    @property
    def _warp(self) -> Warp:
        return self.fit.scales.warps[-1]

    def _scaled(self, X: Array) -> Array:
        return np.asarray(self.fit.hyper.kernel.warp(X) / self.column_lengthscales)

    def _kernels(self, X: Array) -> Array:
        """Kernels of reports with rows of X, (n, rows)."""
        return self._basis.values(self._scaled(X)).T[self._configurations[1]]

    def _joint(self, X: Array, stages: Indices, trial: Indices) -> tuple[Array, Array]:
        """Means and covariances of the reports of trials at stages to come, standardised.

        (rows, stages) and (rows, stages, stages).
        """
        of, at = self._stages, np.ix_(self.data.stage, stages)
        same = (self.data.trial[:, None] == trial) & (trial != NEW)
        cross = of.neighbours[at][:, None, :] * self._kernels(X)[:, :, None]
        cross += of.mean[at][:, None, :]
        cross += of.own[at][:, None, :] * same[:, :, None]
        n, shape = len(self), (len(X), stages.size)
        u = cholesky.times_lower(self._whitener, np.asfortranarray(cross.reshape(n, -1)))
        by_row = u.T.reshape(*shape, n)
        covariances = of.total[np.ix_(stages, stages)] - by_row @ by_row.transpose(0, 2, 1)
        return (self._residual @ u).reshape(shape), np.asarray(covariances)

    def _normal(self, mean: Array, variance: Array) -> Normal:
        std = np.sqrt(np.maximum(variance, NUGGET))
        return Normal(self._standardiser.inverse(mean), std * self._scale)


def condition_curves(data: CurveData, fit: CurveFit) -> CurvePosterior:
    """The belief given reports, at a fit that was made to them or to the first of them."""
    return CurvePosterior(data, fit, fit.scales.forward(data))
