# SPDX-License-Identifier: Apache-2.0
"""The check of ``--check``: whether the program can start, and a description of the run."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from stopwise.core.checks import Bounds
from stopwise.core.numerics.limits import as_amount
from stopwise.core.outcome_limits import in_words
from stopwise.core.quantity import quantity
from stopwise.core.space import Finite
from stopwise.core.space.conditions import said
from stopwise.core.units import SECONDS, amount
from stopwise.errors import InputError
from stopwise.integrations.foreign_files import read_journal
from stopwise.record.history import Trial
from stopwise.record.journal import has_begun
from stopwise.stopping.signals import EVALUATIONS
from stopwise.study import Study
from stopwise.study.lam_ladder import lam_ladder
from stopwise.tools.runner.config import Config
from stopwise.tools.runner.config_changes import changes
from stopwise.tools.runner.parameter_passing import (
    arguments,
    builtin_values,
    filled,
    mentioned,
    shown_params,
)
from stopwise.tools.runner.staged_program import checkpoint_of
from stopwise.tools.runner.study_setup import new_study, trials_so_far
from stopwise.tools.runner.toml_table import shown


def check_program(config: Config) -> None:
    """Refuse a program or a folder that is not there."""
    if mentioned(config.directory):
        return  # made for each trial
    directory = config.path.parent / config.directory
    if not directory.is_dir():
        raise InputError(f"{config.path.name}: the directory {str(directory)!r} does not exist.")
    program = config.command[0]
    if set(mentioned(program)) & set(config.space):
        return  # a parameter
    program = filled(program, builtin_values("", 0))
    path = config.environment.get("PATH")
    sought = str(directory / program) if "/" in program else program
    if shutil.which(sought, path=path) is None:
        where = "an executable file" if "/" in program else "in PATH"
        message = (
            f"{config.path.name}: the program {program!r} is not {where}. The command is a list:"
            " the program first, then its arguments, one each."
        )
        raise InputError(message)


def description(config: Config) -> str:
    """What a run would do, and the trials it would begin with, as text."""
    is_new = not has_begun(config.journal)
    changed = [] if is_new else changes(config)
    study = new_study(config)
    size = min(study.n_initial, config.max_trials or study.n_initial)
    size = max(size, len(config.search.start_from))
    trials: list[Trial] = []
    while len(trials) < size and not (verdict := study.should_stop()).stop:
        trials.append(study.ask())  # a small space may have fewer trials than the design
    lines = [
        f"{config.path.name} is fine.",
        *(
            _program(config, trials[0], "The first trial" if is_new else "A trial")
            if trials
            else [f"It would end before its first trial: {verdict.reason}."]
        ),
        *_other_forms(config, trials),
        *_conditions(config),
        *_measures(config),
        *_stages(config),
        *(_prices(config, study.options.bounds) if is_new else _ladder(config)),
        *_limits(config, study),
        *(_design(trials, learned=config.cost.kind != "none") if is_new else ()),
        *_files(config, changed),
    ]
    return "\n".join(lines)


def _program(config: Config, first: Trial, which: str) -> Iterator[str]:
    yield f"{which} would run: {_command_line(config, first)}"
    if config.channel != "arguments":
        where = "environment" if config.channel == "environment" else "standard input, as JSON"
        yield f"  with, in its {where}: {shown_params(first.params)}"
    yield f"  in the folder {Path(config.directory)}, {config.workers} at a time."


def _command_line(config: Config, trial: Trial) -> str:
    folder = config.trials / f"{trial.number:04}"
    builtin = builtin_values(str(folder.relative_to(config.path.parent)), trial.number)
    if config.stages is not None and config.stages.names:
        checkpoint = checkpoint_of(config, trial.number).relative_to(config.path.parent)
        first_step = config.stages.stages.steps[0]
        builtin |= dict(zip(config.stages.names, (str(checkpoint), first_step), strict=True))
    return shlex.join(arguments(config.command, config.channel, trial.params, builtin))


def _other_forms(config: Config, trials: list[Trial]) -> Iterator[str]:
    """The command where other parameters exist than in the first trial, once for each such set."""
    passed = {name for template in config.command for name in mentioned(template)}
    if config.channel == "arguments":
        passed = set(config.space)
    forms = {frozenset(passed.intersection(t.params)): t for t in reversed(trials)}
    for exist, trial in reversed(forms.items()):
        if trial.number != trials[0].number:
            lacking = ", ".join(name for name in config.space if name in passed - exist)
            where = f"without {lacking}" if lacking else "with all parameters"
            yield f"Trial {trial.number}, {where}, would run: {_command_line(config, trial)}"


def _conditions(config: Config) -> Iterator[str]:
    for name, parameter in config.space.items():
        if parameter.when is not None:
            yield f"  {name} is passed only when {said(parameter)}."
    for constraint in config.constraints:
        yield f"Every trial satisfies {constraint}."
    noisy = config.search.noise is not None
    keeps = "is believed to keep" if noisy else "keeps"
    for name, bounds in (config.limits or {}).items():
        yield f"The best trial {keeps} {name} {in_words(bounds)}, which is read beside the value."
    if config.limits and noisy:
        yield (
            "  With noise a trial counts that keeps all limits with a probability of one half or"
            " more: it may have been measured beyond one."
        )


def _measures(config: Config) -> Iterator[str]:
    last = "lines" if config.stages is not None else "the last line"
    source = config.value.file or f"{last} of its stdout"
    named = f" ({config.value.given_name})" if config.value.given_name else ""
    yield f"It is to {config.value.direction} {config.value.key!r}{named}, read from {source}."
    cost, name = config.cost, config.value.name or "objective units"
    if cost.kind == "reported":
        yield f"A trial costs what it reports as {cost.key!r}."
    elif cost.kind == "none":
        yield "Every trial costs 1."
    elif cost.price_per_hour is None:
        yield "A trial costs the seconds that it takes."
    else:
        yield f"A trial costs its time at {cost.words(cost.price_per_hour)} an hour."
    worth, utility = config.worth, config.utility
    if utility is not None:
        unit = utility.unit or "units of worth"
        lam = 1.0 if worth is None else worth.lam
        yield (
            f"What a value is worth is by [utility], a {config.data['utility']['kind']}: a trial"
            f" that costs {cost.words(1.0)} must promise {amount(lam, unit)}."
        )
    elif worth is not None:
        gain, paid = worth.improvement or worth.lam, worth.cost or 1.0
        yield (
            f"An improvement of {quantity(gain)} is worth {cost.words(paid)}: a trial that"
            f" costs {cost.words(1.0)} must promise {quantity(worth.lam)} (lam, in {name})."
        )


def _stages(config: Config) -> Iterator[str]:
    """At which steps a program reports, and what becomes of one that is left."""
    if config.stages is None:
        return
    stages, key = config.stages.stages, config.stages.key
    report = f'{{"{key}": {stages.steps[0]}, "{config.value.key}": ...}}'
    yield f"It prints a line such as {report} at the steps {stages}."
    if config.stages.pause == "stop":
        yield "A trial that is left is stopped (SIGSTOP), and waits in memory to be taken up."
    else:
        where = checkpoint_of(config, 0).with_name("NUMBER.checkpoint")
        yield (
            "A trial that is left is ended, and started again with its checkpoint,"
            f" {where.relative_to(config.path.parent)}, if it is taken up."
        )
        if "checkpoint" not in {name for each in config.command for name in mentioned(each)}:
            yield (
                "  The command does not mention {checkpoint}: the program is to read the path from"
                " STOPWISE_CHECKPOINT, or it runs from its first step again."
            )


def _ladder(config: Config) -> list[str]:
    """When other lams would have stopped a run that was begun."""
    if config.stages is not None:  # what they would have left counts too
        return [f"What other lams would have left, and when: stopwise audit {config.journal.name}"]
    return lam_ladder(read_journal(config.journal)).lines


def _prices(config: Config, bounds: Bounds | None) -> Iterator[str]:
    """What other lams mean, as far as it can be said beforehand: the prices that they put."""
    worth, cost = config.worth, config.cost
    if worth is None or config.utility is not None:  # with a utility lam is 1, or nearly so
        return
    gain = worth.improvement or worth.lam
    yield "What other lams would mean (when each stops can be said once trials have run):"
    for lam in (as_amount(factor * worth.lam) for factor in (0.1, 1.0, 10.0)):
        given = " (given)" if lam == worth.lam else ""
        says = f"an improvement of {quantity(gain)} pays for {cost.words(gain / lam)}"
        if config.timeout is not None and cost.is_time:
            promise = quantity(lam * config.timeout)
            says += f"; a trial that runs into the timeout must promise {promise}"
        yield f"  lam = {quantity(lam)}{given}: {says}"
    low, high = bounds or (None, None)
    if low is not None and high is not None:
        most = cost.words((high - low) / worth.lam)
        yield f"Within the bounds of the value nothing is worth more than {most} in all."


def _limits(config: Config, study: Study) -> Iterator[str]:
    search = config.search
    names = ", ".join(rule.name for rule in search.stopping)
    untold = config.worth is None and config.utility is None
    by_budget = untold and config.budget is not None and search.is_default_rule
    yield from _settings(config)
    counted = "the number of trials" if config.trials_decide else names
    yield f"It stops by {'the budget' if by_budget else counted}."
    yield from _before_limits_are_kept(study)
    if config.budget is not None:
        yield f"At most {config.cost.words(config.budget)} are spent."
    if config.max_trials is not None:
        yield f"There are at most {config.max_trials} trials."
    if config.timeout is not None:
        yield f"A trial is killed after {amount(config.timeout, SECONDS)}."
    retried = f"started again up to {config.failures.retry} times, then " * bool(
        config.failures.retry
    )
    yield (
        f"A trial that fails is {retried}recorded and not repeated;"
        f" {config.failures.stop_after} in a row end the run."
    )


def _settings(config: Config) -> Iterator[str]:
    """What [search] says beside what has a line of its own, and what of it changes nothing."""
    search = config.search
    noise = {} if search.noise is None else {"noise": search.noise}
    besides = "[utility]" if config.utility is not None else ""
    besides = besides or "a fallback" * ("fallback" in search.further)
    for name, value in {**noise, **search.further}.items():
        inert = (
            f", which changes nothing: beside {besides} what knowing a configuration better is"
            " worth cannot be told"
        )
        has_none = name == "replicates" and value and besides
        yield f"[search] {name} = {shown(value)}{inert if has_none else ''}."


def _before_limits_are_kept(study: Study) -> Iterator[str]:
    """That nothing bounds what is spent, where that is so until a trial keeps all limits."""
    options = study.options
    bounded = (options.fallback, study.budget, options.max_trials) != (None, None, None)
    counts = any(rule.key == EVALUATIONS.key for rule in study.rules)
    if options.limits is None or bounded or counts:
        return
    names = " and ".join(rule.name for rule in study.rules)
    kept = "keeps" if options.noise is None else "is believed to keep"
    most = "the cost of the run has no bound"
    if isinstance(study.domain, Finite):
        most = f"it may try all {len(study.domain)} configurations"
    yield (
        f"  Until a trial {kept} all limits {names} cannot stop it, and {most}: give a budget or"
        " max_trials, or in [search] a fallback, the value that you have if no trial keeps them."
    )


def _design(trials: list[Trial], *, learned: bool) -> Iterator[str]:
    later = " (later ones may change as costs are measured)" * learned
    yield f"The first {len(trials)} trials, before a model chooses{later}:"
    for trial in trials:
        yield f"  {trial.number:3}  {shown_params(trial.params)}"


def _files(config: Config, changed: list[str]) -> Iterator[str]:
    if has_begun(config.journal):
        study = read_journal(config.journal)
        state = trials_so_far(study)
        yield f"{config.journal.name} exists ({state}): a run would go on where it ends."
        yield from (f"  changed since: {line}" for line in changed)
    else:
        yield f"The journal would be {config.journal.name}, output goes to {config.trials.name}/."
