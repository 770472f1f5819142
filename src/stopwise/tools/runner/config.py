# SPDX-License-Identifier: Apache-2.0
"""The configuration of a run: the TOML file as frozen values. docs/how-to/run.md has every key."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from stopwise.acquisition import ACQUISITIONS
from stopwise.core.beliefs.utilities import Utility, utility_from_table
from stopwise.core.checks import listed
from stopwise.core.exchange_rate import exchange_rate
from stopwise.core.outcome_limits import Limits, checked_limits
from stopwise.core.space import Parameter, as_domain
from stopwise.core.units import check_same_unit
from stopwise.errors import InputError, StopwiseError
from stopwise.study.hard_limits import FAILURES
from stopwise.study.options import StudyOptions, names
from stopwise.tools.runner.measures import Cost, Value, check_direction, read_cost, read_value
from stopwise.tools.runner.parameter_passing import Channel, check_passing
from stopwise.tools.runner.rules import Rule, rules_of
from stopwise.tools.runner.space_table import read_constraints, read_space
from stopwise.tools.runner.stages_table import StageSettings, read_stages
from stopwise.tools.runner.toml_table import TomlTable, shown

# Options that have a table or a reader of their own in the file; [search] takes all others too.
_SAID_OTHERWISE = (
    *("lam", "cost", "budget", "direction", "max_trials"),
    *("acquisition", "stopping", "watch", "noise", "n_initial", "start_from", "seed"),
    *("limits", "constraints", "utility", "value_name", "cost_unit"),
    *("stages", "off_table"),  # a file has no table of candidates
)
_NO_WORTH = """{} needs to know what an improvement is worth to you:

[worth]
improvement = 0.01 # I would just pay
cost = 600 # ... this much for it, in units of cost

Or leave both at "pbgi" and give a budget, what may be spent in all: budget = 3600; or a number of
trials, and nothing is priced: max_trials = 50 (stopwise new takes --lam, --budget, --max-trials).
Or choose among those that need neither: acquisition = "logeipc", stopping = "gss"."""

_WORTH_BETWEEN = (
    "Say it in the table [worth]: lam = 40 if one {one} is worth 40 {worth}, or improvement = ..."
    " and cost = ..., a trade that you would just accept (stopwise new takes --lam)."
)


@dataclass(frozen=True, slots=True)
class Worth:
    """What an improvement is worth: ``lam``, and the trade that it came from, if any."""

    lam: float
    improvement: float | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Failures:
    """What happens when the program fails."""

    stop_after: int
    retry: int


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How the study chooses and stops: the table ``[search]``."""

    acquisition: str
    stopping: tuple[Rule, ...]
    watch: tuple[Rule, ...]
    noise: float | Literal["learn"] | None
    n_initial: int | None
    start_from: tuple[Mapping[str, Any], ...]
    seed: int
    further: Mapping[str, Any]  # options of a study that are not listed above

    @property
    def is_default_rule(self) -> bool:
        """Whether the rule is the one that gives way to a budget."""
        return [rule.name for rule in self.stopping] == listed(StudyOptions().stopping)


@dataclass(frozen=True, slots=True)
class Config:
    """The whole file. ``data`` is the file as ``tomllib`` read it, to compare with later."""

    path: Path
    command: tuple[str, ...]
    channel: Channel
    directory: str
    environment: Mapping[str, str]
    workers: int
    timeout: float | None
    budget: float | None
    max_trials: int | None
    space: Mapping[str, Parameter]
    constraints: tuple[str, ...]
    value: Value
    cost: Cost
    worth: Worth | None
    utility: Utility | None
    limits: Limits | None
    failures: Failures
    stages: StageSettings | None
    search: SearchSettings
    data: Mapping[str, Any]

    @property
    def journal(self) -> Path:
        """The journal, beside the file."""
        return self.path.with_suffix(".jsonl")

    @property
    def trials(self) -> Path:
        """The folder of the trials' output, beside the file."""
        return self.path.with_suffix(".trials")

    @property
    def lam(self) -> float | None:
        """Objective units per unit of cost, if the file says it."""
        return None if self.worth is None else self.worth.lam

    @property
    def trials_decide(self) -> bool:
        """Whether ``max_trials`` alone decides when to stop, as in the study that it makes."""
        return StudyOptions(
            lam=self.lam,
            budget=self.budget,
            utility=self.utility,
            max_trials=self.max_trials,
            stopping=[rule.name for rule in self.search.stopping],
        ).trials_decide


def load(path: Path) -> Config:
    """Read and check a file; every error names its line."""
    top = TomlTable.read(path.absolute())
    config = read(top, path.absolute(), has_program=True)
    check_direction(top, config.value)
    check_worth(top, config)
    check_passing(
        top,
        command=config.command,
        channel=config.channel,
        directory=config.directory,
        file=config.value.file,
        space=config.space,
        workers=config.workers,
        more=() if config.stages is None else config.stages.names,
    )
    return config


def read(top: TomlTable, path: Path, *, has_program: bool) -> Config:
    """All keys of a file, read one by one.

    Args:
        top: The file as a table.
        path: Its path.
        has_program: Whether there must be a command; not for a study that nobody runs.
    """
    space, limits = read_space(top.table("parameters")), _limits(top.table("limits", {}))
    config = Config(
        path=path,
        command=top.texts("command") if has_program else (),
        channel=top.word("pass", ("arguments", "environment", "stdin"), "arguments"),  # type: ignore[arg-type]
        directory=top.typed("directory", str, "."),
        environment=_environment(top.table("environment", {})),
        workers=top.whole("workers", 1),
        timeout=top.positive("timeout", None),
        budget=top.positive("budget", None),
        max_trials=top.whole("max_trials", None),
        space=space,
        constraints=read_constraints(top, space),
        value=read_value(top.table("value", {})),
        cost=read_cost(top.table("cost", {})),
        worth=_worth(top.table("worth", {})),
        utility=_utility(top.table("utility", {})),
        limits=limits,
        failures=_failures(top.table("failures", {})),
        stages=read_stages(top, top.table("stages", {})),
        search=_search(top.table("search", {}), space, limits),
        data=top.data,
    )
    top.done()
    return config


