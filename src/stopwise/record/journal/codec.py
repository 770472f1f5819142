# SPDX-License-Identifier: Apache-2.0
"""The codec: spaces, options, rules and costs as JSON and back. Reading executes no code.

An object that JSON cannot hold, such as a function or a user's rule, is written as
``{"own": its name}`` and must be handed in again when the study is resumed.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from stopwise import acquisition, stopping
from stopwise.core.beliefs.models import PaperModel, PlainModel
from stopwise.core.beliefs.prices import KnownCost, LearnedCost, UnitCost
from stopwise.core.beliefs.utilities import (
    UTILITIES,
    Custom,
    checked_utility,
    utility_from_table,
)
from stopwise.core.checks import checked_bounds, listed
from stopwise.core.outcome_limits import checked_limits
from stopwise.core.space import (
    Candidates,
    Categorical,
    Domain,
    Finite,
    Integer,
    Ordinal,
    Parameter,
    Real,
)
from stopwise.core.space.constraints import checked_constraints
from stopwise.core.space.finite import codec_of
from stopwise.core.stages import Stages, checked_stages

Json = Any  # what json.loads gives

_RULES = {
    cls.__name__: cls
    for cls in (*stopping.RULES.values(), stopping.After, stopping.Smoothed)
    if isinstance(cls, type)
}
_ACQUISITIONS = {
    cls.__name__: cls for cls in acquisition.ACQUISITIONS.values() if isinstance(cls, type)
}
_SURROGATES = {cls.__name__: cls for cls in (PlainModel, PaperModel)}  # their fields are numbers
_COSTS = {"UnitCost": UnitCost, "LearnedCost": LearnedCost}
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


# ------------------------------------------------------------------------------- numbers


def number(value: float) -> float | str:
    """A float as JSON; nan and the infinities as strings."""
    return float(value) if math.isfinite(value) else str(float(value))


def as_float(written: float | str) -> float:
    """The reverse of ``number``."""
    return _NON_FINITE[written] if isinstance(written, str) else float(written)


# ------------------------------------------------------------------------------- spaces


def space_as_json(domain: Domain) -> Json:
    """A space as JSON: its parameters, and the rows of a table of candidates."""
    codec = codec_of(domain)
    pairs = zip(codec.names, codec.parameters, strict=True)
    parameters = {name: _parameter_as_json(parameter) for name, parameter in pairs}
    if isinstance(domain, Finite) and domain.rows is not None:
        params = ParamsCodec(domain)
        return {"parameters": parameters, "rows": [params.as_json(row) for row in domain.rows]}
    return {"parameters": parameters}


def space_from_json(written: Json) -> Mapping[str, Parameter] | Candidates:
    """The reverse of ``space_as_json``: the space as a user would give it to ``Study``."""
    parameters = {name: _parameter(entry) for name, entry in written["parameters"].items()}
    return Candidates(written["rows"], space=parameters) if "rows" in written else parameters


def lacks_choices(written: Json) -> list[str]:
    """Names of parameters with choices that a file cannot hold."""
    return [
        name
        for name, entry in written["parameters"].items()
        if any(isinstance(choice, dict) for choice in entry.get("choices", ()))
    ]


def _parameter_as_json(parameter: Parameter) -> Json:
    when = {} if parameter.when is None else {"when": _when_as_json(parameter.when)}
    if isinstance(parameter, Categorical):
        return {"type": "categorical", "choices": _choices_as_json(parameter.choices), **when}
    if isinstance(parameter, Ordinal):
        choices = _choices_as_json(parameter.values)
        return {"type": "ordinal", "choices": choices, "by": parameter.by, **when}
    kind = "real" if isinstance(parameter, Real) else "integer"
    bounds = {"low": parameter.low, "high": parameter.high, "log": parameter.log}
    return {"type": kind, **bounds, **when}


def _choices_as_json(choices: Sequence[Any]) -> Json:
    return [c if _is_plain(c) else {"own": repr(c)} for c in map(_plain, choices)]


def _when_as_json(when: Mapping[str, Sequence[Any]]) -> Json:
    return {name: _choices_as_json(values) for name, values in when.items()}


def _parameter(entry: Json) -> Parameter:
    when = entry.get("when")
    if entry["type"] == "categorical":
        return Categorical(entry["choices"], when=when)
    if entry["type"] == "ordinal":
        return Ordinal(entry["choices"], by=entry["by"], when=when)
    kind = Real if entry["type"] == "real" else Integer
    return kind(entry["low"], entry["high"], log=entry["log"], when=when)


def choices_of(parameter: Parameter) -> Sequence[Any]:
    """The values of a parameter that lists them; of others none."""
    if isinstance(parameter, Ordinal):
        return parameter.values
    return parameter.choices if isinstance(parameter, Categorical) else ()


class ParamsCodec:
    """Configurations of one space as JSON and back.

    A choice that JSON cannot hold is written as its position.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        codec = codec_of(domain)
        pairs = zip(codec.names, codec.parameters, strict=True)
        self._choices = {name: choices_of(p) for name, p in pairs if choices_of(p)}

    def as_json(self, params: Mapping[str, Any]) -> Json:
        """Params as JSON."""
        return {name: self._value(name, value) for name, value in params.items()}

    def params(self, written: Json) -> dict[str, Any]:
        """The reverse of ``as_json``."""
        return {
            name: self._choices[name][value["choice"]] if isinstance(value, dict) else value
            for name, value in written.items()
        }

    def inside(self, written: Json) -> dict[str, Any]:
        """The reverse of ``as_json``; params outside the space are refused."""
        params = self.params(written)
        self._domain.encode(params)
        return params

    def _value(self, name: str, value: object) -> Json:
        plain = _plain(value)
        if _is_plain(plain):
            return plain
        return {"choice": list(self._choices[name]).index(value)}


