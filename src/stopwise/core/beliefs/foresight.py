# SPDX-License-Identifier: Apache-2.0
r"""Foresights: the chance that each belief gave to a choice, and whether it came.

A choice keeps its promise if it gains at least the expected improvement for which it was chosen,
before any discount. Before the outcome is known, every belief of an ensemble says how likely that
is, p_k. A belief that promised what did not come loses weight. And all of them may promise too
much: a promise is then kept with probability :math:`\theta p_k` only, with an unknown trust
:math:`\theta \le 1`. Beliefs and trusts are weighed together by Bayes' rule,

.. math:: w_{k\theta} \propto \pi_k \pi_\theta \prod_{\text{came}} \theta p_k
    \prod_{\text{did not}} (1 - \theta p_k)

Only the chosen points count. Elsewhere an observation says little of what a rule reads, the
improvements that are promised.

A choice may bring less than that and still all that was promised of it at the trust of its time.
It shows neither that promises come in full nor that they do not come, and counts for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stopwise.core.numerics.arrays import Array

TRUSTS = np.array([1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4])
TRUST_PRIOR = np.array([0.8, *[0.025] * 8])
_LEAST_CHANCE = 1e-6  # what is thought impossible may come: a belief is never ruled out by it


@dataclass(frozen=True, slots=True)
class Foresight:
    """What the beliefs of an ensemble thought of a choice before its outcome.

    Args:
        level: The value, to be minimised, below which the choice keeps its promise.
        chances: The probability of that, for each belief.
    """

    level: float
    chances: tuple[float, ...]


class Seen(NamedTuple):
    """A foresight, and whether the choice kept its promise: before the discount, or after it."""

    foresight: Foresight
    came: bool
    came_discounted: bool = False

    @property
    def tells(self) -> bool:
        """Whether it says anything of the trust: all came, or less than was promised."""
        return self.came or not self.came_discounted


class Weighed(NamedTuple):
    """Weights of the beliefs, with a sum of 1, and the trust in what they promise, at most 1."""

    weights: Array
    trust: float


def weigh(prior: Sequence[float], seen: Sequence[Seen]) -> Weighed:
    """Weights and trust after some choices.

    Args:
        prior: Weights of the beliefs before any choice.
        seen: Choices and what came of them, in any order.

    Example:
        >>> missed = Seen(Foresight(0.9, (0.5, 0.1)), came=False)
        >>> before, after = weigh([0.5, 0.5], []), weigh([0.5, 0.5], [missed] * 5)
        >>> bool(after.weights[0] < before.weights[0]), round(before.trust, 3)
        (True, 0.811)
    """
    log_weights = np.log(np.outer(prior, TRUST_PRIOR))
    seen = [each for each in seen if each.tells]
    if seen:
        chances = np.array([each.foresight.chances for each in seen])[:, :, None] * TRUSTS
        came = np.array([each.came for each in seen])[:, None, None]
        chances = np.clip(chances, _LEAST_CHANCE * TRUSTS, 1.0 - _LEAST_CHANCE)
        log_weights += np.where(came, np.log(chances), np.log1p(-chances)).sum(axis=0)
    joint = np.exp(log_weights - log_weights.max())
    joint /= joint.sum()
    believed = joint @ TRUSTS  # what is left of each belief's promises
    trust = math.fsum(believed)
    return Weighed(believed / trust, min(trust, 1.0))
