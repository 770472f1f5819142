# SPDX-License-Identifier: Apache-2.0
"""Stopping rules as a file names them: ``"pbgi"``, or ``{ rule = "fixed", n = 50 }``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stopwise.errors import StopwiseError
from stopwise.stopping import RULES, StoppingRule
from stopwise.stopping.defaults import requirements
from stopwise.tools.runner.toml_table import TomlTable, shown


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by its name and options."""

    name: str
    options: Mapping[str, Any]

    @property
    def needs_lam(self) -> bool:
        """Whether [worth] has to say what an improvement is worth."""
        return requirements(RULES[self.name]).lam and not self.options

    def made(self) -> str | StoppingRule:
        """What a study takes: the name, which gets the study's lam, or a rule with options."""
        return RULES[self.name](**self.options) if self.options else self.name


def rules_of(table: TomlTable, key: str, default: str | list[str]) -> tuple[Rule, ...]:
    """One rule or several."""
    given = table.any(key, default)
    if not isinstance(given, list):
        return (_rule(table, key, given),)
    inner = TomlTable(table.name, dict(enumerate(given)), (*table.where, key), table.lines)  # type: ignore[arg-type]
    return tuple(_rule(inner, index, item) for index, item in enumerate(given))


def _rule(table: TomlTable, key: str | int, given: object) -> Rule:
    if isinstance(given, dict):
        inner = TomlTable(table.name, given, (*table.where, key), table.lines)
        name = inner.word("rule", RULES)
        allowed = inspect.signature(RULES[name]).parameters
        options = {option: inner.any(option) for option in allowed if option in given}
        for option in allowed:
            inner.any(option, None)
        inner.done()
    elif isinstance(given, str):
        inner = TomlTable(table.name, {"rule": given}, (*table.where, key), table.lines)
        name, options = inner.word("rule", RULES), {}
    else:
        message = f'a rule is a name or a table such as {{ rule = "gss" }}, not {shown(given)}.'
        raise table.error(key, message)
    return _checked(table, key, Rule(name, options))


def _checked(table: TomlTable, key: str | int, rule: Rule) -> Rule:
    """Refuse options that are missing or wrong now, with their line."""
    needs = requirements(RULES[rule.name])
    missing = [name for name in needs.others if name not in rule.options]
    if missing:
        message = f"the rule {rule.name!r} needs {', '.join(missing)}:"
        example = f'{{ rule = "{rule.name}", {missing[0]} = ... }}'
        raise table.error(key, f"{message} {example}.")
    if needs.lam and rule.options:
        message = f"the rule {rule.name!r} takes no options here: [worth] says what it needs."
        raise table.error(key, message)
    try:
        rule.made()
    except (StopwiseError, TypeError) as error:
        raise table.error(key, str(error)) from error
    return rule
