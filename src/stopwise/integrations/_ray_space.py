# SPDX-License-Identifier: Apache-2.0
"""The translation of a ``param_space`` of Ray Tune to our space, and of configs both ways."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ray.tune.search import sample
from ray.tune.utils.util import unflatten_dict

from stopwise.core.space import Categorical, Integer, Ordinal, Real
from stopwise.errors import InputError
from stopwise.integrations.foreign_alternatives import Group, alternatives
from stopwise.integrations.foreign_space import (
    Alternatives,
    ConstantParameter,
    ForeignSpace,
    Kind,
    Positioned,
    Ranked,
    Stepped,
    kinds_of,
    of_choices,
)

_ALLOWED = (
    "tune.uniform, quniform, loguniform, qloguniform, randint, qrandint, lograndint, qlograndint"
    " and choice (between these, and dicts with parameters of their own, too), sw.Real,"
    " sw.Integer, sw.Categorical and sw.Ordinal; constants stay as they are. Instead of"
    " grid_search use choice; sample_from, randn and qrandn have no bounds that could be searched"
)
_SEARCHED = (sample.Domain, Real, Integer, Categorical, Ordinal)
_NEAR = 1e-9  # of a step: tolerance for a bound that was rounded


def read_space(param_space: Mapping[str, Any]) -> ForeignSpace:
    """The searched part of a ``param_space``; nested parameters are called ``"a/b"``."""
    flat = flattened(param_space)
    for name, value in param_space.items():
        _refuse_hidden(str(name), value)
    read = _group({name: value for name, value in flat.items() if is_searched(value)})
    return ForeignSpace(read.kinds, read.when, read.outer)


def flattened(config: Mapping[str, Any]) -> dict[str, Any]:
    """Nested entries by their paths, as Ray writes them; an empty dict is an entry, too."""
    flat: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, Mapping) and value:
            flat |= {f"{key}/{below}": entry for below, entry in flattened(value).items()}
        else:
            flat[str(key)] = value
    return flat


def is_searched(value: object) -> bool:
    """Whether an entry of a ``param_space`` varies."""
    return isinstance(value, _SEARCHED)


def _refuse_hidden(name: str, value: object, within: str = "") -> None:
    """Refuse grids, and what varies within lists: Ray draws it, and no model would see it."""
    if isinstance(value, Mapping) and "grid_search" in value:
        message = f"{name!r} is a grid_search, which cannot be searched by a model. Allowed are"
        raise InputError(f"{message} {_ALLOWED}.")
    if is_searched(value) and within:
        raise InputError(
            f"{name!r} holds {value!r} within {within}, which cannot be searched by a model. Give "
            f"it a name of its own, in a dict. Allowed are {_ALLOWED}."
        )
    if isinstance(value, list | tuple):
        within = within or f"a {type(value).__name__}"
    for below, entry in _entries(value):
        _refuse_hidden(f"{name}{below}", entry, within)


def _entries(value: object) -> list[tuple[str, Any]]:
    """What a dict, a list or a choice holds, each with what it adds to the name."""
    if isinstance(value, Mapping):
        return [(f"/{key}", entry) for key, entry in value.items()]
    listed = value.categories if isinstance(value, sample.Categorical) else value
    return [("", entry) for entry in listed] if isinstance(listed, list | tuple) else []


def _is_nested(value: object) -> bool:
    """Whether it is a choice between others that vary, or dicts with parameters of their own."""
    return isinstance(value, sample.Categorical) and any(
        is_searched(inner)
        for category in value.categories
        for inner in flattened({"": category}).values()
    )


def _group(flat: Mapping[str, Any]) -> Group:
    """Entries of a flat space that exist together; what does not vary is constant."""
    nested = {name: _branches(name, value) for name, value in flat.items() if _is_nested(value)}
    plain = {name: value for name, value in flat.items() if name not in nested}
    searched = {name: value for name, value in plain.items() if is_searched(value)}
    found = kinds_of(searched, _kind, _ALLOWED)
    parts = [Group({n: found.get(n) or ConstantParameter(v) for n, v in plain.items()})]
    parts += [Group(inner.kinds, inner.when, inner.outer) for inner in nested.values()]
    return Group(
        {n: kind for part in parts for n, kind in part.kinds.items()},
        {n: when for part in parts for n, when in part.when.items()},
        {n: outer for part in parts for n, outer in part.outer.items()},
    )


def _branches(name: str, choice: Any) -> ForeignSpace:  # noqa: ANN401  a choice of Ray
    """A choice as alternatives; the parameters of a dict are below it."""
    groups = [_group(flattened({name: category})) for category in choice.categories]
    return alternatives(f"{name} [which]", groups)


def outward(foreign: ForeignSpace, params: Mapping[str, Any]) -> dict[str, Any]:
    """Our params as a nested config of Ray Tune."""
    nested: dict[str, Any] = unflatten_dict(foreign.outward(params))
    return nested


def space_as_json(
    foreign: ForeignSpace | None, constants: Mapping[str, Any]
) -> dict[str, Any] | None:
    """A space as JSON; None if its choices are objects that JSON cannot hold."""
    if foreign is None:
        return None
    kinds = {name: [type(kind).__name__, asdict(kind)] for name, kind in foreign.kinds.items()}
    space: dict[str, Any] = {"kinds": kinds, "constants": dict(constants)}
    if foreign.when:
        space |= {"when": foreign.when, "outer": foreign.outer}
    try:
        same = space_from_json(json.loads(json.dumps(space))) == (foreign, dict(constants))
    except (TypeError, ValueError):
        return None
    return space if same else None


def space_from_json(space: Mapping[str, Any]) -> tuple[ForeignSpace, dict[str, Any]]:
    """The reverse of ``space_as_json``."""
    kinds = {n: _made(*kind) for n, kind in space["kinds"].items()}
    return ForeignSpace(kinds, space.get("when", {}), space.get("outer", {})), space["constants"]


def _made(name: str, fields: Mapping[str, Any]) -> Kind:
    if name == "Stepped":
        return Stepped(**{**fields, "parameter": Integer(**fields["parameter"])})
    if name in ("Ranked", "Positioned"):
        listed = Ranked if name == "Ranked" else Positioned
        return listed(tuple(next(iter(fields.values()))))
    made: Kind = {
        "Real": Real,
        "Integer": Integer,
        "Categorical": Categorical,
        "Ordinal": Ordinal,
        "ConstantParameter": ConstantParameter,
        "Alternatives": Alternatives,
    }[name](**fields)
    return made


def params_as_json(foreign: ForeignSpace, params: Mapping[str, Any]) -> dict[str, Any]:
    """Our params as JSON: a choice by its position."""
    space = foreign.space
    return {
        name: int(kind.encode([params[name]], name).argmax())
        if isinstance(kind, Categorical)
        else params[name]
        for name, kind in space.items()
        if name in params
    }


def params_from_json(foreign: ForeignSpace, written: Mapping[str, Any]) -> dict[str, Any]:
    """The reverse of ``params_as_json``."""
    space = foreign.space
    return {
        name: kind.choices[written[name]] if isinstance(kind, Categorical) else written[name]
        for name, kind in space.items()
        if name in written
    }


def _kind(name: str, given: Any) -> Kind | None:  # noqa: ANN401, ARG001
    """How one parameter is modelled; None if it cannot be."""
    if isinstance(given, sample.Categorical):
        return of_choices(given.categories)
    sampler = given.get_sampler()
    q = sampler.q if isinstance(sampler, sample.Quantized) else None
    sampler = sampler.get_sampler() if isinstance(sampler, sample.Quantized) else sampler
    if not isinstance(sampler, sample.Uniform | sample.LogUniform):
        return None
    log = isinstance(sampler, sample.LogUniform)
    if isinstance(given, sample.Integer):
        return _whole(given.lower, given.upper, q, log=log)
    if isinstance(given, sample.Float):
        return Real(given.lower, given.upper, log=log) if q is None else _steps(given, q, log=log)
    return None


def _whole(low: int, high: int, q: int | None, *, log: bool) -> Kind:
    """Whole numbers; Ray excludes the upper bound, except where numbers are multiples of q."""
    if q is None or q == 1:
        return ConstantParameter(low) if high - 1 == low else Integer(low, high - 1, log=log)
    return _multiples(-(-low // q), high // q, q, log=log, whole=True)


def _steps(given: Any, q: float, *, log: bool) -> Kind:  # noqa: ANN401
    first = math.ceil(given.lower / q - _NEAR)
    return _multiples(first, math.floor(given.upper / q + _NEAR), q, log=log, whole=False)


def _multiples(first: int, last: int, q: float, *, log: bool, whole: bool) -> Kind:
    if last < first:
        message = f"no multiple of {q} lies between the bounds; widen them."
        raise InputError(message)
    if first == last:
        return ConstantParameter(first * q)
    return Stepped(0, q, Integer(first, last, log=log and first > 0), whole=whole)
