# SPDX-License-Identifier: Apache-2.0
"""The traits of a rule: all that others need to know of it besides its signal and its verdict.

Reports, explanations, guarantees, audits, callbacks and conformance checks ask ``traits_of(rule)``
and know no rule by its name or class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from stopwise.stopping.rule import StoppingRule
from stopwise.stopping.signals import OBJECTIVE, OBJECTIVE_PER_COST, SignalKind, Unit


class RuleParameter(NamedTuple):
    """A parameter of a rule that has a unit."""

    name: str
    value: float
    unit: Unit


@dataclass(frozen=True, slots=True)
class RuleTraits:
    """The traits of a rule; the defaults are those that promise least.

    Args:
        signal: The kind of its signal.
        memory: How many of the latest recorded signals a verdict reads, the current one included.
        parameters: Those of its parameters that have a unit.
        in_theorem: Whether Theorem 3.2 of Xie et al. (2026) is about this rule.
        breaks: In which ways it departs from the theorem's assumptions, in words.
        inner: The rule inside, if this one is a wrapper.
        manner: How a wrapper changes the rule inside, in words that follow its name.
    """

    signal: SignalKind
    memory: float = math.inf
    parameters: tuple[RuleParameter, ...] = ()
    in_theorem: bool = False
    breaks: tuple[str, ...] = ()
    inner: StoppingRule | None = None
    manner: str = ""

    @property
    def lam(self) -> float | None:
        """What a unit of cost is worth to the rule, in objective units; None if it has no lam."""
        values = (p.value for p in self.parameters if p.unit == OBJECTIVE_PER_COST)
        return next(values, None)

    @property
    def tolerances(self) -> tuple[RuleParameter, ...]:
        """Its parameters in objective units."""
        return tuple(p for p in self.parameters if p.unit == OBJECTIVE)


def traits_of(rule: StoppingRule) -> RuleTraits:
    """The traits of any rule: as it says itself, or cautious ones.

    A rule without ``traits`` is taken to read model, price and the whole record. Of its attributes
    ``lam`` is what a unit of cost is worth, and ``rule`` the rule inside a wrapper.
    """
    traits = getattr(rule, "traits", None)
    if not isinstance(traits, RuleTraits):
        return _cautious(rule)
    if (traits.signal.key, traits.signal.scale) != (rule.key, rule.signal_scale):
        # A subclass with another key reads another signal than the rule it is made of.
        return replace(traits, signal=_unknown_signal(rule))
    return traits


def innermost(rule: StoppingRule) -> StoppingRule:
    """The rule inside all wrappers."""
    while (inner := traits_of(rule).inner) is not None:  # a wrapper is made after what is inside
        rule = inner
    return rule


def _cautious(rule: StoppingRule) -> RuleTraits:
    inner = getattr(rule, "rule", None)
    if isinstance(inner, StoppingRule):
        return RuleTraits(
            _unknown_signal(rule), parameters=traits_of(inner).parameters, inner=inner
        )
    lam = getattr(rule, "lam", None)
    if not isinstance(lam, int | float) or isinstance(lam, bool):
        return RuleTraits(_unknown_signal(rule))
    parameters = (RuleParameter("lam", lam, OBJECTIVE_PER_COST),)
    return RuleTraits(_unknown_signal(rule), parameters=parameters)


def _unknown_signal(rule: StoppingRule) -> SignalKind:
    return SignalKind(rule.key, rule.signal_scale, label=rule.key)
