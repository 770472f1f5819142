# SPDX-License-Identifier: Apache-2.0
"""Hyper-parameters of a Gaussian process, with the kernel and the warp that they belong to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.kernels import DEFAULT_KERNEL, Kernel
from stopwise.core.beliefs.warps import DEFAULT_WARP, Warp
from stopwise.core.numerics.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)  # arrays have no plain equality
class Hyperparameters:
    """What a fit decides, in standardised units, and the model that it is decided for.

    Args:
        lengthscales: One per parameter, in units of the encoded cube.
        outputscale: Prior variance of f.
        noise: Variance of an observation about f (or the nugget where there is none).
        mean: The constant prior mean.
        kernel: The correlation function.
        warp: The map from observed values to those that are modelled.

    Example:
        >>> Hyperparameters([0.3, 0.5]) == Hyperparameters(np.array([0.3, 0.5]))
        True
    """

    lengthscales: Array
    outputscale: float = 1.0
    noise: float = 1e-9
    mean: float = 0.0
    kernel: Kernel = DEFAULT_KERNEL
    warp: Warp = DEFAULT_WARP

    def __post_init__(self) -> None:
        lengthscales = np.array(self.lengthscales, dtype=np.float64)  # not the caller's array
        lengthscales.flags.writeable = False
        object.__setattr__(self, "lengthscales", lengthscales)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hyperparameters) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        numbers = (self.outputscale, self.noise, self.mean, *self.lengthscales.ravel().tolist())
        return (self.kernel, self.warp, *numbers)


@dataclass(frozen=True, slots=True)
class ObjectiveFit:
    """All that a fit decided: the next fit starts from it, and a resumed study goes on with it.

    Args:
        components: The hyper-parameters of each posterior, with kernel and warp.
        weights: One each, if there are several.
        trust: The probability that promised improvements are real.
    """

    components: tuple[Hyperparameters, ...]
    weights: tuple[float, ...] = (1.0,)
    trust: float = 1.0
