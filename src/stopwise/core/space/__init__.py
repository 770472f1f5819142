# SPDX-License-Identifier: Apache-2.0
"""The search space, and the domain that it encodes to.

A space is what the user writes: a dict of `Real`, `Integer` and `Categorical`, or a table of
`Candidates`. A domain is what the models see: points of the unit cube, one per row of a
matrix. `as_domain` turns the one into the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from stopwise.core.space.candidates import Candidates
from stopwise.core.space.domain import Mixed, Params
from stopwise.core.space.finite import Finite, grid, is_small
from stopwise.core.space.parameters import Categorical, Integer, Parameter, Real

__all__ = [
    "Candidates",
    "Categorical",
    "Domain",
    "Finite",
    "Integer",
    "Mixed",
    "Parameter",
    "Params",
    "Real",
    "Space",
    "as_domain",
]

Domain: TypeAlias = Mixed | Finite
Space: TypeAlias = Mapping[str, Parameter] | Candidates | Domain


def as_domain(space: Space) -> Domain:
    """Turn a space into the domain that it encodes to.

    Args:
        space: A dict of parameters, a table of candidates, or a domain, which is returned as
            it is.

    Returns:
        A `Finite` domain for candidates, and for a dict of only integers and categories with
        at most 100 000 combinations; otherwise a `Mixed` one.

    Example:
        >>> as_domain({"x": Real(0, 1), "n": Integer(1, 9)}).is_box
        False
        >>> len(as_domain({"act": Categorical(["relu", "tanh"]), "n": Integer(1, 9)}))
        18
    """
    if isinstance(space, Mixed | Finite):
        return space
    if isinstance(space, Candidates):
        return space.domain
    codec = Mixed.of(space)
    return grid(codec) if is_small(codec) else codec
