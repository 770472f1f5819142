# SPDX-License-Identifier: Apache-2.0
"""Random streams: each is a function of the seed, its purpose and its address.

No generator is carried along and advanced, so resuming a study, or evaluating one more rule,
cannot disturb any other stream.
"""

from __future__ import annotations

import hashlib

import numpy as np


def stream(seed: int, purpose: str, *address: int) -> np.random.Generator:
    """The generator for a purpose at an address (number of observations, trial number, ...).

    Example:
        >>> a, b = stream(0, "thompson", 3), stream(0, "thompson", 3)
        >>> bool(a.random() == b.random() != stream(0, "thompson", 4).random())
        True
    """
    digest = hashlib.blake2b(purpose.encode(), digest_size=8).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "little"), *address])
