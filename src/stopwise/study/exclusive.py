# SPDX-License-Identifier: Apache-2.0
"""Exclusive calls: a study may be used from several threads, which take turns.

Each public method of a study holds its lock from beginning to end. The lock is re-entrant, since
methods call each other. Before anything else, an event that an interrupted call has begun is
completed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from stopwise.study.context import StudyContext


class Locked(Protocol):
    """An object with a lock around its methods: a study."""

    _lock: AbstractContextManager[object]
    _context: StudyContext


S = TypeVar("S", bound=Locked)
P = ParamSpec("P")
R = TypeVar("R")


def exclusive(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Let one thread at a time be in the methods of a study."""

    @wraps(method)
    def alone(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:  # a lock written in C: no interrupt comes between taking and holding it
            self._context.log.settle()
            with self._context.own_time:
                return method(self, *args, **kwargs)

    return alone
