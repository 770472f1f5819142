# SPDX-License-Identifier: Apache-2.0
"""The measures of a trial: the tables ``[value]`` and ``[cost]``, with names and units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stopwise.core.checks import Bounds, checked_bounds
from stopwise.core.one_objective import INSTEAD, are_several
from stopwise.core.units import SECONDS, amount, checked_name, checked_unit, sounds_better_larger
from stopwise.errors import InputError, StopwiseError
from stopwise.tools.runner.toml_table import TomlTable, shown

_ANY_VALUE = "value"  # the key of a value that nobody has named


@dataclass(frozen=True, slots=True)
class Value:
    """Where the value comes from: a key of the JSON on the last line of stdout, or in a file."""

    key: str
    file: str | None
    direction: Literal["minimize", "maximize"]
    given_name: str | None = None
    bounds: Bounds | None = None

    @property
    def name(self) -> str | None:
        """The value in the user's words: as given, or its key if that says anything."""
        return self.given_name or (None if self.key == _ANY_VALUE else self.key)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a trial costs."""

    kind: Literal["seconds", "reported", "none"]
    price_per_hour: float | None
    key: str
    given_unit: str | None = None

    @property
    def is_time(self) -> bool:
        """Whether a trial costs the seconds that it takes."""
        return self.kind == "seconds" and self.price_per_hour is None

    @property
    def unit(self) -> str:
        """The unit of costs; empty if nobody gave one."""
        return self.given_unit or (SECONDS if self.is_time else "")

    def words(self, cost: float) -> str:
        """A cost with its unit: "5 s", "$3.20", "12 trials"."""
        kinds = {"seconds": "units of money", "reported": "units of cost", "none": "trials"}
        said = amount(cost, self.unit or kinds[self.kind])
        return {"1 trials": "1 trial", "1 units of cost": "1 unit of cost"}.get(said, said)


def read_value(table: TomlTable) -> Value:
    """The table ``[value]``."""
    for key in ("key", "name", "direction"):
        if are_several(table.data.get(key, "")):
            message = f"{key} = {shown(table.data[key])}: {INSTEAD}; in a file, [limits]."
            raise table.error(key, message)
    value = Value(
        table.typed("key", str, _ANY_VALUE),
        table.typed("file", str, None),
        table.word("direction", ("minimize", "maximize"), "minimize"),  # type: ignore[arg-type]
        _named(table, "name", "value_name"),
        _bounds(table),
    )
    table.done()
    return value


def check_direction(top: TomlTable, value: Value, *, flag: str = "") -> None:
    """Refuse to minimise what sounds like more is better, unless somebody has said so.

    Args:
        top: The file.
        value: The value, with what the command line says of it.
        flag: The option of the command line that maximises, if there is one.
    """
    table, name = top.table("value", {}), value.name or ""
    if value.direction == "maximize" or "direction" in table.data:
        return
    if sounds_better_larger(name):
        larger = flag or 'direction = "maximize"'
        message = (
            f"the value is called {name!r}, of which more is mostly better: say {larger}, or"
            ' direction = "minimize" in [value] if less is better here.'
        )
        keys = ("name", "key")
        raise table.error(next((k for k in keys if table.data.get(k) == name), None), message)


def _bounds(table: TomlTable) -> Bounds | None:
    """What no value is beyond, as the study checks it."""
    advice = "Give [low, high] in objective units; inf stands for no bound, as in [0, inf]."
    try:
        return checked_bounds(table.any("bounds", None), advice)
    except StopwiseError as error:
        raise table.error("bounds", str(error)) from error


def _named(table: TomlTable, key: str, option: str) -> str | None:
    """A name or a unit in the user's words, as the study checks it."""
    try:
        return checked_name(option, table.typed(key, str, None))
    except InputError as error:
        raise table.error(key, str(error)) from error


def read_cost(table: TomlTable) -> Cost:
    """The table ``[cost]``."""
    kind = table.word("kind", ("seconds", "reported", "none"), "seconds")
    price, key = table.positive("price_per_hour", None), table.typed("key", str, "cost")
    unit = _named(table, "unit", "cost_unit")
    table.done()
    if price is not None and kind != "seconds":
        message = f'price_per_hour is for kind = "seconds"; here kind = {shown(kind)}.'
        raise table.error("price_per_hour", message)
    if "key" in table.data and kind != "reported":
        message = f'key is for kind = "reported"; here kind = {shown(kind)}.'
        raise table.error("key", message)
    if price is None:
        try:
            checked_unit(unit, kind)
        except InputError as error:
            raise table.error("unit", f"{error} Or give price_per_hour, in that unit.") from error
    return Cost(kind, price, key, unit)  # type: ignore[arg-type]
