# SPDX-License-Identifier: Apache-2.0
"""A reader of TOML tables, key by key; every error names the line and suggests a correction."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from stopwise.core.other_names import meant
from stopwise.errors import InputError
from stopwise.integrations.foreign_files import regular_file
from stopwise.tools.runner.toml_lines import Where, key_lines

_NEEDED: Any = object()
# Keys of the top level, which become part of the last table if they are written below it.
TOP_LEVEL = (
    "command",
    "pass",
    "directory",
    "workers",
    "timeout",
    "budget",
    "max_trials",
    "constraints",
)
# Keys that people look for at the top or in another table, and the table that has them.
_TABLES = {
    **dict.fromkeys(("lam", "improvement"), "worth"),
    **dict.fromkeys(("direction", "bounds"), "value"),
    **dict.fromkeys(("kind", "price_per_hour"), "cost"),
    **dict.fromkeys(("acquisition", "stopping", "watch", "noise", "n_initial", "seed"), "search"),
    **dict.fromkeys(("start_from", "surrogate", "replicates", "prior"), "search"),
}
_HUGE = 1e300
_LONGEST = 2000  # characters of a message, which may hold a key of the file
_KINDS = {str: "a string", bool: "true or false", list: "a list", dict: "a table"}


class TomlTable:
    """A table of a TOML file. ``done`` refuses keys that were not read.

    Args:
        name: Name of the file, for messages.
        data: The table's keys and values.
        where: The path of keys that leads to it.
        lines: The line of every key in the file.
    """

    def __init__(
        self, name: str, data: Mapping[str, Any], where: Where, lines: Mapping[Where, int]
    ) -> None:
        self.name, self.data, self.where, self.lines = name, data, where, lines
        self._read: list[str] = []

    @classmethod
    def read(cls, path: Path) -> TomlTable:
        """The whole file as a table."""
        regular_file(path)
        try:
            text = path.read_bytes().decode("utf-8").replace("\r\n", "\n")
            data, lines = tomllib.loads(text), key_lines(text)
        except OSError as error:
            message = f"{path}: cannot be read ({error.strerror}). Give the path of a TOML file."
            raise InputError(message) from error
        except UnicodeDecodeError as error:
            message = f"{path} is not text in UTF-8 ({error.reason} at byte {error.start})."
            raise InputError(message) from error
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path.name} is not valid TOML: {error}.") from error
        except RecursionError as error:
            raise InputError(f"{path.name} is nested too deeply to be read.") from error
        except ValueError as error:  # a number with thousands of digits
            raise InputError(f"{path.name}: {str(error).rstrip('.')}.") from error
        return cls(path.name, data, (), lines)

    # ------------------------------------------------------------------ refusing

    def error(self, key: str | int | None, message: str) -> InputError:
        """An error at a key of this table, or at the table itself."""
        where = self.where if key is None else (*self.where, key)
        while where and where not in self.lines:
            where = where[:-1]
        place = f", line {self.lines[where]}" if where else ""
        short = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}..."
        return InputError(f"{self.name}{place}: {short}")

    @property
    def title(self) -> str:
        """What the table is called in messages."""
        return f"[{'.'.join(map(str, self.where))}]" if self.where else "the file"

    def done(self) -> None:
        """Refuse keys that have no meaning in this table."""
        for key in self.data:
            if key not in self._read:
                allowed = ", ".join(sorted(set(self._read)))
                message = f"unknown key {key!r} in {self.title}{_meant(key, self._read)}"
                hint = ""
                if self.where and key in TOP_LEVEL:
                    hint = f" {key!r} belongs at the top, before the first [table]."
                elif key in _TABLES and _TABLES[key] not in self.where:
                    hint = f" {key!r} belongs in [{_TABLES[key]}]."
                raise self.error(key, f"{message} Allowed here: {allowed}.{hint}")

    # ------------------------------------------------------------------- reading

    def any(self, key: str, default: Any = _NEEDED) -> Any:  # noqa: ANN401  TOML's own types
        """The value of a key, of any type."""
        self._read.append(key)
        if key in self.data:
            return self.data[key]
        if default is _NEEDED:
            close = [k for k in _close(key, self.data) if k not in self._read]
            hint = f" Is {close[0]!r} meant as {key!r}?" if close else ""
            raise self.error(None, f"{self.title} needs the key {key!r}.{hint}")
        return default

    def typed(self, key: str, kind: type, default: Any = _NEEDED) -> Any:  # noqa: ANN401
        """A string, a boolean, a list or a table."""
        value = self.any(key, default)
        if key in self.data and not isinstance(value, kind):
            raise self.error(key, f"{key!r} must be {_KINDS[kind]}, not {shown(value)}.")
        return value

    def word(self, key: str, allowed: Iterable[str], default: Any = _NEEDED) -> str:  # noqa: ANN401
        """One of several words."""
        words = list(allowed)
        value = self.typed(key, str, default)
        if value not in words:
            message = f"{key} = {shown(value)} is not one of {', '.join(map(shown, words))}"
            raise self.error(key, message + _meant(value, words))
        return str(value)

    def number(self, key: str, default: Any = _NEEDED) -> Any:  # noqa: ANN401  may be None
        """A finite number, as a float."""
        value = self.any(key, default)
        if key in self.data:
            if not _is_number(value):
                raise self.error(key, f"{key!r} must be a number, not {shown(value)}.")
            return float(value)
        return value

    def positive(self, key: str, default: Any = _NEEDED) -> Any:  # noqa: ANN401  may be None
        """A number above zero."""
        value = self.number(key, default)
        if key in self.data and value <= 0:
            raise self.error(key, f"{key} = {shown(self.data[key])}: must be above zero.")
        return value

    def whole(self, key: str, default: Any = _NEEDED, *, least: int = 1) -> Any:  # noqa: ANN401
        """A whole number of at least ``least``."""
        value = self.any(key, default)
        if key not in self.data:
            return value
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            message = f"{key!r} must be a whole number of at least {least}, not {shown(value)}."
            raise self.error(key, message)
        return value

    def table(self, key: str, default: Any = _NEEDED) -> TomlTable:  # noqa: ANN401
        """A table inside this one; an empty one where it is left out."""
        return TomlTable(self.name, self.typed(key, dict, default), (*self.where, key), self.lines)

    def at(self, key: str | int) -> TomlTable:
        """A table without keys at a place inside this one, for errors about its elements."""
        return TomlTable(self.name, {}, (*self.where, key), self.lines)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings, not empty."""
        value = self.any(key)
        if isinstance(value, str):
            words = ", ".join(shown(word) for word in value.split())
            message = f"{key!r} must be a list of strings, not one string: {key} = [{words}]"
            raise self.error(key, f"{message}. (It is never run through a shell.)")
        if not isinstance(value, list) or not value:
            raise self.error(key, f"{key!r} must be a list of strings, not {shown(value)}.")
        for index, item in enumerate(value):
            if not isinstance(item, str) or "\0" in item:
                message = f"element {index + 1} of {key!r} must be a string, not {shown(item)}."
                raise self.at(key).error(index, message)
        return tuple(value)


def shown(value: object) -> str:
    """A value as one would write it in TOML, shortened."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_number(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) < _HUGE  # type: ignore[arg-type]  # nan is not either


def _close(word: str, words: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(word, list(words), n=1, cutoff=0.6)


def _meant(word: str, words: Iterable[str]) -> str:
    question = meant(word, words)
    return f"; {question}" if question else "."
