# SPDX-License-Identifier: Apache-2.0
"""The weighed model: three beliefs of how bad values are to be read, weighed by what came.

Bad values say where not to look. They also inflate the scale of a Gaussian process, and with it
the improvements that it promises. Compressing them (``SoftWarp``) helps on most real problems,
harms on some, and the values alone do not tell which: a floor and a plateau look the same. So the
model begins with a prior over three beliefs and lets the choices decide; see ``foresight``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from stopwise.core.beliefs.ensemble import Ensemble
from stopwise.core.beliefs.foresight import Seen, Weighed, weigh
from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.hyperparameters import Hyperparameters, ObjectiveFit
from stopwise.core.beliefs.models.model import DEFAULT_PRIOR, Data
from stopwise.core.beliefs.models.plain import condition_component, fit_component
from stopwise.core.beliefs.priors import priors_with_choices
from stopwise.core.beliefs.surrogate import Updatable
from stopwise.core.beliefs.warps import DEFAULT_WARP, SoftWarp, Warp


class Reading(NamedTuple):
    """One way to read bad values.

    Args:
        name: For whoever explains it.
        prior: Its weight before any choice.
        quantile: Of the first values: the knee, above which values are compressed.
        scale: Of the compression, in distances from the knee to the best of the first values
            (of all values, where there is noise).
    """

    name: str
    prior: float
    quantile: float
    scale: float

    def warp(self, data: Data) -> Warp:
        """The warp that follows from the first values; none where their best one is the knee.

        Every reading compresses values beyond belief, such as 1e6 where others are about 1: taken
        as they are they promise gains so large that no failed promise speaks against them.

        Where there is noise, means count, and that of a value which is uncertain by several tau is
        beyond all sense. So tau follows the best value so far, and is no less than a given noise.
        """
        first = data.first_values
        best = float(first.min() if data.exact else data.y.min())
        knee = float(np.quantile(first, self.quantile))
        absurd = float(data.y.max()) - knee > _ABSURD * (knee - best)
        tau = (min(self.scale, _FAR) if absurd else self.scale) * (knee - best)
        if not 0.0 < tau < np.inf:
            return DEFAULT_WARP
        if data.noise is None or data.noise == "learn":
            return SoftWarp(knee, tau)
        return SoftWarp(knee, max(tau, math.sqrt(float(data.noise))))


_ABSURD = 1000.0  # a value is beyond belief at so many distances from the knee to the best value,
_FAR = 10.0  # and is compressed at this scale, in the same distances

READINGS = (
    Reading("as they are", 0.3, 0.5, np.inf),
    Reading("mildly compressed", 0.4, 0.5, 1.0),
    Reading("strongly compressed", 0.3, 0.25, 0.3),
)


@dataclass(frozen=True, slots=True)
class WeighedModel:
    """An ensemble of posteriors, each with its own warp and hyper-parameters.

    Args:
        readings: The ways to read bad values.
    """

    readings: tuple[Reading, ...] = READINGS
    name: ClassVar[str] = "default"

    def fit(self, data: Data, start: ObjectiveFit | None, seen: Sequence[Seen]) -> Ensemble:
        """Fit every component; readings that come to the same warp share one fit."""
        data = _with_priors_of_choices(data)
        starts = start.components if start else (None,) * len(self.readings)
        fits: dict[Warp, Posterior] = {}
        components = []
        for reading, begin in zip(self.readings, starts, strict=True):
            warp = reading.warp(data)
            if warp not in fits:
                fits[warp] = fit_component(data, begin, warp=warp)
            components.append(fits[warp])
        weights, trust = self._weigh(seen)
        return Ensemble(tuple(components), weights, self._names, trust)

    def as_fitted(self, data: Data, fitted: ObjectiveFit) -> Ensemble:
        """Condition every component on the data."""
        at: dict[Hyperparameters, Posterior] = {}
        for hyper in fitted.components:
            if hyper not in at:
                at[hyper] = condition_component(data, hyper)
        components = tuple(at[hyper] for hyper in fitted.components)
        return Ensemble(components, np.array(fitted.weights), self._names, fitted.trust)

    def weighed(self, surrogate: Updatable, seen: Sequence[Seen]) -> Updatable:
        """The same components with the weights that follow from the choices."""
        if not isinstance(surrogate, Ensemble):
            return surrogate
        weights, trust = self._weigh(seen)
        return replace(surrogate, weights=weights, trust=trust)

    def _weigh(self, seen: Sequence[Seen]) -> Weighed:
        return weigh([reading.prior for reading in self.readings], seen)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(reading.name for reading in self.readings)


def _with_priors_of_choices(data: Data) -> Data:
    """The data with a prior of its own for choices, if there are any, unless another is given.

    A choice that decides which parameters exist keeps the usual one. With a long length scale the
    model would tell its branches apart by their own parameters instead: those at the middle of
    their ranges, where parameters are that do not exist, and all others.
    """
    choices = data.choices
    choices[list(data.deciding)] = False
    if data.prior != DEFAULT_PRIOR or not choices.any():
        return data
    return replace(data, prior=priors_with_choices(choices))
