# SPDX-License-Identifier: Apache-2.0
"""The contender: a package with its settings, and the optimiser that it makes for a problem."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

import stopwise as sw
from stopwise_paper.arrays import Array

Params = Mapping[str, Any]
ALL_SEEDS = 5


class FieldEvaluation(NamedTuple):
    """What a contender is told.

    Args:
        params: The configuration; on a table the row that stands nearest to what was asked for.
        value: Its value, None if the evaluation failed.
        cost: What it cost.
    """

    params: Params
    value: float | None
    cost: float


@dataclass(slots=True)
class FailuresAsWorst:
    """Values for packages that know no failures: a failure counts as the worst value so far.

    Failures before the first value wait for it.
    """

    _worst: float = -math.inf
    _waiting: list[Any] = field(default_factory=list)

    def to_tell(self, point: Any, value: float | None) -> list[tuple[Any, float]]:  # noqa: ANN401
        """The points that can be told now, with their values."""
        if value is None:
            self._waiting.append(point)
            if not math.isfinite(self._worst):
                return []
            told = []
        else:
            self._worst = max(self._worst, value)
            told = [(point, value)]
        told += [(failed, self._worst) for failed in self._waiting]
        self._waiting.clear()
        return told


class Optimiser(Protocol):
    """What a package is asked and told while a problem is played."""

    def ask(self) -> Params:
        """The configuration to evaluate next."""
        ...

    def tell(self, evaluated: FieldEvaluation) -> None:
        """What came of it."""
        ...

    def would_stop(self) -> bool:
        """Whether the package's own rule says to stop now."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What a contender is given before the first evaluation.

    Args:
        space: The parameters; on a table those of its columns.
        domain: What stopwise is given: the table itself, where there is one.
        cost: The price as stopwise takes it (``cost=``): a function of the params, a cost model,
            or ``"reported"`` if it has to be learned.
        lam: What a unit of cost is worth; nan for contenders that ask for no price.
        seed: Of everything that is random.
        trials: How many evaluations there are at the most.
    """

    space: Mapping[str, sw.space.Parameter]
    domain: sw.space.Domain
    cost: Any
    lam: float
    seed: int
    trials: int


@dataclass(frozen=True, slots=True)
class Contender:
    """A package with its settings.

    Args:
        title: For tables and figures.
        make: Makes the optimiser of a problem.
        trials: Evaluations that are played; other counts are read from the beginning of the run.
        needs: Distributions that must be installed; the first is the package itself.
        counts: Numbers of trials that users of it choose, for the table.
        priced: Whether it is told the price, so that each price is a run of its own, which ends
            when the contender says so.
        has_rule: Whether it has a stopping rule of its own, which is recorded and not obeyed.
        seeds: How many of the planned seeds it plays; one that takes long plays few, and of bbob
            the first instance.
        plays: Which problems it plays: those with a price, those without, tables whose costs are
            known, or all.
    """

    title: str
    make: Callable[[Setting], Optimiser]
    trials: int
    needs: tuple[str, ...]
    counts: tuple[int, ...] = ()
    priced: bool = False
    has_rule: bool = False
    seeds: int = ALL_SEEDS
    plays: Literal["priced", "unpriced", "known", "all"] = "all"

    @property
    def missing(self) -> tuple[str, ...]:
        """Distributions that are not installed."""
        return not_installed(self.needs)

    @property
    def package(self) -> str:
        """The distribution that is played."""
        return self.needs[0]

    @property
    def version(self) -> str:
        """The version of the package that is played; with the commit, if it is in a checkout."""
        commit = _commit() if self.package == "stopwise" else ""
        return _version(self.package) + commit


def log_costs_of_rows(setting: Setting) -> Array | None:
    """The log of the cost of each row of a table; None if there is none, or costs are unknown."""
    table, model = setting.domain, setting.cost
    if not isinstance(table, sw.space.Finite) or not isinstance(model, sw.beliefs.KnownCost):
        return None
    price = model.price(table, np.empty((0, table.width)), np.empty(0))
    return price.log_cost(table.points).mean


@cache
def _commit() -> str:
    """``+g`` and the commit of stopwise's own source; empty where git does not know it."""
    spec = find_spec("stopwise")
    if spec is None or spec.origin is None:
        return ""
    asked = ["git", "-C", str(Path(spec.origin).parent), "rev-parse", "--short", "HEAD"]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError:
        return ""
    return f"+g{answer.stdout.strip()}" if answer.returncode == 0 else ""


def not_installed(distributions: Iterable[str]) -> tuple[str, ...]:
    """Which of some distributions are not installed."""
    return tuple(name for name in distributions if not _version(name))


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
