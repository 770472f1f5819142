# SPDX-License-Identifier: Apache-2.0
"""Random streams of the experiments: each is a function of a seed and a purpose.

The committed trajectories depend on these numbers, so they are made here, from numpy alone.
"""

from __future__ import annotations

import hashlib

import numpy as np


def stream(seed: int, purpose: str) -> np.random.Generator:
    """The generator for a purpose: the objective, the initial design, the search for the optimum.

    Example:
        >>> bool(stream(0, "objective").random() == stream(0, "objective").random())
        True
    """
    digest = hashlib.blake2b(purpose.encode(), digest_size=8).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "little")])
