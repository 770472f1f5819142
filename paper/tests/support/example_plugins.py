# SPDX-License-Identifier: Apache-2.0
"""A stranger's acquisition and rule, which experiments run by name."""

from dataclasses import dataclass
from typing import ClassVar

from stopwise.acquisition.lcb import LowerBound
from stopwise.stopping.verdict import Verdict


@dataclass(frozen=True)
class Greedy:
    name: ClassVar[str] = "greedy"

    def bind(self, snapshot):
        return LowerBound(0.0).bind(snapshot)


@dataclass(frozen=True)
class CheapestLeft:
    name: ClassVar[str] = "cheapest-left"
    signal_scale: ClassVar[str] = "linear"
    key: ClassVar[str] = "cheapest_left"

    def signal(self, snapshot):
        return snapshot.signal(snapshot.cheapest)

    def verdict(self, trace):
        return Verdict.at_least(self.name, trace.current.value, 1.0, "the cheapest costs that")
