# SPDX-License-Identifier: Apache-2.0
"""Identifying: the trial that a user names by its number, by itself or by its params."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, TypeAlias

from stopwise.core.checks import checked_params, checked_whole
from stopwise.errors import InputError
from stopwise.record.history import Observation, Trial
from stopwise.study.context import StudyContext

TrialGiven: TypeAlias = int | Trial | Mapping[str, Any]
"""A trial as ``tell``, ``drop`` and ``amend`` take it: its number, itself, or its params."""


def trial_or_params(context: StudyContext, given: object) -> Trial | Mapping[str, Any]:
    """The trial that is named; params of no pending trial as they are, data from elsewhere."""
    if isinstance(given, Trial):
        return given
    number = _number(given)
    if number is not None:
        if number in context.state.pending:
            return context.state.pending[number]
        told = context.state.observed(number)
        if told is None:
            raise absent(context, number)
        return Trial(told.number, told.params)
    params = checked_params(given)
    same = pending_at(context, params)
    return params if same is None else same


def pending_trial(context: StudyContext, given: object) -> Trial:
    """The pending trial that is named; of several with these params the first."""
    pending, number = context.state.pending, _number(given)
    if number is None:
        named, found = "a trial with these params", pending_at(context, checked_params(given))
    else:
        named, found = f"trial {number}", pending.get(number)
    if found is not None and (found == given or not isinstance(given, Trial)):
        return found
    what = "was given up already" if _is_given_up(context, number) else "is not pending"
    raise InputError(f"{named} {what}; pending are {sorted(pending) or 'none'}.")


def told_trial(context: StudyContext, given: object) -> Observation:
    """The report of the trial that is named."""
    number = _number(given)
    if number is None:
        return _told_with(context, checked_params(given))
    told = context.state.observed(number)
    if told is None:
        raise _not_told(context, number)
    if isinstance(given, Trial) and given.params != told.params:
        message = (
            f"trial {number} has params {dict(given.params)} where this study was told of"
            f" {dict(told.params)}: give the number of the trial to amend."
        )
        raise InputError(message)
    return told


def _told_with(context: StudyContext, params: Mapping[str, Any]) -> Observation:
    """The only report of a configuration."""
    same = told_at(context, params)
    if len(same) == 1:
        return same[0]
    if same:
        several = ", ".join(str(told.number) for told in same)
        message = f"trials {several} have these params: give the number of the one to amend."
        raise InputError(message)
    waiting = pending_at(context, params)
    if waiting is not None:
        raise _not_told(context, waiting.number)
    message = (
        f"no trial with these params was told. What can be amended was told: {_told(context)}."
    )
    raise InputError(message)


def pending_at(context: StudyContext, params: Mapping[str, Any]) -> Trial | None:
    """The first pending trial with this configuration."""
    domain, state = context.domain, context.state
    [wanted] = domain.key(domain.encode(params))
    keys = domain.key(context.model.encoded.pending(state.pending))
    pairs = zip(state.pending.values(), keys, strict=True)
    return next((trial for trial, key in pairs if key == wanted), None)


def told_at(context: StudyContext, params: Mapping[str, Any]) -> list[Observation]:
    """The reports of this configuration, in order."""
    domain, history = context.domain, context.history
    [wanted] = domain.key(domain.encode(params))
    keys = domain.key(context.model.encoded.all(history))
    return [told for told, key in zip(history, keys, strict=True) if key == wanted]


def _number(given: object) -> int | None:
    """The number of a trial; None of what is not a whole number or a trial."""
    if isinstance(given, Trial):
        return given.number
    if isinstance(given, bool) or not isinstance(given, numbers.Integral):
        return None
    return checked_whole("number", given, least=0)


# ------------------------------------------------------------------------------- refusing


def absent(context: StudyContext, number: int) -> InputError:
    """Why nothing can be told of a trial that is neither pending nor told."""
    if _is_given_up(context, number):
        return _given_up(number)
    pending = sorted(context.state.pending) or "none"
    what = f"trial {number} was not asked of this study; pending are {pending}."
    return InputError(
        f"{what} Tell each trial once, as it was asked, or tell params (a dict) for data from"
        " elsewhere."
    ).or_in_shell(
        f"{what} Tell each trial once, by the number that ask gave; stopwise tell JOURNAL new"
        " VALUE --params JSON is for data from elsewhere."
    )


def told_already(told: Observation, *, by_params: bool = False) -> InputError:
    """How to correct a report, and how to add another evaluation."""
    gave = "it failed" if told.value is None else f"value {told.value!r}"
    n = told.number
    which = f"these are the params of trial {n}, which" if by_params else f"trial {n}"
    already = f"{which} was told already ({gave}, cost {told.cost!r}). If that was wrong,"
    params = "params" if by_params else "trial.params"
    return InputError(
        f"{already} study.amend({n}, value=..., cost=...) corrects it. If the"
        " configuration was evaluated once more, tell its params (a dict) and whether that counts"
        " as spent, and they become a trial of their own:"
        f" study.tell({params}, value, cost, charge=True)."
    ).or_in_shell(
        f"{already} stopwise amend JOURNAL {n} --value ... --cost ... corrects it. If the"
        " configuration was evaluated once more, stopwise tell JOURNAL new VALUE --params JSON"
        " --charge makes it a trial of its own (--no-charge if its cost does not count as spent)."
    )


def _given_up(number: int) -> InputError:
    gone = f"trial {number} was given up: nothing was told of it, and it is no longer pending."
    return InputError(
        f"{gone} To tell its data anyway, tell its params (a dict), which become a trial of their"
        " own: study.tell(params, value, cost, charge=True), without charge= if the cost does not"
        " count as spent."
    ).or_in_shell(
        f"{gone} To tell its data anyway, stopwise tell JOURNAL new VALUE --params JSON --charge"
        " makes them a trial of their own (without --charge if the cost does not count as spent)."
    )


def _not_told(context: StudyContext, number: int) -> InputError:
    """Why there is no report to amend."""
    if _is_given_up(context, number):
        return _given_up(number)
    pending = number in context.state.pending
    reached = context.state.staged.latest.get(number)
    if pending and reached is not None:
        goes_on = (
            f"trial {number} is at step {reached.step} and has no final value yet: what was told"
            " on the way cannot be amended."
        )
        return InputError(
            f"{goes_on} Go on with it, or give it up: study.drop({number})."
        ).or_in_shell(f"{goes_on} Go on with it, or give it up: stopwise drop JOURNAL {number}.")
    what = "is pending: tell it" if pending else "was not asked of this study"
    return InputError(f"trial {number} {what}. What can be amended was told: {_told(context)}.")


def _is_given_up(context: StudyContext, number: int | None) -> bool:
    return number is not None and context.state.given_up(number)


def _told(context: StudyContext) -> str:
    told = [o.number for o in context.history]
    return f"{min(told)} to {max(told)}" if told else "none"
