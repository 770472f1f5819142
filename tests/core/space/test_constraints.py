# SPDX-License-Identifier: Apache-2.0
"""Known constraints: expressions mean what Python means by them, and nothing else is run."""

import ast
import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stopwise.core.space import Candidates, Categorical, Integer, Ordinal, Real, as_domain
from stopwise.core.space.constraints import checked_constraints
from stopwise.core.space.expressions import parsed
from stopwise.errors import InputError, InputTypeError

FUNCTIONS = {n: getattr(math, n) for n in ("log", "exp", "sqrt")}
NUMBER = st.one_of(st.sampled_from(["a", "b", "n"]), st.integers(0, 9).map(str))


def arithmetic(inner):
    binary = st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner)
    return st.one_of(
        binary.map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]})"
        ),
        st.tuples(st.sampled_from(["abs", "sqrt", "exp", "log", "-"]), inner).map(
            lambda t: f"{t[0]}({t[1]})"
        ),
        inner.map(lambda t: f"({t}) ** 2"),
    )


TERMS = st.recursive(NUMBER, arithmetic, max_leaves=5)
COMPARED = st.tuples(TERMS, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), TERMS, TERMS).map(
    lambda t: f"{t[0]} {t[1]} {t[2]} <= {t[3]}"
)
LOGIC = st.recursive(
    COMPARED,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"
        ),
        inner.map(lambda t: f"not ({t})"),
    ),
    max_leaves=3,
)


PYTHON = {"__builtins__": {}, "min": min, "max": max, "abs": abs, **FUNCTIONS}


@settings(max_examples=300)
@given(LOGIC, st.floats(-9, 9), st.floats(-9, 9), st.integers(-5, 5))
def test_an_expression_means_what_python_means(text, a, b, n):
    params = {"a": a, "b": b, "n": n}
    assume(not any(rounding_decides(node, params) for node in ast.walk(ast.parse(text))))
    try:
        wanted = eval(text, PYTHON, params)  # noqa: S307  of a text made here
    except (ArithmeticError, ValueError):
        wanted = False
    expression = parsed(text)
    assert expression.evaluate(params) is wanted
    assert expression.names == {name for name in "abn" if name in _words(text)}


def rounding_decides(node, params):
    """Whether sides of a comparison are close, but not equal, for the numbers they are made of."""
    if not isinstance(node, ast.Compare):
        return False

    def value(part):
        try:
            found = eval(ast.unparse(part), PYTHON, params)  # noqa: S307  of a text made here
        except (ArithmeticError, ValueError):
            return 0.0
        return 0.0 if callable(found) else found

    made_of = [
        part for part in ast.walk(node) if isinstance(part, ast.BinOp | ast.Call | ast.Name)
    ]
    sides = map(value, (node.left, *node.comparators))
    slack = 1e-10 * max((abs(value(part)) for part in made_of), default=0.0)
    return any(0 < abs(x - y) <= slack for x, y in itertools.pairwise(sides))


def on_the_wall():
    """Every mixture of three parts in whole percent, in the decimals that a person types."""
    return [(a / 100, b / 100, (100 - a - b) / 100) for a in range(101) for b in range(101 - a)]


@pytest.mark.parametrize(
    "text",
    [
        "a + b + c <= 1",
        "a + b + c - 1 <= 0",
        "1 - a - b - c >= 0",
        "c <= 1 - (a + b)",
        "0 <= 100 - 100 * a - 100 * b - 100 * c <= 100",
        "a + b + c == 1",
        "not (a + b + c != 1)",
        "1 >= c + b + a",
    ],
)
def test_rounding_does_not_put_a_mixture_beyond_its_wall(text):
    holds = parsed(text).evaluate
    assert all(holds(dict(zip("abc", mixture, strict=True))) for mixture in on_the_wall())
    assert not holds({"a": 0.33, "b": 0.56, "c": 0.11 + 1e-9})


@pytest.mark.parametrize(
    ("text", "params", "holds"),
    [
        ("a + b + c < 1", {"a": 0.33, "b": 0.56, "c": 0.11}, False),
        ("a < 0.3", {"a": 0.1 + 0.2}, False),
        ("a > 0.3", {"a": 0.1 + 0.2}, True),
        ("a != 0.3", {"a": 0.1 + 0.2}, False),
        ("a <= 0", {"a": 1e-300}, False),
        ("a >= 0.1", {"a": 0.1 * (1 - 1e-11)}, False),
        ("a >= 0.1", {"a": 0.1 * (1 - 1e-13)}, True),
        ("n <= 1000000000000", {"n": 10**12 + 1}, False),  # whole numbers are exact
        ("n * n <= 1.5", {"n": 10**200}, False),  # too large for a float
        ("a <= 1", {"a": math.inf}, False),
        ("a == a", {"a": math.inf}, True),
        ("kind == 1.5", {"kind": "x"}, False),
        ("kind == 1.5", {"kind": None}, False),
    ],
)
def test_rounding_decides_nothing_else(text, params, holds):
    assert parsed(text).evaluate(params) is holds


