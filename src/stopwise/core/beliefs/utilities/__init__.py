# SPDX-License-Identifier: Apache-2.0
"""Utilities, one a file: what a value of the objective is worth.

A new one is a file and a line in ``UTILITIES``; journals and the files of ``stopwise run`` then
know it by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from stopwise.core.beliefs.utilities._checks import checked_within
from stopwise.core.beliefs.utilities.custom import Custom
from stopwise.core.beliefs.utilities.marginals import ValuedMarginals, worth_of_unit
from stopwise.core.beliefs.utilities.piecewise import Linear, Piecewise, Threshold
from stopwise.core.beliefs.utilities.sigmoid import Sigmoid
from stopwise.core.beliefs.utilities.utility import OwnUtility, Utility
from stopwise.errors import InputError, InputTypeError, shown

__all__ = [
    "UTILITIES",
    "Custom",
    "Linear",
    "OwnUtility",
    "Piecewise",
    "Sigmoid",
    "Threshold",
    "Utility",
    "ValuedMarginals",
    "checked_utility",
    "checked_within",
    "utility_from_table",
    "worth_of_unit",
]

UTILITIES: dict[str, type[Any]] = {
    "sigmoid": Sigmoid,
    "threshold": Threshold,
    "piecewise": Piecewise,
    "linear": Linear,
}


def checked_utility(given: object) -> Utility | None:
    """A utility; an object with ``worth`` and ``derivative`` becomes one."""
    if given is None or (isinstance(given, Utility) and not isinstance(given, type)):
        return given
    if isinstance(given, OwnUtility) and not isinstance(given, type):
        return Custom(given.worth, given.derivative, unit=getattr(given, "unit", ""))
    message = (
        f"utility={shown(given)} is no utility: give sw.utility.sigmoid(at=90, width=2),"
        " sw.utility.threshold(at=0.05), sw.utility.piecewise([(0.9, 0), (0.95, 1000)]),"
        " sw.utility.linear(1000), sw.utility.custom(f, derivative), or an object with the methods"
        " worth and derivative."
    )
    raise InputTypeError(message)


def utility_from_table(table: Mapping[str, Any]) -> Utility:
    """A utility by its kind and its parameters, as a file has them."""
    kind = table.get("kind")
    parameters = {name: value for name, value in table.items() if name != "kind"}
    if not isinstance(kind, str) or kind not in UTILITIES:
        message = f"kind={shown(kind)}: give one of {', '.join(UTILITIES)}."
        raise InputError(message)
    made = UTILITIES[kind]
    allowed = list(made.__dataclass_fields__)
    unknown = [name for name in parameters if name not in allowed]
    if unknown:
        message = f"{unknown[0]!r} is no part of a {kind}; it has {', '.join(allowed)}."
        raise InputError(message)
    needed = [f.name for f in fields(made) if f.default is MISSING]
    lacking = [name for name in needed if name not in parameters]
    if lacking:
        missing = f"{' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} missing"
        message = f"a {kind} needs more: {missing}; it has {', '.join(allowed)}."
        raise InputError(message)
    utility: Utility = made(**parameters)
    return utility
