# SPDX-License-Identifier: Apache-2.0
"""Parameter passing: from configurations to a program's arguments, environment and input.

No shell is involved, so a value can do harm in one way only: it begins with a dash and is taken
for an option. Therefore a value may begin an argument only if it cannot begin with a dash, or if
the argument stands after ``--``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from stopwise.core.space import Categorical, Ordinal, Parameter
from stopwise.errors import InputError
from stopwise.tools.runner.toml_table import TomlTable, shown

Channel = Literal["arguments", "environment", "stdin"]
Refuse = Callable[[str], InputError]  # makes an error that names its line

BUILT_IN = ("trial_folder", "trial_number", "python")  # names that a command may use besides
OF_STAGES = ("checkpoint", "to_step")  # and these, with [stages] and pause = "checkpoint"
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_OPTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SYSTEM_VARIABLE = re.compile(
    r"PATH|HOME|USER|SHELL|IFS|ENV|BASH_ENV|LANG|TERM|TMPDIR|PYTHON.*|(LD|DYLD|LC|STOPWISE)_.*"
)


def as_text(value: object) -> str:
    """A value as text that reads back exactly."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def shown_params(params: Mapping[str, Any]) -> str:
    """A configuration in words, each value to its last digit: ``lr = 0.01, layers = 3``."""
    return ", ".join(f"{name} = {as_text(value)}" for name, value in params.items())


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
        return match.group()[0] if name is None else as_text(values[name])

    return _PIECE.sub(piece, template)


def mentioned(template: str) -> list[str]:
    """The names that a template mentions."""
    return [m.group(1) for m in _PIECE.finditer(template) if m.group(1) is not None]


def builtin_values(
    folder: str, number: int, more: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What a template may use besides parameters."""
    usual = dict(zip(BUILT_IN, (folder, number, sys.executable), strict=True))
    return {**usual, **(more or {})}


def arguments(
    command: Sequence[str], channel: Channel, params: Mapping[str, Any], builtin: Mapping[str, Any]
) -> list[str]:
    """The whole command line of a trial, one element an argument.

    An argument that mentions an inactive parameter is left out, with the flag that it follows.
    """
    values = {**builtin, **params}
    argv = [filled(template, values) for template in _present(command, values)]
    if channel == "arguments":
        named = {name for template in command for name in mentioned(template)}
        argv += [f"--{name}={as_text(v)}" for name, v in params.items() if name not in named]
    return argv


def _present(command: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """The arguments that mention only what there is, without flags whose value is left out."""
    lacking = [any(name not in values for name in mentioned(t)) for t in command]
    begins = [t.startswith("-") for t in command]
    orphaned = [
        lacking[after] and not begins[after] and _is_flag(command, after - 1)
        for after in range(1, len(command))
    ]
    kept = zip(command, lacking, [*orphaned, False], strict=True)
    return [template for template, lacks, lost in kept if not (lacks or lost)]


def _is_flag(command: Sequence[str], index: int) -> bool:
    """Whether an argument is an option in full: ``--depth``, and neither ``--`` nor a number."""
    template = command[index]
    is_option = re.match(r"--?[^-\d.]", template) and not mentioned(template)
    return bool(is_option) and "=" not in template and "--" not in command[:index]


def variables(
    channel: Channel, params: Mapping[str, Any], builtin: Mapping[str, Any]
) -> dict[str, str]:
    """The environment variables of a trial besides those that the runner has."""
    added = {
        "STOPWISE_TRIAL_FOLDER": as_text(builtin["trial_folder"]),
        "STOPWISE_TRIAL_NUMBER": as_text(builtin["trial_number"]),
    }
    added |= {f"STOPWISE_{n.upper()}": as_text(builtin[n]) for n in OF_STAGES if n in builtin}
    if channel == "environment":
        added |= {name: as_text(value) for name, value in params.items()}
    return added


# ---------------------------------------------------------------------------- refusals


def check_passing(
    top: TomlTable,
    *,
    command: Sequence[str],
    channel: Channel,
    directory: str,
    file: str | None,
    space: Mapping[str, Parameter],
    workers: int,
    more: Sequence[str] = (),
) -> None:
    """Refuse, naming the line, what could not be passed to the program unchanged."""
    lines = top.at("command")
    for index, template in enumerate(command):
        refuse = partial(lines.error, index)
        _check_template(refuse, template, [*space, *BUILT_IN, *more])
        _check_dash(refuse, command, index, space)
    _check_template(partial(top.error, "directory"), directory, BUILT_IN)
    value = top.at("value")
    _check_template(partial(value.error, "file"), file or "", BUILT_IN)
    per_trial = {"trial_folder", "trial_number"}
    if file and workers > 1 and per_trial.isdisjoint(mentioned(file) + mentioned(directory)):
        message = (
            f"with workers = {workers} trials would overwrite each other's {file!r}: give each its"
            ' own, file = "{trial_folder}/result.json".'
        )
        raise value.error("file", message)
    parameters = top.at("parameters")
    named = {name for template in command for name in mentioned(template)}
    for name, parameter in space.items():
        _check_name(parameters, name, channel, [*BUILT_IN, *more], is_named=name in named)
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
    dashed = _dashed(space[name], is_alone=template == f"{{{name}}}")
    if dashed is not None:
        message = (
            f"the argument {shown(template)} would begin with a dash for {name} = {dashed} and be"
            f' taken for an option. Write "--{name}={{{name}}}", or put the values at the end,'
            ' after "--".'
        )
        raise refuse(message)


def _is_after_dashes(command: Sequence[str], index: int) -> bool:
    """Whether only values stand between a ``--`` and this argument, so that none is an option."""
    before = list(command[:index])
    while before and re.match(r"\{[^{]", before[-1]):
        before.pop()
    return bool(before) and before[-1] == "--"


def _dashed(parameter: Parameter, *, is_alone: bool) -> str | None:
    """A value with which an argument may begin with a dash, if there is one.

    An empty one lets what follows it begin the argument.
    """
    if isinstance(parameter, Categorical | Ordinal):
        texts = map(as_text, _values(parameter))
        bad = (t for t in texts if t.startswith("-") or not (t or is_alone))
        return next(map(shown, bad), None)
    return as_text(parameter.low) if as_text(parameter.low).startswith("-") else None


def _values(parameter: Categorical | Ordinal) -> Sequence[Any]:
    return parameter.values if isinstance(parameter, Ordinal) else parameter.choices


def _check_name(
    table: TomlTable, name: str, channel: Channel, taken: Sequence[str], *, is_named: bool
) -> None:
    if name in taken:
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


def _check_texts(table: TomlTable, name: str, parameter: Parameter, channel: Channel) -> None:
    """Refuse choices that the program could not tell apart."""
    if not isinstance(parameter, Categorical | Ordinal) or channel == "stdin":
        return
    texts = [as_text(choice) for choice in _values(parameter)]
    if len(set(texts)) < len(texts):
        message = f"the program could not tell all choices of {name!r} apart: {texts}."
        raise table.error(name, message)
