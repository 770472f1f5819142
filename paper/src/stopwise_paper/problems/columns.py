# SPDX-License-Identifier: Apache-2.0
"""Columns of numbers as candidates: what all tables of recorded runs have in common."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

import stopwise as sw
from stopwise_paper.arrays import Array, Indices


def candidates_of(
    names: tuple[str, ...],
    configs: Array,
    *,
    linear: Collection[str] = (),
    space: Mapping[str, Any] | None = None,
) -> tuple[sw.Candidates, Indices]:
    """The candidates, and the row that each was first seen in: equal rows are one candidate.

    Args:
        names: Names of the columns.
        configs: One row a configuration.
        linear: Columns that are not on a log scale.
        space: The parameters; from the ranges of the columns if left out.
    """
    ranges = {
        name: sw.Real(float(column.min()), float(column.max()), log=name not in linear)
        for name, column in zip(names, configs.T, strict=True)
    }
    rows = [dict(zip(names, row, strict=True)) for row in configs.tolist()]
    table = sw.Candidates(rows, space or ranges)
    return table, np.unique(table.index, return_index=True)[1]
