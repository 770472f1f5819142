# SPDX-License-Identifier: Apache-2.0
"""One start of the program: its folder, its supervisor, and how it ended."""

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
from stopwise.tools.runner.passing import arguments, filled, own_values, variables

Stamp = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    Args:
        why: ``"ended"`` by itself, ``"timeout"``, ``"stopped"`` by the runner; ``"terminated"`` or
            ``"lost"`` when somebody else ended its supervisor; ``"unstartable"`` if it never ran.
        exit_code: Negative for a signal.
        seconds: From its start to its end.
        message: Why it could not be started.
    """

    why: str
    exit_code: int
    seconds: float
    message: str = ""


@dataclass(slots=True)
class Running:
    """A program that runs: where its output goes, and the two pipes to its supervisor."""

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

    def hear(self) -> Ended | None:
        """Read what the supervisor says; how the program ended, once it has."""
        heard = os.read(self.status, 65536)
        self._heard += heard
        return None if heard else self._ended()

    def stop(self) -> None:
        """Ask the supervisor to end the program."""
        with contextlib.suppress(OSError):
            os.write(self.life, b"x")

    def close(self) -> None:
        """Let go of the pipes; a program that still runs is killed by its supervisor."""
        for fd in (self.life, self.status):
            with contextlib.suppress(OSError):
                os.close(fd)
        self.process.wait()

    def _ended(self) -> Ended:
        told: dict[str, Any] = {}
        for line in self._heard.splitlines():
            told |= json.loads(line)
        if "error" in told:
            return Ended("unstartable", 127, told.get("seconds", 0.0), str(told["error"]))
        if "exit" not in told:
            return Ended("lost", -9, time.monotonic() - self.begun)
        return Ended(told["why"], told["exit"], told["seconds"])


def start(config: Config, number: int, params: Mapping[str, Any]) -> Running:
    """Start the program for one trial, with its output into a new folder."""
    folder = _new_folder(config.trials, number)
    own = own_values(str(folder), number)
    argv = arguments(config.command, config.channel, params, own)
    where = config.path.parent / filled(config.directory, own)
    result_file = None if config.value.file is None else where / filled(config.value.file, own)
    before = stamp(result_file)
    record = folder / "params.json"
    record.write_text(json.dumps(dict(params)) + "\n", encoding="utf-8")
    life, life_of_us = os.pipe()
    status_of_us, status = os.pipe()
    try:
        with (
            (record if config.channel == "stdin" else Path(os.devnull)).open("rb") as stdin,
            (folder / "stdout").open("wb") as stdout,
            (folder / "stderr").open("wb") as stderr,
        ):
            process = subprocess.Popen(  # noqa: S603  the user's own command, without a shell
                [
                    *(sys.executable, "-I", "-S", supervisor.__file__),
                    *(str(life), str(status), repr(config.timeout or 0.0)),
                    *argv,
                ],
                cwd=where,
                env={**os.environ, **config.environment, **variables(config.channel, params, own)},
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(life, status),
                start_new_session=True,
            )
    except BaseException:
        os.close(life_of_us)
        os.close(status_of_us)
        raise
    finally:
        os.close(life)
        os.close(status)
    begun = time.monotonic()
    return Running(folder, result_file, before, process, life_of_us, status_of_us, begun)


def stamp(file: Path | None) -> Stamp:
    """What tells a file that was written since from one that was there before."""
    try:
        found = file.stat() if file else None
    except OSError:
        return None
    return found and (found.st_mtime_ns, found.st_size, found.st_ino)


def _new_folder(trials: Path, number: int) -> Path:
    """``0007``, or ``0007-2`` if the trial was started before: no output is overwritten."""
    start = 1
    while True:
        folder = trials / (f"{number:04}" if start == 1 else f"{number:04}-{start}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            start += 1
        else:
            return folder
