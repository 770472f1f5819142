# SPDX-License-Identifier: Apache-2.0
"""Foreign files: opened with care, and refused in one sentence where they cannot be read.

A file from elsewhere may be damaged, enormous or made to do harm. So its kind and size are checked
before it is read, and whatever its parser raises becomes an ``InputError`` that names the file.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stopwise.errors import InputError, JournalError, StopwiseError
from stopwise.study import Study

LIMIT = "STOPWISE_MAX_MEGABYTES"  # the environment variable that raises the limit
_DEFAULT_LIMIT = 64.0
_SHOWN = 160  # characters of a parser's message


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Refuse in words what cannot be read; errors of stopwise pass unchanged.

    Args:
        what: What is read, as the subject of a sentence: ``"the table 'runs.csv'"``.
    """
    try:
        yield
    except StopwiseError:
        raise
    except RecursionError as error:
        message = f"{what} cannot be read: it is nested too deeply. It was left as it is."
        raise InputError(message) from error
    except MemoryError as error:
        message = f"{what} cannot be read: it needs more memory than there is."
        raise InputError(message) from error
    except Exception as error:  # a parser may raise anything about a damaged file
        message = (
            f"{what} cannot be read ({reason(error)}): it is damaged, or not what its name says."
            " It was left as it is."
        )
        raise InputError(message) from error


def reason(error: BaseException) -> str:
    """What an error of another package says, on one line and shortened."""
    text = " ".join(str(error).split())
    text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def checked_file(path: str | os.PathLike[str]) -> Path:
    """A path, if it is a regular file within the limit of size."""
    place = regular_file(path)
    check_size(f"the file {str(place)!r}", place.stat().st_size)
    return place


def regular_file(path: str | os.PathLike[str]) -> Path:
    """A path, if it is a regular file: a pipe or a device might be read for ever."""
    place = Path(path)
    try:
        status = place.stat()
    except FileNotFoundError as error:
        raise InputError(f"there is no file {str(place)!r}.") from error
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        message = f"{str(place)!r} cannot be read ({reason(error)}): give the path of a file."
        raise InputError(message) from error
    if not stat.S_ISREG(status.st_mode):
        message = f"{str(place)!r} is not a regular file: give the path of a file."
        raise InputError(message)
    return place


def read_journal(path: str | os.PathLike[str]) -> Study:
    """Look at a journal that may come from elsewhere; nothing in it is run or changed."""
    place = checked_file(path)
    with reading(f"the journal {str(place)!r}"):
        try:
            study = Study.load(place)
        except JournalError as error:
            if isinstance(error.__cause__, OSError):
                raise
            raise InputError(str(error)) from error  # its content is wrong, not its place
        _check_records(study)
        return study


def _check_records(study: Study) -> None:
    """Refuse records that are no numbers, or that their rules cannot read."""
    numbers = [trial.expected_cost for trial in (*study.pending, *study.history)]
    for promise in study.promises:
        numbers += [promise.promised, promise.delivered]
    for trace in study.traces.values():
        numbers += [moment for signal in trace for moment in (signal.t, signal.n)]
    for number in numbers:
        if number is not None and not (isinstance(number, int | float) and math.isfinite(number)):
            raise TypeError(f"{number!r:.80} where a number should be")
    for rule in (*study.rules, *study.watched):
        if rule.key in study.traces:
            rule.verdict(study.traces[rule.key])


def check_size(what: str, size: float) -> None:
    """Refuse more bytes than the limit.

    Args:
        what: What has this size, as the subject of a sentence.
        size: In bytes.
    """
    limit = _limit()
    if size > limit * 1e6:
        message = (
            f"{what} has {size / 1e6:.0f} megabytes, and at most {limit:g} are read. If you trust"
            f" it and have the memory, set the environment variable {LIMIT} to a larger number."
        )
        raise InputError(message)


def _limit() -> float:
    given = os.environ.get(LIMIT, "")
    try:
        limit = float(given) if given else _DEFAULT_LIMIT
    except ValueError:
        limit = -1.0
    if not limit > 0:
        message = f"{LIMIT}={given!r}: give a number of megabytes above zero, such as 500."
        raise InputError(message)
    return limit


def text_of(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> str:
    """The text of a file; one that is not UTF-8 is refused."""
    place = checked_file(path)
    try:
        return place.read_bytes().decode(encoding)
    except UnicodeDecodeError as error:
        message = (
            f"{str(place)!r} is not text in UTF-8 ({error.reason} at byte {error.start}): save it"
            " in UTF-8."
        )
        raise InputError(message) from error
    except OSError as error:
        message = f"{str(place)!r} cannot be read ({error.strerror}): check its permissions."
        raise InputError(message) from error
