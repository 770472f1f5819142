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
    params_as_json,
    shown_params,
    study_as_json,
    verdict_as_json,
    waiting_trials,
)

if TYPE_CHECKING:
    from pathlib import Path

    from stopwise.study import Study
    from stopwise.study.budget_worth import BudgetWorth

_SHOWN = 10  # trials that are listed


def verdict(journal: Journal, *, as_json: AsJson = False, wait: Wait = WAIT) -> None:
    """Say whether to go on, and why: by the exit code, and in a sentence; and what is best so far.

    Exit codes: 0 go on; 3 stop; 2 bad input; 1 something outside prevents an answer.
    """
    from stopwise.study.lam_ladder import lam_ladder

    with opened(journal, wait) as study:
        answer, worth = study.should_stop(), _worth(study)
        if as_json:
            written = {
                **verdict_as_json(answer),
                **study_as_json(study),
                "remaining": _remaining_as_json(study),
                "by_budget": None if worth is None else _worth_as_json(worth),
                "lam_ladder": lam_ladder(study).as_json(),
                "explanation": study.explain().splitlines(),
            }
            say(json.dumps(written))
        else:
            say(f"{answer.rule}: {answer.reason}.")
            if worth is not None:
                say(worth.words)
            say(_best(study))
            caveats = _caveats(study) if answer.stop else []
            for line in [*caveats, *_waiting(study, journal)]:
                say(line)
    raise typer.Exit(STOP if answer.stop else 0)


def _best(study: Study) -> str:
    """The best configuration so far, in words."""
    from stopwise.study.measured_beyond import measured_beyond

    best = study.best
    if best is None:
        told = len(study.history)
        none = f"all {told} failed"
        if study.history.succeeded:
            believed = study.options.noise is not None
            none = f"none {'is believed to keep' if believed else 'keeps'} all limits"
        return f"No best one yet: {none}." if told else "Nothing has been told yet."
    value = study.options.units.value(best.value, best.std)
    said = f"The best so far is trial {best.number}: {value}, with {shown_params(best.params)}."
    return f"{said} {measured_beyond(best, study.options)}".strip()


def _caveats(study: Study) -> list[str]:
    """That a verdict to stop rests on no choice of the model, or on choices that nobody tried."""
    from stopwise.study.coverage import BEGINNINGS
    from stopwise.study.explanation import rests_on_no_choice

    untried = [line for line in study.explain().splitlines() if line.startswith(BEGINNINGS)]
    return [*rests_on_no_choice(study), *untried]


def _waiting(study: Study, journal: Path) -> list[str]:
    """The trials that nobody has told yet, and what becomes of one whose worker has died."""
    waiting = waiting_trials(study)
    if not waiting:
        return []
    lines = [f"  trial {each.number}: {shown_params(each.params)}" for each in waiting[:_SHOWN]]
    if len(waiting) > _SHOWN:
        lines.append(f"  and {len(waiting) - _SHOWN} more (--json has all)")
    first = waiting[0].number
    advice = (
        f"If nobody is at work on one: stopwise ask {journal} --pending hands out trial {first}"
        f" again, and stopwise drop {journal} {first} gives it up."
    )
    return [f"Asked for and not told ({len(waiting)}):", *lines, advice]


def _remaining_as_json(study: Study) -> dict[str, Any] | None:
    """What the verdict is about: what could be evaluated next, its expected gain and price."""
    from stopwise.record.journal.codec import number

    remaining = study.remaining()
    if remaining is None:
        return None
    numbers = {"expected_gain": remaining.gain, "lam": remaining.lam}
    return {
        "params": params_as_json(study, remaining.params),
        "repeats": remaining.repeats,
        "expected_cost": remaining.cost,
        **{name: None if of is None else number(of) for name, of in numbers.items()},
        "chance": remaining.chance,
        "affordable": remaining.affordable,
    }


def _worth(study: Study) -> BudgetWorth | None:
    """The answer at the lam of a budget that alone decides."""
    from stopwise.study.budget_worth import budget_worth

    if not (study.options.budget_decides and study.history.succeeded):
        return None
    return budget_worth(study.options, study.acquisition, study.traces, study.snapshot())


def _worth_as_json(worth: BudgetWorth) -> dict[str, Any]:
    """The lam that the budget has set, and what the rule says at it."""
    return {"lam0": worth.lam0, "lam": worth.lam, **verdict_as_json(worth.verdict)}
