# SPDX-License-Identifier: Apache-2.0
"""Conditional parameters: only what is active counts, and what cannot be is refused."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stopwise.core.space import (
    Candidates,
    Categorical,
    Finite,
    Integer,
    Mixed,
    Ordinal,
    Real,
    as_domain,
)
from stopwise.errors import InputError, InputTypeError

BOOSTERS = {
    "booster": Categorical(["tree", "dart", "linear"]),
    "eta": Real(0.01, 1, log=True),
    "depth": Integer(2, 9, when={"booster": ["tree", "dart"]}),
    "drop": Real(0, 1, when={"booster": "dart"}),
    "norm": Ordinal(["weak", "strong"], when={"booster": ["dart"], "depth": [2, 3, 4]}),
    "kind": Categorical(["a", "b", "c"], when={"norm": ["strong"]}),
}


def expected(params):
    """The names that must be there, from the definition alone."""
    names = {"booster", "eta"}
    if params["booster"] != "linear":
        names.add("depth")
    if params["booster"] == "dart":
        names.add("drop")
        if params["depth"] <= 4:
            names.add("norm")
            if params["norm"] == "strong":
                names.add("kind")
    return names


def all_can_exist(space):
    """Whether each parameter is there for some values of all others: by trying them all."""
    deciding = {name for p in space.values() for name in p.when or ()}
    seen = set()
    for values in itertools.product(*(values_of(space[name]) for name in deciding)):
        chosen = dict(zip(deciding, values, strict=True))
        there = {name for name, p in space.items() if p.when is None}
        for _ in space:  # as many times as the deepest can be
            there |= {
                name
                for name, p in space.items()
                if all(n in there and chosen[n] in values for n, values in (p.when or {}).items())
            }
        seen |= there
    return seen == set(space)


def trees():
    return any_trees().filter(all_can_exist)


@st.composite
def any_trees(draw):
    """A space in which each parameter may depend on earlier ones; listed in any order."""
    space = {}
    for i in range(draw(st.integers(2, 6))):
        when = None
        parents = [name for name, p in space.items() if not isinstance(p, Real)]
        if parents and draw(st.booleans()):
            chosen = draw(st.lists(st.sampled_from(parents), min_size=1, max_size=2, unique=True))
            when = {
                name: draw(
                    st.lists(st.sampled_from(values_of(space[name])), min_size=1, max_size=2)
                )
                for name in chosen
            }
        kind = draw(st.integers(0, 3))
        space[f"p{i}"] = (
            Real(0, 1, when=when),
            Integer(1, 4, when=when),
            Categorical(["a", "b", "c"], when=when),
            Ordinal([1, 10, 100], when=when),
        )[kind]
    return dict(draw(st.permutations(list(space.items()))))


def values_of(parameter):
    return parameter.decode(parameter.attainable())


def points(domain, seed, n=16):
    rng = np.random.default_rng(seed)
    return domain.snap(rng.random((n, domain.width)))


def test_params_contain_only_what_is_active():
    domain = Mixed.of(BOOSTERS)
    rows = domain.decode(domain.sobol(256, np.random.default_rng(0)))
    assert all(row.keys() == expected(row) for row in rows)
    assert len({frozenset(row) for row in rows}) == 5


@settings(max_examples=100)
@given(trees(), st.integers(0, 99))
def test_points_and_params_are_the_same_thing(space, seed):
    domain = Mixed.of(space)
    X = points(domain, seed)
    rows = domain.decode(X)
    assert np.array_equal(domain.encode(rows), X)
    assert np.array_equal(domain.snap(X), X)
    keys = domain.key(X)
    for i, row in enumerate(rows):
        for j, other in enumerate(rows):
            assert (keys[i] == keys[j]) == (row == other)


@settings(max_examples=100)
@given(trees(), st.integers(0, 99))
def test_inactive_columns_have_no_effect(space, seed):
    domain = Mixed.of(space)
    X = points(domain, seed)
    inactive = ~domain.active(X)[:, domain.groups]
    moved = np.where(inactive, np.random.default_rng(seed + 1).random(X.shape), X)
    assert domain.decode(moved) == domain.decode(X)
    assert domain.key(moved) == domain.key(X)
    assert np.array_equal(domain.snap(moved), X)


@settings(max_examples=50)
@given(trees(), st.integers(0, 99))
def test_neighbours_change_one_value_and_what_depends_on_it(space, seed):
    domain = Mixed.of(space)
    for x in points(domain, seed, 4):
        [here] = domain.decode(x[None, :])
        around = domain.neighbours(x)
        assert np.array_equal(domain.snap(around), around)
        for row in domain.decode(around):
            assert row != here
            changed = [n for n in space if n in row and n in here and row[n] != here[n]]
            assert len(changed) == 1
        # Every other value of every active discrete parameter is reached.
        for name, parameter in space.items():
            if name in here and not isinstance(parameter, Real):
                reached = {row.get(name) for row in domain.decode(around)} | {here[name]}
                assert reached >= set(values_of(parameter))


@settings(max_examples=50)
@given(trees())
def test_a_finite_tree_lists_each_configuration_once(space):
    space = {
        name: p if not isinstance(p, Real) else Integer(0, 2, when=p.when)
        for name, p in space.items()
    }
    domain = as_domain(space)
    assert isinstance(domain, Finite)
    rows = domain.decode(domain.points)
    listed = {tuple(sorted(row.items())) for row in rows}
    assert len(listed) == len(rows)
    drawn = domain.codec.decode(points(domain.codec, 3, 64))
    assert {tuple(sorted(row.items())) for row in drawn} <= listed
    assert np.array_equal(domain.encode(rows), domain.points)


def test_an_inactive_parameter_is_in_the_middle():
    space = {
        "on": Categorical([True, False]),
        "k": Categorical(["a", "b", "c"], when={"on": True}),
        "x": Real(0, 8, when={"on": True}),
    }
    [x] = Mixed.of(space).encode({"on": False})
    assert x.tolist() == [0.0, 1.0, 1 / 3, 1 / 3, 1 / 3, 0.5]


def test_a_cycle_is_named():
    space = {
        "z": Real(0, 1),
        "a": Categorical([1, 2], when={"c": [1]}),
        "b": Categorical([1, 2], when={"a": [1]}),
        "c": Categorical([1, 2], when={"b": [1]}),
    }
    with pytest.raises(
        InputError, match="cycle: 'a' depends on 'c' depends on 'b' depends on 'a'; remove"
    ):
        Mixed.of(space)
    with pytest.raises(InputError, match="'a' depends on 'a'"):
        Mixed.of({"a": Integer(1, 2, when={"a": 1})})


def test_a_parameter_that_could_never_exist_is_named():
    tree = {
        "b": Categorical(["x", "y", "z"]),
        "a": Integer(0, 1, when={"b": ["x", "y"]}),
        "c": Integer(0, 1, when={"a": 1}),
    }
    Mixed.of({**tree, "d": Real(0, 1, when={"c": 1, "b": ["y", "z"]})})  # where b is y
    with pytest.raises(InputError, match=r"'d' could never exist: .*different values of 'b'"):
        Mixed.of({**tree, "d": Real(0, 1, when={"c": 1, "b": "z"})})


@settings(max_examples=100)
@given(any_trees())
def test_what_could_never_exist_is_refused_and_nothing_else(space):
    if all_can_exist(space):
        Mixed.of(space)
    else:
        with pytest.raises(InputError, match="could never exist"):
            Mixed.of(space)


def test_a_missing_parent_is_named():
    with pytest.raises(InputError, match=r"'boster'.*did you mean 'booster'"):
        Mixed.of({"booster": Categorical(["a", "b"]), "x": Real(0, 1, when={"boster": ["a"]})})


@pytest.mark.parametrize(
    ("parent", "values", "message"),
    [
        (Real(0, 1), [0.5], "depends on 'p', a Real"),
        (Categorical(["a", "b"]), ["c"], "'x' exists only when 'p' is one of 'c', but .*'a', 'b'"),
        (Integer(1, 3), [7], "outside its bounds"),
        (Integer(1, 3), [1.5], "not a whole number"),
    ],
)
def test_values_that_a_parent_never_has_are_refused(parent, values, message):
    with pytest.raises(InputError, match=message):
        Mixed.of({"p": parent, "x": Real(0, 1, when={"p": values})})


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ([("p", 1)], "when is of type list"),
        ({}, "names no parameter"),
        ({"p": []}, "lists no value"),
        ({3: [1]}, "names of parameters are strings"),
    ],
)
def test_what_is_no_condition_is_refused(when, message):
    for make in (
        lambda: Real(0, 1, when=when),
        lambda: Integer(0, 1, when=when),
        lambda: Categorical(["a"], when=when),
        lambda: Ordinal([1, 2], when=when),
    ):
        with pytest.raises((InputError, InputTypeError), match=message):
            make()


def test_params_that_do_not_fit_the_conditions_are_refused():
    domain = Mixed.of(BOOSTERS)
    with pytest.raises(InputError, match="lack 'depth', which exists because booster is 'tree'"):
        domain.encode({"booster": "tree", "eta": 0.1})
    with pytest.raises(InputError, match="have 'drop', which exists only when booster is 'dart'"):
        domain.encode({"booster": "tree", "eta": 0.1, "depth": 3, "drop": 0.5})
    with pytest.raises(InputError, match="lack 'eta'; give it a value"):
        domain.encode({"booster": "linear"})
    with pytest.raises(InputError, match=r"have 'etta'.*did you mean 'eta'"):
        domain.encode({"booster": "linear", "etta": 0.1})


def test_conditions_can_be_compared_and_are_shown():
    one, same = (Real(0, 1, when={"p": values}) for values in (["a"], ("a",)))
    assert one == same
    assert hash(one) == hash(same)
    assert one != Real(0, 1)
    assert repr(one) == "Real(low=0.0, high=1.0, log=False, when={'p': ('a',)})"
    assert repr(Real(0, 1)) == "Real(low=0.0, high=1.0, log=False)"


def test_a_table_has_no_conditions():
    with pytest.raises(InputError, match="'x' has a condition"):
        Candidates([{"p": 1, "x": 2}], space={"x": Real(0, 4, when={"p": [1]})})


def test_the_size_of_a_space_counts_what_configurations_have():
    drawn = Mixed.of(BOOSTERS)
    rows = drawn.decode(drawn.sobol(4096, np.random.default_rng(5)))
    assert drawn.n_active - 1 < np.mean([len(row) for row in rows]) <= drawn.n_active
    flat = {
        "a": Categorical([1, 2]),
        "b": Real(0, 1, when={"a": 1}),
        "c": Real(0, 1, when={"a": 2}),
    }
    assert Mixed.of(flat).n_active == 2
