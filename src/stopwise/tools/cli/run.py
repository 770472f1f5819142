# SPDX-License-Identifier: Apache-2.0
"""``stopwise run tune.toml``: tune any program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stopwise.tools.cli._output import complain, say

if TYPE_CHECKING:
    from stopwise.study import Study
    from stopwise.tools.runner import Config, OnChange, RunEnd

_TOO_MANY_FAILED = 3


def run(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="What to tune, and how; the guide run.md has every key."
        ),
    ],
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Validate, say what would happen, start nothing.")
    ] = False,
) -> None:
    """Tune a program as a TOML file says; run again to go on.

    Ctrl-C once lets running trials finish, twice stops them; nothing is lost.

    Exit codes: 0 it ended by itself; 1 something outside prevents it; 2 the file is wrong; 3 too
    many failed trials in a row, or every trial failed; 128 + n interrupted by signal n.
    """
    check_system()
    from stopwise.record.journal import has_begun
    from stopwise.study.saving import saved_if_lost
    from stopwise.tools import runner

    config = runner.load(file)
    runner.check_program(config)
    if check:
        say(runner.description(config))
        return
    changed = runner.changes(config) if has_begun(config.journal) else []
    with closing(runner.open_study(config)) as study:
        runner.keep_copy(config)
        _say_how_it_begins(config, study, changed)
        with saved_if_lost(study), _shown(study) as (on_change, on_signal):
            end = runner.run_trials(config, study, on_change, on_signal)
        _say_how_it_ended(config, study, end)
        ended = _code(study, end)
    raise typer.Exit(ended)


def check_system() -> None:
    """Refuse systems without process groups and sessions, before the runner is imported."""
    import os

    from stopwise.errors import StopwiseError

    if os.name != "posix":
        message = (
            f"stopwise run needs a POSIX system (Linux, macOS, or WSL on Windows), this is"
            f" {os.name!r}. sw.minimize and sw.Study work everywhere."
        )
        raise StopwiseError(message)


@contextmanager
def _shown(study: Study) -> Iterator[tuple[OnChange, Callable[[str], None]]]:
    """A live view in a terminal; elsewhere a line for each change and each signal."""
    import sys

    from stopwise.tools.progress import Progress

    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield (lambda _, line: say(line)), say
        return
    with Progress() as progress:
        progress.begin(study)
        yield (lambda study, _: progress.changed(study)), progress.note
        progress.changed(study)  # the last verdict too


def _say_how_it_begins(config: Config, study: Study, changed: list[str]) -> None:
    from stopwise.tools import runner

    if study.history or study.pending:
        say(f"Going on with {config.journal.name}: {runner.trials_so_far(study)}.")
    for note in study.notes:
        say(note)
    for line in changed:
        say(f"changed since the last run: {line}")


def _code(study: Study, end: RunEnd) -> int:
    """The exit code; of a run in which every trial failed, with a sentence on stderr."""
    if end.why == "interrupted":
        return 128 + end.signal
    if study.history.succeeded or study.pending or not study.history:
        return _TOO_MANY_FAILED if end.why == "failures" else 0
    first = study.history[0].message or "no message"
    n = len(study.history)
    all_of_them = "the only trial has" if n == 1 else f"all {n} trials have"
    complain(f"stopwise: {all_of_them} failed; the first said: {first}")
    return _TOO_MANY_FAILED


def _found(study: Study) -> list[str]:
    """The best configuration in words, and whether it was measured beyond a limit."""
    from stopwise.study.measured_beyond import measured_beyond, none_keeps
    from stopwise.tools.runner.parameter_passing import shown_params

    best = study.best
    if best is None:
        done = none_keeps(study.options) if study.history.succeeded else "has succeeded"
        return [f"No trial {done}."]
    value = study.options.units.value(best.value, best.std)
    said = f"Best: {value} (trial {best.number}) with {shown_params(best.params)}"
    return list(filter(None, (said, measured_beyond(best, study.options))))


def _say_how_it_ended(config: Config, study: Study, end: RunEnd) -> None:
    from stopwise.core.units import SECONDS, amount
    from stopwise.study.coverage import never_tried
    from stopwise.study.explanation import rests_on_no_choice

    for sentence in _found(study):
        say(sentence)
    ours, told = amount(study.own_seconds, SECONDS), len(study.history)
    trials = "1 trial" if told == 1 else f"{told} trials"
    if config.stages is not None:
        begun = told + len(study.pending)
        trials = f"{begun} trial{'s' * (begun != 1)} begun, {told} of them ended"
    say(f"{trials}, {config.cost.words(study.spent)} spent; stopwise itself took {ours}.")
    say(f"Why it ended: {end.reason}.")
    if end.why == "verdict" and config.stages is None:
        untried = never_tried(study.domain, study.history)
        for sentence in (*rests_on_no_choice(study), *([untried] if untried else [])):
            say(sentence)
    if end.why == "interrupted":
        say(f"Go on with: stopwise run {config.path.name}")
    if end.why == "failures":
        then = "once the program is mended, run again to go on with other trials, or remove"
        then = f"Failed trials are not tried again: {then} {config.journal.name} to begin afresh."
        if not study.history.succeeded and not study.curves:
            then = "No value is on record yet: once the program, [value] or [limits] is mended,"
            then = f"{then} remove {config.journal.name} and run again."
        say(f"What the programs said is in {config.trials.name}/. {then}")
