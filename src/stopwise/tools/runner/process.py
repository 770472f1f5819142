# SPDX-License-Identifier: Apache-2.0
"""The process of one trial: its folder, its supervisor, and how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stopwise.tools.runner import supervisor
from stopwise.tools.runner.config import Config
from stopwise.tools.runner.parameter_passing import arguments, builtin_values, filled, variables
from stopwise.tools.runner.trial_files import create

_UNBUFFERED = {"PYTHONUNBUFFERED": "1"}  # what a Python program prints is seen at once

Stamp = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How a program ended.

    Args:
        why: ``"ended"`` by itself, ``"timeout"``, ``"stopped"`` by the runner; ``"terminated"`` or
            ``"lost"`` when somebody else ended its supervisor, gently or by SIGKILL;
            ``"unstartable"`` if it never ran.
        exit_code: Negative for a signal.
        seconds: From its start to its end.
        message: Why it could not be started.
    """

    why: str
    exit_code: int
    seconds: float
    message: str = ""


@dataclass(slots=True)
class RunningProgram:
    """A program that runs: its output files, and the two pipes to its supervisor.

    Args:
        folder: Where its output goes.
        result_file: The file it writes its result to; None for standard output.
        written_before: The stamp of that file before the start.
        process: The supervisor.
        life: A pipe to the supervisor: a byte ends, pauses or continues the program, closing it
            kills the program.
        status: A pipe from the supervisor, which tells how the program ended.
        begun: When it started, on the monotonic clock.
    """

    folder: Path
    result_file: Path | None
    written_before: Stamp
    process: subprocess.Popen[bytes]
    life: int
    status: int
    begun: float
    _heard: bytes = b""

    def fileno(self) -> int:
        """Becomes readable when there is something to ``hear``."""
        return self.status

    def hear(self) -> ProgramEnd | None:
        """Read from the supervisor; how the program ended, once it has."""
        heard = os.read(self.status, 65536)
        self._heard += heard
        return None if heard else self._ended()

    def stop(self) -> None:
        """Ask the supervisor to end the program."""
        self._request(supervisor.END)

    def pause(self) -> None:
        """Ask the supervisor to stop the program where it is."""
        self._request(supervisor.PAUSE)

    def go_on(self) -> None:
        """Ask the supervisor to continue a program that is paused."""
        self._request(supervisor.GO_ON)

    def _request(self, byte: bytes) -> None:
        with contextlib.suppress(OSError):
            os.write(self.life, byte)

    def close(self) -> None:
        """Let go of the pipes; a program that still runs is killed by its supervisor."""
        for fd in (self.life, self.status):
            with contextlib.suppress(OSError):
                os.close(fd)
        self.process.wait()

    def _ended(self) -> ProgramEnd:
        told: dict[str, Any] = {}
        for line in self._heard.splitlines():
            told |= json.loads(line)
        if "error" in told:
            return ProgramEnd("unstartable", 127, told.get("seconds", 0.0), str(told["error"]))
        if "exit" not in told:
            return ProgramEnd("lost", -9, time.monotonic() - self.begun)
        return ProgramEnd(told["why"], told["exit"], told["seconds"])


def start(
    config: Config,
    number: int,
    params: Mapping[str, Any],
    *,
    more: Mapping[str, Any] | None = None,
    output: int | None = None,
) -> RunningProgram:
    """Start the program for one trial, with its output into a new folder.

    Args:
        config: The configuration.
        number: Number of the trial.
        params: Its configuration.
        more: What the command may mention besides.
        output: A file descriptor for its standard output, instead of a file in the folder.
    """
    folder = _new_folder(config.trials, number)
    builtin = builtin_values(str(folder), number, more)
    where = config.path.parent / filled(config.directory, builtin)
    result_file = None if config.value.file is None else where / filled(config.value.file, builtin)
    before = stamp(result_file)
    record = _written(params, folder)
    unbuffered = {} if output is None else _UNBUFFERED
    own_variables = variables(config.channel, params, builtin)
    life, life_of_us = os.pipe()
    status_of_us, status = os.pipe()
    try:
        process = _spawn(
            [
                *(str(life), str(status), repr(config.timeout or 0.0)),
                *arguments(config.command, config.channel, params, builtin),
            ],
            directory=where,
            variables={**unbuffered, **config.environment, **own_variables},
            stdin=record if config.channel == "stdin" else Path(os.devnull),
            folder=folder,
            output=output,
            pipes=(life, status),
        )
    except BaseException:
        os.close(life_of_us)
        os.close(status_of_us)
        raise
    finally:
        os.close(life)
        os.close(status)
    begun = time.monotonic()
    return RunningProgram(folder, result_file, before, process, life_of_us, status_of_us, begun)


def _written(params: Mapping[str, Any], folder: Path) -> Path:
    record = folder / "params.json"
    with create(record) as file:
        file.write(json.dumps(dict(params)).encode() + b"\n")
    return record


def _spawn(
    argv: list[str],
    *,
    directory: Path,
    variables: Mapping[str, str],
    stdin: Path,
    folder: Path,
    output: int | None,
    pipes: tuple[int, int],
) -> subprocess.Popen[bytes]:
    """Start a supervisor, in a session of its own and with these pipes left open."""
    with (
        stdin.open("rb") as input_file,
        create(folder / "stdout") if output is None else os.fdopen(os.dup(output), "wb") as stdout,
        create(folder / "stderr") as stderr,
    ):
        return subprocess.Popen(  # noqa: S603  the user's own command, without a shell
            [sys.executable, "-I", "-S", supervisor.__file__, *argv],
            cwd=directory,
            env={**os.environ, **variables},
            stdin=input_file,
            stdout=stdout,
            stderr=stderr,
            pass_fds=pipes,
            start_new_session=True,
        )


def stamp(file: Path | None) -> Stamp:
    """Time, size and inode of a file, which change when it is written again; None if missing."""
    try:
        stat = file.stat() if file else None
    except OSError:
        return None
    return stat and (stat.st_mtime_ns, stat.st_size, stat.st_ino)


def _new_folder(trials: Path, number: int) -> Path:
    """``0007``, or ``0007-2`` if the trial was started before: no output is overwritten."""
    start = 1
    while True:  # ends at the first number that is not taken
        folder = trials / (f"{number:04}" if start == 1 else f"{number:04}-{start}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            start += 1
        else:
            return folder
