# SPDX-License-Identifier: Apache-2.0
"""The result of a program that has ended: its value and cost, or the reason for its failure."""

from __future__ import annotations

import contextlib
import json
import math
import signal
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from stopwise.core.one_objective import INSTEAD, are_several
from stopwise.tools.progress.words import printable
from stopwise.tools.runner.config import Config
from stopwise.tools.runner.process import ProgramEnd, RunningProgram, stamp
from stopwise.tools.runner.trial_files import read_tail

_TAIL = 1 << 20  # bytes at the end of the output that are searched for the last line
_LEAST = 1e-6  # seconds; a cost must be positive
_SHOWN = 200  # characters of the program's output in a message


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The value and the cost of a trial, as the study is told them.

    Args:
        value: None if the trial failed.
        cost: None where every trial costs 1, and where a failed program reported none.
        message: Why it failed.
        retriable: Whether another start might help.
        outcomes: What was measured besides, where the file has limits of it.
    """

    value: float | None
    cost: float | None
    message: str = ""
    retriable: bool = True
    outcomes: Mapping[str, float] | None = None


def read_result(config: Config, running: RunningProgram, ended: ProgramEnd) -> ProgramResult:
    """Read the value and the cost of a program that has ended."""
    by_clock = cost_by_clock(config, ended.seconds)
    if ended.why == "timeout":
        message = f"killed after {ended.seconds:.3g} s (timeout = {config.timeout:g})"
        return replace(_failed(config, running, by_clock), message=message, retriable=False)
    if ended.exit_code != 0:
        words = _last_words(ended.exit_code, running.folder / "stderr")
        return replace(_failed(config, running, by_clock), message=words)
    try:
        return _reported(config, _answer(running), by_clock)
    except _NoAnswerError as error:
        return ProgramResult(None, by_clock, str(error))


def _failed(config: Config, running: RunningProgram, by_clock: float | None) -> ProgramResult:
    """A failure, with the cost and the outcomes that the program has reported before it."""
    try:
        return replace(_reported(config, _answer(running), by_clock), value=None)
    except _NoAnswerError:
        return ProgramResult(None, by_clock)


def read_report(config: Config, answer: Mapping[str, object], seconds: float) -> ProgramResult:
    """Read the value and the cost so far of a program that has printed a line at a stage."""
    by_clock = cost_by_clock(config, seconds)
    try:
        return _reported(config, dict(answer), by_clock)
    except _NoAnswerError as error:
        return ProgramResult(None, by_clock, str(error))


class _NoAnswerError(Exception):
    """The reason why there is no value; caught in this module."""


def cost_by_clock(config: Config, seconds: float) -> float | None:
    """What a program costs that has run for so long; None where the clock does not say."""
    if config.cost.kind != "seconds":
        return None
    price = config.cost.price_per_hour
    return max(seconds, _LEAST) * (1.0 if price is None else price / 3600)


def _answer(running: RunningProgram) -> object:
    """The JSON that the program printed, or wrote to its result file."""
    if running.result_file is None:
        text, source = last_line(running.folder / "stdout"), "the last line of stdout"
        if not text:
            raise _NoAnswerError("nothing was printed; the last line of stdout should be JSON")
    else:
        source = str(running.result_file)
        if stamp(running.result_file) in (None, running.written_before):
            raise _NoAnswerError(f"the program ended without writing {source}")
        text = _result_text(running, running.result_file)
    try:
        answer: object = json.loads(text)
    except ValueError:
        raise _NoAnswerError(f"{source} is not JSON: {_short(text)!r}") from None
    except RecursionError:
        raise _NoAnswerError(f"{source} is nested too deeply: {_short(text)!r}") from None
    return answer


def _result_text(running: RunningProgram, file: Path) -> str:
    """The text of a result file; within the trial's folder no link is followed."""
    follow = not file.is_relative_to(running.folder)
    try:
        return read_tail(file, _TAIL, follow=follow).decode("utf-8", "replace").strip()
    except OSError as error:
        raise _NoAnswerError(f"{file} cannot be read: {error.strerror}") from None


def _reported(config: Config, answer: object, by_clock: float | None) -> ProgramResult:
    reports_cost = config.cost.kind == "reported"
    if not isinstance(answer, dict) and not reports_cost:
        answer = {config.value.key: answer}  # a bare number
    if not isinstance(answer, dict):
        raise _NoAnswerError(f"an object with value and cost was expected, not {answer!r:.200}")
    cost = _number(answer, config.cost.key) if reports_cost else by_clock
    if cost is not None and not cost > 0:
        raise _NoAnswerError(f"the reported cost must be positive, not {cost!r}")
    given = answer.get("outcomes")  # they are there, or beside the value
    source = given if isinstance(given, dict) else answer
    try:
        value = _number(answer, config.value.key)
        outcomes = {name: _number(source, name) for name in config.limits or {}}
        return ProgramResult(value, cost, outcomes=outcomes or None)
    except _NoAnswerError as error:
        return ProgramResult(None, cost, str(error), outcomes=_measured(config, source) or None)


def _measured(config: Config, source: dict[str, object]) -> dict[str, float]:
    """Those of the outcomes with limits that are numbers, for a trial that has failed."""
    measured = {}
    for name in config.limits or {}:
        with contextlib.suppress(_NoAnswerError):
            measured[name] = _number(source, name)
    return measured


def _number(answer: dict[str, object], key: str) -> float:
    if key not in answer:
        keys = ", ".join(f"{name!r:.40}" for name in list(answer)[:8]) or "nothing"
        raise _NoAnswerError(f"the JSON has no key {key!r}; it has {keys}")
    value = answer[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        several = f"; {INSTEAD}" if are_several(value) else ""
        raise _NoAnswerError(f"{key!r} is no number: {value!r:.200}{several}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _NoAnswerError(f"{key!r} is {number!r}")
    return number


def last_line(path: Path) -> str:
    """The last line that is not blank; only the last mebibyte is read."""
    try:
        text = read_tail(path, _TAIL).decode("utf-8", "replace")
    except OSError:  # removed or replaced by the program: what it printed is lost
        return ""
    lines = text.rstrip().splitlines()
    return lines[-1].strip() if lines else ""


def _last_words(exit_code: int, stderr: Path) -> str:
    if exit_code < 0:
        try:
            name = signal.Signals(-exit_code).name
        except ValueError:
            name = f"signal {-exit_code}"
        how = f"killed by {name}"
    else:
        how = f"exit code {exit_code}"
    words = printable(_short(last_line(stderr)))
    return f"{how}: {words}" if words else how


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
