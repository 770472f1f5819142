# SPDX-License-Identifier: Apache-2.0
"""Sweeps: at which moments of a whole record a rule stops, in arrays and without sentences.

A figure over parameters asks for some hundred thousand stops; these are the rules' verdicts at a
fraction of the time.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from stopwise.core.numerics.arrays import Array, Mask
from stopwise.stopping.rule import StoppingRule
from stopwise.stopping.threshold_rule import SignalColumns


@runtime_checkable
class Sweepable(Protocol):
    """A rule that can be asked about all moments of a record at once."""

    def stops(self, record: SignalColumns, read: Array) -> Mask | None:
        """At which moments the verdict is to stop, (m,); None if they must be asked for singly.

        Args:
            record: The recorded signals.
            read: The current number of each moment, (m,): as recorded, or as a wrapper reads it.
        """
        ...


def sweep(rule: StoppingRule, t: npt.ArrayLike, values: npt.ArrayLike) -> Mask | None:
    """At which moments of a record a rule stops: its verdicts, all at once.

    Args:
        rule: Any rule.
        t: Evaluations after the initial design at each recorded moment, (m,), increasing.
        values: The recorded numbers of ``rule.key``, (m,); nan where there is no answer.

    Returns:
        Whether the verdict at each moment is to stop, (m,). None if the rule must be asked moment
        by moment, because it offers no sweep or because rounding would decide.

    Example:
        >>> from stopwise.stopping import UCBLCB, After
        >>> sweep(After(UCBLCB(theta=0.5), 2), t=[0, 1, 2, 3], values=[0.1, 0.7, 0.6, 0.5])
        array([False, False, False,  True])
    """
    record = SignalColumns(np.asarray(t, dtype=np.intp), np.asarray(values, dtype=np.float64))
    return stops_of(rule, record, record.values)


def stops_of(rule: StoppingRule, record: SignalColumns, read: Array) -> Mask | None:
    """As ``sweep``, with the current number of each moment as a wrapper reads it."""
    if not isinstance(rule, Sweepable) or _overrides_verdict_alone(type(rule)):
        return None
    return rule.stops(record, read)


def _overrides_verdict_alone(cls: type) -> bool:
    """Whether a subclass changes the verdicts of a rule and keeps a sweep of the old ones."""
    lineage = [vars(ancestor) for ancestor in cls.__mro__]
    verdict, stops = (
        next((i for i, members in enumerate(lineage) if name in members), len(lineage))
        for name in ("verdict", "stops")
    )
    return verdict < stops
