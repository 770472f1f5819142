# SPDX-License-Identifier: Apache-2.0
"""Utilities: what a value of the objective is worth, in the currency of costs.

``Study(..., utility=sw.utility.piecewise([(0.9, 0), (0.95, 1000)]))``. Gains, fair values and
verdicts are then in that currency, and ``lam`` is 1 unless it is given.

Example:
    >>> import stopwise as sw
    >>> ready = sw.utility.sigmoid(at=90, width=2, height=1000, unit="dollars")
    >>> study = sw.Study({"x": sw.Real(0, 1)}, direction="maximize", utility=ready)
    >>> study.options.lam
    1.0
"""

from stopwise.core.beliefs.utilities import (
    UTILITIES,
    Custom,
    Linear,
    OwnUtility,
    Piecewise,
    Sigmoid,
    Threshold,
    Utility,
)

__all__ = [
    "UTILITIES",
    "OwnUtility",
    "Utility",
    "custom",
    "linear",
    "piecewise",
    "sigmoid",
    "threshold",
]

sigmoid, threshold, piecewise, linear, custom = Sigmoid, Threshold, Piecewise, Linear, Custom
