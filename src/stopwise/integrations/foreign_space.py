# SPDX-License-Identifier: Apache-2.0
"""Foreign spaces: search spaces of other packages as our spaces, and params both ways.

How single parameters are translated is in ``foreign_kinds.py``. Where a package lets one choose
between groups of parameters, the choice is a parameter of ours that the package knows no name for
(``Alternatives``); those of a group exist only when it is chosen.
"""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from stopwise.core.checks import Direction
from stopwise.core.space import Candidates, Domain, Integer, Parameter, Real
from stopwise.core.space.constraints import Constraint, check_names, checked_constraints
from stopwise.errors import InputError, InputTypeError
from stopwise.integrations.foreign_curves import ForeignCurves
from stopwise.integrations.foreign_kinds import (
    Alternatives,
    ConstantParameter,
    Kind,
    Positioned,
    Ranked,
    Stepped,
    is_number,
    of_choices,
    of_numbers,
)
from stopwise.record.history import History
from stopwise.study import Cost

__all__ = [
    "Alternatives",
    "CandidateTable",
    "ConstantParameter",
    "ForeignSpace",
    "Kind",
    "Positioned",
    "Ranked",
    "Stepped",
    "Told",
    "inferred",
    "kinds_of",
    "of_choices",
    "of_numbers",
    "translated",
]

_TRANSLATED = Ranked | Stepped | Positioned | Alternatives


