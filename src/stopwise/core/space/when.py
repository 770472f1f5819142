# SPDX-License-Identifier: Apache-2.0
"""The condition of one parameter: the values that others must have for it to exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields
from typing import Any, TypeAlias, cast

import numpy as np

from stopwise.core.space._checks import of_type
from stopwise.errors import InputError, InputTypeError

When: TypeAlias = Mapping[str, Sequence[Any]] | None


class Conditional:
    """A parameter that may have a condition; its repr is silent of one that it has not."""

    __slots__ = ()

    def __repr__(self) -> str:
        listed = [(f.name, getattr(self, f.name)) for f in fields(cast("Any", self))]
        shown = [f"{n}={value!r}" for n, value in listed if n != "when" or value is not None]
        return f"{type(self).__name__}({', '.join(shown)})"


def checked_when(shown: str, when: object) -> dict[str, tuple[Any, ...]] | None:
    """A condition as a dict of tuples; one value stands for a list. What is none is refused."""
    if when is None:
        return None
    if not isinstance(when, Mapping):
        raise InputTypeError(
            f"{shown}: when is {of_type(when)}; it must be a dict from another parameter's name "
            "to the values it must have, such as {'booster': ['gbtree', 'dart']}"
        )
    if not when:
        raise InputError(
            f"{shown}: when names no parameter; leave it out for a parameter that always exists"
        )
    checked: dict[str, tuple[Any, ...]] = {}
    for name, values in when.items():
        if not isinstance(name, str):
            raise InputTypeError(
                f"{shown}: when names {name!r}, {of_type(name)}; names of parameters are strings"
            )
        checked[name] = _listed(values)
        if not checked[name]:
            raise InputError(
                f"{shown}: when lists no value of {name!r}, so that it could never exist; list "
                "the values for which it does"
            )
    return checked


def _listed(values: object) -> tuple[Any, ...]:
    if isinstance(values, np.ndarray):
        return tuple(values.tolist())
    if isinstance(values, Sequence | AbstractSet) and not isinstance(values, str | bytes):
        return tuple(values)
    return (values,)
