# SPDX-License-Identifier: Apache-2.0
"""scipy's ``blas`` and ``lapack``, loaded at first use.

Importing scipy.linalg takes twice as long as importing numpy, and the first suggestions of a study
need none of it. Its BLAS is limited like those that are loaded already, also in the middle of a
step.
"""

from __future__ import annotations

from typing import Any

from stopwise.core.numerics.threads import limit_new_libraries


def __getattr__(name: str) -> Any:  # noqa: ANN401  scipy has no types
    """The module of a name, once: from then on it is an attribute like any other."""
    if name not in ("blas", "lapack"):
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    import scipy.linalg

    globals().update(blas=scipy.linalg.blas, lapack=scipy.linalg.lapack)
    limit_new_libraries()
    return globals()[name]
