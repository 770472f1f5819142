# SPDX-License-Identifier: Apache-2.0
"""The number of BLAS threads: one during a step, on which small matrices run fastest.

With one thread results are also the same every time. The limit is lifted when the step ends, so
the user's objective keeps its threads.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


@cache
def _controller() -> Any:  # noqa: ANN401  threadpoolctl has no types
    import scipy.linalg  # noqa: F401  its BLAS must be loaded before the pools are listed
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


def one_blas_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread; what was set before is restored after."""
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limit


def single_threaded(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function under ``one_blas_thread``."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with one_blas_thread():
            return function(*args, **kwargs)

    return limited
