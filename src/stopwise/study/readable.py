# SPDX-License-Identifier: Apache-2.0
"""The properties of a study that only read its state."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from stopwise.acquisition import Acquisition
from stopwise.core.numerics.threads import single_threaded
from stopwise.core.traces import Trace
from stopwise.record.history import History, Trial
from stopwise.record.promises import Promises
from stopwise.stopping.verdict import Verdict
from stopwise.study.best import best_of
from stopwise.study.choosing import Choosing
from stopwise.study.context import StudyContext
from stopwise.study.exclusive import exclusive
from stopwise.study.hard_limits import cap_verdict
from stopwise.study.importance import Importance, importances
from stopwise.study.initial_design import InitialDesign
from stopwise.study.notebook import of_study
from stopwise.study.options import StudyOptions
from stopwise.study.readings import Readings, readings_of
from stopwise.study.remaining import Remaining, best_remaining
from stopwise.study.result import Best
from stopwise.study.snapshots import Snapshots


class ReadableStudy:
    """The part of ``Study`` that only reads."""

    options: StudyOptions
    _lock: AbstractContextManager[object]
    _context: StudyContext
    _design: InitialDesign
    _choosing: Choosing
    _snapshots: Snapshots

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()

    @property
    @exclusive
    def n_initial(self) -> int:
        """Number of observations that the initial design is to have."""
        return self._design.wanted

    @property
    @exclusive
    def budget(self) -> float | None:
        """What may be spent in all."""
        return self._context.budget.total

    @property
    @exclusive
    def acquisition(self) -> Acquisition | None:
        """The acquisition; None until a budget has chosen its lambda."""
        return self._choosing.acquisition

    @property
    @exclusive
    def history(self) -> History:
        """Every observation, in the user's units."""
        return self._context.history.in_units(self.options.units)

    @property
    @exclusive
    def pending(self) -> tuple[Trial, ...]:
        """Trials that were asked for and not yet told."""
        return tuple(self._context.state.pending.values())

    @property
    @exclusive
    def traces(self) -> Mapping[str, Trace]:
        """The recorded signals, by key; what ``replay`` reads."""
        return self._snapshots.traces

    @property
    @exclusive
    def promises(self) -> Promises:
        """The gain promised by each choice of the acquisition, and the gain that came of it."""
        return Promises(tuple(self._context.state.promises.values()))

    @exclusive
    def worth(self, value: float) -> float | None:
        """What a value of the objective is worth by the utility; None without one.

        Args:
            value: A value, such as ``study.best.value``.
        """
        loss = self._context.loss
        if loss is None:
            return None
        return 0.0 - float(loss(np.array([self.options.sign * value]))[0])  # 0.0, and not -0.0

    @property
    def own_seconds(self) -> float:
        """Seconds that this process has spent in methods of the study: what choosing took."""
        return self._context.own_time.seconds

    @property
    @exclusive
    def verdict(self) -> Verdict | None:
        """The last answer of ``should_stop``; None if it was not asked."""
        return self._context.state.verdict

    @exclusive
    def cap_reached(self) -> Verdict | None:
        """The verdict of ``max_trials``, if as many were asked for; None while more may be."""
        return cap_verdict(self._context.state.asked, self.options.max_trials)

    @property
    @exclusive
    def design_size(self) -> int:
        """Number of observations at t = 0."""
        return self._design.size

    @property
    def spent(self) -> float:
        """Sum of the costs charged so far."""
        return self._context.state.spent

    @property
    @exclusive
    def best(self) -> Best | None:
        """The best configuration that keeps all limits; None before any has succeeded.

        The first of equals.

        With noise it is the one with the best posterior median, reported with its deviation, of
        those that are believed to keep all limits; ``chance`` is the probability that it does.
        """
        return best_of(self._context, self._snapshots)

    @exclusive
    def _repr_html_(self) -> str:
        """The study in a notebook."""
        return of_study(self, self.verdict, self.best, self.spent)

    @exclusive
    @single_threaded
    def readings(self) -> Readings | None:
        """How the model reads bad values, and the trust in its promises; None if in one way."""
        now = self._snapshots.now() if self.history.succeeded else None
        return None if now is None else readings_of(self._context, now.belief.objective)

    @exclusive
    @single_threaded
    def remaining(self) -> Remaining | None:
        """What could be evaluated next, with its expected gain and price: the verdict is about it.

        None before the initial design is done, where nothing remains, and with stages, where
        ``next`` chooses between runs.
        """
        if self.options.stages is not None or not self._design.is_done:
            return None
        return best_remaining(self._context, self._snapshots.now())

    @exclusive
    @single_threaded
    def importance(self) -> tuple[Importance, ...]:
        """How much each parameter matters to the objective, by the model; the largest first.

        Of the variance of the objective over the space, the share that is due to the parameter,
        alone or together with others (its total Sobol index), and the range that holds it with 90
        % by the model. Empty before anything is known, and where constraints are not at hand.
        """
        if self._context.lacking or not self.history.succeeded:
            return ()
        return importances(self._snapshots.now())

    @property
    @exclusive
    def lacking(self) -> tuple[str, ...]:
        """Names of constraints that a journal could not hold; empty but for a loaded study."""
        return self._context.lacking

    @property
    @exclusive
    def without_constraints(self) -> str:
        """What is not said of a loaded study whose constraints are not at hand; else empty."""
        return self._context.without_constraints

    @exclusive
    def __repr__(self) -> str:
        best = best_of(self._context, self._snapshots)
        found = "none" if best is None else self.options.units.value(best.value, best.std)
        return f"<Study: {len(self.history)} told, {len(self.pending)} pending, best {found}>"
