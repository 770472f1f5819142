# SPDX-License-Identifier: Apache-2.0
"""The result of a study: best configuration, verdict, costs and history, with report and plots."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stopwise.core.traces import Trace
from stopwise.core.units import settings
from stopwise.record.history import History
from stopwise.record.promises import Promises
from stopwise.record.staged import Report
from stopwise.stopping.signals import in_currency
from stopwise.stopping.verdict import Verdict
from stopwise.study.coverage import never_tried
from stopwise.study.measured_beyond import beyond_words, measured_beyond
from stopwise.study.notebook import of_study
from stopwise.study.options import StudyOptions

if TYPE_CHECKING:
    from stopwise.tools.report import Plot


_LONGEST_MESSAGE = 80  # characters of why an evaluation failed


@dataclass(frozen=True, slots=True)
class Best:
    """The best evaluated configuration.

    Args:
        params: The configuration.
        value: Its value; where evaluations are noisy, its posterior median.
        number: Number of its trial.
        std: Standard deviation of the value; 0 where evaluations are exact.
        outcomes: What was measured besides the value, by name.
        step: The step of the value, where those of early stages are results.
        chance: With noise and limits, the probability that it keeps all of them, by the models of
            its outcomes; one half at least, though a measured outcome may be beyond its limits.
    """

    params: Mapping[str, Any]
    value: float
    number: int
    std: float = 0.0
    outcomes: Mapping[str, float] = field(default_factory=dict)
    step: int | None = field(default=None, repr=False)
    chance: float | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Paused:
    """A trial of a study with stages that has reached a stage and waits there.

    Args:
        params: The configuration.
        step: The last step that it has reported.
        value: Its value there.
        number: Number of the trial.
        cost: What it has cost so far.
        cost_to_finish: What the rest of it is expected to cost.
    """

    params: Mapping[str, Any]
    step: int
    value: float
    number: int
    cost: float
    cost_to_finish: float


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a study.

    Args:
        best: The best configuration that keeps all limits (with noise, that is believed to); None
            if no evaluation does.
        verdict: The last answer of the stopping rules, with its reason.
        spent: Sum of the costs paid.
        history: Every observation.
        traces: The recorded signals, for ``replay``.
    """

    best: Best | None
    verdict: Verdict
    spent: float
    history: History = field(repr=False)
    traces: Mapping[str, Trace] = field(repr=False)
    _study: Any = field(default=None, repr=False, compare=False)  # reports are made from it

    @property
    def worth(self) -> float | None:
        """What the best value is worth by the utility; None without a utility or a value."""
        if self.best is None or self._study is None:
            return None
        worth: float | None = self._study.worth(self.best.value)
        return worth

    @property
    def promises(self) -> Promises:
        """The gain promised by each choice of the acquisition, and the gain that came of it."""
        return Promises() if self._study is None else self._study.promises

    @property
    def curves(self) -> Mapping[int, tuple[Report, ...]]:
        """The reports of each trial, by its number; empty without stages."""
        return {} if self._study is None else self._study.curves

    @property
    def paused(self) -> tuple[Paused, ...]:
        """The trials that wait at a stage, the best value first; empty without stages."""
        return () if self._study is None else self._study.paused_runs()

    @property
    def options(self) -> StudyOptions:
        """The options of the study."""
        return StudyOptions() if self._study is None else self._study.options

    def explain(self) -> str:
        """The verdict in words, as ``Study.explain``."""
        return self.verdict.reason if self._study is None else str(self._study.explain())

    def __str__(self) -> str:
        """The result in a few lines: the best one, what was spent, why, and what was not tried."""
        units, best = self.options.units, self.best
        found = "no evaluation has a value that counts"
        if best is not None:
            at = "" if best.step is None else f", step {best.step}"
            found = f"best {units.value(best.value, best.std)} (trial {best.number}{at})"
            worth = "" if self.worth is None else in_currency(self.worth, self.options.currency)
            found += f", worth {worth}" if worth else ""
            found += f": {settings(best.params)}"
        paid = _counted(self.history)
        paid += f", {len(self.paused)} paused" if self.paused else ""
        if self.options.cost is not None:
            paid += f", {units.cost(self.spent)} spent"
        study = self._study
        untried = "" if study is None else never_tried(study.domain, self.history)
        beyond = measured_beyond(best, self.options)
        return "\n".join(filter(None, (found, beyond, paid, str(self.verdict), untried)))

    def _repr_html_(self) -> str:
        """The result in a notebook."""
        return of_study(self._study, self.verdict, self.best, self.spent)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a report: one HTML page that needs no other file. Returns its path.

        Args:
            path: Path of the page; an HTML page that exists there is replaced.
        """
        written: Path = _report().write(self._study, path)
        return written

    def plot_best(self) -> Plot:
        """Best value against what was spent, for a notebook or ``.save(path)``."""
        return self._plot("best")

    def plot_signal(self) -> Plot:
        """The stopping signal against its threshold."""
        return self._plot("signal")

    def plot_value(self) -> Plot:
        """Cost-adjusted value over time."""
        return self._plot("value")

    def plot_costs(self) -> Plot:
        """Expected and actual cost of every trial."""
        return self._plot("costs")

    def plot_curves(self) -> Plot:
        """The curves of evaluations in stages, and where each was left."""
        return self._plot("curves")

    def plot_promises(self) -> Plot:
        """The gains that choices promised, against those that came, added up."""
        return self._plot("promises")

    def plot_importance(self) -> Plot:
        """How much each parameter matters, with its uncertainty."""
        return self._plot("importance")

    def plot_slices(self) -> Plot:
        """The model's prediction along each parameter, through the best configuration."""
        return self._plot("slices")

    def _plot(self, name: str) -> Plot:
        plot: Plot = getattr(_report(), f"plot_{name}")(self._study)
        return plot


def _report() -> Any:  # noqa: ANN401  a module of a layer above, loaded when it is asked for
    return importlib.import_module("stopwise.tools.report")


def _counted(history: History) -> str:
    """How many evaluations there are, how many failed, with a reason, and broke limits."""
    text = f"{len(history)} evaluation{'s' * (len(history) != 1)}"
    failed = [o for o in history if o.failed]
    if failed:
        why = next((o.message for o in failed if o.message), "").partition("\n")[0]
        short = why if len(why) <= _LONGEST_MESSAGE else f"{why[:_LONGEST_MESSAGE]}..."
        text += f", {len(failed)} failed" + (f" (the first: {short})" if short else "")
    infeasible = sum(o.infeasible for o in history)
    return f"{text}, {infeasible} {beyond_words(history.units)}" if infeasible else text
