# SPDX-License-Identifier: Apache-2.0
"""The codec: spaces, options, rules and costs as JSON and back. Reading executes nothing.

What JSON cannot hold, a function or a rule of one's own, is written as ``{"own": its name}`` and
must be handed in again.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from stopwise import acquisition, stopping
from stopwise.core.beliefs.prices import KnownCost, LearnedCost, UnitCost
from stopwise.core.checks import listed
from stopwise.core.space import Candidates, Categorical, Domain, Finite, Integer, Parameter, Real

Json = Any  # what json.loads gives

_RULES = {
    cls.__name__: cls
    for cls in (*stopping.RULES.values(), stopping.After, stopping.Smoothed)
    if isinstance(cls, type)
}
_ACQUISITIONS = {
    cls.__name__: cls for cls in acquisition.ACQUISITIONS.values() if isinstance(cls, type)
}
_COSTS = {"UnitCost": UnitCost, "LearnedCost": LearnedCost}
_BEYOND = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


# ------------------------------------------------------------------------------- numbers


def number(value: float) -> float | str:
    """A float; those that JSON does not know as words."""
    return float(value) if math.isfinite(value) else str(float(value))


def as_float(given: float | str) -> float:
    """A float again."""
    return _BEYOND[given] if isinstance(given, str) else float(given)


# ------------------------------------------------------------------------------- spaces


def space_as_json(domain: Domain) -> Json:
    """A space: its parameters, and the rows of a table."""
    codec = domain.codec if isinstance(domain, Finite) else domain
    pairs = zip(codec.names, codec.parameters, strict=True)
    parameters = {name: _parameter_as_json(parameter) for name, parameter in pairs}
    if isinstance(domain, Finite) and domain.rows is not None:
        params = ParamsCodec(domain)
        return {"parameters": parameters, "rows": [params.as_json(row) for row in domain.rows]}
    return {"parameters": parameters}


def space_from_json(given: Json) -> Mapping[str, Parameter] | Candidates:
    """The space again, as a user would have written it."""
    parameters = {name: _parameter(entry) for name, entry in given["parameters"].items()}
    return Candidates(given["rows"], space=parameters) if "rows" in given else parameters


def lacks_choices(given: Json) -> list[str]:
    """Names of parameters with choices that a file cannot hold."""
    return [
        name
        for name, entry in given["parameters"].items()
        if any(isinstance(choice, dict) for choice in entry.get("choices", ()))
    ]


def _parameter_as_json(parameter: Parameter) -> Json:
    if isinstance(parameter, Categorical):
        choices = [c if _is_plain(c) else {"own": repr(c)} for c in map(_plain, parameter.choices)]
        return {"type": "categorical", "choices": choices}
    kind = "real" if isinstance(parameter, Real) else "integer"
    return {"type": kind, "low": parameter.low, "high": parameter.high, "log": parameter.log}


def _parameter(entry: Json) -> Parameter:
    if entry["type"] == "categorical":
        return Categorical(entry["choices"])
    kind = Real if entry["type"] == "real" else Integer
    return kind(entry["low"], entry["high"], log=entry["log"])


class ParamsCodec:
    """Configurations of one space; a choice that JSON cannot hold is written by its position."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        codec = domain.codec if isinstance(domain, Finite) else domain
        pairs = zip(codec.names, codec.parameters, strict=True)
        self._choices = {name: p.choices for name, p in pairs if isinstance(p, Categorical)}

    def as_json(self, params: Mapping[str, Any]) -> Json:
        """Params as JSON."""
        return {name: self._value(name, value) for name, value in params.items()}

    def params(self, given: Json) -> dict[str, Any]:
        """Params again."""
        return {
            name: self._choices[name][value["choice"]] if isinstance(value, dict) else value
            for name, value in given.items()
        }

    def inside(self, given: Json) -> dict[str, Any]:
        """Params again, refused if the space does not have them."""
        params = self.params(given)
        self._domain.encode(params)
        return params

    def _value(self, name: str, value: object) -> Json:
        plain = _plain(value)
        if _is_plain(plain):
            return plain
        return {"choice": list(self._choices[name]).index(value)}