@dataclass(frozen=True, slots=True)
class ForeignSpace:
    """A search space of another package.

    Args:
        kinds: How each of its parameters is modelled.
        when: The conditions of those that have one, in the form of our space.
        outer: The names that the other package has for parameters which we call otherwise.
    """

    kinds: Mapping[str, Kind]
    when: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    outer: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.space:
            message = (
                f"nothing varies in this space: {dict(self.kinds)}. Give at least one parameter"
                " with two or more values."
            )
            raise InputError(message)

    @property
    def space(self) -> dict[str, Parameter]:
        """The space that a study searches."""
        made = {
            name: kind if isinstance(kind, Parameter) else kind.parameter
            for name, kind in self.kinds.items()
            if not isinstance(kind, ConstantParameter)
        }
        return {n: replace(p, when=self.when[n]) if n in self.when else p for n, p in made.items()}

    def outward(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Our params in the form of the other package."""
        return {
            self.outer.get(name, name): self._out(kind, params.get(name))
            for name, kind in self.kinds.items()
            if not isinstance(kind, Alternatives) and self._exists(name, params)
        }

    def inward(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Params of the other package in the form of our space."""
        choices = {n: k.count for n, k in self.kinds.items() if isinstance(k, Alternatives)}
        if not choices:
            return self._inward(params, {})
        problems = []
        for positions in itertools.product(*map(range, choices.values())):
            chosen = dict(zip(choices, positions, strict=True))
            try:
                ours = self._inward(params, chosen)
                self._check_fits(params, ours)
            except (InputError, InputTypeError) as error:
                problems.append(str(error))
            else:
                return ours
        message = f"params {dict(params)} fit none of the alternatives: {problems[-1]}"
        raise InputError(message)

    def _inward(self, params: Mapping[str, Any], chosen: Mapping[str, int]) -> dict[str, Any]:
        """Params inward, where the choices between alternatives are made."""
        ours: dict[str, Any] = {}
        missing = []
        for name in self._parents_first():
            kind, outer = self.kinds[name], self.outer.get(name, name)
            if isinstance(kind, ConstantParameter) or not self._exists(name, ours):
                continue
            if isinstance(kind, Alternatives):
                ours[name] = chosen[name]
            elif outer in params:
                ours[name] = self._in(kind, params[outer])
            else:
                missing.append(outer)
        if missing:
            message = f"params {dict(params)} lack {missing}; each parameter needs a value."
            raise InputError(message)
        return {name: ours[name] for name in self.kinds if name in ours}

    def _check_fits(self, params: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
        """Refuse an alternative with other parameters, other constants or other ranges."""
        space = self.space
        for name, value in ours.items():
            space[name].encode([value], name)
        there = self.outward(ours)
        known = {self.outer.get(name, name) for name in self.kinds}
        for name in known & (params.keys() | there.keys()):
            if name not in there:
                raise InputError(f"{name!r} does not exist there")
            same = name in params and (
                params[name] is there[name] or repr(params[name]) == repr(there[name])
            )
            if not same and not is_number(there[name]):
                raise InputError(f"{name!r} is {there[name]!r} there")

    def _parents_first(self) -> list[str]:
        """The names, each after those that it depends on."""
        order: dict[str, None] = {}
        for _ in self.kinds:
            for name in self.kinds:
                if all(parent in order for parent in self._condition(name)):
                    order[name] = None
        return list(order)

    def _condition(self, name: str) -> Mapping[str, Sequence[Any]]:
        kind = self.kinds[name]
        own = kind.when if isinstance(kind, Parameter) else None
        return self.when.get(name, own or {})

    def _exists(self, name: str, params: Mapping[str, Any]) -> bool:
        """Whether a parameter exists beside our params."""
        condition = self._condition(name).items()
        return all(parent in params and params[parent] in values for parent, values in condition)

    def constraints(self, given: object) -> list[Constraint]:
        """Constraints about params in the form of the other package, as ones about ours."""
        names = {self.outer.get(name, name) for name in self.kinds}

        def moved(constraint: Constraint) -> Constraint:
            def test(params: Mapping[str, Any]) -> bool:
                return constraint.holds(self.outward(params), names)

            check_names([constraint], names)
            return Constraint(constraint.source, test)

        return [moved(constraint) for constraint in checked_constraints(given)]

    def history(self, history: History) -> History:
        """A history of ours with params in the form of the other package."""
        return History(tuple(replace(o, params=self.outward(o.params)) for o in history))

    def cost(self, given: Cost) -> Cost:
        """A cost; a function is called with params in the form of the other package."""
        if not callable(given) or hasattr(given, "price"):
            return given
        return lambda params: given(self.outward(params))

    @staticmethod
    def _out(kind: Kind, value: Any) -> Any:  # noqa: ANN401
        if isinstance(kind, ConstantParameter):
            return kind.value
        return kind.outward(value) if isinstance(kind, _TRANSLATED) else value

    @staticmethod
    def _in(kind: Kind, value: Any) -> Any:  # noqa: ANN401
        return kind.inward(value) if isinstance(kind, _TRANSLATED) else value


@dataclass(frozen=True, slots=True)
class CandidateTable:
    """A table of candidates (``sw.Candidates``), which needs no translation."""

    space: Candidates | Domain

    def outward(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The params as they are."""
        return dict(params)

    inward = outward

    def history(self, history: History) -> History:
        """The history as it is."""
        return history

    def cost(self, given: Cost) -> Cost:
        """The cost as it is."""
        return given

    def constraints(self, given: object) -> object:
        """Constraints as they are."""
        return given


class Told(NamedTuple):
    """A history that was read from another package.

    Args:
        history: Its finished trials, in order of completion; params in the form of ``space``.
        space: Their parameters.
        direction: ``"minimize"`` or ``"maximize"``.
        notes: Sentences about what was left out or assumed.
        curves: What trials reported on the way, if they did.
    """

    history: History
    space: dict[str, Parameter]
    direction: Direction
    notes: tuple[str, ...]
    curves: ForeignCurves | None = None


def inferred(params: Sequence[Mapping[str, Any]], log: Collection[str] = ()) -> ForeignSpace:
    """A space from the values that were tried: the range of numbers, the set of other choices.

    Args:
        params: Configurations; parameters that not all of them have are left out.
        log: Names of parameters on a log scale.
    """
    shared = [name for name in params[0] if all(name in row for row in params)] if params else []
    kinds = {name: _inferred([row[name] for row in params], name in log) for name in shared}
    return ForeignSpace(kinds)


def _inferred(values: Sequence[Any], log: bool) -> Kind:  # noqa: FBT001
    if not all(is_number(value) for value in values):
        return of_choices(values)
    low, high = min(values), max(values)
    if low == high:
        return ConstantParameter(low)
    if all(isinstance(value, numbers.Integral) for value in values):
        return Integer(int(low), int(high), log=log)
    return Real(float(low), float(high), log=log)


def translated(
    given: object, kind_of: Callable[[str, Any], Kind | None], allowed: str
) -> ForeignSpace:
    """A foreign space, parameter by parameter.

    Args:
        given: The user's dict of parameters.
        kind_of: How a parameter is modelled; None if it cannot be.
        allowed: The parameters that can be modelled, for the error.
    """
    return ForeignSpace(kinds_of(given, kind_of, allowed))


def kinds_of(
    given: object, kind_of: Callable[[str, Any], Kind | None], allowed: str
) -> dict[str, Kind]:
    """How each parameter of a dict is modelled; see ``translated``."""
    if not isinstance(given, Mapping):
        message = f"a space must be a dict of parameters, got {given!r}. Allowed are {allowed}."
        raise InputTypeError(message)
    kinds: dict[str, Kind] = {}
    for name, value in given.items():
        kind = value if isinstance(value, Parameter) else kind_of(name, value)
        if kind is None:
            message = (
                f"parameter {name!r} is {value!r} ({type(value).__name__}), which stopwise cannot"
                f" model. Allowed are {allowed}."
            )
            raise InputTypeError(message)
        kinds[name] = kind
    return kinds
