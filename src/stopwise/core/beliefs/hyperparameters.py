# SPDX-License-Identifier: Apache-2.0
"""Hyper-parameters of a Gaussian process, with the kernel and the warp that they belong to."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.beliefs.kernels import DEFAULT_KERNEL, Kernel
from stopwise.core.beliefs.warps import DEFAULT_WARP, Warp
from stopwise.core.checks import as_number
from stopwise.core.numerics.arrays import Array
from stopwise.errors import InputError, InputTypeError, shown


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

    Raises:
        InputError: For numbers outside what is allowed, and length scales that are no row.
        InputTypeError: For what is no number.

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
        object.__setattr__(self, "lengthscales", _as_lengthscales(self.lengthscales))
        object.__setattr__(self, "outputscale", _scale("outputscale", self.outputscale))
        object.__setattr__(self, "noise", _scale("noise", self.noise, zero=True))
        object.__setattr__(self, "mean", _finite("mean", self.mean))

    def check_dimension(self, parameters: int) -> None:
        """Refuse hyper-parameters of another number of parameters, with an InputError."""
        if self.lengthscales.size != parameters:
            message = (
                f"{self.lengthscales.size} length scales for {parameters} parameters: give one"
                f" for each; these are {shown(self.lengthscales.tolist())}."
            )
            raise InputError(message)

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

    Raises:
        InputError: For weights or length scales that do not belong together.
    """

    components: tuple[Hyperparameters, ...]
    weights: tuple[float, ...] = (1.0,)
    trust: float = 1.0

    def __post_init__(self) -> None:
        if not self.components or len(self.weights) != len(self.components):
            message = (
                f"{len(self.weights)} weights for {len(self.components)} sets of hyper-parameters:"
                " give one weight for each, and at least one."
            )
            raise InputError(message)
        for hyper in self.components:
            hyper.check_dimension(self.components[0].lengthscales.size)


def _as_lengthscales(given: ArrayLike) -> Array:
    """Length scales as an array of their own, read-only."""
    try:
        array = np.array(given)  # not the caller's
    except ValueError:  # rows of different lengths
        array = np.array(given, dtype=object)
    advice = "Give one positive number for each parameter."
    if array.dtype.kind not in "fiu":
        message = f"length scales must be numbers, got {shown(given)}. {advice}"
        raise InputTypeError(message)
    if array.ndim != 1 or not all(0.0 < scale < math.inf for scale in array.tolist()):
        message = f"length scales must be a row of positive numbers, got {shown(given)}. {advice}"
        raise InputError(message)
    lengthscales = array.astype(np.float64, copy=False)
    lengthscales.flags.writeable = False
    return lengthscales


def _scale(name: str, given: float, *, zero: bool = False) -> float:
    number = _finite(name, given)
    if number < 0 or (number == 0 and not zero):
        allowed = "0 or more" if zero else "positive"
        message = f"{name}={shown(given)}: a variance, in standardised units, is {allowed}."
        raise InputError(message)
    return number


def _finite(name: str, given: float) -> float:
    if type(given) is float and math.isfinite(given):  # the common case
        return given
    number = as_number(name, given, "Give a float, in standardised units.")
    if not math.isfinite(number):
        message = f"{name}={shown(given)}: give a finite number, in standardised units."
        raise InputError(message)
    return number
