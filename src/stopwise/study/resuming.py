# SPDX-License-Identifier: Apache-2.0
"""Resuming: from a journal to the space, the options and the state of its study."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, NamedTuple

from stopwise.core.space import Domain, Space, as_domain
from stopwise.core.space.finite import accepting_off_table
from stopwise.errors import InputError
from stopwise.record.events import StudyResumed
from stopwise.record.journal import Journal, JournalContent, look_at, reopen
from stopwise.record.journal.codec import (
    Json,
    ParamsCodec,
    lacks_choices,
    owned,
    space_as_json,
    space_from_json,
)
from stopwise.record.journal.file import LineFile
from stopwise.record.state import State
from stopwise.study.options import (
    StudyOptions,
    check_names,
    may_change,
    option_values_as_json,
    option_values_from_json,
    unwritten,
)
from stopwise.study.plain_space import plain_space

NOT_AT_HAND = "constraints are not at hand"


class ResumedStudy(NamedTuple):
    """The parts of a journal that a study is set up from.

    Args:
        space: The space of the study.
        options: Its options, as of now.
        state: The state after all events.
        notes: Sentences that the user should read.
        journal: The journal, open for writing; None if it is only looked at.
        event: That it was resumed; written once its options have been accepted. None if there is
            nothing to write.
        lacking: Names of constraints that are not at hand.
    """

    space: Space
    options: StudyOptions
    state: State
    notes: tuple[str, ...]
    journal: Journal | None
    event: StudyResumed | None = None
    lacking: tuple[str, ...] = ()


def resume(
    path: str | PathLike[str], given: Mapping[str, Any], version: str, *, again: bool = True
) -> ResumedStudy:
    """Open a journal to continue its study.

    Args:
        path: Path of the file.
        given: Options handed in: objects that a file cannot hold, and options to change.
        version: Version of this package.
        again: Whether pending trials are to be handed out again.
    """
    options = dict(given)
    if "space" in options:
        options["space"], options = plain_space(options["space"], options)
    file, content = reopen(path, take_over=again)
    try:
        return _resumed(file, content, options, version, again=again)
    except BaseException:
        file.close()
        raise


def _resumed(
    file: LineFile, content: JournalContent, given: dict[str, Any], version: str, *, again: bool
) -> ResumedStudy:
    with content.reading_header():
        begun_by = content.header["version"]
        space = _space(content.header["space"], given.pop("space", None))
        params, written = ParamsCodec(as_domain(space)), content.options
        values = {**option_values_from_json(written, params), **given}
        domain = _domain(space, values)
    _refuse_to_close(written, values)
    changes = _checked_changes(written, given, params)
    _demand_own(values)
    options, state = StudyOptions.of(values), content.state(domain)
    notes = [f"{name} is now {new!r}; it was {old!r}" for name, (old, new) in changes.items()]
    if begun_by != version:
        notes.append(f"the journal was begun by stopwise {begun_by} and goes on with {version}")
    if content.torn:
        notes.append(
            f"the last line of {content.path.name} was cut short ({content.torn} bytes, from a"
            " crash) and is removed; what it said had not been confirmed to anybody"
        )
    # One call of many on a study that others are at work on need not be told of.
    event = StudyResumed(version, changes, again) if again or changes else None
    return ResumedStudy(space, options, state, tuple(notes), Journal(file, domain), event)


def load(path: str | PathLike[str]) -> ResumedStudy:
    """Look at a journal; objects that a file cannot hold are replaced or left out, with a note."""
    content = look_at(path)
    with content.reading_header():
        space = space_from_json(_with_names(content.header["space"]))
        values = option_values_from_json(content.options, ParamsCodec(as_domain(space)))
        domain = _domain(space, values)
    notes = []
    stand_ins = (("cost", "reported"), ("acquisition", "logeipc"), ("surrogate", "plain"))
    for name, stand_in in stand_ins:
        if missing := owned(values[name]):
            means = ": prices are estimated from what was paid" if name == "cost" else ""
            note = f"{name} {missing[0]} is not at hand; {stand_in!r} stands in for it{means}"
            notes.append(note)
            values[name] = stand_in
    if missing := owned(values["utility"]):
        notes.append(f"utility {missing[0]} is not at hand; values stand in for their worth")
        values["utility"] = None
    lacking = tuple(owned(values["constraints"]))
    if lacking:
        notes.append(
            f"{NOT_AT_HAND} and left out: {', '.join(lacking)}; so what depends on"
            " them is, too: candidates still to try, shares of parameters, and rules replayed"
        )
        values["constraints"] = [c for c in values["constraints"] if not owned(c)]
    for name in ("stopping", "watch"):
        if missing := owned(values[name]):
            notes.append(f"own rules are not at hand and left out: {', '.join(missing)}")
            values[name] = [rule for rule in values[name] if not owned(rule)]
    values["stopping"] = values["stopping"] or ["immediate"]
    options, state = StudyOptions.of(values), content.state(domain)
    return ResumedStudy(space, options, state, tuple(notes), None, lacking=lacking)


def _with_names(written: Json) -> Json:
    """A space with the names of choices that a file cannot hold, in conditions and rows too."""

    def listed(values: list[Json]) -> list[Json]:
        return [value["own"] if isinstance(value, dict) else value for value in values]

    named = {}
    for name, entry in written["parameters"].items():
        lists: dict[str, Json] = (
            {"choices": listed(entry["choices"])} if "choices" in entry else {}
        )
        if "when" in entry:
            lists["when"] = {parent: listed(values) for parent, values in entry["when"].items()}
        named[name] = {**entry, **lists}
    if "rows" not in written:
        return {"parameters": named}
    rows = [
        {
            name: named[name]["choices"][value["choice"]] if isinstance(value, dict) else value
            for name, value in row.items()
        }
        for row in written["rows"]
    ]
    return {"parameters": named, "rows": rows}


def _domain(space: Space, values: Mapping[str, Any]) -> Domain:
    """The domain in which told data are read."""
    domain = as_domain(space)
    return accepting_off_table(domain) if values.get("off_table") is True else domain


def _refuse_to_close(written: Mapping[str, Json], values: Mapping[str, Any]) -> None:
    if written.get("off_table") and not values["off_table"]:
        message = (
            "off_table=False, but this study accepts data off its table, and may have some: leave"
            " it out."
        )
        raise InputError(message)


def _space(written: Json, given: Space | None) -> Space:
    """The space of the journal; one that is handed in must be the same."""
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
    differing = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    what = "; ".join(f"{n!r} was {old.get(n)} and is now {new.get(n)}" for n in differing)
    message = (
        f"the space is another one: {what or 'the rows of the table differ'}. A study keeps its"
        f" space; what may change are {', '.join(may_change())}. Begin a new journal for a new"
        " space; its data can be told to it with study.tell(params, value, cost)."
    )
    raise InputError(message)


def _checked_changes(
    written: Mapping[str, Json], given: Mapping[str, Any], params: ParamsCodec
) -> dict[str, tuple[Json, Json]]:
    """The options that ``given`` changes, old and new; a change that is not allowed is refused."""
    check_names(given)
    first = given.get("start_from")
    handed = {**given, "start_from": [first]} if isinstance(first, Mapping) else dict(given)
    before = {**option_values_as_json(unwritten(), params), **written}
    has_utility = handed.get("utility", before["utility"]) is not None
    if has_utility and handed.get("lam", before["lam"]) is None:
        handed["lam"] = 1.0  # that of a utility in units of cost
    now = option_values_as_json(handed, params)
    changed = {name: (before[name], now[name]) for name in now if before[name] != now[name]}
    refused = [n for n in changed if n not in may_change() and not _both_own(*changed[n])]
    if refused:
        what = "; ".join(
            f"{n} was {changed[n][0]!r} and is now {changed[n][1]!r}" for n in refused
        )
        message = (
            f"this journal belongs to another study: {what}. What may change on resuming are"
            f" {', '.join(may_change())}. Leave the others out: they are in the journal."
        )
        raise InputError(message)
    return changed


def _both_own(old: Json, new: Json) -> bool:
    """Whether both are objects that a file cannot hold, so that only the name has changed."""
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(
            a == b or _both_own(a, b) for a, b in zip(old, new, strict=True)
        )
    return all(isinstance(value, dict) and "own" in value for value in (old, new))


def _demand_own(options: Mapping[str, Any]) -> None:
    """Refuse to resume without the objects that a file cannot hold."""
    for name, value in options.items():
        if missing := owned(value):
            message = (
                f"this journal was begun with {name} {', '.join(missing)}, which a file cannot"
                f" hold: hand it in again, Study.resume(path, {name}=...)."
            )
            raise InputError(message)
