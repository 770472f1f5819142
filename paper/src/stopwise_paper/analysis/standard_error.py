# SPDX-License-Identifier: Apache-2.0
"""The standard error of a mean."""

from __future__ import annotations

import math

import numpy as np

from stopwise_paper.arrays import Array


def standard_error(values: Array) -> Array:
    """The standard error of the mean over the first axis; nan for a single value."""
    if len(values) < 2:
        return np.full(values.shape[1:], math.nan)
    return np.asarray(values.std(axis=0, ddof=1) / math.sqrt(len(values)))
