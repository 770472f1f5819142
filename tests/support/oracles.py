# SPDX-License-Identifier: Apache-2.0
"""Expected improvement from its definition, E max(y - f, 0), by quadrature in 40 digits.

Nothing here knows the closed forms under test: expectations are integrals over the standard
normal density, and derivatives are taken under the expectation.
"""

import functools
import itertools

from mpmath import MPContext
from mpmath.calculus.quadrature import GaussLegendre

mp = MPContext()
mp.dps = 40


@functools.cache
def _rule():
    """Nodes and weights on (0, 130) for what falls like exp(-v): Gauss-Legendre in pieces."""
    unit = GaussLegendre(mp).calc_nodes(degree=5, prec=mp.prec + 10)
    pieces = itertools.pairwise([0, 2, 8, 24, 64, 130])  # beyond, less than exp(-130)
    return [
        (low + (high - low) * (1 + node) / 2, (high - low) * weight / 2)
        for low, high in pieces
        for node, weight in unit
    ]


@functools.cache
def _tail_moments(x):
    """Integrals of phi(x + w)/phi(x) and w phi(x + w)/phi(x) over w > 0, for x >= 0."""
    scale = 1 / (1 + x)
    values = [(v, weight * mp.exp(-scale * v * (x + scale * v / 2))) for v, weight in _rule()]
    zeroth = mp.fsum(value for _, value in values)
    first = mp.fsum(v * value for v, value in values)
    return scale * zeroth, scale**2 * first


class Standard:
    """A standard normal U against a level z: what is gained below it, and how that changes.

    Above 0, E max(z - U, 0) = z + E max(-z - U, 0), because max(a, 0) = a + max(-a, 0) and U is
    symmetric about 0. Below 0 the density at z is taken out of every ratio: it underflows.
    """

    def __init__(self, z):
        self.z = mp.mpf(z)
        x = abs(self.z)
        self._chance, self._gain = _tail_moments(x)  # of the lower level, -x, over the density
        self._spread = x * self._chance + self._gain
        self._log_density = -(x**2) / 2 - mp.log(2 * mp.pi) / 2
        self._density = mp.exp(self._log_density)

    @property
    def log_gain(self):
        """Log E max(z - U, 0)."""
        if self.z < 0:
            return self._log_density + mp.log(self._gain)
        return mp.log(self.z + self._density * self._gain)

    @property
    def chance_over_gain(self):
        """P(U < z)/E max(z - U, 0): the derivative of the log gain in z."""
        if self.z < 0:
            return self._chance / self._gain
        return (1 - self._density * self._chance) / mp.exp(self.log_gain)

    @property
    def spread_over_gain(self):
        """E[-U; U < z]/E max(z - U, 0): the derivative of the log gain in the scale of U."""
        if self.z < 0:
            return self._spread / self._gain
        return self._density * self._spread / mp.exp(self.log_gain)


def log_ei_partials(mean, std, best):
    """Log E max(best - f, 0) of a normal f with std > 0, and its derivatives in mean and std."""
    mean, std, best = mp.mpf(mean), mp.mpf(std), mp.mpf(best)
    at = Standard((best - mean) / std)
    value = mp.log(std) + at.log_gain
    return value, -at.chance_over_gain / std, at.spread_over_gain / std


@functools.cache
def fair_level(std, cost):
    """The z at which E max(z - U, 0) = cost/std, by Newton's method; std and cost > 0."""
    target = mp.log(mp.mpf(cost)) - mp.log(mp.mpf(std))
    z = -mp.sqrt(-2 * target) if target < 0 else mp.exp(target)
    for _ in range(20):
        at = Standard(z)
        step = (at.log_gain - target) / at.chance_over_gain
        z -= step
        if abs(step) <= 1e-20 * (1 + abs(z)):  # and squared by the step just taken
            return z
    message = f"no level was found for std {std} and cost {cost}"
    raise ArithmeticError(message)


def fair_value_partials(mean, std, cost):
    """The g with E max(g - f, 0) = cost, and its derivatives in mean, std and log cost."""
    z = fair_level(std, cost)
    at = Standard(z)
    # By the implicit function theorem: the gain moves by P(U < z) per unit of g.
    d_std = -at.spread_over_gain / at.chance_over_gain
    return mp.mpf(mean) + mp.mpf(std) * z, mp.mpf(1), d_std, mp.mpf(std) / at.chance_over_gain


@functools.cache
def _unit_nodes():
    return GaussLegendre(mp).calc_nodes(degree=4, prec=mp.prec + 10)


def log_gain(value_of, level, z, breaks=(), scales=(1,)):
    """Log E[max(level - f, 0)] of an increasing f = value_of(U) of a standard normal U.

    Args:
        value_of: f as a function of U.
        level: The level.
        z: The U at which f is the level.
        breaks: Where value_of is not smooth.
        scales: Distances below z over which level - f changes its form.
    """
    steps = [0, 2, 8, 24, 64, 130]
    ends = {z - step / (1 + abs(z)) for step in steps} | {mp.mpf(u) for u in range(-15, 12, 3)}
    ends |= {z - step * scale for scale in scales for step in steps} | set(breaks)
    lowest = min(z - 130 / (1 + abs(z)), mp.mpf(-15)) if z > 0 else z - 130 / (1 + abs(z))
    ends = sorted(end for end in ends if lowest <= end <= z)
    nodes = _unit_nodes()
    total = mp.mpf(0)
    for low, high in itertools.pairwise(ends):
        for node, weight in nodes:
            u = low + (high - low) * (1 + node) / 2
            density = mp.exp((z - u) * (z + u) / 2)  # over that at z
            total += weight * (high - low) / 2 * density * (level - value_of(u))
    return mp.log(total) - z**2 / 2 - mp.log(2 * mp.pi) / 2
