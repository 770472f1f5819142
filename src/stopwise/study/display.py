# SPDX-License-Identifier: Apache-2.0
"""The display that a loop drives; the one here shows nothing, ``tools.progress`` has the other."""

from __future__ import annotations

from typing import Self

from stopwise.study import Study
from stopwise.study.result import Result


class Silent:
    """Shows nothing, and costs nothing; the base of displays that show something."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        return None

    def begin(self, study: Study) -> None:
        """A run begins."""

    def changed(self, study: Study) -> None:
        """Something was asked, told or answered."""

    def interrupted(self, running: int) -> None:
        """The run was interrupted while an executor is at work on some trials."""

    def end(self, study: Study, result: Result) -> None:
        """The run is over."""
