# SPDX-License-Identifier: Apache-2.0
"""The encoded history: every observation as a point of the unit cube, encoded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.limits import as_modelled
from stopwise.core.space import Domain
from stopwise.record.history import History, Observation
from stopwise.record.outcomes import Pruned

T = TypeVar("T")


class EncodedHistory:
    """The points, values and costs of a growing history; only new observations are encoded.

    Args:
        domain: The encoded space.
        sign: 1 to minimise, -1 to maximise; inside, everything is minimised.
    """

    def __init__(self, domain: Domain, sign: float) -> None:
        self.domain = domain
        self._sign = sign
        # The observations that are encoded and their rows: one value, so that an interrupt cannot
        # leave one without the other.
        self._encoded: tuple[tuple[Observation, ...], list[Array]] = (), []
        self._pending: dict[int, tuple[Mapping[str, Any], Array]] = {}
        # What was last computed of each kind, with the observations it was computed from.
        self._latest: dict[str, tuple[tuple[Observation, ...], Any]] = {}

    def encode(self, params: Sequence[Mapping[str, Any]]) -> Array:
        """Configurations as rows of the unit cube."""
        return self.domain.encode(params) if params else np.empty((0, self.domain.width))

    def evaluated(self, history: History) -> tuple[Array, Array]:
        """Points that gave a value, and their values; smaller is better."""

        def compute() -> tuple[Array, Array]:
            rows = self._rows_of(history)
            with_value = [(o, row) for o, row in zip(history, rows, strict=True) if not o.failed]
            y = self._sign * np.array([float(o.value or 0.0) for o, _ in with_value])
            return self._stacked([row for _, row in with_value]), as_modelled(y)

        return self._once("evaluated", history, compute)

    def outcome(self, history: History, name: str) -> tuple[Array, Array]:
        """Points at which an outcome was measured, and what was measured; failed ones too."""
        rows = zip(history, self._rows_of(history), strict=True)
        measured = [(o.outcomes[name], row) for o, row in rows if name in o.outcomes]
        values = np.array([value for value, _ in measured])
        return self._stacked([row for _, row in measured]), as_modelled(values)

    def failed(self, history: History) -> Array:
        """Points that gave no value, in order, repeats included."""

        def compute() -> Array:
            rows = self._rows_of(history)
            return self._stacked([row for o, row in zip(history, rows, strict=True) if o.failed])

        return self._once("failed", history, compute)

    def paid(self, history: History) -> tuple[Array, Array]:
        """Points at which a cost was paid, and the costs; a pruned one is not that of a whole."""

        def compute() -> tuple[Array, Array]:
            rows = zip(history, self._rows_of(history), strict=True)
            paid = [(o.cost, row) for o, row in rows if o.cost > 0 and not _is_pruned(o)]
            return self._stacked([row for _, row in paid]), np.array([cost for cost, _ in paid])

        return self._once("paid", history, compute)

    def all(self, history: History) -> Array:
        """All points of the history, in order."""
        return self._stacked(self._rows_of(history))

    def pending(self, trials: Mapping[int, Any]) -> Array:
        """Points of pending trials, by number; each trial is encoded once."""
        for number, trial in trials.items():
            if number not in self._pending or self._pending[number][0] is not trial.params:
                self._pending[number] = trial.params, self.encode([trial.params])[0]
        self._pending = {number: self._pending[number] for number in trials}
        return self._stacked([self._pending[number][1] for number in trials])

    def _once(self, kind: str, history: History, compute: Callable[[], T]) -> T:
        """What is computed of a history, once while it is the latest one that is asked for."""
        of, value = self._latest.get(kind, (None, None))
        if of is not history.observations:
            value = compute()
            self._latest[kind] = history.observations, value
        kept: T = value  # type: ignore[assignment]  # of this kind
        return kept

    def _rows_of(self, history: History) -> list[Array]:
        (old, rows), now = self._encoded, history.observations
        if old is now:
            return rows
        if len(old) > len(now) or any(a is not b for a, b in zip(old, now, strict=False)):
            old, rows = (), []  # a different history: encode all of it
        new = [observation.params for observation in now[len(old) :]]
        if new:
            rows = [*rows, *self.encode(new)]
        self._encoded = now, rows
        return rows

    def _stacked(self, rows: Sequence[Array]) -> Array:
        return np.array(rows) if len(rows) else np.empty((0, self.domain.width))


def _is_pruned(observation: Observation) -> bool:
    return isinstance(observation.outcome, Pruned)
