# SPDX-License-Identifier: Apache-2.0
"""Small problems on which laws are checked: a table, a box, a mixed and a conditional space.

A box has constraints, limits and failures, a table a utility, and rows of one may be repeated.

All are seeded. What is costly, the fits, is done once; every snapshot handed out is a fresh one,
so that nothing that is done to it can be seen by the next law.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NoReturn, cast, get_args

import numpy as np

from stopwise.core.beliefs.belief import Belief, believe
from stopwise.core.beliefs.classifier import fit_classifier
from stopwise.core.beliefs.distances import chebyshev_distances
from stopwise.core.beliefs.gp import Normal, Standardiser, condition
from stopwise.core.beliefs.hyperparameters import Hyperparameters
from stopwise.core.beliefs.laws import Loss
from stopwise.core.beliefs.prices import CostModel, KnownCost, LearnedCost, Price, UnitCost
from stopwise.core.beliefs.success import Success, WithinLimits
from stopwise.core.beliefs.utilities import Piecewise
from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.numerics.seeds import stream
from stopwise.core.search.supremum import Search
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Categorical, Domain, Finite, Integer, Real, Space, as_domain
from stopwise.core.space.constraints import checked_constraints
from stopwise.testing._law import LawBroken

Numerical = Literal["box", "noisy box", "mixed", "conditional", "limited"]
Kind = Literal["table", "noisy table", "repeated table", "valued table"] | Numerical

NUMERICAL: tuple[Numerical, ...] = get_args(Numerical)  # with gradients
KINDS: tuple[Kind, ...] = (
    "table",
    "noisy table",
    "repeated table",
    "valued table",
    *NUMERICAL,
)

TABLE: Space = {"a": Integer(0, 5), "b": Integer(0, 5)}
TREE: Space = {
    "a": Integer(0, 5),
    "shape": Categorical(["plain", "bent"]),
    "b": Integer(0, 3, when={"shape": "bent"}),
}
TREE_OPTIONS: dict[str, Any] = {  # of a study: values below 0 count twice
    "constraints": ["a + b <= 7"],
    "limits": {"strain": (None, 2.5)},
    "utility": Piecewise([(-3.0, 9.0), (0.0, 3.0), (3.0, 0.0)]),
}
_BOX: Space = {"x": Real(0.0, 1.0), "z": Real(1e-3, 1.0, log=True)}
_MIXED: Space = {
    "x": Real(-1.0, 1.0),
    "k": Integer(1, 4),
    "shape": Categorical(["plain", "bent", "odd"]),
}
_CONDITIONAL: Space = {
    "x": Real(-1.0, 1.0),
    "shape": Categorical(["plain", "bent"]),
    "k": Integer(1, 4, when={"shape": "bent"}),
    "bend": Real(0.1, 10.0, log=True, when={"shape": "bent"}),
}

_CONSTRAINTS = ("x + z <= 1.6",)
_LIMIT = 1.3  # of the outcome that is measured on the limited problem
_WORTH = ((-1.0, 6.0), (0.0, 3.0), (1.0, 0.0))  # on the valued one: values and their worth

_OBSERVED, _PENDING, _AFTER = 8, 2, 3  # observations, trials that run, and t
_DESIGN, _LAST = 5, 24  # of the run: observations at t = 0, and its last t
_SEARCH = Search(raw=64, restarts=4)
_NOISE = 0.01
_AWAY = 0.03  # from data, where a deviation has a kink


def height(X: Array) -> Array:
    """The objective at encoded points: smooth, with several basins, of spread one or so."""
    along, across = X @ np.linspace(3.0, 5.0, X.shape[1]), X @ np.linspace(2.0, -4.0, X.shape[1])
    return np.asarray(np.sin(along + 0.5) + 0.5 * np.cos(across) + 0.1 * along)


def cost_of(params: Mapping[str, Any]) -> float:
    """A known cost; it varies by a factor of four or so."""
    size = params["a"] if "a" in params else 2.0 * params["x"] + params.get("k", 2)
    return 0.5 + 0.3 * abs(float(size))


def strain(params: Mapping[str, Any]) -> dict[str, float]:
    """The outcome of the tree that has a limit: a third or so of its rows break it."""
    return {"strain": params["a"] + 1.5 * params.get("b", 0)}


@dataclass(frozen=True, eq=False, slots=True)
class _Problem:
    domain: Domain
    X: Array
    pending: Array
    belief: Belief
    y: Array
    feasible: Mask | None = None
    loss: Loss | None = None


@cache
def _problem(kind: Kind) -> _Problem:
    spaces = dict.fromkeys(NUMERICAL, _BOX) | {"mixed": _MIXED, "conditional": _CONDITIONAL}
    limited = kind == "limited"
    constraints = checked_constraints(_CONSTRAINTS if limited else None)
    domain = as_domain(cast("dict[str, Space]", spaces).get(kind, TABLE), constraints)
    X = _spread(domain, _OBSERVED + _PENDING, stream(0, kind))
    X, pending = X[:_OBSERVED], X[_OBSERVED:]
    y = height(X)
    costs: dict[Kind, CostModel] = {
        of: KnownCost(cost_of) for of in ("table", "valued table", "mixed", "conditional")
    }
    costs |= {"box": LearnedCost(), "noisy box": LearnedCost()}
    cost = costs.get(kind, UnitCost())
    paid = np.exp(X.sum(axis=1))
    noise = _NOISE if kind.startswith(("noisy", "repeated")) else None
    belief = believe(domain, X, y, paid=(X, paid), cost=cost, noise=noise)
    if limited:
        success, feasible = _successes(domain, X)
        return _Problem(domain, X, pending, replace(belief, success=success), y, feasible)
    loss = _loss() if kind == "valued table" else None
    return _Problem(domain, X, pending, belief, y, loss=loss)


def _successes(domain: Domain, X: Array) -> tuple[Success, Mask]:
    """The chance to succeed where some points beside the data failed, and what is feasible."""
    outcome = X.sum(axis=1)
    model = condition(
        X, outcome, Hyperparameters(np.full(2, 0.7), noise=0.5), groups=domain.groups
    )
    tried = np.vstack([X, np.minimum(X[::3] + 0.05, 1.0)])
    failures = fit_classifier(tried, np.arange(len(tried)) < len(X), domain.groups)
    return Success((failures, WithinLimits(model, -np.inf, _LIMIT))), outcome <= _LIMIT


def _loss(shift: float = 0.0, factor: float = 1.0) -> Loss:
    """Minus the worth, where values are counted as factor y + shift and worth in step."""
    points = [(factor * value + shift, factor * worth) for value, worth in _WORTH]
    return Piecewise(points).loss(1.0)


def _spread(domain: Domain, n: int, rng: np.random.Generator) -> Array:
    """n points, none twice."""
    return domain.design(n, rng) if isinstance(domain, Finite) else domain.sobol(n, rng)


def snapshot_of(kind: Kind) -> Snapshot:
    """A fresh snapshot with eight observations and two pending trials, at t = 3."""
    made = _problem(kind)
    return Snapshot(
        made.domain,
        made.X.copy(),
        made.y.copy(),
        made.belief,
        made.pending.copy(),
        initial=_OBSERVED - _AFTER,
        seed=7,
        trial=_OBSERVED + _PENDING,
        search=_SEARCH,
        replicates=kind == "repeated table",
        feasible=made.feasible,
        loss=made.loss,
    )


def points_of(snapshot: Snapshot) -> Array:
    """All candidates; or points everywhere, at the walls, on the data and beside them."""
    domain = snapshot.domain
    if isinstance(domain, Finite):
        return domain.points
    walls = np.vstack([np.zeros(domain.width), np.ones(domain.width)])
    beside = snapshot.X + 1e-5
    spread = domain.sobol(64, stream(1, "points"))
    return np.vstack([spread, domain.snap(walls), snapshot.X, domain.snap(beside)])


def free_points(snapshot: Snapshot) -> Array:
    """Candidates that are free; or inner points at some distance from what is taken."""
    domain = snapshot.domain
    if isinstance(domain, Finite):
        return domain.points[~snapshot.taken(domain.points)]
    X = domain.sobol(32, stream(2, "points"))
    X[:, domain.real] = 0.05 + 0.9 * X[:, domain.real]
    known = np.vstack([snapshot.X, snapshot.pending])
    inner: Array = X[chebyshev_distances(X, known).min(axis=1) > _AWAY]
    return inner


@cache
def _run() -> tuple[Domain, Array, Array, tuple[Belief, ...]]:
    domain = as_domain(TABLE)
    X = _spread(domain, _DESIGN + _LAST, stream(0, "run"))
    y = height(X)
    beliefs: list[Belief] = []
    for n in range(_DESIGN, _DESIGN + _LAST + 1):
        start = beliefs[-1].fitted if beliefs else None
        paid = (X[:n], np.ones(n))
        cost = KnownCost(cost_of)
        beliefs.append(believe(domain, X[:n], y[:n], paid=paid, cost=cost, start=start))
    return domain, X, y, tuple(beliefs)


def run() -> list[Snapshot]:
    """Fresh snapshots of one study over the table, from t = 0 to t = 24."""
    domain, X, y, beliefs = _run()
    none = np.empty((0, domain.width))
    return [
        Snapshot(domain, X[:n].copy(), y[:n].copy(), belief, none, initial=_DESIGN, seed=7)
        for n, belief in enumerate(beliefs, start=_DESIGN)
    ]


def in_other_units(
    snapshot: Snapshot, *, shift: float = 0.0, factor: float = 1.0, cost: float = 1.0
) -> Snapshot:
    """The same study where y is counted as factor y + shift, and costs as cost times theirs.

    What values are worth is counted in step with them.
    """
    objective, price = snapshot.belief.posterior, snapshot.belief.price
    unit = objective.standardiser
    unit = Standardiser(factor * unit.shift + shift, factor * unit.scale)
    belief = replace(
        snapshot.belief,
        objective=replace(objective, standardiser=unit),
        price=price if cost == 1.0 else _ScaledPrice(price, math.log(cost)),
    )
    loss = None if snapshot.loss is None else _loss(shift, factor)
    return replace(snapshot, y=factor * snapshot.y + shift, belief=belief, loss=loss)


def with_costs(snapshot: Snapshot, costs: Array) -> Snapshot:
    """The same study over a table of other costs, one per candidate."""
    price = KnownCost(costs).price(snapshot.domain, snapshot.X, np.empty(0))
    return replace(snapshot, belief=replace(snapshot.belief, price=price))


def at_other_prices(snapshot: Snapshot) -> Snapshot:
    """The same study where what was cheap is dear and the other way round."""
    price = _TiltedPrice(snapshot.belief.price, np.linspace(-3.0, 2.0, snapshot.domain.width))
    return replace(snapshot, belief=replace(snapshot.belief, price=price))


def without_model(snapshot: Snapshot, *, judged: bool) -> Snapshot:
    """The same study with a belief that breaks the law of whoever reads it.

    Args:
        snapshot: The moment.
        judged: Whether it may be read that observations are exact, as ``snapshot.judged`` does.
    """
    belief = _Unreadable("belief")
    if judged:
        belief = _Unreadable("belief", objective=_Unreadable("objective", exact=True))
    return replace(snapshot, belief=cast("Belief", belief))


def prohibitive_costs(lam: float) -> Array:
    """Costs for the run's table, each worth ten times all that there is to gain."""
    points = cast("Finite", _run()[0]).points
    return np.full(len(points), 10.0 * float(np.ptp(height(points))) / lam)


