# SPDX-License-Identifier: Apache-2.0
"""The search space, and the domain that it encodes to.

A space is what the user writes: a dict of `Real`, `Integer`, `Categorical` and `Ordinal`, or a
table of `Candidates`. A domain is what the models see: points of the unit cube, one per row of a
matrix. `as_domain` turns the one into the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from stopwise.core.space._space_checks import Params
from stopwise.core.space.candidates import Candidates
from stopwise.core.space.configspace import is_configspace, read_configspace
from stopwise.core.space.constraints import (
    Constraint,
    check_choices,
    check_names,
    checked_constraints,
)
from stopwise.core.space.domain import MOST_DRAWN, Mixed
from stopwise.core.space.finite import Finite, grid, is_small, only_allowed
from stopwise.core.space.ordinal import Ordinal
from stopwise.core.space.parameters import Categorical, Integer, Parameter, Real
from stopwise.errors import InputError

__all__ = [
    "Candidates",
    "Categorical",
    "Domain",
    "Finite",
    "Integer",
    "Mixed",
    "Ordinal",
    "Parameter",
    "Params",
    "Real",
    "Space",
    "as_domain",
]

Domain: TypeAlias = Mixed | Finite
Space: TypeAlias = Mapping[str, Parameter] | Candidates | Domain


_FEWEST = 8  # allowed points that there must be among those that are drawn


def as_domain(space: Space, constraints: tuple[Constraint, ...] = ()) -> Domain:
    """Turn a space into the domain that it encodes to.

    Args:
        space: A dict of parameters, a table of candidates, a ``ConfigSpace``, or a domain,
            which is returned as it is.
        constraints: What every configuration must satisfy; one that violates them is not part
            of the domain.

    Returns:
        A `Finite` domain for candidates, and for a dict of only integers and categories with
        at most 100 000 combinations; otherwise a `Mixed` one.

    Example:
        >>> as_domain({"x": Real(0, 1), "n": Integer(1, 9)}).is_box
        False
        >>> len(as_domain({"act": Categorical(["relu", "tanh"]), "n": Integer(1, 9)}))
        18
    """
    if is_configspace(space):
        space, forbidden = read_configspace(space)
        constraints = (*constraints, *checked_constraints(forbidden))
    if isinstance(space, Mixed | Finite | Candidates):
        domain = space.domain if isinstance(space, Candidates) else space
        if not constraints:
            return domain
        check_names(constraints, domain.names)
        if isinstance(domain, Finite):
            return _checked(only_allowed(domain, constraints))
        space = dict(zip(domain.names, domain.parameters, strict=True))
    codec = Mixed.of(space, constraints)
    check_names(constraints, codec.names)
    check_choices(constraints, dict(zip(codec.names, codec.parameters, strict=True)))
    domain = grid(codec) if is_small(codec) else codec
    return _checked(domain) if constraints else domain


def _checked(domain: Domain) -> Domain:
    """The domain, after refusing one in which constraints allow nothing or almost nothing."""
    if isinstance(domain, Finite):
        if not len(domain):
            raise InputError(
                f"the constraints {_listed(domain.codec)} allow no configuration at all; relax "
                "one of them"
            )
        return domain
    allowed = len(domain.sobol(_FEWEST, np.random.default_rng(0)))
    if allowed < _FEWEST:
        raise InputError(
            f"the constraints {_listed(domain)} allow almost nothing: {allowed} of {MOST_DRAWN} "
            "configurations spread over the space. Relax them, or narrow the bounds. Where one is "
            "an equation, as a + b == 1, leave b out and compute it in the objective"
        )
    return domain


def _listed(codec: Mixed) -> str:
    return ", ".join(map(str, codec.constraints))
