# SPDX-License-Identifier: Apache-2.0
"""Public special functions: expected improvement and fair values of normal boxes.

Arrays in, arrays out, minimisation.

Example:
    >>> from stopwise.math import pbgi
    >>> [round(float(g), 3) for g in pbgi(mean=0.0, std=[0.1, 1.0], cost=0.01)]  # doubt has value
    [-0.09, -1.938]
"""

from stopwise.core.numerics.normal import log_ei, log_ei_partials, pbgi, pbgi_partials
from stopwise.core.numerics.standard_improvement import d_log_h, inv_log_h, log_h

__all__ = [
    "d_log_h",
    "inv_log_h",
    "log_ei",
    "log_ei_partials",
    "log_h",
    "pbgi",
    "pbgi_partials",
]