class _Unreadable:
    """Something of which only some attributes may be read."""

    def __init__(self, name: str, **readable: object) -> None:
        self._name = name
        vars(self).update(readable)

    def __getattr__(self, attribute: str) -> NoReturn:
        raise LawBroken(
            f"it says that it reads values only, and reads {attribute!r} of the {self._name}"
        )

    def __call__(self, *_: object) -> NoReturn:
        raise LawBroken(f"it says that it reads values only, and asks the {self._name}")


@dataclass(frozen=True, slots=True)
class _ScaledPrice:
    """Another price, times a factor."""

    price: Price
    log_factor: float

    def log_cost(self, X: Array) -> Normal:
        mean, std = self.price.log_cost(X)
        return Normal(mean + self.log_factor, std)

    def log_cost_with_gradient(self, X: Array) -> tuple[Normal, Array, Array]:
        (mean, std), d_mean, d_std = self.price.log_cost_with_gradient(X)
        return Normal(mean + self.log_factor, std), d_mean, d_std


@dataclass(frozen=True, slots=True, eq=False)
class _TiltedPrice:
    """Another price, times a factor that changes from column to column."""

    price: Price
    slope: Array

    def log_cost(self, X: Array) -> Normal:
        mean, std = self.price.log_cost(X)
        return Normal(mean + X @ self.slope, std)

    def log_cost_with_gradient(self, X: Array) -> tuple[Normal, Array, Array]:
        (mean, std), d_mean, d_std = self.price.log_cost_with_gradient(X)
        return Normal(mean + X @ self.slope, std), d_mean + self.slope, d_std
