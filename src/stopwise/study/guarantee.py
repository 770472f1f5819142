# SPDX-License-Identifier: Apache-2.0
"""The guarantee: what the paper proves for a study, and which of its assumptions do not hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stopwise.acquisition import EIC, PBGI, LogEIPC
from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.laws import Bounded
from stopwise.core.beliefs.prices import is_known
from stopwise.core.checks import as_number
from stopwise.core.numerics.arrays import Array
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Bindable, Snapshot
from stopwise.core.space import Finite
from stopwise.core.units import PLAIN, AnswerUnits
from stopwise.errors import InputError
from stopwise.stopping import StoppingRule, traits_of
from stopwise.study.budget import end_of_design, expected_range
from stopwise.study.choosing import Choosing
from stopwise.study.context import StudyContext
from stopwise.study.initial_design import InitialDesign
from stopwise.study.readings import readings_of
from stopwise.study.snapshots import Snapshots

_CLIPPED = 1e-3  # probability beyond a bound that matters
_READABLE = 1e9  # larger counts are written in scientific notation


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Bounds on the expected outcome (Xie et al. 2026, Theorem 3.2 and its corollaries).

    Args:
        lam: Objective units per unit of cost.
        gain: U, the gain that was expected to be possible after the initial design.
        gain_error: Standard error of U over the sampled paths.
        initial_cost: C, the cost of the initial design.
        delta: Risk of the bound on evaluations.
        cheapest: The lowest price of any evaluation, or None where it is not known.
        broken: The assumptions that do not hold for this study, in words.
        units: What gains are counted in, in words.
        said: The names and units of values and costs.
        size: How many configurations there are in all; None if any number.
    """

    lam: float
    gain: float
    gain_error: float
    initial_cost: float
    delta: float
    cheapest: float | None
    broken: tuple[str, ...]
    units: str = "objective units"
    said: AnswerUnits = PLAIN
    size: int | None = None

    @property
    def regret(self) -> float:
        """Bound on expected regret plus lam times spend: U + lam C."""
        return self.gain + self.lam * self.initial_cost

    @property
    def spend(self) -> float:
        """Bound on the expected spend: U/lam + C."""
        return self.gain / self.lam + self.initial_cost

    @property
    def evaluations(self) -> float | None:
        """Bound on evaluations, with probability 1 - delta; None without a lowest price."""
        return None if self.cheapest is None else self.spend / (self.delta * self.cheapest)

    @property
    def _of_lam(self) -> str:
        named = self.said.value_name or self.said.cost_unit
        return f", in {self.said.lam}" if named else ""

    def _evaluations(self, bound: float) -> str:
        """The bound on evaluations in words, or the length of a table that is shorter."""
        if self.size is not None and bound >= self.size:
            return f"Evaluations: at most {self.size}, which is all there are."
        probability = quantity(1.0 - self.delta)
        return (
            f"Evaluations: at most {_whole(bound)}, the initial design included, with probability"
            f" {probability}."
        )

    def _repr_html_(self) -> str:
        """The guarantee in a notebook: its sentences."""
        from html import escape  # only where somebody looks

        return "".join(f"<p>{escape(line)}</p>" for line in str(self).splitlines())

    def __str__(self) -> str:
        lines = [f"Not proved here: {reason}." for reason in self.broken]
        if self.broken:
            lines.append(
                "What follows is proved only where none of this is so; take it as a guide."
            )
        lines += [
            (
                f"Expected regret plus lam times spend: at most {quantity(self.regret)}"
                f" (= U + lam C), in {self.units}."
            ),
            (
                f"Expected spend: at most {self.said.cost(self.spend)} (= U/lam + C)"
                f"{'' if self.said.cost_unit else ', in units of cost'}."
            ),
        ]
        if self.evaluations is not None:
            lines.append(self._evaluations(self.evaluations))
        lines += [
            (
                f"U = {quantity(self.gain)} ± {quantity(self.gain_error)} is how far the best"
                " value of the initial design is expected to lie from the optimum."
            ),
            f"C = {self.said.cost(self.initial_cost)} is what the initial design cost.",
            f"lam = {quantity(self.lam)} is what a unit of cost is worth{self._of_lam}.",
        ]
        return "\n".join(lines)


def _whole(bound: float) -> str:
    """A bound on a count, as people read it: 1,234."""
    return f"{math.floor(bound):,}" if bound < _READABLE else f"{bound:.1e}"


def _counted(count: int, one: str, many: str) -> str:
    return f"1 {one}" if count == 1 else f"{count} {many}"


def check_risk(delta: object) -> None:
    """Refuse a risk that is not strictly between 0 and 1."""
    if not 0.0 < as_number("delta", delta, "Give a risk such as 0.05.") < 1.0:
        message = f"delta={delta!r}: give a risk between 0 and 1, such as 0.05."
        raise InputError(message)


def matched_lam(rules: list[StoppingRule]) -> float | None:
    """Lambda of the first rule that the theorem is about, wrapped or not; None without one."""
    return next((traits_of(rule).lam for rule in rules if traits_of(rule).in_theorem), None)


