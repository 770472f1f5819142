# SPDX-License-Identifier: Apache-2.0
"""How parameters reach the program: its arguments, its environment, its standard input.

No shell is involved, so a value can do one kind of harm only: begin with a dash and be taken for
an option. A value never begins an argument unless it cannot begin with a dash, or stands after
``--``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from stopwise.core.space import Categorical, Parameter
from stopwise.errors import InputError
from stopwise.tools.runner.table import Table, shown

Channel = Literal["arguments", "environment", "stdin"]
Refuse = Callable[[str], InputError]  # makes an error that names its line

OWN = ("trial_folder", "trial_number", "python")  # names that a command may mention besides
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_OPTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SYSTEM_VARIABLE = re.compile(
    r"PATH|HOME|USER|SHELL|IFS|ENV|BASH_ENV|LANG|TERM|TMPDIR|PYTHON.*|(LD|DYLD|LC|STOPWISE)_.*"
)


def written(value: object) -> str:
    """A value as text that reads back exactly."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def filled(template: str, values: Mapping[str, Any]) -> str:
    """A template with its ``{name}`` replaced.

    Example:
        >>> filled("--lr={lr}", {"lr": 1e-05})
        '--lr=1e-05'
        >>> filled("{{literal}}", {})
        '{literal}'
    """

    def piece(match: re.Match[str]) -> str:
        name = match.group(1)
        return match.group()[0] if name is None else written(values[name])

    return _PIECE.sub(piece, template)


def mentioned(template: str) -> list[str]:
    """The names that a template mentions."""
    return [m.group(1) for m in _PIECE.finditer(template) if m.group(1) is not None]


def own_values(folder: str, number: int) -> dict[str, Any]:
    """What a template may mention besides parameters."""
    return dict(zip(OWN, (folder, number, sys.executable), strict=True))


def arguments(
    command: Sequence[str], channel: Channel, params: Mapping[str, Any], own: Mapping[str, Any]
) -> list[str]:
    """The whole command line of a trial, one element an argument."""
    argv = [filled(template, {**own, **params}) for template in command]
    if channel == "arguments":
        named = {name for template in command for name in mentioned(template)}
        argv += [f"--{name}={written(v)}" for name, v in params.items() if name not in named]
    return argv


def variables(
    channel: Channel, params: Mapping[str, Any], own: Mapping[str, Any]
) -> dict[str, str]:
    """What a trial's environment has besides the runner's own."""
    found = {
        "STOPWISE_TRIAL_FOLDER": written(own["trial_folder"]),
        "STOPWISE_TRIAL_NUMBER": written(own["trial_number"]),
    }
    if channel == "environment":
        found |= {name: written(value) for name, value in params.items()}
    return found


# ---------------------------------------------------------------------------- refusals


def check_passing(
    top: Table,
    *,
    command: Sequence[str],
    channel: Channel,
    directory: str,
    file: str | None,
    space: Mapping[str, Parameter],
    workers: int,
) -> None:
    """Refuse, with the line, what would not reach the program or not as what it is."""
    lines = Table(top.name, {}, ("command",), top.lines)
    for index, template in enumerate(command):
        refuse = partial(lines.error, index)
        _check_template(refuse, template, [*space, *OWN])
        _check_dash(refuse, command, index, space)
    _check_template(partial(top.error, "directory"), directory, OWN)
    value = Table(top.name, {}, ("value",), top.lines)
    _check_template(partial(value.error, "file"), file or "", OWN)
    per_trial = {"trial_folder", "trial_number"}
    if file and workers > 1 and per_trial.isdisjoint(mentioned(file) + mentioned(directory)):
        message = (
            f"with workers = {workers} trials would overwrite each other's {file!r}: give each its"
            ' own, file = "{trial_folder}/result.json".'
        )
        raise value.error("file", message)
    parameters = Table(top.name, {}, ("parameters",), top.lines)
    named = {name for template in command for name in mentioned(template)}
    for name, parameter in space.items():
        _check_name(parameters, name, channel, is_named=name in named)
        _check_texts(parameters, name, parameter, channel)
    unnamed = [name for name in space if name not in named]
    if channel == "arguments" and unnamed and "--" in command:
        message = (
            "the command has a '--', so options cannot simply be appended: say where each"
            f' parameter goes, such as "--{unnamed[0]}={{{unnamed[0]}}}".'
        )
        raise top.error("command", message)


def _check_template(refuse: Refuse, template: str, allowed: Sequence[str]) -> None:
    for match in _PIECE.finditer(template):
        name = match.group(1)
        if name is None and match.group() not in ("{{", "}}"):
            problem = f"a single {match.group()!r}"
        elif name is not None and name not in allowed:
            problem = f"{match.group()!r}, which is not one of {', '.join(allowed)}"
        else:
            continue
        message = f"{shown(template)} has {problem}. Braces themselves are written {{{{ and }}}}."
        raise refuse(message)


def _check_dash(
    refuse: Refuse, command: Sequence[str], index: int, space: Mapping[str, Parameter]
) -> None:
    """Refuse an argument that begins with a value that may begin with a dash."""
    template = command[index]
    begin = _PIECE.match(template)
    name = begin.group(1) if begin else None
    if name is None or name not in space or _is_after_dashes(command, index):
        return
    bad = _dashed(space[name], is_alone=template == f"{{{name}}}")
    if bad is not None:
        message = (
            f"the argument {shown(template)} would begin with a dash for {name} = {bad} and be"
            f' taken for an option. Write "--{name}={{{name}}}", or put the values at the end,'
            ' after "--".'
        )
        raise refuse(message)


def _is_after_dashes(command: Sequence[str], index: int) -> bool:
    """Whether only values stand between a ``--`` and here, so that it is the program's own."""
    before = list(command[:index])
    while before and re.match(r"\{[^{]", before[-1]):
        before.pop()
    return bool(before) and before[-1] == "--"


def _dashed(parameter: Parameter, *, is_alone: bool) -> str | None:
    """A value with which an argument may begin with a dash, if there is one.

    An empty one lets what follows it begin the argument.
    """
    if isinstance(parameter, Categorical):
        texts = map(written, parameter.choices)
        bad = (t for t in texts if t.startswith("-") or not (t or is_alone))
        return next(map(shown, bad), None)
    return written(parameter.low) if written(parameter.low).startswith("-") else None


def _check_name(table: Table, name: str, channel: Channel, *, is_named: bool) -> None:
    if name in OWN:
        message = f"a parameter cannot be called {name!r}, which the command may mention already."
        raise table.error(name, message)
    if channel == "environment" and (
        not _VARIABLE_NAME.fullmatch(name) or _SYSTEM_VARIABLE.fullmatch(name)
    ):
        message = f"{name!r} cannot be a variable of the program: the system may read it, or"
        raise table.error(name, f"{message} it is no name. Give the parameter another one.")
    if channel == "arguments" and not is_named and not _OPTION_NAME.fullmatch(name):
        message = (
            f"the parameter {name!r} cannot be appended as --name=value: say in the command how it"
            ' is passed, such as "--rate={...}".'
        )
        raise table.error(name, message)


def _check_texts(table: Table, name: str, parameter: Parameter, channel: Channel) -> None:
    """Refuse choices that the program could not tell apart."""
    if not isinstance(parameter, Categorical) or channel == "stdin":
        return
    texts = [written(choice) for choice in parameter.choices]
    if len(set(texts)) < len(texts):
        message = f"the program could not tell all choices of {name!r} apart: {texts}."
        raise table.error(name, message)
