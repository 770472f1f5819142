# SPDX-License-Identifier: Apache-2.0
"""The parts of scipy that are used, each loaded at first use: ``blas``, ``lapack`` and others.

They take several times as long to load as numpy does, and the first suggestions of a study need
none of them. The BLAS of scipy is limited like those that were loaded before, also in the middle
of a step.
"""

from __future__ import annotations

import importlib
from typing import Any

from stopwise.core.numerics.threads import limit_new_libraries

_PARTS = {
    "blas": "scipy.linalg.blas",
    "distance": "scipy.spatial.distance",
    "lapack": "scipy.linalg.lapack",
    "special": "scipy.special",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  scipy has no types
    """A part by its name; from then on it is an attribute like any other."""
    if name not in _PARTS:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    part = globals()[name] = importlib.import_module(_PARTS[name])
    limit_new_libraries()
    return part
