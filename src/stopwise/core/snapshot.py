# SPDX-License-Identifier: Apache-2.0
"""The snapshot: all that an acquisition or a stopping rule ever sees. Nothing in it changes.

Costly values are computed once and kept in a memo (``memo.py``): the supremum of each acquisition,
and on a finite domain the law of the objective at all candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import numpy as np

from stopwise.core.beliefs.belief import Belief
from stopwise.core.beliefs.ensemble import DoubtedMarginals
from stopwise.core.beliefs.laws import Law, Loss
from stopwise.core.beliefs.prices import expected_cost
from stopwise.core.beliefs.surrogate import Marginals
from stopwise.core.beliefs.utilities import ValuedMarginals
from stopwise.core.memo import Memo, TrackedTraces
from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.numerics.seeds import stream
from stopwise.core.search.cheapness import Cheapness
from stopwise.core.search.same_points import SamePoints
from stopwise.core.search.score import BoundScore
from stopwise.core.search.supremum import Search, Supremum, supremum
from stopwise.core.space import Domain, Finite
from stopwise.core.traces import Signal, Trace

T = TypeVar("T")

_GOOD = 5  # number of best observations whose neighbourhoods are searched


class Bindable(Hashable, Protocol):
    """An object whose supremum a snapshot can compute: an acquisition."""

    def bind(self, snapshot: Snapshot) -> BoundScore:
        """The score of this acquisition on a snapshot."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class Snapshot:
    """A study at one moment, as a minimisation: data, pending points, belief and domain.

    Args:
        domain: The encoded space.
        X: Evaluated points, (n, width), in order.
        y: Their values, (n,); smaller is better.
        belief: Posterior of the objective, and price.
        pending: Points being evaluated, (p, width).
        initial: Observations that count as the initial design: t = n - initial.
        traces: Recorded signals, by key.
        seed: The study's seed.
        trial: Number of the trial that is being chosen; addresses the randomness of ``ask``.
        search: Effort of the numerical search for suprema.
        failed: Points whose evaluation failed, (f, width); they are not tried again.
        left: What may still be spent; points that cost more are barred.
        replicates: Whether an evaluated point may be evaluated again.
        hints: Further points from which every numerical search starts, (h, width).
        compared_with: Which observation is the incumbent, where another belief has decided that.
        feasible: Which observations keep all limits; None where there are none.
        fallback: The value that one has if none does; infinite if nobody says.
        among: Of a finite domain, the candidates that may be chosen; all if left out.
        loss: Minus what a value is worth, if that is not the value; ``currency`` is its unit.
    """

    domain: Domain
    X: Array
    y: Array
    belief: Belief
    pending: Array
    initial: int = 0
    traces: Mapping[str, Trace] = field(default_factory=dict)
    seed: int = 0
    trial: int = 0
    search: Search = Search()
    failed: Array | None = None
    left: float = math.inf
    replicates: bool = False
    hints: Array | None = None
    compared_with: int | None = None
    feasible: Mask | None = None
    fallback: float = math.inf
    among: Mask | None = None
    loss: Loss | None = None
    currency: str = ""
    _memo: Memo = field(default_factory=Memo, init=False, repr=False)  # replace() begins a new one

    def __post_init__(self) -> None:
        object.__setattr__(self, "traces", TrackedTraces(self.traces, self._memo))
        for name in ("X", "y", "pending", "failed"):
            array = getattr(self, name)
            if array is not None:
                read_only = array.view()  # the caller's array stays writeable
                read_only.flags.writeable = False
                object.__setattr__(self, name, read_only)

    @property
    def n(self) -> int:
        """Number of observations."""
        return len(self.y)

    @property
    def t(self) -> int:
        """Evaluations after the initial design."""
        return self.n - self.initial

    @property
    def best(self) -> float:
        """The incumbent's value, y*: as observed where that is exact, else a posterior median.

        The fallback if that is better; infinite while there is neither.
        """
        return min(float(self.judged[self.incumbent]), self.fallback)

    @property
    def level(self) -> float:
        """The incumbent by what it is worth: its loss, or its value where there is no utility."""
        return self.best if self.loss is None else float(self.loss(np.array([self.best]))[0])

    @property
    def incumbent(self) -> int:
        """Which observation is the best; the first of equals."""
        if self.compared_with is not None:
            return self.compared_with
        return int(np.argmin(self.judged))

    @property
    def has_incumbent(self) -> bool:
        """Whether an observation keeps all limits."""
        return self.feasible is None or bool(self.feasible.any())

    @property
    def rests_on_fallback(self) -> bool:
        """Whether the fallback is better than every observation that keeps the limits."""
        return self.fallback < float(self.judged[self.incumbent])

    @property
    def judged(self) -> Array:
        """Values by which observations are compared: exact ones, or posterior medians.

        Those that break a limit are infinite.
        """
        objective = self.belief.objective
        if objective.exact:
            return self.attained
        return self.once("judged", lambda: self._if_feasible(objective.law(self.X).median))

    @property
    def attained(self) -> Array:
        """Values as observed; infinite where a limit is broken."""
        return self._if_feasible(self.y)

    def _if_feasible(self, values: Array) -> Array:
        return values if self.feasible is None else np.where(self.feasible, values, np.inf)

    @property
    def components(self) -> tuple[tuple[float, Snapshot], ...]:
        """This moment under each posterior of the belief alone, with its weight."""
        parts = self.belief.components
        if len(parts) == 1:
            return ((1.0, self),)

        def compute() -> tuple[tuple[float, Snapshot], ...]:
            return tuple(
                (weight, replace(self, belief=belief, compared_with=self.incumbent))
                for weight, belief in parts
            )

        return self.once("components", compute)

    def rng(self, purpose: str) -> np.random.Generator:
        """The random stream for a purpose at this number of observations."""
        return stream(self.seed, purpose, self.n)

    def trace(self, key: str) -> Trace:
        """The trace of one key; empty if nothing was recorded."""
        return self.traces.get(key, Trace())

    def signal(self, value: float, **facts: float) -> Signal:
        """A signal of this moment."""
        return Signal(self.t, self.n, float(value), {k: float(v) for k, v in facts.items()})

    def sup(self, acquisition: Bindable) -> Supremum:
        """Where the acquisition's score is largest; computed once per acquisition."""

        def search() -> Supremum:
            score = acquisition.bind(self)
            best_first = self.X[np.argsort(self.attained, kind="stable")]
            return supremum(
                score,
                self.domain,
                self.rng("supremum"),
                near=best_first[:_GOOD],
                observed=np.vstack([best_first, self.pending]),
                starts=self._starts(score),
                search=self.search,
            )

        maximum = self.once(("sup", acquisition), search)
        self._memo.note_supremum(maximum)
        return maximum

    def _starts(self, score: BoundScore) -> Array | None:
        """Points from which a search always starts; with a budget, the cheapest point too."""
        starts = [points for points in (score.starts, self.hints) if points is not None]
        if self.left < math.inf and self._cheapest.x is not None:
            starts.append(self._cheapest.x[None, :])
        return np.vstack(starts) if starts else None

    def with_suprema(self, compute: Callable[[], T]) -> tuple[T, list[Supremum]]:
        """Compute a value, and return it with the suprema that the computation asked for."""
        value, reads = self._memo.tracked(compute)
        return value, reads.suprema

    def with_traces(self, traces: Mapping[str, Trace]) -> Snapshot:
        """The same moment with other recorded signals; values that did not read them are kept."""
        other = replace(self, traces=traces)
        object.__setattr__(other, "_memo", self._memo)
        object.__setattr__(other, "traces", TrackedTraces(traces, self._memo))
        return other

    def seen(self, belief: Belief, *, from_incumbent: bool, valued: bool = False) -> Marginals:
        """The model of the objective, or of what it is believed to gain on the incumbent.

        From the incumbent it is the model of best + f(x) - f(incumbent), the same where
        observations are exact, and improvements are doubted as far as the belief is not trusted.
        Either counts with the chance to succeed, ``valued`` ones by a utility if there is one.
        """
        if not from_incumbent:
            return belief.with_chance(belief.objective)
        loss = self.loss if valued else None
        key = ("from incumbent", len(belief.objective), belief.trust, belief.success, loss is None)
        return self.once(key, lambda: belief.with_chance(self._from_incumbent(belief, loss)))

    def _from_incumbent(self, belief: Belief, loss: Loss | None) -> Marginals:
        objective: Marginals = belief.objective
        known = self.rests_on_fallback  # which is no observation
        if not (belief.objective.exact or known):
            objective = belief.objective.relative_to(self.X[self.incumbent], self.best)
        objective = objective if loss is None else ValuedMarginals(objective, loss)
        if belief.trust == 1.0:
            return objective
        level = self.best if loss is None else self.level
        return DoubtedMarginals(objective, level, belief.trust)

    def law(
        self,
        X: Array,
        belief: Belief | None = None,
        *,
        from_incumbent: bool = False,
        valued: bool = False,
    ) -> Law:
        """The law of the objective; that of all candidates is computed once.

        Where observations are exact, an evaluated candidate has its value and no deviation.
        """
        belief = belief or self.belief
        seen = self.seen(belief, from_incumbent=from_incumbent, valued=valued)
        if not (isinstance(self.domain, Finite) and X is self.domain.points):
            return seen.law(X)

        def everywhere() -> Law:
            law = seen.law(X)
            if not belief.objective.exact:
                return law
            n = len(belief.objective)
            known = np.isfinite(self.attained[:n])  # what breaks a limit is not to be had
            at, y = self._indices(self.X[:n][known]), self.y[:n][known]
            return law.known_at(at[at >= 0], y[at >= 0])

        differs = from_incumbent and seen is not belief.objective
        key = ("law", differs, len(belief.objective), belief.success, differs and valued)
        return self.once(key, everywhere)

    @property
    def cheapest(self) -> float:
        """Expected cost of the cheapest point that is not taken."""
        x = self._cheapest.x
        if x is None:
            return math.inf
        return float(expected_cost(self.belief.price, x[None, :])[0])

    @property
    def _cheapest(self) -> Supremum:
        return self.once(
            "cheapest",
            lambda: supremum(
                Cheapness(self), self.domain, self.rng("cheapest"), search=self.search
            ),
        )

    def barred(self, X: Array) -> Mask:
        """Which rows must not be chosen: taken, left out, or dearer than what is left."""
        left_out = False if self.among is None else ~self.among[self._indices(X)]
        taken = self.taken(X) | left_out
        return taken if self.left == math.inf else taken | ~self.affordable(X)

    def affordable(self, X: Array) -> Mask:
        """Which rows are expected to cost no more than what is left."""
        return np.asarray(expected_cost(self.belief.price, X) <= self.left)

    def taken(self, X: Array) -> Mask:
        """Which rows are evaluated (unless replicates are allowed), failed or pending."""
        taken = self.once("taken", lambda: SamePoints.of(self._taken_points()))
        if isinstance(self.domain, Finite) and len(taken.points):
            mask = np.zeros(len(self.domain) + 1, dtype=bool)
            mask[np.append(self._indices(taken.points), -1)] = True  # -1: what is off the table
            return mask[self._indices(X)]
        return taken.among(X)

    @property
    def barred_from_repeats(self) -> Array:
        """Points that are not evaluated again whatever is allowed: failed or pending."""
        failed = self.X[:0] if self.failed is None else self.failed
        return np.vstack([failed, self.pending])

    def _taken_points(self) -> Array:
        evaluated = self.X[:0] if self.replicates else self.X
        return np.vstack([evaluated, self.barred_from_repeats])

    def prefix(self, k: int) -> Snapshot:
        """This snapshot after its first k observations, at the same hyper-parameters."""
        cut = self.once(
            ("prefix", k),
            lambda: replace(
                self,
                X=self.X[:k],
                y=self.y[:k],
                belief=self.belief.prefix(k),
                traces={},
                feasible=None if self.feasible is None else self.feasible[:k],
            ),
        )
        return cut.with_traces(self.traces)

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Compute a value once for this snapshot and for the traces that it reads."""
        return self._memo.once(key, self.traces.untracked, compute)  # type: ignore[attr-defined]

    def _indices(self, X: Array) -> Indices:
        return self.domain.index_of(X)  # type: ignore[union-attr]
