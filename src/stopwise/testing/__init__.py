# SPDX-License-Identifier: Apache-2.0
"""Laws that every acquisition and every stopping rule must keep, for your own ones too.

``check_acquisition`` and ``check_stopping_rule`` need nothing but stopwise, take a second or two,
and are deterministic. They raise one ``LawBroken`` that names every law that does not hold, with
the numbers that show it. ``ACQUISITION_LAWS`` and ``RULE_LAWS`` list the laws. A rule and an
acquisition to copy are in ``stopwise.testing.templates``.
"""

from __future__ import annotations

from collections.abc import Mapping

from stopwise.acquisition import Acquisition
from stopwise.stopping import StoppingRule, traits_of
from stopwise.testing._acquisition_laws import ACQUISITION_LAWS
from stopwise.testing._law import UNITS, Case, Law, LawBroken, verify
from stopwise.testing._rule_laws import RULE_LAWS

__all__ = [
    "ACQUISITION_LAWS",
    "RULE_LAWS",
    "UNITS",
    "Law",
    "LawBroken",
    "check_acquisition",
    "check_stopping_rule",
]


def check_acquisition(
    acquisition: Acquisition, *, units: Mapping[str, tuple[int, int]] | None = None
) -> None:
    """Raise unless an acquisition keeps every law of ``ACQUISITION_LAWS``.

    Args:
        acquisition: Yours, made as you would give it to ``Study(acquisition=...)``.
        units: For parameters that have units: name -> powers of the objective's unit and of the
            cost's. Known without being said: lam and lam0, objective per cost, (1, -1).

    Raises:
        LawBroken: If a law does not hold; the message says which, and with which numbers.

    Example:
        >>> from stopwise.acquisition import LogEIPC
        >>> check_acquisition(LogEIPC())  # silence means that all is well
    """
    verify(Case(acquisition, {**UNITS, **(units or {})}), ACQUISITION_LAWS)


def check_stopping_rule(
    rule: StoppingRule, *, units: Mapping[str, tuple[int, int]] | None = None
) -> None:
    """Raise unless a stopping rule keeps every law of ``RULE_LAWS``.

    Args:
        rule: Yours, made as you would give it to ``Study(stopping=...)``.
        units: For parameters that have units: name -> powers of the objective's unit and of the
            cost's. Those that the rule's ``traits`` name need not be said, nor lam, (1, -1), nor
            theta and epsilon, (1, 0).

    Raises:
        LawBroken: If a law does not hold; the message says which, and with which numbers.

    Example:
        >>> from stopwise.stopping import Convergence
        >>> check_stopping_rule(Convergence(patience=3))  # silence means that all is well
    """
    of_traits = {parameter.name: parameter.unit for parameter in traits_of(rule).parameters}
    verify(Case(rule, {**UNITS, **of_traits, **(units or {})}), RULE_LAWS)
