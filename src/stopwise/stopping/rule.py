# SPDX-License-Identifier: Apache-2.0
"""The stopping rule: a recorded signal and a free verdict."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.stopping.verdict import Verdict


@runtime_checkable
class StoppingRule(Protocol):
    """A stopping rule.

    ``signal`` may be costly; it is recorded once per number of observations under ``key``, which
    names exactly what the number depends on. ``verdict`` is free and reads recorded signals only.

    A rule may also say more about itself in a property ``traits``; ``traits_of`` gives the traits
    of any rule, cautious ones where a rule is silent. A rule that compares its signal with a level
    is written most easily as a ``ThresholdRule``.
    """

    @property
    def name(self) -> str:
        """The name of the rule; for one of stopwise's rules, its name in ``RULES``."""
        ...

    @property
    def signal_scale(self) -> Scale:
        """``"log"`` if the signal is a logarithm."""
        ...

    @property
    def key(self) -> str:
        """The name under which the signal is recorded; rules with the same signal share it."""
        ...

    def signal(self, snapshot: Snapshot) -> Signal:
        """The number that decides, at the moment of the snapshot."""
        ...

    def verdict(self, trace: Trace) -> Verdict:
        """The answer, from the recorded signals."""
        ...
