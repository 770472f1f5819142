# SPDX-License-Identifier: Apache-2.0
"""The names and units in which people are answered: ``value_name`` and ``cost_unit``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stopwise.core.quantity import measured, quantity
from stopwise.errors import InputError, InputTypeError

SECONDS = "s"  # the unit for which durations are written in hours and minutes
_SECONDS = ("s", "sec", "second", "seconds")
_LONGEST = 60  # characters of a name
# A unit at the end of a name: "misread %", "latency (ms)", "loss [nats]".
_WITH_UNIT = re.compile(r"(.*\S)\s*(?:(%)|\(([^()]+)\)|\[([^\[\]]+)\])")


@dataclass(frozen=True, slots=True)
class AnswerUnits:
    """The name of the value and the unit of costs, as they are put into sentences.

    Numbers have as many digits as tell them apart from those that they are compared with, which
    are handed in as ``beside``.

    Args:
        value_name: The value, in the user's words; a unit may follow: ``"misread %"``,
            ``"latency (ms)"``. Empty if nobody gave one.
        cost_unit: Of costs: ``"s"``, ``"$"``, ``"GPU hours"``. Empty if nobody gave one.
        rises: Whether a gain is a rise, since the value is maximised.
        noisy: Whether values are noisy, so that the lowest one measured need not be the best.

    Example:
        >>> units = AnswerUnits("misread %", "s")
        >>> units.value(1.78), units.cost(4320.0), units.gain(0.12), units.lam
        ('misread 1.78 %', '1 h 12 min', 'lower misread % by 0.12', 'misread % per s')
        >>> AnswerUnits().value(1.78), AnswerUnits().cost(4320.0), AnswerUnits().gain(0.12)
        ('1.78', '4320', 'gain 0.12')
    """

    value_name: str = ""
    cost_unit: str = ""
    rises: bool = False
    noisy: bool = False

    @classmethod
    def of(
        cls,
        value_name: str | None,
        cost_unit: str | None,
        cost: object,
        direction: str,
        *,
        noisy: bool = False,
    ) -> AnswerUnits:
        """The units of options; costs of the kind "seconds" have their unit already."""
        is_time = isinstance(cost, str) and cost in _SECONDS
        unit = cost_unit or (SECONDS if is_time else "")
        return cls(value_name or "", unit, rises=direction == "maximize", noisy=noisy)

    @property
    def name(self) -> str:
        """The name of the value without its unit: "misread"; empty if nobody gave one."""
        match = _WITH_UNIT.fullmatch(self.value_name)
        return self.value_name if match is None else str(match[1])

    @property
    def unit(self) -> str:
        """The unit of the value: "%"; empty if its name has none."""
        match = _WITH_UNIT.fullmatch(self.value_name)
        return "" if match is None else next(filter(None, match.groups()[1:]))

    def value(self, value: float, std: float = 0.0, *beside: float) -> str:
        """A value with its name and unit: "misread 1.78 %"."""
        return f"{self.name} {self.number(value, std, *beside)}".strip()

    def number(self, value: float, std: float = 0.0, *beside: float) -> str:
        """A value with its unit, without its name: "1.78 %"."""
        return f"{measured(value, std, *beside)} {self.unit}".strip()

    def gain(self, gain: float, *beside: float) -> str:
        """A clause about a gain: "gain 0.12", "lower misread % by 0.12"."""
        amount = quantity(gain, *beside)
        if not self.value_name:
            return f"gain {amount}"
        return f"{'raise' if self.rises else 'lower'} {self.value_name} by {amount}"

    def cost(self, cost: float) -> str:
        """A cost with its unit: 32, 4.5 hours, $12.50, 12.3 s, 2 min 5 s, 3 h 20 min."""
        return amount(cost, self.cost_unit)

    @property
    def in_value(self) -> str:
        """A clause after an amount that is gained: "" or " in misread %"."""
        return f" in {self.value_name}" if self.value_name else ""

    @property
    def value_label(self) -> str:
        """The value as the title of an axis or a column."""
        return self.value_name or "value"

    def for_axis(self, most: float) -> tuple[float, str]:
        """By how much costs are divided on an axis, and their unit: seconds may become hours."""
        if not is_seconds(self.cost_unit):
            return 1.0, self.cost_unit
        clock = ((2 * 3600.0, 3600.0, "h"), (180.0, 60.0, "min"))
        return next(((by, unit) for least, by, unit in clock if most >= least), (1.0, SECONDS))

    @property
    def best(self) -> str:
        """The best of some measured values in words; with noise it is the luckiest.

        Example:
            >>> AnswerUnits().best, AnswerUnits(noisy=True).best
            ('best', 'lowest measured')
        """
        if not self.noisy:
            return "best"
        return "highest measured" if self.rises else "lowest measured"

    @property
    def lam(self) -> str:
        """The unit of lam in words."""
        return f"{self.of_value} per {self.one_of_cost}"

    @property
    def one_of_cost(self) -> str:
        """One unit of cost, in words: "run", "GPU hour"."""
        return singular(self.cost_unit) if self.cost_unit else "unit of cost"

    @property
    def of_value(self) -> str:
        """What values are counted in, in words."""
        return self.value_name or "objective units"

    @property
    def of_cost(self) -> str:
        """What costs are counted in, in words."""
        return self.cost_unit or "units of cost"


PLAIN = AnswerUnits()  # nobody has given names


def amount(cost: float, unit: str) -> str:
    """A cost with its unit; seconds as people read them, the sign of a currency before it."""
    if not unit or not math.isfinite(cost):
        return f"{quantity(cost)} {unit}".strip()
    if cost < 0:
        return f"-{amount(-cost, unit)}"
    if is_seconds(unit):
        return _duration(cost)
    if not any(character.isalnum() or character == "%" for character in unit) and len(unit) == 1:
        return f"{unit}{_money(cost)}"
    number = quantity(cost)
    return f"{number} {singular(unit) if number == '1' else unit}"


def singular(unit: str) -> str:
    """One of a unit: "run" of "runs", "GPU hour" of "GPU hours"; "ms" and "mass" stay.

    Example:
        >>> [singular(unit) for unit in ("runs", "GPU hours", "ms", "$", "mass", "analysis")]
        ['run', 'GPU hour', 'ms', '$', 'mass', 'analysis']
    """
    return unit[:-1] if re.search(r"(^|\s)[^\W\d_]{2,}[^\W\d_siu]s$", unit) else unit


def titled(what: str, unit: str) -> str:
    """The title of an axis or a column, with its unit: "spent (s)"."""
    return f"{what} ({unit})" if unit else what


def is_seconds(unit: str) -> bool:
    """Whether costs in this unit are written as durations."""
    return unit in _SECONDS


def _money(cost: float) -> str:
    """An amount of money: cents where they matter, more digits where it is less than a cent."""
    if math.isclose(cost, round(cost), rel_tol=1e-9) or cost >= 1000.0:  # 39 from its logarithm
        return f"{cost:z,.0f}"
    return f"{cost:.2f}" if cost >= 0.1 else f"{cost:.2g}"


def _duration(seconds: float) -> str:
    """Seconds as people read them: 12.3 s, 2 min 5 s, 3 h 20 min, 2 d 4 h."""
    if seconds < 59.95:
        return f"{seconds:z.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def sounds_better_larger(name: str) -> bool:
    """Whether a value of this name is mostly to be maximised: accuracy, auc, reward."""
    words = re.split(r"[^a-z0-9]+", name.lower().replace("²", "2"))
    return any(word in _BETTER_LARGER for word in words) and not _LESS & set(words)


_BETTER_LARGER = (
    *("accuracy", "acc", "auc", "auroc", "f1", "r2", "iou", "ndcg", "bleu", "precision", "recall"),
    *("reward", "yield", "profit", "revenue", "throughput", "speedup"),
)
_LESS = frozenset({"error", "loss", "neg", "negative", "minus", "1"})


def checked_name(option: str, given: object) -> str | None:
    """The name of a value, or the unit of a cost; None if left out."""
    if given is None:
        return None
    if not isinstance(given, str):
        message = f"{option}={given!r}: give a text, such as {_EXAMPLES[option]}."
        raise InputTypeError(message)
    if not given.strip() or len(given) > _LONGEST or not given.isprintable():
        message = (
            f"{option}={given!r}: give a short text on one line (at most {_LONGEST} characters),"
            f" such as {_EXAMPLES[option]}, or leave it out."
        )
        raise InputError(message)
    return given.strip()


def checked_unit(given: object, cost: object) -> str | None:
    """The unit of costs; one that is measured in seconds has no other."""
    unit = checked_name("cost_unit", given)
    is_other = unit is not None and unit.split()[-1].lower() not in _SECONDS
    if is_other and isinstance(cost, str) and cost in _SECONDS:
        message = (
            f"cost_unit={unit!r}: cost={cost!r} counts seconds, which would be called {unit!r};"
            " leave cost_unit out (long times are shown in minutes and hours), or give"
            " cost='reported' and tell costs in your own unit."
        )
        raise InputError(message)
    return unit


_LAM_BETWEEN = (
    "Give lam=, the worth of one {one} in {worth!r}, or a trade that you would just accept:"
    " lam=sw.exchange_rate(improvement=..., cost=...), {worth!r} for {cost!r}."
)


def check_same_unit(worth: str, cost: str, advice: str = _LAM_BETWEEN) -> None:
    """Refuse to take a unit of cost for a unit of worth where both are named and differ.

    Args:
        worth: The unit of a utility; empty if nobody gave one.
        cost: The unit of costs; empty if nobody gave one.
        advice: How to say what a unit of cost is worth; the units are filled in.

    Raises:
        InputError: Both are named, and not alike.
    """
    if not worth.strip() or not cost.strip() or _alike(worth) == _alike(cost):
        return
    message = (
        f"the utility is in {worth!r} and costs are in {cost!r}: nothing says what"
        f" {amount(1.0, cost)} is worth in {worth!r}."
    )
    said = advice.format(worth=worth, cost=cost, one=singular(cost))
    raise InputError(f"{message} {said} If both are one unit, give both the same name.")


def _alike(unit: str) -> str:
    """A unit as it is compared: without case, in the singular, and one name for seconds."""
    name = " ".join(unit.casefold().split())
    return SECONDS if is_seconds(name) else singular(name)


_EXAMPLES = {
    "value_name": "'misread %' or 'latency (ms)'",
    "cost_unit": "'s', '$' or 'GPU hours'",
}


def settings(params: Mapping[str, Any]) -> str:
    """A configuration in words, with as many digits as deserved: "lr = 0.01234, layers = 3"."""
    return ", ".join(
        f"{name} = {quantity(value) if isinstance(value, float) else value}"
        for name, value in params.items()
    )
