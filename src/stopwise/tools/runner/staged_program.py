# SPDX-License-Identifier: Apache-2.0
"""A program that reports in stages: it prints a line of JSON at each, and can be paused.

Its standard output is a pipe to the runner, which keeps it in the folder of the trial and looks
for lines that are JSON objects with a step. All other lines are passed over.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from stopwise.tools.runner.config import Config
from stopwise.tools.runner.parameter_passing import OF_STAGES
from stopwise.tools.runner.process import ProgramEnd, RunningProgram, start
from stopwise.tools.runner.trial_files import create

_CHUNK = 65536
_LONGEST = 1 << 20  # bytes of a line; a longer one is no report


@dataclass(slots=True)
class StagedProgram:
    """A program that runs or is paused.

    Args:
        program: The process.
        key: The key of a step in its JSON.
        pipe: The reading end of its standard output.
        copy: The file that its output is kept in.
    """

    program: RunningProgram
    key: str
    pipe: int
    copy: BinaryIO
    _line: bytes = b""
    _ran: float = 0.0  # seconds, before the last pause
    _since: float | None = field(default_factory=time.monotonic)  # None while it is paused

    def seconds(self) -> float:
        """How long it has run, pauses not counted."""
        return self._ran + (0.0 if self._since is None else time.monotonic() - self._since)

    def pause(self) -> None:
        """Stop it where it is; SIGSTOP, for it and all that it has started."""
        if self._since is not None:
            self.program.pause()
            self._ran, self._since = self.seconds(), None

    def go_on(self) -> None:
        """Continue it."""
        if self._since is None:
            self.program.go_on()
            self._since = time.monotonic()

    def answers(self) -> Iterator[dict[str, Any]]:
        """The JSON objects with a step that it has printed since the last call."""
        while chunk := self._read():
            self.copy.write(chunk)
            *lines, self._line = (self._line + chunk).split(b"\n")
            if len(self._line) > _LONGEST:
                self._line = b""
            yield from filter(None, map(self._answer, lines))
        self.copy.flush()

    def last_answer(self) -> Iterator[dict[str, Any]]:
        """What it has printed before its end: the last line may lack its end."""
        yield from self.answers()
        answer, self._line = self._answer(self._line), b""
        if answer is not None:
            yield answer

    def end(self) -> ProgramEnd:
        """End it and wait for that; its supervisor sees to it that it does end."""
        self.program.stop()
        while True:  # the supervisor ends it within seconds, and its pipe with it
            ended = self.program.hear()
            if ended is not None:
                return ended

    def close(self) -> None:
        """Let go of it, once; a program that still runs is killed, paused or not."""
        if self.copy.closed:
            return
        self.program.close()
        os.close(self.pipe)
        self.copy.close()

    def _read(self) -> bytes:
        try:
            return os.read(self.pipe, _CHUNK)
        except BlockingIOError:
            return b""

    def _answer(self, line: bytes) -> dict[str, Any] | None:
        """The line as an object with a step; None if it is anything else."""
        text = line.decode("utf-8", "replace").strip()
        if not text.startswith("{"):
            return None
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            return None
        return answer if isinstance(answer, dict) and self.key in answer else None


def checkpoint_of(config: Config, number: int) -> Path:
    """Where a trial keeps its state from start to start; the program writes it."""
    return config.trials / f"{number:04}.checkpoint"


def start_staged(
    config: Config, number: int, params: Mapping[str, Any], to_step: int
) -> StagedProgram:
    """Start the program of a trial; with a checkpoint it may find where it was."""
    settings = config.stages
    assert settings is not None  # noqa: S101  the caller has seen to it
    more = dict(zip(OF_STAGES, (str(checkpoint_of(config, number)), to_step), strict=True))
    pipe, output = os.pipe()
    os.set_blocking(pipe, False)
    try:
        named = more if settings.names else {}
        program = start(config, number, params, more=named, output=output)
    except BaseException:
        os.close(pipe)
        raise
    finally:
        os.close(output)
    try:
        copy = create(program.folder / "stdout")
    except BaseException:
        program.close()
        os.close(pipe)
        raise
    return StagedProgram(program, settings.key, pipe, copy)
