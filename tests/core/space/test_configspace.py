# SPDX-License-Identifier: Apache-2.0
"""Spaces of ConfigSpace are read as they are: what it allows we allow, and the reverse."""

import numpy as np
import pytest

from stopwise.core.space import as_domain
from stopwise.core.space.configspace import is_configspace
from stopwise.errors import InputError
from tests.support.configspaces import boosters, cs


def test_what_one_allows_the_other_allows():
    theirs = boosters()
    assert is_configspace(theirs)
    domain = as_domain(theirs)
    for drawn in theirs.sample_configuration(100):
        row = {
            name: value.item() if hasattr(value, "item") else value
            for name, value in drawn.items()
        }
        [back] = domain.decode(domain.encode(row))
        assert back == pytest.approx(row)
    for row in domain.decode(domain.sobol(100, np.random.default_rng(0))):
        cs.Configuration(theirs, values=row).check_valid_configuration()


def test_what_cannot_be_read_is_refused():
    space = cs.ConfigurationSpace()
    a, b, x = cs.Categorical("a", [1, 2]), cs.Categorical("b", [1, 2]), cs.Float("x", (0, 1))
    space.add([a, b, x])
    space.add(cs.OrConjunction(cs.EqualsCondition(x, a, 1), cs.EqualsCondition(x, b, 1)))
    with pytest.raises(InputError, match="values of one parameter or of another"):
        as_domain(space)
    unbounded = cs.ConfigurationSpace()
    unbounded.add(cs.Integer("n", (0, 10**6)), y := cs.Float("y", (0, 1)))
    unbounded.add(cs.GreaterThanCondition(y, unbounded["n"], 5))
    with pytest.raises(InputError, match="too many values"):
        as_domain(unbounded)