def _plain(value: Any) -> Any:  # noqa: ANN401  whatever a user's configuration holds
    """A number of numpy or another library as a Python number; anything else as it is."""
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
        write: From a value and the codec of configurations to JSON.
        read: The reverse; an ``Own`` stands for an object that a file cannot hold.
    """

    write: Callable[[Any, ParamsCodec], Json]
    read: Callable[[Json, ParamsCodec], Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Own:
    """The name of an object that a file cannot hold."""

    name: str


def owned(value: object) -> list[str]:
    """Names of the objects in an option or its parts that must be handed in again."""
    parts = value if isinstance(value, list) else [value]
    inner = [part.rule for part in parts if hasattr(part, "rule")]
    return [part.name for part in parts if isinstance(part, Own)] + (owned(inner) if inner else [])


def _things_as_json(things: Any, classes: Mapping[str, type]) -> Json:  # noqa: ANN401
    return [_thing_as_json(thing, classes) for thing in listed(things)]


def _thing_as_json(thing: Any, classes: Mapping[str, type]) -> Json:  # noqa: ANN401
    """A string as it is, an object of these classes by its fields, anything else by its name."""
    if isinstance(thing, str):
        return thing
    kind: Any = type(thing)
    if kind not in classes.values():
        return {"own": f"{type(thing).__module__}.{type(thing).__qualname__}"}
    fields = {f.name: getattr(thing, f.name) for f in dataclasses.fields(kind)}
    if "rule" in fields:
        fields["rule"] = _thing_as_json(fields["rule"], classes)
    return {"class": type(thing).__name__, **{k: _plain(v) for k, v in fields.items()}}


def _thing(written: Json, classes: Mapping[str, type]) -> Any:  # noqa: ANN401
    """The reverse of ``_thing_as_json``."""
    if isinstance(written, str):
        return written
    if "own" in written:
        return Own(written["own"])
    fields = {name: value for name, value in written.items() if name != "class"}
    if "rule" in fields:
        fields["rule"] = _thing(fields["rule"], classes)
        if isinstance(fields["rule"], Own):
            return fields["rule"]
    return classes[written["class"]](**fields)


def _cost_as_json(cost: Any) -> Json:  # noqa: ANN401  any of the six forms
    if cost is None or isinstance(cost, str):
        return cost
    if isinstance(cost, KnownCost):
        return _cost_as_json(cost.source)
    if isinstance(cost, UnitCost | LearnedCost):
        return _thing_as_json(cost, _COSTS)
    if isinstance(cost, int | float | np.number):  # what each costs
        return _thing_as_json(UnitCost(float(cost)), _COSTS)
    if callable(cost) or hasattr(cost, "price"):
        named = cost if hasattr(cost, "__qualname__") else type(cost)
        return {"own": f"{named.__module__}.{named.__qualname__}"}
    return {"table": np.asarray(cost, dtype=np.float64).tolist()}


def _cost(written: Json) -> Any:  # noqa: ANN401
    if isinstance(written, dict) and "table" in written:
        return KnownCost(np.array(written["table"]))
    return written if written is None or isinstance(written, str) else _thing(written, _COSTS)


def _utility_as_json(utility: Any) -> Json:  # noqa: ANN401  any utility, or None
    if utility is None:
        return None
    if type(utility) in UTILITIES.values():
        parts = dataclasses.asdict(utility)
        if "points" in parts:
            parts["points"] = [list(point) for point in parts["points"]]  # as JSON reads them
        return {"kind": utility.kind, **parts}
    if isinstance(utility, Custom):
        return _cost_as_json(utility.function)
    return _thing_as_json(utility, {})


def _utility(written: Json) -> Any:  # noqa: ANN401
    if written is None:
        return None
    return Own(written["own"]) if "own" in written else utility_from_table(written)


PLAIN = OptionCodec(lambda value, _: _plain(value), lambda written, _: written)
BOUNDS = OptionCodec(
    lambda value, _: None if (bounds := checked_bounds(value)) is None else list(bounds),
    lambda written, _: None if written is None else tuple(written),
)
LIMITS = OptionCodec(
    lambda value, _: (
        None
        if (limits := checked_limits(value)) is None
        else {name: list(bounds) for name, bounds in limits.items()}
    ),
    lambda written, _: (
        None if written is None else {name: tuple(pair) for name, pair in written.items()}
    ),
)
COST = OptionCodec(lambda value, _: _cost_as_json(value), lambda written, _: _cost(written))
ACQUISITION = OptionCodec(
    lambda value, _: _thing_as_json(value, _ACQUISITIONS),
    lambda written, _: _thing(written, _ACQUISITIONS),
)
SURROGATE = OptionCodec(
    lambda value, _: _thing_as_json(value, _SURROGATES),
    lambda written, _: _thing(written, _SURROGATES),
)
RULES = OptionCodec(
    lambda value, _: _things_as_json(value, _RULES),
    lambda written, _: [_thing(rule, _RULES) for rule in written],
)
UTILITY = OptionCodec(
    lambda value, _: _utility_as_json(checked_utility(value)),
    lambda written, _: _utility(written),
)
CONSTRAINTS = OptionCodec(
    lambda value, _: (
        [
            c.source if isinstance(c.source, str) else _cost_as_json(c.source)
            for c in checked_constraints(value)
        ]
        or None
    ),
    lambda written, _: [c if isinstance(c, str) else Own(c["own"]) for c in written or ()],
)
STAGES = OptionCodec(
    lambda value, _: (
        None
        if (stages := checked_stages(value)) is None
        else {"steps": list(stages.steps), "usable": stages.usable}
    ),
    lambda written, _: None if written is None else Stages(written["steps"], written["usable"]),
)
CONFIGURATIONS = OptionCodec(
    lambda value, params: [params.as_json(row) for row in value],
    lambda written, params: [params.params(row) for row in written],
)
