# SPDX-License-Identifier: Apache-2.0
"""The translation of a ``param_space`` of Ray Tune to our space, and of configs both ways."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ray.tune.search import sample
from ray.tune.utils.util import flatten_dict, unflatten_dict

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
    translated,
)

_ALLOWED = (
    "tune.uniform, quniform, loguniform, qloguniform, randint, qrandint, lograndint, qlograndint"
    " and choice (between dicts with parameters of their own, too), sw.Real, sw.Integer,"
    " sw.Categorical and sw.Ordinal; constants stay as they are. Instead of"
    " grid_search use choice; sample_from, randn and qrandn have no bounds that could be searched"
)
_SEARCHED = (sample.Domain, Real, Integer, Categorical, Ordinal)
_NEAR = 1e-9  # of a step: tolerance for a bound that was rounded


def read_space(param_space: Mapping[str, Any]) -> ForeignSpace:
    """The searched part of a ``param_space``; nested parameters are called ``"a/b"``."""
    if any(str(key).endswith("grid_search") for key in flatten_dict(dict(param_space))):
        message = f"grid_search cannot be searched by a model. Allowed are {_ALLOWED}."
        raise InputError(message)
    flat = flatten_dict(dict(param_space))
    varied = {key: value for key, value in flat.items() if isinstance(value, _SEARCHED)}
    nested = {key: _branches(key, v) for key, v in varied.items() if _is_nested(v)}
    rest = {key: value for key, value in varied.items() if key not in nested}
    if not nested:
        return translated(varied, _kind, _ALLOWED)
    kinds = kinds_of(rest, _kind, _ALLOWED)
    parts = [ForeignSpace({**kinds}), *nested.values()] if kinds else list(nested.values())
    return ForeignSpace(
        {n: kind for part in parts for n, kind in part.kinds.items()},
        {n: when for part in parts for n, when in part.when.items()},
        {n: outer for part in parts for n, outer in part.outer.items()},
    )


def is_searched(value: object) -> bool:
    """Whether an entry of a ``param_space`` varies."""
    return isinstance(value, _SEARCHED)


def _is_nested(value: object) -> bool:
    """Whether it is a choice between dicts with parameters of their own."""
    return isinstance(value, sample.Categorical) and any(
        isinstance(inner, _SEARCHED)
        for category in value.categories
        if isinstance(category, Mapping)
        for inner in flatten_dict(dict(category)).values()
    )


def _branches(name: str, choice: Any) -> ForeignSpace:  # noqa: ANN401  a choice of Ray
    """A choice between dicts (or other values) as alternatives; their parameters are below it."""
    groups = []
    for category in choice.categories:
        if not isinstance(category, Mapping):
            groups.append(Group({name: ConstantParameter(category)}))
            continue
        below = {f"{name}/{k}": v for k, v in flatten_dict(dict(category)).items()}
        if any(map(_is_nested, below.values())):
            inner = read_space({k: v for k, v in below.items() if isinstance(v, _SEARCHED)})
            fixed = {k: ConstantParameter(v) for k, v in below.items() if k not in inner.kinds}
            fixed = {k: v for k, v in fixed.items() if not isinstance(v.value, _SEARCHED)}
            groups.append(Group({**fixed, **inner.kinds}, inner.when, inner.outer))
        else:
            searched = {k: v for k, v in below.items() if isinstance(v, _SEARCHED)}
            found = kinds_of(searched, _kind, _ALLOWED)
            both = {k: found.get(k) or ConstantParameter(v) for k, v in below.items()}
            groups.append(Group(both))
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
