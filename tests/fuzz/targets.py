# SPDX-License-Identifier: Apache-2.0
"""Targets of the fuzzers: each reads a file that anybody may have written.

A target returns or raises a ``StopwiseError`` (a sentence). Anything else is a finding: another
exception, an answer that takes too long, a file that was created or changed.
"""

import io
import re
import signal
import warnings
from contextlib import contextmanager
from pathlib import Path

from stopwise.errors import StopwiseError
from stopwise.integrations.foreign_files import read_journal
from stopwise.tools.audit._history import HistoryReader
from stopwise.tools.progress import Progress
from stopwise.tools.report import cli_report
from stopwise.tools.runner import description, load

CORPORA = Path(__file__).parent / "corpora"
SECONDS = 30  # of CPU time for one file
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
    HistoryReader("value", "cost", None, None, None, None, {}).read(path)


TARGETS = {
    "journal": (journal, "run.jsonl"),
    "report": (report, "run.jsonl"),
    "toml": (toml, "tune.toml"),
    "csv": (csv, "runs.csv"),
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
