# SPDX-License-Identifier: Apache-2.0
"""The facts of a report, before they are drawn: a study as steps and a few numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any

from stopwise.core.snapshot import Snapshot
from stopwise.core.units import AnswerUnits
from stopwise.record.history import Observation
from stopwise.record.outcomes import Completed, Infeasible, Pruned
from stopwise.study import Study
from stopwise.study.lam_ladder import own_lam
from stopwise.study.measured_beyond import beyond_words
from stopwise.study.result import Best, Result
from stopwise.tools.report._axis import number
from stopwise.tools.report._markup import shortened

_SEVERAL = 3  # failures in a row that are pointed out


@dataclass(frozen=True, slots=True)
class Step:
    """One evaluation, in the order in which they were told.

    Args:
        at: 1, 2, 3, ...
        trial: What was observed.
        best: The best value so far that keeps all limits, as measured; None before there is one.
        spent: What was spent so far.
        improved: Whether it is the best so far.
        repeats: Number of the first trial with the same configuration, if there was one before.
    """

    at: int
    trial: Observation
    best: float | None
    spent: float
    improved: bool
    repeats: int | None = None


@dataclass(frozen=True)
class Facts:
    """A study at the moment of the report. What is costly is computed once."""

    study: Study

    @cached_property
    def result(self) -> Result:
        """Best, verdict and what was spent; the verdict knows what has begun since the last."""
        self.study.should_stop()
        return self.study.result()

    @property
    def sign(self) -> float:
        """Minus one where larger is better."""
        return 1.0 if self.study.direction == "minimize" else -1.0

    @cached_property
    def steps(self) -> list[Step]:
        """Every evaluation, with the best value and the cost so far."""
        best: float | None = None
        steps, spent, first = [], 0.0, dict[str, int]()
        for at, trial in enumerate(self.study.history, start=1):
            spent += trial.cost if trial.charged else 0.0
            counts = trial.value is not None and not trial.infeasible
            improved = counts and (
                best is None or self.sign * float(trial.value or 0.0) < self.sign * best
            )
            best = trial.value if improved else best
            number = first.setdefault(_configuration(trial.params), trial.number)
            repeats = None if number == trial.number else number
            steps.append(Step(at, trial, best, spent, improved, repeats))
        return steps

    @property
    def in_stages(self) -> bool:
        """Whether evaluations are in stages."""
        return self.study.options.stages is not None

    @property
    def begun(self) -> int:
        """The number of trials: those that were told, and with stages also those on the way."""
        return len(self.steps) + (len(self.study.pending) if self.in_stages else 0)

    @cached_property
    def succeeded(self) -> list[Step]:
        """The evaluations that gave a value; the n-th is that of n observations."""
        return [step for step in self.steps if not step.trial.failed]

    def status(self, step: Step) -> str:
        """How an evaluation ended, in a word; empty where it gave a value within all limits."""
        outcome = step.trial.outcome
        if isinstance(outcome, Infeasible):
            return beyond_words(self.names)
        if isinstance(outcome, Completed):
            return ""
        return "pruned" if isinstance(outcome, Pruned) else "failed"

    @property
    def nothing_yet(self) -> str:
        """Why there is no best value, in a sentence; empty if there is one."""
        if any(step.best is not None for step in self.steps):
            return ""
        done = "has kept all limits" if self.succeeded else "has given a value"
        if self.succeeded and self.names.noisy:
            done = "was measured within all limits"
        return f"No evaluation {done} yet."

    @property
    def failing(self) -> list[str]:
        """That the last evaluations failed, if several did, in a sentence."""
        last = list(
            takewhile(lambda o: o.outcome.is_breakdown, reversed(list(self.study.history)))
        )
        if len(last) < _SEVERAL:
            return []
        said = shortened(last[0].message or "no message", 200)
        return [f"The last {len(last)} evaluations failed, the latest with: {said}"]

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """What is believed now; None while nothing is known."""
        return self.study.snapshot() if self.succeeded else None

    @property
    def is_exact(self) -> bool:
        """Whether observations are taken as they are, without noise."""
        return self.snapshot is None or self.snapshot.belief.objective.exact

    @cached_property
    def believed_best(self) -> Best | None:
        """The best configuration, without asking whether to stop."""
        return self.study.best

    @property
    def marked(self) -> list[tuple[Step, float]]:
        """The trial of the best configuration, if there is one, and its value.

        With noise it is what is believed of it.
        """
        if not self.names.noisy:
            return [(step, step.best or 0.0) for step in self.steps if step.improved][-1:]
        best = self.believed_best
        if best is None:
            return []
        return [(step, best.value) for step in self.steps if step.trial.number == best.number]

    @property
    def luck(self) -> str:
        """With noise, that the best of measured values is lucky, in a sentence; else empty."""
        if not self.names.noisy:
            return ""
        end = "highest" if self.names.rises else "lowest"
        within = " within all limits" if self.study.options.limits else ""
        return f"Values are noisy, and the {end} one measured{within} is flattered by luck."

    @property
    def belief(self) -> str:
        """What is believed of the value of the best configuration, in a sentence."""
        best = self.believed_best
        if best is None:
            return ""
        doubt = f" \u00b1 {number(best.std)}" if best.std else ""
        believed = f"believed to be {self.said(best.value)}{doubt}"
        return f"The value of the best configuration, trial {best.number}, is {believed}."

    @cached_property
    def lam(self) -> float | None:
        """Objective units per unit of cost: of a rule that has one, else of the acquisition."""
        rules = [*self.study.rules, *self.study.watched]
        of_acquisition = [getattr(self.study.acquisition, name, None) for name in ("lam", "lam0")]
        return own_lam(rules, None, *of_acquisition)

    @property
    def has_utility(self) -> bool:
        """Whether gains are counted by what values are worth."""
        return self.study.options.utility is not None

    @property
    def units(self) -> str:
        """What gains are counted in, in words."""
        return self.study.options.gain_unit or self.names.of_value

    @property
    def names(self) -> AnswerUnits:
        """The names and units of values and costs."""
        return self.study.options.units

    def said(self, value: float) -> str:
        """A value with its unit."""
        return f"{number(value)} {self.names.unit}".strip()

    def paid(self, cost: float) -> str:
        """A cost with its unit."""
        return self.names.cost(cost) if self.names.cost_unit else number(cost)

    @property
    def origin_of_lam(self) -> str:
        """Who set lam, in words, if that was not the user."""
        by_budget = hasattr(self.study.acquisition, "lam0") and not self.study.rules
        return ", set by the budget" if by_budget else ""

    def adjusted(self, step: Step) -> float | None:
        """The best value so far with what it cost, both in objective units.

        With a utility: what the best value is worth, less what it cost.
        """
        return None if step.best is None else self.with_cost(step.best, step.spent)

    def with_cost(self, value: float, spent: float) -> float | None:
        """A value, or what it is worth, with what was spent; None without lam."""
        if self.lam is None:
            return None
        worth = self.study.worth(value)
        if worth is not None:
            return worth - self.lam * spent
        return value + self.sign * self.lam * spent

    def lost(self, value: float, best: float) -> float:
        """How much worse a value is than the best, or by how much less it is worth."""
        there, here = self.study.worth(best), self.study.worth(value)
        if there is None or here is None:
            return self.sign * (value - best)
        return there - here


def _configuration(params: Mapping[str, Any]) -> str:
    """A key that equal configurations share."""
    return repr(sorted(params.items()))
