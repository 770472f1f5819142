# SPDX-License-Identifier: Apache-2.0
"""Hard limits: the conditions that end a study before any rule is asked.

They are failures in a row, nothing left to evaluate, the cap on trials and the budget.
"""

from __future__ import annotations

import numpy as np

from stopwise.core.space import Finite
from stopwise.core.units import AnswerUnits
from stopwise.record.history import History
from stopwise.stopping.verdict import Verdict
from stopwise.study.context import StudyContext

CAP = "max-trials"  # the name of the verdict of a cap on trials
EXHAUSTED = "exhausted"  # the name of the verdict when nothing is left
FAILURES = 10  # so many failures in a row end a study


def failures_verdict(history: History) -> Verdict | None:
    """Stop after ten failures in a row; a pruned evaluation is not a failure."""
    last = history[-FAILURES:]
    if sum(o.outcome.is_breakdown for o in last) < FAILURES:
        return None
    sentence = (
        f"the last {FAILURES} evaluations failed, the latest with"
        f" {last[-1].message or 'no message'!r}"
    )
    return Verdict.at_least("failures", FAILURES, FAILURES, sentence)


def is_exhausted(context: StudyContext) -> bool:
    """Whether every configuration of a finite domain is evaluated, failed or pending."""
    domain, state, encoded = context.domain, context.state, context.model.encoded
    if not isinstance(domain, Finite):
        return False
    finished = encoded.failed if context.may_repeat else encoded.all
    taken = np.vstack([finished(state.history), encoded.pending(state.pending)])
    listed = domain.index_of(taken)
    return len(set(listed[listed >= 0].tolist())) == len(domain)


def exhausted_verdict(n: int) -> Verdict:
    """Stop: there were n configurations, and all were asked for."""
    all_of_them = f"all {n} configurations have" if n > 1 else "the only configuration has"
    return Verdict.at_least(EXHAUSTED, n, n, f"{all_of_them} been asked for")


def cap_verdict(asked: int, most: int | None, worth: str = "") -> Verdict | None:
    """Stop at the cap on trials.

    Args:
        asked: Trials that were asked for.
        most: The cap; None if there is none.
        worth: A clause about the worth of one more.
    """
    if most is None or asked < most:
        return None
    return Verdict.at_least(CAP, asked, most, f"{asked} of at most {most} trials{worth}")


def budget_verdict(
    units: AnswerUnits,
    *,
    spent: float,
    budget: float,
    left: float,
    cheapest: float,
    worth: str = "",
) -> Verdict:
    """Stop: the cheapest remaining evaluation is expected to cost more than what is left.

    Args:
        units: The unit of costs.
        spent: What is spent.
        budget: What might have been.
        left: What is left of it.
        cheapest: What the cheapest evaluation is expected to cost.
        worth: A clause about whether going on would be worth it with more money.
    """
    sentence = (
        f"{units.cost(spent)} of the budget of {units.cost(budget)} are spent and"
        f" {units.cost(max(left, 0.0))} are left, where the cheapest remaining evaluation is"
        f" expected to cost {units.cost(cheapest)}{worth}"
    )
    return Verdict(True, "budget", cheapest, left, f"{sentence}: stop")  # noqa: FBT003