def _plain(value: Any) -> Any:  # noqa: ANN401  whatever a user's configuration holds
    """A number of numpy, or of another library, as Python's own."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    return value


def _is_plain(value: object) -> bool:
    return value is None or (
        isinstance(value, str | bool | int | float)
        and not (isinstance(value, float) and not math.isfinite(value))
    )


# ------------------------------------------------------------------------------- options


@dataclasses.dataclass(frozen=True, slots=True)
class OptionCodec:
    """How an option of a study is written and read.

    Args:
        write: Value and configurations -> JSON.
        read: JSON and configurations -> value; an ``Own`` stands for what a file cannot hold.
    """

    write: Callable[[Any, ParamsCodec], Json]
    read: Callable[[Json, ParamsCodec], Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Own:
    """Something that a file cannot hold, by its name."""

    name: str


def owned(value: object) -> list[str]:
    """Names of what must be handed in again, in an option or its parts."""
    parts = value if isinstance(value, list) else [value]
    inner = [part.rule for part in parts if hasattr(part, "rule")]
    return [part.name for part in parts if isinstance(part, Own)] + (owned(inner) if inner else [])


def _things_as_json(given: Any, known: Mapping[str, type]) -> Json:  # noqa: ANN401
    return [_thing_as_json(thing, known) for thing in listed(given)]


def _thing_as_json(thing: Any, known: Mapping[str, type]) -> Json:  # noqa: ANN401
    """A name as it is, one of our frozen classes by its fields, anything else by its name."""
    if isinstance(thing, str):
        return thing
    kind: Any = type(thing)
    if kind not in known.values():
        return {"own": f"{type(thing).__module__}.{type(thing).__qualname__}"}
    fields = {f.name: getattr(thing, f.name) for f in dataclasses.fields(kind)}
    if "rule" in fields:
        fields["rule"] = _thing_as_json(fields["rule"], known)
    return {"class": type(thing).__name__, **{k: _plain(v) for k, v in fields.items()}}


def _thing(given: Json, known: Mapping[str, type]) -> Any:  # noqa: ANN401
    if isinstance(given, str):
        return given
    if "own" in given:
        return Own(given["own"])
    fields = {name: value for name, value in given.items() if name != "class"}
    if "rule" in fields:
        fields["rule"] = _thing(fields["rule"], known)
        if isinstance(fields["rule"], Own):
            return fields["rule"]
    return known[given["class"]](**fields)


def _cost_as_json(cost: Any) -> Json:  # noqa: ANN401  any of the six forms
    if cost is None or isinstance(cost, str):
        return cost
    if isinstance(cost, KnownCost):
        return _cost_as_json(cost.source)
    if isinstance(cost, UnitCost | LearnedCost):
        return _thing_as_json(cost, _COSTS)
    if callable(cost) or hasattr(cost, "price"):
        named = cost if hasattr(cost, "__qualname__") else type(cost)
        return {"own": f"{named.__module__}.{named.__qualname__}"}
    return {"table": np.asarray(cost, dtype=np.float64).tolist()}


def _cost(given: Json) -> Any:  # noqa: ANN401
    if isinstance(given, dict) and "table" in given:
        return KnownCost(np.array(given["table"]))
    return given if given is None or isinstance(given, str) else _thing(given, _COSTS)


PLAIN = OptionCodec(lambda value, _: _plain(value), lambda given, _: given)
COST = OptionCodec(lambda value, _: _cost_as_json(value), lambda given, _: _cost(given))
ACQUISITION = OptionCodec(
    lambda value, _: _thing_as_json(value, _ACQUISITIONS),
    lambda given, _: _thing(given, _ACQUISITIONS),
)
RULES = OptionCodec(
    lambda value, _: _things_as_json(value, _RULES),
    lambda given, _: [_thing(rule, _RULES) for rule in given],
)
CONFIGURATIONS = OptionCodec(
    lambda value, params: [params.as_json(row) for row in value],
    lambda given, params: [params.params(row) for row in given],
)
