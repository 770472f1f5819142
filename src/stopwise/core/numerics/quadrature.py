# SPDX-License-Identifier: Apache-2.0
"""Gauss-Legendre quadrature in place of differences that cancel.

An integral of a positive function, written as the difference of two values of its antiderivative,
loses digits when the two nearly agree. But then the interval is short beside the scale on which
the function changes, and six nodes integrate it to rounding.
"""

from __future__ import annotations

import numpy as np

# Where an antiderivative grows by less than this fraction, quadrature; the difference loses two
# bits at most elsewhere.
CANCELS = 0.25

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)
UNIT_NODES, UNIT_WEIGHTS = 0.5 * (1.0 + _NODES), 0.5 * _WEIGHTS  # on the interval from 0 to 1