def _environment(table: TomlTable) -> dict[str, str]:
    variables = {name: table.typed(name, str) for name in table.data}
    for name, value in variables.items():
        if not name or "=" in name or "\0" in name + value:
            raise table.error(name, f"{name!r} cannot be the name of an environment variable.")
    return variables


def _worth(table: TomlTable) -> Worth | None:
    lam, trade = table.positive("lam", None), ("improvement", "cost")
    improvement, cost = (table.positive(key, None) for key in trade)
    table.done()
    if not table.data:
        return None
    if lam is not None and (improvement or cost):
        message = "[worth] takes either lam, or improvement and cost, not both."
        raise table.error("lam", message)
    if lam is not None:
        return Worth(lam)
    if improvement is None or cost is None:
        missing = "cost" if cost is None else "improvement"
        message = f"[worth] needs {missing!r} too: 'I would just pay cost for improvement'."
        raise table.error(None, message)
    return Worth(exchange_rate(improvement=improvement, cost=cost), improvement, cost)


def _utility(table: TomlTable) -> Utility | None:
    """What values are worth, by the name of a utility and its parameters."""
    if not table.data:
        return None
    parts = {name: table.any(name) for name in table.data}
    try:
        return utility_from_table(parts)
    except StopwiseError as error:
        example = "[utility] kind = 'sigmoid', at = 90, width = 2, height = 1000"
        raise table.error(None, f"{error} In this file, for example: {example}.") from error


def check_worth(top: TomlTable, config: Config) -> None:
    """Refuse a file without [worth] where a rule, the acquisition or a utility needs it."""
    if config.worth is not None:
        return
    if config.utility is not None:
        try:
            check_same_unit(config.utility.unit, config.cost.unit, _WORTH_BETWEEN)
        except InputError as error:
            raise top.table("utility").error("unit", str(error)) from error
        return
    search = config.search
    rules = [rule.name for rule in (*search.stopping, *search.watch) if rule.needs_lam]
    by_budget, by_trials = config.budget is not None, config.trials_decide
    if by_trials or (by_budget and search.is_default_rule):
        rules = [rule.name for rule in search.watch if rule.needs_lam]
    needing = [f"the stopping rule {name!r}" for name in rules]
    parameters = inspect.signature(ACQUISITIONS[search.acquisition]).parameters
    chosen_for_it = by_budget and "pbgi" in search.acquisition
    chosen_for_it |= by_trials and search.acquisition == StudyOptions().acquisition
    if {"lam", "lam0"} & set(parameters) and not chosen_for_it:
        needing.append(f"the acquisition {search.acquisition!r}")
    if needing:
        raise top.error(None, _NO_WORTH.format(needing[0]))


def _failures(table: TomlTable) -> Failures:
    failures = Failures(table.whole("stop_after", 5), table.whole("retry", 0, least=0))
    table.done()
    if failures.stop_after > FAILURES:
        message = f"stop_after = {failures.stop_after}: {FAILURES} failures in a row always stop."
        raise table.error("stop_after", message)
    return failures


def _limits(table: TomlTable) -> Limits | None:
    """The lowest and the highest value allowed of each outcome that the program reports."""
    limits = {name: table.any(name) for name in table.data}
    for name, pair in limits.items():
        try:
            checked_limits({name: pair})
        except StopwiseError as error:
            most = pair if isinstance(pair, int | float) and not isinstance(pair, bool) else 3.0
            message = f"{error} In this file at most {most} is {name} = [-inf, {most}]."
            raise table.error(name, message) from error
    return checked_limits(limits)


def _search(
    table: TomlTable, space: Mapping[str, Parameter], limits: Limits | None
) -> SearchSettings:
    noise = table.any("noise", None)
    if isinstance(noise, str):
        table.word("noise", ["learn"])
    elif noise is not None:
        noise = table.positive("noise")
    search = SearchSettings(
        table.word("acquisition", ACQUISITIONS, "pbgi"),
        rules_of(table, "stopping", "pbgi"),
        rules_of(table, "watch", []),
        noise,
        table.whole("n_initial", None),
        _start_from(table, space),
        table.whole("seed", 0, least=0),
        _further(table, {"noise": noise, "limits": limits}),
    )
    table.done()
    return search


def _further(table: TomlTable, beside: Mapping[str, Any]) -> dict[str, Any]:
    """All other options of a study, as they stand and as the study checks them beside some."""
    values = {name: table.any(name, None) for name in names(_SAID_OTHERWISE)}
    further = {name: value for name, value in values.items() if value is not None}
    for name, value in further.items():
        try:
            StudyOptions.of({**beside, name: value})
        except StopwiseError as error:
            raise table.error(name, str(error)) from error
    return further


def _start_from(table: TomlTable, space: Mapping[str, Parameter]) -> tuple[Mapping[str, Any], ...]:
    configurations: list[Any] = table.typed("start_from", list, [])
    inner = table.at("start_from")
    domain = as_domain(space)
    for index, params in enumerate(configurations):
        if not isinstance(params, dict):
            message = f"start_from holds tables such as {{ lr = 0.01 }}, not {shown(params)}."
            raise inner.error(index, message)
        try:
            domain.encode(params)
        except StopwiseError as error:
            raise inner.error(index, str(error)) from error
    return tuple(configurations)
