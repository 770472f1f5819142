# SPDX-License-Identifier: Apache-2.0
"""Priors of the hyper-parameters, as values.

- ``"lognormal"``: dimension-scaled length scales, LogNormal(sqrt 2 + log(d)/2, sqrt 3), after
  Hvarfner et al. (2024), and an output scale near 1, LogNormal(0, 1), chosen by measurement
  (docs/adr/0013-output-scale.md): the default for users.
- ``"gamma"``: Gamma(3, 6) length scales and Gamma(2, 0.15) output scale: what BoTorch used until
  2024, and the published LCBench runs with it.
- ``None``: plain maximum likelihood.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from stopwise.core.numerics.arrays import Array, Mask
from stopwise.errors import InputError


@dataclass(frozen=True, slots=True)
class LogNormalPrior:
    """Density of exp(N(mean, std^2))."""

    mean: float
    std: float

    def log_density(self, log_value: Array) -> tuple[Array, Array]:
        """Log density at exp(log_value), and its derivative in log_value."""
        deviation = (log_value - self.mean) / self.std
        constant = math.log(self.std) + 0.5 * math.log(2.0 * math.pi)
        return -0.5 * deviation**2 - log_value - constant, -deviation / self.std - 1.0

    def curvature(self, log_value: Array) -> Array:
        """Minus the second derivative of the log density in log_value."""
        return np.full_like(log_value, self.std**-2)

    @property
    def log_mode(self) -> float:
        """Log of the most probable value."""
        return self.mean - self.std**2


@dataclass(frozen=True, slots=True)
class GammaPrior:
    """Gamma density with shape and rate."""

    shape: float
    rate: float

    def log_density(self, log_value: Array) -> tuple[Array, Array]:
        """Log density at exp(log_value), and its derivative in log_value."""
        scaled = self.rate * np.exp(log_value)
        constant = self.shape * math.log(self.rate) - math.lgamma(self.shape)
        log_density = constant + (self.shape - 1.0) * log_value - scaled
        return log_density, self.shape - 1.0 - scaled

    def curvature(self, log_value: Array) -> Array:
        """Minus the second derivative of the log density in log_value."""
        return np.asarray(self.rate * np.exp(log_value))

    @property
    def log_mode(self) -> float:
        """Log of the most probable value."""
        return math.log((self.shape - 1.0) / self.rate)


@dataclass(frozen=True, slots=True)
class Flat:
    """No opinion; ``log_mode`` is only where a search begins."""

    log_mode: float

    def log_density(self, log_value: Array) -> tuple[Array, Array]:
        """Zero, and zero."""
        return np.zeros_like(log_value), np.zeros_like(log_value)

    def curvature(self, log_value: Array) -> Array:
        """Zero."""
        return np.zeros_like(log_value)


@dataclass(frozen=True, slots=True)
class Fixed:
    """Not searched for: the value is exp(log_mode)."""

    log_mode: float

    def log_density(self, log_value: Array) -> tuple[Array, Array]:
        """Zero, and zero."""
        return np.zeros_like(log_value), np.zeros_like(log_value)

    def curvature(self, log_value: Array) -> Array:
        """Zero."""
        return np.zeros_like(log_value)


Prior = LogNormalPrior | GammaPrior | Flat | Fixed

_OUTPUTSCALE = LogNormalPrior(0.0, 1.0)  # docs/adr/0013-output-scale.md


@dataclass(frozen=True, slots=True)
class Priors:
    """One prior for each kind of hyper-parameter.

    Args:
        lengthscale: Of the length scales.
        outputscale: Of the output scale.
        noise: Of the noise.
        by_parameter: Of the length scale of each parameter, where they differ.
    """

    lengthscale: Prior
    outputscale: Prior
    noise: Prior
    by_parameter: tuple[Prior, ...] = ()


def priors(name: str | None, d: int) -> Priors:
    """The priors called ``name`` for d parameters."""
    if name == "lognormal":
        return Priors(_of_numbers(d), _OUTPUTSCALE, LogNormalPrior(-4.0, 1.0))
    if name == "gamma":
        return Priors(GammaPrior(3.0, 6.0), GammaPrior(2.0, 0.15), GammaPrior(1.1, 0.05))
    if name is None:
        return Priors(Flat(math.log(0.3 * math.sqrt(d))), Flat(0.0), Flat(-4.0))
    message = f"prior={name!r} is not known: give 'lognormal', 'gamma' or None (no prior)."
    raise InputError(message)


def priors_with_choices(choices: Mask) -> Priors:
    """The priors ``"lognormal"`` where some parameters are choices: their effects may add up.

    A fit takes the likeliest length scale, and the mode of LogNormal(m, s) is exp(m - s^2). With
    one so short, hardly anything that was seen of one choice holds for another. So the mode of
    their length scales is the published median, exp(m), and that of the output scale is 1, without
    which long length scales could not explain what is seen
    (docs/adr/0067-effects-of-choices-may-add-up.md). Numbers keep their prior.

    Args:
        choices: For each parameter, whether it is a choice.
    """
    usual = priors("lognormal", choices.size)
    of_numbers = _of_numbers(choices.size)
    of_choices = _with_mode_at_median(of_numbers)
    return replace(
        usual,
        outputscale=_with_mode_at_median(_OUTPUTSCALE),
        by_parameter=tuple(of_choices if each else of_numbers for each in choices.tolist()),
    )


def _with_mode_at_median(prior: LogNormalPrior) -> LogNormalPrior:
    """As probable over the logarithm as the prior is over the value: its mode is at exp(mean)."""
    return replace(prior, mean=prior.mean + prior.std**2)


def _of_numbers(d: int) -> LogNormalPrior:
    """Of length scales in d dimensions, after Hvarfner et al. (2024)."""
    return LogNormalPrior(math.sqrt(2.0) + 0.5 * math.log(d), math.sqrt(3.0))
