# SPDX-License-Identifier: Apache-2.0
"""Lookup of rules, acquisitions, models, kernels and warps: from a name in a table to a value."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from stopwise.core.exchange_rate import HOW_TO_CHOOSE_LAM
from stopwise.core.other_names import meant
from stopwise.errors import InputError, InputTypeError, shown

T = TypeVar("T")


def make(
    kind: str,
    table: Mapping[str, Callable[..., T]],
    given: str | T,
    lam: float | None,
    *,
    methods: Sequence[str],
    properties: Sequence[str] = (),
) -> T:
    """The entry of a name, made with lam if it takes one; an object is returned as it is.

    Args:
        kind: What is looked up, for messages: "acquisition", "surrogate".
        table: Names and constructors.
        given: A name, or an object that the user made.
        lam: Objective units per unit of cost, or None if the user gave none.
        methods: The methods that an object must have.
        properties: What it must say of itself besides.
    """
    if isinstance(given, str):
        return _named(kind, table, given, lam)
    if isinstance(given, type) or not all(hasattr(given, method) for method in methods):
        message = (
            f"{given!r} is no {kind}: give a name ({', '.join(table)}) or an object with"
            f" {' and '.join(methods)}, an instance and not its class."
        )
        raise InputTypeError(message)
    lacking = [name for name in properties if not hasattr(given, name)]
    if lacking:
        message = (
            f"{shown(given)} is no {kind} yet: it lacks {' and '.join(lacking)}. One has"
            f" {', '.join(properties)}, and the methods {' and '.join(methods)};"
            " stopwise.testing.templates has one to copy."
        )
        raise InputTypeError(message)
    return given


def _named(kind: str, table: Mapping[str, Callable[..., T]], name: str, lam: float | None) -> T:
    if name not in table:
        question = meant(name, table)
        hint = f" ({question})" if question else ""
        names = ", ".join(table)
        message = f"there is no {kind} {name!r}{hint}: give one of {names}, or an object."
        raise InputError(message)
    parameters = inspect.signature(table[name]).parameters
    takes = next((p for p in ("lam", "lam0") if p in parameters), None)
    required = [n for n, p in parameters.items() if p.default is p.empty and n != takes]
    if required:
        message = (
            f"the {kind} {name!r} needs {', '.join(required)}: give it as an object, such as"
            f" sw.{_room(table[name])}.{table[name].__name__}"
            f"({required[0]}=...)."
        )
        raise InputError(message)
    if takes is None:
        return table[name]()
    if lam is None:
        message = (
            f"the {kind} {name!r} needs lam. {HOW_TO_CHOOSE_LAM} Or give budget=..., what may be"
            " spent in all, and it is chosen for you. Or price nothing: sw.Study, sw.minimize and"
            " StopwiseSearchCV take max_trials=... alone; elsewhere acquisition='logeipc' needs no"
            " lam."
        )
        raise InputError(message)
    return table[name](**{takes: lam})


def _room(constructor: Callable[..., object]) -> str:
    """The name under which users see the folder of a constructor; that of the core is left out."""
    return constructor.__module__.removeprefix("stopwise.").removeprefix("core.").split(".")[0]
