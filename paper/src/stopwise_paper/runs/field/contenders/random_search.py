# SPDX-License-Identifier: Apache-2.0
"""Random search, uniform over the encoded space."""

from __future__ import annotations

import numpy as np

import stopwise as sw
from stopwise_paper.runs.field.contenders.contender import (
    Contender,
    FieldEvaluation,
    Params,
    Setting,
)


class RandomSearch:
    """Draws each configuration on its own: one randomised point of a Sobol sequence is uniform."""

    def __init__(self, setting: Setting) -> None:
        self._domain = sw.space.Mixed.of(setting.space)
        self._rng = np.random.default_rng(setting.seed)

    def ask(self) -> Params:
        """A configuration at random."""
        return self._domain.decode(self._domain.sobol(1, self._rng))[0]

    def tell(self, evaluated: FieldEvaluation) -> None:
        """Nothing is learned."""

    def would_stop(self) -> bool:
        """Never."""
        return False


RANDOM = Contender("random search", RandomSearch, 100, ("numpy",), (20, 50, 100))