def _words(text):
    return set("".join(c if c.isalnum() else " " for c in text).split())


@pytest.mark.parametrize(
    ("text", "params", "holds"),
    [
        ("kind == 'x' or a < 1", {"kind": "x", "a": 3}, True),
        ("kind in ['x', 'y']", {"kind": "z"}, False),
        ("kind not in ('x', 'y')", {"kind": "z"}, True),
        ("not flag", {"flag": False}, True),
        ("0 <= a < 1", {"a": 1.0}, False),
        ("1 / a < 3", {"a": 0.0}, False),
        ("log(a) < 3", {"a": -1.0}, False),
        ("(-a) ** 0.5 < 9", {"a": 2.0}, False),
        ("10 ** n < 9", {"n": 10**12}, False),
        ("kind == None", {"kind": None}, True),
    ],
)
def test_what_holds_and_what_cannot_be_computed_does_not(text, params, holds):
    assert parsed(text).evaluate(params) is holds


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "a.real < 1",
        "p['a'] < 1",
        "(lambda: 1)() < 2",
        "[x for x in a] == []",
        "open('f') == 1",
        "a if b else c",
        "f'{a}' == 'x'",
        "a := 3",
        "1j < a",
        "a @ b < 1",
        "~a < 1",
        "a is b",
        "max(*a) < 1",
        "max() < 1",
        "min(a, key=b) < 1",
        "a; b",
        "",
        "a <",
        "a" * 1001,
        "(" * 300 + "a" + ")" * 300,
        "a < 1 \x00",
    ],
)
def test_nothing_else_is_an_expression(text):
    with pytest.raises(InputError):
        parsed(text)


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("kind == 'x' or 'y'", "write kind == 'y', or kind in ['x', 'y']"),
        ("n == 1 or 2", "write n == 2, or n in [1, 2]"),
        ("0 < n <= 1 or 2 or n > 5", "write n <= 2"),
        ("`svm/C` != 1 and -2", "write `svm/C` != -2"),
        ("a <= 1 and (b + 1)", "write a <= b + 1"),
        ("'x' or kind == 'x'", "compare it"),
        ("kind in ['x'] or ['y']", "compare it"),
        ("not (a - b)", "compare it"),
        ("a + b", "must give True or False"),
        ("'x'", "must give True or False"),
        ("-a", "must give True or False"),
    ],
)
def test_what_is_no_truth_value_is_refused_with_what_to_write(text, instead):
    with pytest.raises(InputTypeError, match=re.escape(instead)):
        parsed(text)


@pytest.mark.parametrize(
    "text", ["a <= 0.5 and a", "not a", "kind == 'x' or kind", "a < 0 or max(a, b)"]
)
def test_a_parameter_that_is_no_truth_value_is_refused(text):
    with pytest.raises(InputTypeError, match=r"takes .* for true or false, and it is .* compare"):
        as_domain(SPACE, checked_constraints(text))


def test_flags_are_truth_values():
    space = {"b": Categorical([True, False]), "n": Integer(0, 1), "m": Categorical([1, 0])}
    domain = as_domain(space, checked_constraints(["b or not n", "m and True or n"]))
    found = [(row["b"], row["n"], row["m"]) for row in domain.decode(domain.points)]
    flags = itertools.product([True, False], [0, 1], [1, 0])
    assert sorted(found) == sorted(f for f in flags if (f[0] or not f[1]) and (f[2] or f[1]))


def test_texts_and_numbers_are_not_mixed():
    with pytest.raises(InputError, match="cannot be computed for"):
        parsed("kind + 1 < 3").evaluate({"kind": "x"})
    with pytest.raises(InputError, match="'x' is no number"):
        parsed("kind * 1000000 == 'y'").evaluate({"kind": "x"})


SPACE = {"a": Real(0, 1), "b": Real(0, 1), "kind": Categorical(["x", "y"])}


