# SPDX-License-Identifier: Apache-2.0
"""Neighbourhoods: the points that differ from one in a single discrete parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.space.ordinal import Ordinal
from stopwise.core.space.parameters import Categorical, Integer

_FEW = 16  # values of a parameter up to which the alternatives to each are kept


@dataclass(frozen=True, eq=False, slots=True)
class Neighbourhoods:
    """What the discrete parameters of a domain may change to.

    Args:
        discrete: Them, by their indices.
        columns: The columns of each parameter of the domain.
    """

    discrete: Sequence[tuple[int, Integer | Categorical | Ordinal]]
    columns: Sequence[slice]
    _kept: dict[tuple[int, bytes], Array] = field(default_factory=dict, init=False)

    def around(self, here: Array, active: Mask) -> Array:
        """The points that differ from an attainable one, (width,), in one active parameter."""
        moves = [
            (self.columns[index], self._alternatives(index, parameter, here[self.columns[index]]))
            for index, parameter in self.discrete
            if active[index]
        ]
        sizes = [len(alternatives) for _, alternatives in moves]
        around, begin = np.tile(here, (sum(sizes), 1)), 0
        for (columns, alternatives), size in zip(moves, sizes, strict=True):
            around[begin : begin + size, columns] = alternatives
            begin += size
        return around

    def _alternatives(
        self, index: int, parameter: Integer | Categorical | Ordinal, row: Array
    ) -> Array:
        if parameter.n_values > _FEW:
            return parameter.alternatives(row)
        key = (index, row.tobytes())
        if key not in self._kept:
            self._kept[key] = parameter.alternatives(row)
        return self._kept[key]
