# SPDX-License-Identifier: Apache-2.0
"""Targets of the fuzzers: each reads a file that anybody may have written.

A target returns or raises a ``StopwiseError`` (a sentence). Anything else is a finding: another
exception, an answer that takes too long, a file that was created or changed.
"""

import contextlib
import io
import json
import re
import signal
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from typer.main import get_command

import stopwise as sw
from stopwise.errors import InputError, StopwiseError
from stopwise.integrations.foreign_files import read_journal
from stopwise.tools.audit._history import HistoryReader
from stopwise.tools.cli import main
from stopwise.tools.cli.app import app
from stopwise.tools.progress import Progress
from stopwise.tools.report import cli_report
from stopwise.tools.runner import description, load

CORPORA = Path(__file__).parent / "corpora"
SECONDS = 30  # of CPU time for one file
COMMANDS = ("new", "ask", "tell", "amend", "drop", "verdict")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
APP = get_command(app)  # built once: typer builds it for each call
HARMFUL = re.compile(r"<img|<script>alert|[\x00-\x08\x0b\x0c\x0e-\x1f]")


class TooSlowError(BaseException):
    """One file took too long; no ``except Exception`` may hide it."""


class ChangedError(AssertionError):
    """Reading has changed a file or created one."""


def journal(path):
    """A journal that is looked at."""
    study = read_journal(path)
    repr(study)
    with Progress(stream=io.StringIO()) as progress:
        progress.begin(study)
        progress.changed(study)


def report(path):
    """The page of a journal, in which nothing of the journal is markup."""
    target = path.with_suffix(".html")
    try:
        cli_report(path, target)
        text = target.read_text("utf-8")
    finally:
        target.unlink(missing_ok=True)
    harm = HARMFUL.search(text)
    assert harm is None, f"the page holds {text[harm.start() - 60 : harm.end() + 60]!r}"


def toml(path):
    """A file for ``stopwise run --check``."""
    description(load(path))


def csv(path):
    """A table for ``stopwise audit``."""
    HistoryReader("value", "cost", None, None, (), None, None, {}).read(path)


def shell(path):
    """Commands on one study: a line with its space, then one for each command.

    Each ends with one of its exit codes, prints no control character, and leaves a journal that
    can be read.
    """
    space, commands = _script(path)
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        journal, toml_file = Path(folder) / "study.jsonl", Path(folder) / "space.toml"
        toml_file.write_text(space, "utf-8", "surrogatepass")
        for name, arguments in commands:
            where = ["--space", str(toml_file)] if name == "new" else []
            code, printed = _called(name, str(journal), *where, *arguments)
            usual = code in (0, 2, 3) or name == "new" or not journal.exists()
            assert usual, f"{name} {arguments} ended with {code}: {printed}"
            assert not CONTROL.search(printed), f"{name} {arguments} printed {printed!r}"
            answers.append(code)
            if journal.exists():
                sw.Study.load(journal)
    if 2 in answers:
        raise InputError("a command was refused.")


def _script(path):
    """The space and the commands; a line that is none of these is left out."""
    lines = []
    for line in path.read_text("utf-8", "replace").split("\n"):
        with contextlib.suppress(ValueError, RecursionError):
            lines.append(json.loads(line))
    spaces = [line["space"] for line in lines if isinstance(line, dict) and "space" in line]
    commands = [
        (line["command"], [a for a in map(_argument, line["arguments"]) if a is not None])
        for line in lines
        if isinstance(line, dict)
        and line.get("command") in COMMANDS
        and isinstance(line.get("arguments"), list)
    ]
    return str(spaces[0]) if spaces else "", commands


def _argument(given):
    """An argument as a shell can give it; None for hundreds of trials, which take their time."""
    text = str(given).replace("\0", "").encode("utf-8", "replace").decode()
    return None if re.fullmatch(r"(-n)?=?[0-9]{3,9}", text) else text


def _called(*arguments):
    """The exit code of a command, and what it printed."""
    printed = io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["stopwise", *arguments]),
        mock.patch("stopwise.tools.cli.app.app", APP),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0), printed.getvalue()
    return 0, printed.getvalue()


TARGETS = {
    "journal": (journal, "run.jsonl"),
    "report": (report, "run.jsonl"),
    "toml": (toml, "tune.toml"),
    "csv": (csv, "runs.csv"),
    "shell": (shell, "commands.jsonl"),
}


def outcome(name, data, folder):
    """What became of a file: ``"read"`` or ``"refused"``. Everything else is raised."""
    target, file = TARGETS[name]
    path = Path(folder) / file
    path.write_bytes(data)
    try:
        with warnings.catch_warnings(), _time_limit():
            warnings.simplefilter("ignore")
            target(path)
    except StopwiseError:
        answer = "refused"
    else:
        answer = "read"
    if [p.name for p in Path(folder).iterdir()] != [file] or path.read_bytes() != data:
        message = f"reading {file} has changed its folder"
        raise ChangedError(message)
    return answer


@contextmanager
def _time_limit():
    def over(*_):
        message = f"more than {SECONDS} seconds of CPU time"
        raise TooSlowError(message)

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
