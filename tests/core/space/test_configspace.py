# SPDX-License-Identifier: Apache-2.0
"""Spaces of ConfigSpace are read as they are: what it allows we allow, and the reverse."""

import itertools

import numpy as np
import pytest

from stopwise.core.space import as_domain
from stopwise.core.space._forbidden import constraints_of
from stopwise.core.space.configspace import is_configspace, read_configspace
from stopwise.core.space.constraints import checked_constraints
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


def forbidding(*clauses):
    """A space in which y exists for x = p only, and small orders; with clauses about it."""
    space = cs.ConfigurationSpace()
    parts = {
        "x": cs.Categorical("x", ["p", "q"]),
        "y": cs.Integer("y", (0, 9)),
        "z": cs.Integer("z", (0, 9)),
        "size": cs.OrdinalHyperparameter("size", ["s", "m", "l"]),
        "k": cs.OrdinalHyperparameter("k", [4, 1, 2]),
    }
    space.add(*parts.values())
    space.add(cs.EqualsCondition(parts["y"], parts["x"], "p"))
    for clause in clauses:
        space.add(clause(**parts))
    return space


FREE = [
    dict(zip(("z", "size", "k"), row, strict=True))
    for row in itertools.product(range(10), "sml", (4, 1, 2))
]
ROWS = [{"x": "q", **row} for row in FREE]
ROWS += [{"x": "p", "y": y, **row} for row in FREE for y in range(10)]


@pytest.mark.parametrize(
    "clause",
    [
        lambda y, z, **_: cs.ForbiddenOrConjunction(
            cs.ForbiddenEqualsClause(y, 3), cs.ForbiddenEqualsClause(z, 5)
        ),
        lambda x, y, z, k, **_: cs.ForbiddenAndConjunction(
            cs.ForbiddenOrConjunction(
                cs.ForbiddenEqualsClause(y, 3), cs.ForbiddenEqualsClause(x, "q")
            ),
            cs.ForbiddenOrConjunction(
                cs.ForbiddenInClause(z, [5, 6]), cs.ForbiddenEqualsClause(k, 1)
            ),
        ),
        lambda y, **_: cs.ForbiddenLessThanClause(y, 3),
        lambda y, **_: cs.ForbiddenLessThanEqualsClause(y, 3),
        lambda z, **_: cs.ForbiddenGreaterThanClause(z, 3),
        lambda z, **_: cs.ForbiddenGreaterThanEqualsClause(z, 3),
        lambda size, **_: cs.ForbiddenLessThanClause(size, "m"),
        lambda size, **_: cs.ForbiddenGreaterThanEqualsClause(size, "m"),
        lambda size, **_: cs.ForbiddenGreaterThanClause(size, "l"),  # nothing
        lambda k, **_: cs.ForbiddenGreaterThanClause(k, 4),
        lambda k, **_: cs.ForbiddenLessThanEqualsClause(k, 1),
        lambda y, z, **_: cs.ForbiddenLessThanRelation(y, z),
        lambda y, z, **_: cs.ForbiddenLessThanEqualsRelation(y, z),
        lambda y, z, **_: cs.ForbiddenGreaterThanRelation(y, z),
        lambda y, z, **_: cs.ForbiddenGreaterThanEqualsRelation(y, z),
        lambda y, z, **_: cs.ForbiddenEqualsRelation(y, z),
        lambda k, z, **_: cs.ForbiddenLessThanRelation(k, z),
    ],
)
def test_what_a_clause_forbids_is_forbidden_and_nothing_else(clause):
    theirs = forbidding()
    forbids = clause(**theirs)
    parameters, _ = read_configspace(theirs)
    constraints = checked_constraints(constraints_of(forbids, parameters))
    for row in ROWS:
        allowed = all(c.holds(row, parameters) for c in constraints)
        assert allowed != forbids.is_forbidden_value(row), row


def test_long_lists_are_split():
    space = cs.ConfigurationSpace()
    a, b = cs.Integer("a", (0, 10**6)), cs.Integer("b", (0, 10**6))
    space.add(a, b)
    lists = [list(range(0, 900, 3)), list(range(100))]
    space.add(cs.ForbiddenInClause(a, range(2000)))
    space.add(
        cs.ForbiddenAndConjunction(*map(cs.ForbiddenInClause, (a, b), lists)),
    )
    _, texts = read_configspace(space)
    assert max(map(len, texts)) <= 1000
    constraints = checked_constraints(texts)
    for row in ({"a": 1999, "b": 5}, {"a": 3, "b": 99}, {"a": 0, "b": 0}):
        assert not all(c.holds(row, "ab") for c in constraints)
    assert all(c.holds({"a": 2000, "b": 5}, "ab") for c in constraints)


def test_labels_compared_by_size_and_unknown_clauses_are_refused():
    def by_size(x, size, **_):
        return cs.ForbiddenLessThanRelation(size, x)

    with pytest.raises(InputError, match=r"compares 'size' by size.*Forbid pairs"):
        as_domain(forbidding(by_size))

    class ForbiddenOddClause(cs.ForbiddenEqualsClause):
        """What a later version may have."""

    with pytest.raises(InputError, match="ForbiddenOddClause, cannot be read; clauses and"):
        as_domain(forbidding(lambda z, **_: ForbiddenOddClause(z, 3)))
