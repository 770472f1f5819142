# SPDX-License-Identifier: Apache-2.0
"""The cell: one run of an experiment, as a frozen value with a key made of its content."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from stopwise.errors import InputError

SCHEMA = 1  # raise it when a trajectory of the same cell would mean something else
COST_BLIND = ("lcb", "ts")  # acquisitions that do not look at prices

Option = str | float | int | bool | None


@dataclass(frozen=True, slots=True)
class Cell:
    """Everything that a trajectory depends on, and nothing else.

    Args:
        experiment: The experiment that the cell belongs to, a name of ``EXPERIMENTS``.
        problem: The objective: ``"gp1d"``, ``"gp8d"``, ``"lcbench:adult"``, ...
        cost: The price: ``"uniform"``, ``"linear"``, ``"proxy"``, ``"learned"``, ... A trajectory
            that does not depend on costs names several, joined by ``+``; see
            ``Trajectory.views``.
        acquisition: A name of ``ACQUISITIONS``, or ``package.module:Class`` for a plugin.
        lam: Lambda of the acquisition, if it has one; stopping rules get theirs in replay.
        seed: Seed of the function, the initial design and everything else that is random.
        cap: Number of evaluations after the initial design.
        options: Everything else, as sorted pairs; see ``Cell.of``.
    """

    experiment: str
    problem: str
    cost: str
    acquisition: str
    lam: float | None
    seed: int
    cap: int
    options: tuple[tuple[str, Option], ...] = ()

    @classmethod
    def of(
        cls,
        experiment: str,
        problem: str,
        cost: str,
        acquisition: str,
        *,
        lam: float | None = None,
        seed: int,
        cap: int,
        **options: Option,
    ) -> Cell:
        """A cell; options that are None are left out."""
        kept = tuple(sorted((k, v) for k, v in options.items() if v is not None))
        return cls(experiment, problem, cost, acquisition, lam, seed, cap, kept)

    def option(self, name: str, default: Option = None) -> Any:  # noqa: ANN401  a JSON scalar
        """The value of an option, or the default where the cell does not have it."""
        return dict(self.options).get(name, default)

    @property
    def key(self) -> str:
        """A hash of the content: equal cells, and only those, have equal keys.

        The experiment is not part of it, so a cell that two experiments share is run once.
        """
        content = asdict(self)
        del content["experiment"]
        content["schema"] = SCHEMA
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @property
    def costs(self) -> tuple[str, ...]:
        """The prices that a trajectory of this cell serves."""
        return tuple(self.cost.split("+"))

    def priced(self, cost: str) -> Cell:
        """The cell with one of its prices alone."""
        return replace(self, cost=cost)

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Cell:
        """The cell that ``to_json`` wrote."""
        try:
            content = json.loads(text)
            options = tuple((str(k), v) for k, v in content.pop("options"))
            return cls(**content, options=options)
        except (ValueError, TypeError, KeyError) as error:
            message = f"{text[:80]!r} is not a cell of an experiment: {error}."
            raise InputError(message) from error
