# SPDX-License-Identifier: Apache-2.0
"""Laws at one point, and their expected improvement."""

import math

import numpy as np

from stopwise.core.beliefs.laws import Normal


def one(value):
    """An array of one number."""
    return np.array([float(value)])


def normal(mean=0.0, std=1.0):
    """The normal law at one point."""
    return Normal(one(mean), one(std))


def ei(law, level):
    """E max(level - f, 0) at the law's first point."""
    return math.exp(law.log_ei(level).value[0])
