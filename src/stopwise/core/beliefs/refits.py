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

    def latest(self, n: int) -> int | None:
        """The latest number of observations to which to fit, when there are n.

        None if that does not follow from n alone but depends on earlier fits.
        """
        ...


@dataclass(frozen=True, slots=True)
class RefitAlways:
    """At every observation."""

    def latest(self, n: int) -> int:
        """To all of them."""
        return n

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

    def latest(self, n: int) -> None:  # noqa: ARG002  one interface
        """It depends on earlier fits."""
        return

    def is_due(self, n: int, *, fitted_to: int, t: int) -> bool:  # noqa: ARG002  one interface
        """Whether there are few observations, or many more than at the last fit."""
        return n <= self.always_up_to or n >= self.factor * fitted_to


@dataclass(frozen=True, slots=True)
class RefitAtSizes:
    """At every observation at first, then at numbers of observations about a tenth apart.

    The policy of a ``Study``. The sizes are fixed (100, 110, 121, 133, ...), so hyper-parameters
    are those of the first so many observations, whenever somebody asks or resumes.

    Args:
        always_up_to: Observations up to which each is followed by a fit.
        part: A fit is due when the data have grown by one part in so many.
    """

    always_up_to: int = 100
    part: int = 10

    def __post_init__(self) -> None:
        checked_whole("always_up_to", self.always_up_to)
        checked_whole("part", self.part)

    def latest(self, n: int) -> int:
        """The largest size of the schedule that n observations have reached."""
        if n <= self.always_up_to:
            return n
        size = after = self.always_up_to
        while after <= n:  # it grows by 1 at least
            size, after = after, after + max(1, after // self.part)
        return size

    def is_due(self, n: int, *, fitted_to: int, t: int) -> bool:  # noqa: ARG002  one interface
        """Whether the data have reached another size since the last fit."""
        return fitted_to < self.latest(n)


@dataclass(frozen=True, slots=True)
class RefitOnSchedule:
    """At fixed moments: every t up to ``dense``, then at steps of about a tenth of t.

    Args:
        dense: Evaluations after the initial design up to which each is followed by a fit.
    """

    dense: int = 10

    def __post_init__(self) -> None:
        checked_whole("dense", self.dense)

    def latest(self, n: int) -> None:  # noqa: ARG002  one interface
        """It depends on earlier fits."""
        return

    def is_due(self, n: int, *, fitted_to: int, t: int) -> bool:  # noqa: ARG002  one interface
        """Whether t is on the schedule."""
        moment = self.dense
        while moment < t:  # it grows by 1 at least
            moment += -(-moment // self.dense)
        return t <= self.dense or moment == t
