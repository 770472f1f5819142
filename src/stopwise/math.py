# SPDX-License-Identifier: Apache-2.0
"""Public special functions: expected improvement and fair values of normal boxes.

Array in, array out, minimisation. The formulas are in ``core/numerics/normal.py``.

Example:
    >>> from stopwise.math import pbgi
    >>> [round(float(g), 3) for g in pbgi(mean=0.0, std=[0.1, 1.0], cost=0.01)]  # doubt is worth
    [-0.09, -1.938]
"""

from stopwise.core.numerics.normal import (
    d_log_h,
    inv_log_h,
    log_ei,
    log_ei_partials,
    log_h,
    pbgi,
    pbgi_partials,
)

__all__ = [
    "d_log_h",
    "inv_log_h",
    "log_ei",
    "log_ei_partials",
    "log_h",
    "pbgi",
    "pbgi_partials",
]
