# SPDX-License-Identifier: Apache-2.0
"""Rules made from a table: what each needs, and those that can be made without asking."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from stopwise.stopping.rule import StoppingRule

Maker = Callable[..., StoppingRule]


class Requirements(NamedTuple):
    """What a rule cannot be made without.

    Args:
        lam: Whether it takes lam, which a study or a user says once for all rules.
        others: Its other parameters without a default.
    """

    lam: bool
    others: tuple[str, ...]


def requirements(maker: Maker) -> Requirements:
    """What a rule cannot be made without."""
    parameters = inspect.signature(maker).parameters
    required = (name for name, p in parameters.items() if p.default is p.empty)
    return Requirements("lam" in parameters, tuple(n for n in required if n != "lam"))


def default_rules(
    table: Mapping[str, Maker], lam: float | None, *, typical: bool = False
) -> dict[str, StoppingRule]:
    """The rules of a table, by name, with their defaults.

    Args:
        table: Names and makers, such as ``RULES``.
        lam: Objective units per unit of cost; without it the rules that take it are left out.
        typical: Whether a parameter without a default may be filled from ``typical`` of the
            rule's class, for comparison. A rule that needs more is left out.
    """
    rules = {}
    for name, maker in table.items():
        needs = requirements(maker)
        filled: Mapping[str, Any] = getattr(maker, "typical", {}) if typical else {}
        if set(needs.others) <= set(filled) and not (needs.lam and lam is None):
            rules[name] = maker(**{"lam": lam} if needs.lam else {}, **filled)
    return rules