def test_points_of_a_constrained_space_satisfy_it():
    constraints = checked_constraints(["a + b <= 0.4", lambda p: p["kind"] == "x"])
    domain = as_domain(SPACE, constraints)
    rows = domain.decode(domain.sobol(200, np.random.default_rng(0)))
    assert len(rows) == 200
    assert all(row["a"] + row["b"] <= 0.4 and row["kind"] == "x" for row in rows)
    free = as_domain(SPACE)
    X = free.sobol(64, np.random.default_rng(1))
    by_hand = [row["a"] + row["b"] <= 0.4 and row["kind"] == "x" for row in free.decode(X)]
    assert domain.allowed(X).tolist() == by_hand
    assert len(domain.neighbours(domain.encode(rows[0])[0])) == 0
    with pytest.raises(InputError, match=r"violates the constraint 'a \+ b <= 0.4'"):
        domain.encode({"a": 0.3, "b": 0.3, "kind": "x"})


def test_finite_spaces_are_filtered():
    table = [{"n": n, "k": k} for n in range(5) for k in "xy"]
    constraints = checked_constraints("n % 2 == 0")
    for space in (Candidates(table), {"n": Integer(0, 4), "k": Categorical(["x", "y"])}):
        domain = as_domain(space, constraints)
        assert [row["n"] for row in domain.decode(domain.points)] == [0, 0, 2, 2, 4, 4]


@pytest.mark.parametrize(
    ("space", "constraint"),
    [
        (SPACE, "a + b == 1"),
        (SPACE, "a > 2"),
        (SPACE, "a < 1e-5"),
        ({"n": Integer(0, 4)}, "n > 4"),
        (Candidates([{"n": 1}, {"n": 2}]), "n > 4"),
    ],
)
def test_a_space_in_which_almost_nothing_is_allowed_is_an_error(space, constraint):
    with pytest.raises(InputError, match=r"allow (almost nothing|no configuration)"):
        as_domain(space, checked_constraints(constraint))


def test_a_constraint_about_an_inactive_parameter_does_not_apply():
    space = {**SPACE, "c": Real(0, 1, when={"kind": ["x"]})}
    for constraint in ("a + c <= 0.5", lambda p: p["a"] + p["c"] <= 0.5):
        domain = as_domain(space, checked_constraints([constraint]))
        allowed = {"a": 1.0, "b": 0.0, "kind": "y"}
        assert domain.decode(domain.encode(allowed)) == [allowed]
        with pytest.raises(InputError, match="violates"):
            domain.encode({"a": 1.0, "b": 0.0, "kind": "x", "c": 0.0})


def test_unknown_names_and_answers_that_are_no_bool_are_refused():
    with pytest.raises(InputError, match="names 'alpha', which the space does not have"):
        as_domain(SPACE, checked_constraints("alpha < 1"))
    with pytest.raises(InputError, match=r"raised KeyError: 'alpha'.*the space has 'a'"):
        as_domain(SPACE, checked_constraints(lambda p: p["alpha"] < 1))
    for constraint in ("a + b", lambda p: p["a"] - 1):
        with pytest.raises(InputTypeError, match="must give True or False"):
            as_domain(SPACE, checked_constraints(constraint))
    with pytest.raises(InputTypeError, match="give a list of functions"):
        checked_constraints([3])
    with pytest.raises(InputTypeError, match="constraints are of type int"):
        checked_constraints(3)


@pytest.mark.parametrize(
    "text", ["kind == 'xx'", "a < 1 or 'xx' != kind", "kind in ['y', 'xx']", "kind not in ('xx',)"]
)
def test_a_choice_that_a_parameter_does_not_have_is_refused(text):
    space = {"a": Real(0, 1), "kind": Categorical(["x", "y"]), "n": Ordinal(["xx", "y", "z"])}
    with pytest.raises(InputError, match=r"compares 'kind' with 'xx', .* one of 'x', 'y'"):
        as_domain(space, checked_constraints(text))
    as_domain(space, checked_constraints(text.replace("kind", "n")))
    as_domain(space, checked_constraints("kind == 'x' or kind in ['y'] or a == 1 or n == 'z'"))


@pytest.mark.parametrize("text", ["size <= 'medium'", "'small' < size", "size > 'a' and x < 1"])
def test_names_are_not_compared_by_the_alphabet(text):
    space = {"size": Ordinal(["small", "medium", "large"]), "x": Real(0, 1)}
    with pytest.raises((InputError, InputTypeError), match="names have no size"):
        as_domain(space, checked_constraints([text]))


def test_an_expression_that_is_given_again_counts_once():
    given = ["a <= 1", "b <= 1", "a <= 1"]
    assert [c.source for c in checked_constraints(given)] == ["a <= 1", "b <= 1"]


def test_there_are_not_more_constraints_than_can_be_checked():
    with pytest.raises(InputError, match=r"there are 101 constraints.* at most 100"):
        checked_constraints([f"a <= {n}" for n in range(101)])
    assert len(checked_constraints([f"a <= {n}" for n in range(100)])) == 100