def broken_assumptions(
    acquisition: Bindable | None,
    rules: list[StoppingRule],
    *,
    noisy: bool,
    failures: int,
    pending: int,
    of_model: Sequence[str] = (),
) -> tuple[str, ...]:
    """The assumptions of the theorem that do not hold, in words; ``of_model`` are the model's."""
    broken = ["hyper-parameters are learned from the data, not given", *of_model]
    for rule in rules:
        broken += traits_of(rule).breaks
    if not all(traits_of(rule).in_theorem for rule in rules):
        broken.append("the stopping rule is not PBGI's alone")
    if not _matches(acquisition, matched_lam(rules)):
        broken.append(
            "the acquisition does not match the rule (PBGI or EIC at its lam, or LogEIPC)"
        )
    if noisy:
        broken.append("observations are noisy")
    if failures:
        broken.append(_counted(failures, "evaluation failed", "evaluations failed"))
    if pending:
        broken.append(_counted(pending, "trial is pending", "trials are pending"))
    return tuple(broken)


# Acquisitions for which the theorem is proved, each with a check against the rule's lambda.
_PROVED: dict[type, Callable[[Any, float | None], bool]] = {
    PBGI: lambda acquisition, lam: acquisition.lam == lam,
    EIC: lambda acquisition, lam: acquisition.lam == lam,
    LogEIPC: lambda acquisition, _: acquisition.cost == "exp",  # it takes no lambda
}


def _matches(acquisition: Bindable | None, lam: float | None) -> bool:
    return any(
        matches(acquisition, lam)
        for kind, matches in _PROVED.items()
        if isinstance(acquisition, kind)
    )


def _unproved(context: StudyContext, snapshot: Snapshot) -> list[str]:
    """Assumptions that do not hold because of what the model is, in words."""
    readings = readings_of(context, snapshot.belief.objective)
    unproved = [] if readings is None else list(readings.unproved)
    posteriors = [posterior for _, posterior in snapshot.belief.own.weighted]
    if any(_is_clipped(posterior, snapshot.X[:1]) for posterior in posteriors):
        low, high = context.options.bounds or (None, None)
        unproved.append(
            f"what the model expects beyond bounds=({low}, {high}) is taken to lie at the bound"
        )
    if context.loss is not None:
        unproved.append("gains are counted by what values are worth, not by the values")
    if context.options.limits is not None:
        unproved.append("whether limits are kept is learned from the data, not given")
    return unproved


def _is_clipped(posterior: Posterior, x: Array) -> bool:
    """Whether a bound cuts off a part of f that matters, before any value is known."""
    law = posterior.prefix(0).law(x)
    if not isinstance(law, Bounded):
        return False
    beyond = np.exp(law.law.log_cdf(law.low)) + np.exp(law.law.log_survival(law.high))
    return bool(beyond[0] > _CLIPPED)


def _first(snapshot: Snapshot, size: int) -> Snapshot:
    """The end of the initial design; now, if nothing kept the limits then."""
    if math.isinf(snapshot.best):
        message = "a guarantee needs an evaluation that keeps all limits, or a fallback=."
        raise InputError(message)
    return end_of_design(snapshot, size)


def guarantee_of(
    context: StudyContext,
    design: InitialDesign,
    snapshots: Snapshots,
    choosing: Choosing,
    rules: list[StoppingRule],
    delta: float,
) -> Guarantee:
    """The guarantee of a study; see ``Study.guarantee``."""
    lam = _guaranteed_lam(context, design, rules)
    check_risk(delta)
    snapshot = snapshots.now()
    first = _first(snapshot, design.size)
    empty = replace(first.prefix(0), pending=first.pending[:0], failed=None)
    gain = expected_range(first)
    return Guarantee(
        lam,
        gain.value,
        gain.error,
        design.cost,
        delta,
        empty.cheapest if is_known(context.cost_model) else None,
        broken_assumptions(
            choosing.acquisition,
            rules,
            noisy=context.options.noise is not None,
            failures=sum(o.failed for o in context.history),
            pending=len(context.state.pending),
            of_model=_unproved(context, snapshot),
        ),
        _units_of_gains(context),
        context.options.units,
        _size(context),
    )


def _units_of_gains(context: StudyContext) -> str:
    """What gains are counted in, in words."""
    return context.options.gain_unit or context.options.units.of_value


def _size(context: StudyContext) -> int | None:
    """How many evaluations there can be at most; None if any number."""
    is_table = isinstance(context.domain, Finite) and not context.may_repeat
    return len(context.domain) if is_table else None  # type: ignore[arg-type]  # it is finite


def _guaranteed_lam(
    context: StudyContext, design: InitialDesign, rules: list[StoppingRule]
) -> float:
    """The lam that a guarantee is about; studies that can have none are refused."""
    if context.options.stages is not None:
        message = "the guarantee is about whole evaluations: there is none for stages."
        raise InputError(message)
    lam = matched_lam(rules)
    if lam is None or not design.is_done:
        message = (
            "a guarantee needs a PBGI stopping rule and a finished initial design; this study"
            f" has {[rule.name for rule in rules]} and"
            f" {len(context.history.succeeded)} of {design.size} observations."
        )
        raise InputError(message)
    return lam
