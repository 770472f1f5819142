# SPDX-License-Identifier: Apache-2.0
"""The journal: everything that happens to a study, a line of JSON each, on disk at once.

The format is documented in docs/journal.md. There is no pickle in it, and reading executes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from stopwise.core.space import Domain, Space, as_domain
from stopwise.errors import InputError, JournalError
from stopwise.record.events import Event, Resumed
from stopwise.record.journal._codec import (
    ParamsCodec,
    differing,
    lacks_choices,
    options_as_json,
    options_from_json,
    owned,
    space_as_json,
    space_from_json,
)
from stopwise.record.journal._events import as_line, from_line
from stopwise.record.journal._file import LineFile, read_lines
from stopwise.record.state import State

__all__ = ["Journal", "Reading", "ResumeWarning", "read"]

SCHEMA = 1
MAY_CHANGE = ("lam", "stopping", "watch", "acquisition", "budget", "max_trials")


class ResumeWarning(UserWarning):
    """Something a user should know about a journal that goes on: a repair, a change."""


class Journal:
    """A journal that is being written.

    Args:
        file: Where.
        domain: The study's space.
    """

    def __init__(self, file: LineFile, domain: Domain) -> None:
        self._file = file
        self._params = ParamsCodec(domain)

    @classmethod
    def begin(
        cls,
        path: str | PathLike[str],
        domain: Domain,
        options: Mapping[str, Any],
        version: str,
        at: float,
    ) -> Journal:
        """Begin a journal with its header; a file that exists is refused.

        Args:
            path: Of the file.
            domain: The study's space.
            options: Those of the study, as they were given.
            version: Of this package.
            at: When, in seconds since 1970.
        """
        header = {
            "journal": "stopwise",
            "schema": SCHEMA,
            "version": version,
            "at": at,
            "space": space_as_json(domain),
            "options": options_as_json(options, domain),
        }
        return cls(LineFile.create(_path(path), header), domain)

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._file.path

    def append(self, event: Event, **stamps: float) -> None:
        """Write an event; it is on disk when this returns.

        Args:
            event: What happened.
            **stamps: When, and how long it took.
        """
        self._file.append({**as_line(event, self._params), **stamps})

    def close(self) -> None:
        """Let others write to it."""
        self._file.close()


class Reading(NamedTuple):
    """What a journal holds.

    Args:
        space: The space of the study.
        options: Its options, as of now.
        state: What the study is after all that happened.
        notes: Sentences that the user should read.
        journal: The journal, open to be written; None if it is only looked at.
    """

    space: Space
    options: dict[str, Any]
    state: State
    notes: tuple[str, ...]
    journal: Journal | None


def read(
    path: str | PathLike[str],
    given: Mapping[str, Any],
    version: str,
    at: float,
    *,
    to_write: bool = True,
) -> Reading:
    """Read a journal, and open it to go on.

    Args:
        path: Of the file.
        given: Options handed in: what a file cannot hold, and what is to change.
        version: Of this package.
        at: When, in seconds since 1970.
        to_write: Whether it is to go on; else nothing is locked or changed, and what a file
            cannot hold is done without.
    """
    if to_write:
        file, content = LineFile.reopen(_path(path))
        try:
            reading = _reading(file, content.lines, given, version, at)
        except BaseException:
            file.close()
            raise
        notes = [*reading.notes, *_torn(file.path, content.torn)]
        return reading._replace(notes=tuple(notes))
    lines = read_lines(_path(path)).lines
    return _looked_at(_path(path), lines)


def _reading(
    file: LineFile, lines: list[dict[str, Any]], given: Mapping[str, Any], version: str, at: float
) -> Reading:
    header = _checked_header(file.path, lines[0])
    given = dict(given)
    space = _space(header, given.pop("space", None))
    domain = as_domain(space)
    written = _latest_options(header, lines)
    changes = _checked_changes(written, given, domain)
    options = {**options_from_json(written, domain), **given}
    _demand_own(options)
    state = _state(file.path, lines, domain)
    journal, resumed = Journal(file, domain), Resumed(version, changes)
    journal.append(resumed, at=at)
    state.apply(resumed)
    notes = [f"{name} is now {new!r}; it was {old!r}" for name, (old, new) in changes.items()]
    if header["version"] != version:
        notes.append(
            f"the journal was begun by stopwise {header['version']} and goes on with {version}"
        )
    return Reading(space, options, state, tuple(notes), journal)


def _looked_at(path: Path, lines: list[dict[str, Any]]) -> Reading:
    """For looking only: what a file cannot hold is done without, and a note says so."""
    header = _checked_header(path, lines[0])
    lacking = lacks_choices(header["space"])
    if lacking:
        for name in lacking:
            _name_choices(header["space"]["parameters"][name])
    space = space_from_json(header["space"])
    domain = as_domain(space)
    options = options_from_json(_latest_options(header, lines), domain)
    notes = []
    for name, stand_in in (("cost", "reported"), ("acquisition", "logeipc")):
        if missing := owned(options[name]):
            notes.append(f"{name} {missing[0]} is not at hand; {stand_in!r} stands in for it")
            options[name] = stand_in
    for name in ("stopping", "watch"):
        if missing := owned(options[name]):
            notes.append(f"own rules are not at hand and left out: {', '.join(missing)}")
            options[name] = [rule for rule in options[name] if not owned(rule)]
    options["stopping"] = options["stopping"] or ["immediate"]
    return Reading(space, options, _state(path, lines, domain), tuple(notes), None)


def _name_choices(entry: dict[str, Any]) -> None:
    entry["choices"] = [c["own"] if isinstance(c, dict) else c for c in entry["choices"]]


def _path(given: str | PathLike[str]) -> Path:
    return Path(given).absolute()


def _torn(path: Path, torn: int) -> list[str]:
    if not torn:
        return []
    note = (
        f"the last line of {path.name} was cut short ({torn} bytes, from a crash) and is removed;"
        " what it said had not been confirmed to anybody"
    )
    return [note]


def _checked_header(path: Path, header: dict[str, Any]) -> dict[str, Any]:
    if header.get("schema") != SCHEMA:
        message = (
            f"{path} has schema {header.get('schema')!r}, written by stopwise"
            f" {header.get('version')!r}; this version reads schema {SCHEMA}. Use the stopwise"
            " that wrote it, or a newer one. The file was left as it is."
        )
        raise JournalError(message)
    return header


def _space(header: Mapping[str, Any], given: Space | None) -> Space:
    written = header["space"]
    if given is None:
        lacking = lacks_choices(written)
        if lacking:
            message = (
                f"the choices of {', '.join(lacking)} are objects that a file cannot hold: hand"
                " the space in again, Study.resume(path, space=...)."
            )
            raise InputError(message)
        return space_from_json(written)
    handed = space_as_json(as_domain(given))
    if handed == written:
        return given
    old, new = written["parameters"], handed["parameters"]
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    what = "; ".join(f"{n!r} was {old.get(n)} and is now {new.get(n)}" for n in names)
    message = (
        f"the space is another one: {what or 'the rows of the table differ'}. A study keeps its"
        f" space; what may change are {', '.join(MAY_CHANGE)}. Begin a new journal for a new"
        " space; its data can be told to it with study.tell(params, value, cost)."
    )
    raise InputError(message)


def _latest_options(
    header: Mapping[str, Any], lines: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """The options of the header, as resumes have changed them."""
    options = dict(header["options"])
    for line in lines:
        if line.get("event") == "resume":
            options |= {name: new for name, (_, new) in line["changed"].items()}
    return options


def _checked_changes(
    written: dict[str, Any], given: Mapping[str, Any], domain: Domain
) -> dict[str, tuple[Any, Any]]:
    """Old and new of what the options handed in change; what may not change is refused."""
    unknown = [name for name in given if name not in written]
    if unknown:
        message = f"{unknown[0]!r} is no option of a study; it has {', '.join(written)}."
        raise InputError(message)
    defaults: dict[str, Any] = {
        "cost": None,
        "acquisition": "pbgi",
        "stopping": [],
        "watch": [],
        "start_from": [],
    }
    handed = options_as_json({**defaults, **given}, domain)
    names = differing(written, {name: handed[name] for name in given})
    changed = {name: (written[name], handed[name]) for name in names}
    refused = [name for name in names if name not in MAY_CHANGE and not _is_own(*changed[name])]
    if refused:
        what = "; ".join(
            f"{n} was {changed[n][0]!r} and is now {changed[n][1]!r}" for n in refused
        )
        message = (
            f"this journal belongs to another study: {what}. What may change on resuming are"
            f" {', '.join(MAY_CHANGE)}. Leave the others out: they are in the journal."
        )
        raise InputError(message)
    return changed


def _is_own(old: object, new: object) -> bool:
    """Whether something that a file cannot hold was handed in under another name."""
    return all(isinstance(value, dict) and "own" in value for value in (old, new))


def _demand_own(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if missing := owned(value):
            message = (
                f"this journal was begun with {name} {', '.join(missing)}, which a file cannot"
                f" hold: hand it in again, Study.resume(path, {name}=...)."
            )
            raise InputError(message)


def _state(path: Path, lines: list[dict[str, Any]], domain: Domain) -> State:
    """Let everything happen again; what cannot be is refused with its line."""
    params, state = ParamsCodec(domain), State()
    for i, line in enumerate(lines[1:], start=2):
        try:
            state.apply(from_line(line, params))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            message = (
                f"line {i} of {path} is not understood ({type(error).__name__}: {error}): restore"
                " the file from a copy. It was left as it is."
            )
            raise JournalError(message) from error
    return state
