# SPDX-License-Identifier: Apache-2.0
"""Refit policies: when hyper-parameters are fitted anew; in between, observations are appended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from stopwise.core.checks import checked_whole


class RefitPolicy(Protocol):
    """When hyper-parameters are fitted anew."""

    def is_due(self, n: int, *, fitted_to: int, t: int) -> bool:
        """Whether to fit now.

        Args:
            n: Observations now.
            fitted_to: Observations at the last fit.
            t: Evaluations after the initial design.
        """
        ...


@dataclass(frozen=True, slots=True)
class RefitAlways:
    """At every observation."""

    def is_due(self, n: int, *, fitted_to: int, t: int) -> bool:  # noqa: ARG002  one interface
        """Always."""
        return True


@dataclass(frozen=True, slots=True)
class RefitWhenGrown:
    """At every observation at first, then whenever the data have grown by a factor.

    A history of hundreds that is asked about at every observation would otherwise cost a fit of
    hundreds, hundreds of times.

    Args:
        factor: Growth since the last fit that calls for another.
        always_up_to: Observations up to which each one may change a fit.
    """

    factor: float = 1.1
    always_up_to: int = 50

    def is_due(self, n: int, *, fitted_to: int, t: int) -> bool:  # noqa: ARG002  one interface
        """Whether there are few observations, or many more than at the last fit."""
        return n <= self.always_up_to or n >= self.factor * fitted_to


@dataclass(frozen=True, slots=True)
class RefitOnSchedule:
    """At fixed moments: every t up to ``dense``, then at steps of about a tenth of t.

    Args:
        dense: Evaluations after the initial design up to which each is followed by a fit.
    """

    dense: int = 10

    def __post_init__(self) -> None:
        checked_whole("dense", self.dense)

    def is_due(self, n: int, *, fitted_to: int, t: int) -> bool:  # noqa: ARG002  one interface
        """Whether t is on the schedule."""
        moment = self.dense
        while moment < t:
            moment += -(-moment // self.dense)
        return t <= self.dense or moment == t
