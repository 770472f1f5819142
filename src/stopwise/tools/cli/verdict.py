# SPDX-License-Identifier: Apache-2.0
"""``stopwise verdict study.jsonl``: is it worth going on?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from stopwise.tools.cli._output import say
from stopwise.tools.cli._studies import (
    STOP,
    WAIT,
    AsJson,
    Journal,
    Wait,
    opened,
    study_as_json,
    verdict_as_json,
)

if TYPE_CHECKING:
    from stopwise.study import Study
    from stopwise.study.budget_worth import BudgetWorth


def verdict(journal: Journal, *, as_json: AsJson = False, wait: Wait = WAIT) -> None:
    """Say whether to go on, and why: by the exit code, and in a sentence.

    Exit codes: 0 go on; 3 stop; 2 bad input; 1 something outside prevents an answer.
    """
    from stopwise.study.lam_ladder import lam_ladder

    with opened(journal, wait) as study:
        answer, worth = study.should_stop(), _worth(study)
        if as_json:
            written = {
                **verdict_as_json(answer),
                **study_as_json(study),
                "by_budget": None if worth is None else _worth_as_json(worth),
                "lam_ladder": lam_ladder(study).as_json(),
                "explanation": study.explain().splitlines(),
            }
            say(json.dumps(written))
        else:
            say(f"{answer.rule}: {answer.reason}.")
            if worth is not None:
                say(worth.words)
    raise typer.Exit(STOP if answer.stop else 0)


def _worth(study: Study) -> BudgetWorth | None:
    """The answer at the lam of a budget that alone decides."""
    from stopwise.study.budget_worth import budget_worth

    if not (study.options.budget_decides and study.history.succeeded):
        return None
    return budget_worth(study.options, study.acquisition, study.traces, study.snapshot())


def _worth_as_json(worth: BudgetWorth) -> dict[str, Any]:
    """The lam that the budget has set, and what the rule says at it."""
    return {"lam0": worth.lam0, "lam": worth.lam, **verdict_as_json(worth.verdict)}
