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
from stopwise.core.beliefs.kernel_basis import KernelBasis
from stopwise.core.beliefs.laws import Law, Normal
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.beliefs.surrogate import Marginals
from stopwise.core.beliefs.warps import Warp
from stopwise.core.numerics import cholesky
from stopwise.core.numerics.arrays import Array, Indices

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
            u = cholesky.times_lower(self._whitener, self._cross(kernels))
            mean[rows] = self._residual @ u
            variance[rows] = self._prior_variance - np.einsum("ij,ij->j", u, u)
        return self._warp.law(self._normal(mean, variance))

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """The law and the gradients of its parameters in x; for a few rows at a time."""
        kernels = self._basis.at(self._scaled(X))
        u = cholesky.times_lower(self._whitener, self._cross(kernels.values.T))
        pull = cholesky.times_upper(self._whitener, u)  # d variance = -2 pull^T d cross
        variance = self._prior_variance - np.einsum("ij,ij->j", u, u)
        normal = self._normal(self._residual @ u, variance)
        weights = self._weights[None, :] * self._to_final, pull.T * self._to_final
        in_scaled = kernels.gradients(np.broadcast_to(weights[0], weights[1].shape), weights[1])
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
        cross = self._cross(self._basis.values(self._scaled(X)).T) + own
        u = cholesky.times_lower(self._whitener, np.asfortranarray(cross))
        variance = self._prior_variance - np.einsum("ij,ij->j", u, u)
        return self._warp.law(self._normal(self._residual @ u, variance))

    def steps(self, x: Array, stage: int, trial: int = NEW) -> Array:
        """Deviations of the steps that the mean of a final value takes at the stages to come.

        Their squares add up to the variance of the final value, in units of the warp.

        Args:
            x: The configuration, encoded.
            stage: The stage that was reported last; -1 if none was.
            trial: Which trial it is, as in the data.
        """
        ahead = np.arange(stage + 1, self.data.times.size)
        _, covariance = self._joint(x, ahead, trial)
        covariance[np.diag_indices_from(covariance)] += NUGGET
        lower, _ = cholesky.factorise(covariance)
        # The final value is the sum of what each stage adds to its mean.
        return np.asarray(np.abs(lower[-1]) * self._scale)

    def believing(self, X: Array, trial: Indices, stage: Indices) -> CurvePosterior:
        """As if trials had reported what is expected of them at stages to come."""
        means = [
            self._joint(x, np.array([i]), int(t))[0][0]
            for x, t, i in zip(X, trial, stage, strict=True)
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
    def _weights(self) -> Array:
        """K^-1 z."""
        return cholesky.times_upper(self._whitener, self._residual[:, None])[:, 0]

    @cached_property
    def _basis(self) -> KernelBasis:
        return KernelBasis(self.fit.hyper.kernel, self._covariance.scaled)

    @cached_property
    def _to_final(self) -> Array:
        """The factor of the kernel in the covariance of each report with a final value."""
        return np.asarray(self._stages.neighbours[self.data.stage, -1])

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

    def _cross(self, kernels: Array) -> Array:
        """Covariances of reports with final values of new trials, (n, rows)."""
        mean = self._stages.mean[self.data.stage, -1]
        return np.asfortranarray(kernels * self._to_final[:, None] + mean[:, None])

    def _joint(self, x: Array, stages: Indices, trial: int) -> tuple[Array, Array]:
        """Mean and covariance of the reports of one trial at stages to come, standardised."""
        of, rows = self._stages, np.ix_(self.data.stage, stages)
        kernel = self._basis.values(self._scaled(x[None, :]))[0]
        same = (self.data.trial == trial) & (trial != NEW)
        cross = (
            of.neighbours[rows] * kernel[:, None] + of.mean[rows] + of.own[rows] * same[:, None]
        )
        u = cholesky.times_lower(self._whitener, np.asfortranarray(cross))
        covariance = of.total[np.ix_(stages, stages)] - u.T @ u
        return self._residual @ u, np.asarray(covariance)

    def _normal(self, mean: Array, variance: Array) -> Normal:
        std = np.sqrt(np.maximum(variance, NUGGET))
        return Normal(self._standardiser.inverse(mean), std * self._scale)


def condition_curves(data: CurveData, fit: CurveFit) -> CurvePosterior:
    """The belief given reports, at a fit that was made to them or to the first of them."""
    return CurvePosterior(data, fit, fit.scales.forward(data))
