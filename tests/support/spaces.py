# SPDX-License-Identifier: Apache-2.0
"""A space with a parameter of each common kind, and when two values are the same."""

from stopwise.core.space import Categorical, Integer, Real

SPACE = {
    "lr": Real(1e-4, 1e-1, log=True),
    "layers": Integer(1, 6),
    "act": Categorical(["relu", "tanh", "gelu"]),
}


def same(given, decoded):
    """Equal and of the same type, so that True is not 1 and 1 is not 1.0."""
    return [type(v) for v in given] == [type(v) for v in decoded] and given == decoded
