# SPDX-License-Identifier: Apache-2.0
"""The history of a study: its trials and observations, in the user's units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

from stopwise.core.html_table import html_table
from stopwise.core.units import PLAIN, AnswerUnits, titled
from stopwise.errors import MissingExtraError
from stopwise.record.outcomes import Infeasible, Outcome


@dataclass(frozen=True, slots=True)
class Trial:
    """A configuration to be evaluated.

    Args:
        number: Number of the trial in its study, from 0 on.
        params: The configuration.
        expected_cost: The cost that was expected when it was asked for; None if it was unknown.
        repeats: Number of the first trial with this configuration, if it was chosen to know that
            one better.
        worth: What knowing that one better is worth, in the objective's unit.
    """

    number: int
    params: Mapping[str, Any]
    expected_cost: float | None = field(default=None, compare=False)
    repeats: int | None = field(default=None, compare=False)
    worth: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Observation:
    """An evaluated configuration.

    Args:
        number: Number of the trial.
        params: The configuration.
        outcome: How the evaluation ended: a value, or none and why.
        cost: The cost that was paid.
        charged: Whether the cost counts as spent by this study.
        expected_cost: The cost that was expected when it was asked for; None if it was unknown.
        outcomes: What was measured besides the value, by name.
    """

    number: int
    params: Mapping[str, Any]
    outcome: Outcome
    cost: float
    charged: bool = True
    expected_cost: float | None = field(default=None, compare=False)
    outcomes: Mapping[str, float] = field(default_factory=dict)

    @property
    def value(self) -> float | None:
        """The value of the objective; None if the evaluation gave none."""
        return self.outcome.value

    @property
    def message(self) -> str:
        """Why the evaluation failed, if it did."""
        return self.outcome.message

    @property
    def failed(self) -> bool:
        """Whether the evaluation gave no value."""
        return self.outcome.value is None

    @property
    def infeasible(self) -> bool:
        """Whether it gave a value, and a measured outcome is beyond its limits."""
        return isinstance(self.outcome, Infeasible)


_SHOWN = 20  # evaluations in a notebook's table


@dataclass(frozen=True)  # no slots: what derives from the observations is cached
class History:
    """Observations in the order in which they were told.

    Args:
        observations: The observations.
        units: The names and units in which a notebook shows them.
    """

    observations: tuple[Observation, ...] = ()
    units: AnswerUnits = field(default=PLAIN, compare=False, repr=False)

    def __len__(self) -> int:
        """Number of observations, failed ones included."""
        return len(self.observations)

    def __iter__(self) -> Iterator[Observation]:
        """The observations, in order."""
        return iter(self.observations)

    @overload
    def __getitem__(self, index: int) -> Observation: ...
    @overload
    def __getitem__(self, index: slice) -> History: ...
    def __getitem__(self, index: int | slice) -> Observation | History:
        """One observation, or a part of the history."""
        if isinstance(index, slice):
            return History(self.observations[index], self.units)
        return self.observations[index]

    def with_(self, *observations: Observation) -> History:
        """The history with more observations."""
        return History((*self.observations, *observations), self.units)

    def amended(self, observation: Observation) -> History:
        """The history with another report of one of its trials, in the same place."""
        number = observation.number
        changed = tuple(observation if o.number == number else o for o in self.observations)
        return History(changed, self.units)

    def in_units(self, units: AnswerUnits) -> History:
        """The same history, shown with other names and units."""
        return self if units == self.units else History(self.observations, units)

    @cached_property
    def succeeded(self) -> tuple[Observation, ...]:
        """The observations that have a value."""
        return tuple(o for o in self.observations if not o.failed)

    @cached_property
    def feasible(self) -> tuple[Observation, ...]:
        """The observations that have a value and keep all limits, as measured."""
        return tuple(o for o in self.observations if not (o.failed or o.infeasible))

    @property
    def spent(self) -> float:
        """Sum of the costs that were charged."""
        return float(sum(o.cost for o in self.observations if o.charged))

    def _repr_html_(self) -> str:
        """The history in a notebook: the last evaluations, as a table."""
        shown = self.observations[-_SHOWN:]
        names = list(dict.fromkeys(name for o in shown for name in o.params))
        measured = list(dict.fromkeys(name for o in shown for name in o.outcomes))
        rows = [
            [
                o.number,
                *(o.params.get(name, "") for name in names),
                "failed" if o.value is None else o.value,
                o.cost,
                *(o.outcomes.get(name, "") for name in measured),
                o.message,
            ]
            for o in shown
        ]
        value, cost = self.units.value_label, titled("cost", self.units.cost_unit)
        head = ["trial", *names, value, cost, *measured, "message"]
        if not any(o.message for o in shown):
            head, rows = head[:-1], [row[:-1] for row in rows]
        left_out = len(self) - len(shown)
        words = f"{len(self)} evaluations" + (f", the last {len(shown)} of them:" * bool(left_out))
        return f"<p>{words}</p>{html_table(head, rows)}"

    def to_frame(self) -> Any:  # noqa: ANN401  pandas is optional
        """The history as a pandas DataFrame: number, params, value, cost, message, outcomes.

        A parameter with the name of another column gets a prefix: ``param_value``, for example.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError.of("pandas", extra="frames", purpose="to_frame()") from error
        measured = tuple(dict.fromkeys(name for o in self.observations for name in o.outcomes))
        reserved = ("number", "value", "cost", "message", *measured)
        rows = [
            {
                "number": o.number,
                **{f"param_{k}" if k in reserved else k: v for k, v in o.params.items()},
                "value": o.value,
                "cost": o.cost,
                "message": o.message,
                **{name: o.outcomes.get(name) for name in measured},
            }
            for o in self.observations
        ]
        return pd.DataFrame(rows)
