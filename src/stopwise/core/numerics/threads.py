# SPDX-License-Identifier: Apache-2.0
"""The number of BLAS threads: one during a step, on which small matrices run fastest.

With one thread results are also the same every time. The limit is lifted when the step ends, so
the user's objective keeps its threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


@cache
def _controller() -> Any:  # noqa: ANN401  threadpoolctl has no types
    from threadpoolctl import ThreadpoolController

    _keep_freed_memory()
    return ThreadpoolController()


def _keep_freed_memory() -> None:
    """Have malloc keep blocks of up to 32 MB that are freed, instead of giving them back at once.

    Models of some hundred points allocate megabytes in every evaluation, and the page faults cost
    as much as the algebra. glibc raises its threshold when a large block is freed; this one is
    never written to.
    """
    np.empty(4_000_000)


class _Limit:
    """The limit to one thread, shared by all calls that need it.

    Most BLAS libraries have one number of threads for the whole process. If each of several
    overlapping calls restored what it had found, the last would restore the limit of another. So
    the first in saves and limits, and the last out restores. (Those on OpenMP have a number for
    each thread of the process, so each call limits and restores that as well.)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: dict[object, Any] = {}  # with the limiters of their own threads
        self._saved: list[Any] = []  # limiters of the process, which know what was set before

    def enter(self, user: object) -> None:
        controller = _controller()
        own = controller.select(threading_layer="openmp").limit(limits=1)
        with self._lock:
            self._users[user] = own
            if not self._saved:
                self._limit(controller)

    def _limit(self, controller: Any) -> None:  # noqa: ANN401  threadpoolctl has no types
        self._saved.append(controller.limit(limits=1, user_api="blas"))
        _let_others_set_it(controller)

    def include_new_libraries(self) -> None:
        """Look for libraries again; if there is a limit now, it holds for new ones too."""
        _controller.cache_clear()
        with self._lock:
            if self._users:
                self._limit(_controller())

    def leave(self, user: object) -> None:
        """Restore what is to be restored; also for a user whose entering was interrupted."""
        with self._lock:
            own = self._users.pop(user, None)
            if self._saved and not self._users:
                saved, self._saved = self._saved, []
                for limiter in reversed(saved):
                    limiter.restore_original_limits()
                _let_others_set_it(_controller())
        if own is not None:
            own.restore_original_limits()


def _let_others_set_it(controller: Any) -> None:  # noqa: ANN401  threadpoolctl has no types
    """Let any thread set the number next: since 3.8 threadpoolctl obeys one thread alone."""
    for library in controller.lib_controllers:
        getattr(library, "clear_controlling_thread", bool)()


_LIMIT = _Limit()


def limit_new_libraries() -> None:
    """To be called when a BLAS library was loaded, maybe within ``one_blas_thread``."""
    _LIMIT.include_new_libraries()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which BLAS uses one thread, in the whole process.

    Contexts may overlap, in one thread or in several: when the last of them ends, what was set
    before the first is restored.
    """
    user = object()
    try:
        _LIMIT.enter(user)
        yield
    finally:
        _LIMIT.leave(user)


def single_threaded(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function under ``one_blas_thread``."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with one_blas_thread():
            return function(*args, **kwargs)

    return limited
