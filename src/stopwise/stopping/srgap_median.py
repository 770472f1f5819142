# SPDX-License-Identifier: Apache-2.0
"""SRGap-med: stop when an observation hardly changes the expected minimum regret."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.acquisition.lcb import confidence_beta
from stopwise.core.beliefs.gp import Posterior
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Signal
from stopwise.stopping._checks import check_count, check_positive
from stopwise.stopping.signals import OBJECTIVE, SignalKind
from stopwise.stopping.threshold_rule import (
    Boundary,
    SignalRecord,
    ThresholdRule,
    median_of_first,
)
from stopwise.stopping.traits import RuleTraits
from stopwise.stopping.ucb_lcb import confidence_gap

_LEAST_NOISE = 1e-6  # of the standardised variance: a divergence needs some noise to be finite

REGRET_GAP = SignalKind(
    "srgap",
    "linear",
    "gap of expected regrets",
    reads="model",
    unit=OBJECTIVE,
    beyond_marginals=(
        "the posterior before the last observation, at the present hyper-parameters"
    ),
)


@dataclass(frozen=True, slots=True)
class SRGapMedian(ThresholdRule):
    r"""Stop when the gap of expected minimum simple regrets is small beside what it was at first.

    .. math:: \Delta R_t = |\mu_{t-1}(x^*_{t-1}) - \mu_t(x^*_t)|
        + [v\varphi(g/v) + g\Phi(g/v)] + \kappa_{t-1}\sqrt{\mathrm{KL}_t/2}

    with incumbents :math:`x^*` (best observed), :math:`g = \mu_t(x^*_t) - \mu_t(x^*_{t-1})`,
    :math:`v^2 = \mathrm{Var}_t(f(x^*_t) - f(x^*_{t-1}))`, the UCB-LCB gap :math:`\kappa` of the
    posterior before the last observation (unscaled beta, new n), and KL(new || old) at the last
    evaluated point, in standardised units. Of an ensemble, KL and the term of v are averages. Stop
    at :math:`\Delta R_t \le \chi\,` median over t = 1..I, from t = I + 1 on. Assumes that the
    first gaps say which gap matters.

    Args:
        chi: The fraction of the first gaps that is too little.
        initial: How many first values make the median, I.

    References:
        Ishibashi et al. (2023).
    """

    chi: float = 0.01
    initial: int = 20
    name: ClassVar[str] = "srgap-med"

    def __post_init__(self) -> None:
        chi = check_positive("SRGapMedian", "chi", self.chi)
        object.__setattr__(self, "chi", chi)
        check_count("SRGapMedian", "initial", self.initial)

    @property
    def traits(self) -> RuleTraits:
        """Its record serves every chi and I; the median reads it from its beginning."""
        return RuleTraits(REGRET_GAP)

    def signal(self, snapshot: Snapshot) -> Signal:
        """The gap; no answer at t = 0, which has no step before it, or if nothing was best."""
        if snapshot.t <= 0 or not snapshot.prefix(snapshot.n - 1).has_incumbent:
            return snapshot.signal(math.nan)
        shift, gain, spread = srgap_terms(snapshot)
        return snapshot.signal(shift + gain + spread, shift=shift, gain=gain, spread=spread)

    def boundary(self, record: SignalRecord) -> Boundary:
        """A fraction of the median of the first values."""
        level = self.chi * median_of_first(record, self.initial)
        return Boundary(level, since=self.initial + 1)

    def sentence(self, now: Signal, level: float) -> str:
        """What the last evaluation changed, and the fraction of what the first ones did."""
        return (
            f"the last evaluation moved the expected regret{now.units.in_value} by at most"
            f" {quantity(now.value, level)}, and {quantity(self.chi)} of its median over the"
            f" first {self.initial} evaluations is {quantity(level, now.value)}"
        )

    def waiting(self, now: Signal) -> str:
        """The median is not complete yet."""
        return f"{now.t} of {self.initial} first values of the regret gap"


def srgap_terms(snapshot: Snapshot) -> tuple[float, float, float]:
    """The three terms of the gap, in objective units."""
    before = snapshot.prefix(snapshot.n - 1)
    x_new, x_old = snapshot.X[snapshot.incumbent], snapshot.X[before.incumbent]
    shift = abs(before.best - snapshot.best)
    gain = 0.0
    if not np.array_equal(x_new, x_old):
        g = snapshot.best - snapshot.judged[before.incumbent]
        gain = sum(
            weight * _expected_positive_part(g, _deviation_of_difference(new, x_new, x_old))
            for weight, new in snapshot.belief.own.weighted
        )
    beta = confidence_beta(snapshot.domain.d, snapshot.n, scale=1.0)
    kappa, _, _ = confidence_gap(before, beta)
    divergence = sum(
        weight * _divergence(old, snapshot.X[-1], float(snapshot.y[-1]))
        for weight, old in before.belief.own.weighted
    )
    return shift, gain, kappa * math.sqrt(0.5 * divergence)


def _deviation_of_difference(posterior: Posterior, a: np.ndarray, b: np.ndarray) -> float:
    if posterior.exact:
        return 0.0
    pair = np.vstack([a, b])
    covariance = posterior.covariance(pair, pair)
    return math.sqrt(max(covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1], 0.0))


def _expected_positive_part(g: float, v: float) -> float:
    """E[max(N(g, v^2), 0)] = v phi(g/v) + g Phi(g/v)."""
    if v == 0.0:
        return max(g, 0.0)
    density = math.exp(-0.5 * (g / v) ** 2) / math.sqrt(2.0 * math.pi)
    return v * density + g * 0.5 * math.erfc(-g / (v * math.sqrt(2.0)))


def _divergence(old: Posterior, x: np.ndarray, y: float) -> float:
    """KL(new || old) between the posteriors of f after and before observing y at x.

    It is taken in the units of the model, where both are normal; a warp does not change it.
    """
    at = old(x[None, :])
    mean, std = float(at.mean[0]), float(at.std[0])
    scale = old.standardiser.scale
    variance = (std / scale) ** 2
    noise = max(old.hyper.noise, _LEAST_NOISE)
    total = variance + noise
    surprise = ((float(old.hyper.warp.forward(np.array(y))) - mean) / scale) ** 2
    return 0.5 * (math.log1p(variance / noise) - variance / total + variance * surprise / total**2)
