# SPDX-License-Identifier: Apache-2.0
r"""What reports say of the final values of new trials, by configurations instead of reports.

The reports of one trial share a configuration, so their covariances with a new trial's final value
are :math:`D E k + c`, linear in the kernels k at the configurations, of which there are fewer.
With the whitener W of all reports, mean and variance of the final value need
:math:`u = W (D E k + c)` only through :math:`|u|` and its product with the whitened values. Both
stay what they are if :math:`[W D E,\ W c,\ W z]` is replaced by the R of its QR decomposition: a
triangle as large as there are configurations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.numerics import cholesky
from stopwise.core.numerics.arrays import Array, Indices


@dataclass(frozen=True, slots=True, eq=False)
class NewTrials:
    """Mean and variance of standardised final values as functions of kernels at configurations.

    Args:
        triangle: Takes kernels to the part of u that depends on them; its transpose, a lower one.
        shift: What is added to that.
        values: The whitened values that go with it.
        weights: The gradient of the mean in the kernels.
        mean: What the rest of u adds to the mean.
        square: What the rest of u adds to its square.
    """

    triangle: Array
    shift: Array
    values: Array
    weights: Array
    mean: float
    square: float

    @classmethod
    def of(cls, whitener: Array, residual: Array, by_row: Array, row: Indices) -> NewTrials:
        """What follows from reports.

        Args:
            whitener: W, (n, n).
            residual: W z, (n,).
            by_row: D and c: of each report, the factor of its kernel and what is added, (2, n).
            row: Which configuration each report is of; all occur.
        """
        n, count = len(row), int(row.max()) + 1
        spread = np.zeros((n, count + 1), order="F")
        spread[np.arange(n), row] = by_row[0]
        spread[:, count] = by_row[1]
        whitened = cholesky.times_lower(whitener, spread)
        R = np.asarray(np.linalg.qr(np.column_stack([whitened, residual]), mode="r"))
        triangle = np.asfortranarray(R[:count, :count].T)
        values, (shift, constant) = R[:count, -1], (R[:count, count], R[count:, count])
        return cls(
            triangle,
            shift[:, None],
            values,
            triangle @ values,
            float(constant @ R[count:, -1]),
            float(constant @ constant),
        )

    def __call__(self, kernels: Array) -> tuple[Array, Array, Array]:
        """Of kernels (configurations, rows): the mean, |u|^2, and the part of u behind both."""
        u = cholesky.times_upper(self.triangle, np.asfortranarray(kernels))
        u += self.shift
        return self.values @ u + self.mean, np.einsum("ij,ij->j", u, u) + self.square, u

    def pull(self, u: Array) -> Array:
        """Half the gradient of |u|^2 in the kernels, (configurations, rows)."""
        return cholesky.times_lower(self.triangle, u)
