# SPDX-License-Identifier: Apache-2.0
"""The configuration that is best to start, by an acquisition.

A trial may differ from its neighbours, and from another trial of its configuration, by a deviation
of its own. So a score does not fall towards configurations that were begun, and is often highest
at one of them; a search that may not go there creeps up to it. In one and two dimensions one is
made as if nothing had been begun, and if it ends at a configuration that was, the answer is beside
it, as close as may be.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.search.narrow_hills import FEW
from stopwise.core.search.score import nan_excluded
from stopwise.core.snapshot import Bindable, Snapshot
from stopwise.core.space import Finite
from stopwise.core.space.domain import SAME

_BESIDE = 1.01 * SAME * 1.25 ** np.arange(32)  # distances, up to a thousandth


def best_start(snapshot: Snapshot, acquisition: Bindable) -> Array | None:
    """The configuration, encoded, at which a score is highest of all that were not begun."""
    domain = snapshot.domain
    if isinstance(domain, Finite) or not domain.is_box or domain.d > FEW:
        return snapshot.sup(acquisition).x
    free = replace(snapshot, pending=snapshot.pending[:0], replicates=True)
    x = free.sup(acquisition).x
    if x is None or not snapshot.taken(x[None, :]).any():
        return x
    X = _beside(x)
    X = X[~snapshot.taken(X) & domain.allowed(X)]
    if not len(X):
        return snapshot.sup(acquisition).x
    return np.asarray(X[np.argmax(nan_excluded(acquisition.bind(free)(X)))])


def _beside(x: Array) -> Array:
    """Points that differ from one in one parameter, by some distances."""
    moves = np.vstack([np.eye(x.size), -np.eye(x.size)])
    return np.asarray(np.clip(x + (_BESIDE[:, None, None] * moves).reshape(-1, x.size), 0.0, 1.0))
