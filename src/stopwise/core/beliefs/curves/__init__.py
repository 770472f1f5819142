# SPDX-License-Identifier: Apache-2.0
"""Curves: the belief in the final value of evaluations that report in stages."""

from stopwise.core.beliefs.curves.data import CurveData
from stopwise.core.beliefs.curves.fit import CurveFit, fit_curves
from stopwise.core.beliefs.curves.hyperparameters import CurveHyperparameters
from stopwise.core.beliefs.curves.posterior import NEW, CurvePosterior, condition_curves

__all__ = [
    "NEW",
    "CurveData",
    "CurveFit",
    "CurveHyperparameters",
    "CurvePosterior",
    "condition_curves",
    "fit_curves",
]
