# SPDX-License-Identifier: Apache-2.0
"""The mutants are mistakes: one place each, nothing that only people read, the same every time."""

import ast
from pathlib import Path

import pytest

from tests.mutation.__main__ import sample
from tests.mutation.operators import mutated, places
from tests.mutation.rooms import SOURCES, Room
from tests.support.repository import ROOT


def mutants(source):
    return {
        (kind, ast.unparse(ast.parse(mutated(source, place, text))))
        for place in places(source)
        for kind, text in place.texts
    }


@pytest.mark.parametrize(
    ("line", "kind", "wrong"),
    [
        ("a < b", "comparison", ["a <= b", "a >= b"]),
        ("a is None", "comparison", ["a is not None"]),
        ("a + b", "arithmetic", ["a - b"]),
        ("a and b", "and/or", ["a or b"]),
        ("-a", "sign", ["a"]),
        ("2", "constant", ["3", "1"]),
        ("0.5", "constant", ["1.5", "1.0"]),
        ("0.0", "constant", ["1.0"]),
        ("1e300", "constant", ["2e+300"]),
        ("np.where(a, b, c)", "arguments", ["np.where(a, c, b)"]),
        ("f(a, b, c)", "arguments", ["f(b, a, c)"]),
        ("np.minimum(a, b)", "min/max", ["np.maximum(a, b)"]),
        ("a if b else c", "condition", ["a if not b else c"]),
    ],
)
def test_kinds_of_mistakes(line, kind, wrong):
    made = {text for k, text in mutants(f"x = {line}") if k == kind}
    assert made == {f"x = {text}" for text in wrong}


def test_statements_are_deleted_and_conditions_negated():
    source = "def f(x):\n    if x:\n        raise ValueError(1)\n    x[0] = g()\n    return x\n"
    assert {text for kind, text in mutants(source) if kind in ("deleted", "condition")} == {
        ast.unparse(ast.parse(source.replace(a, b)))
        for a, b in [
            ("if x", "if not x"), ("raise ValueError(1)", "pass"), ("x[0] = g()", "pass"),
            ("return x", "return None"),
        ]
    }  # fmt: skip


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring with 1 < 2."""',
        "__all__ = ['a' + 'b']",
        "def __repr__(self):\n    return self.a + 1",
        "def f(x: Literal[1], y: A | None): ...",
        "x: Literal[1]",
        "@dataclass(frozen=True)\nclass A: ...",
        "if TYPE_CHECKING:\n    x = 1",
        "x = f'{a + 1}'",
        "Numbers = float | int",
    ],
)
def test_what_only_people_read_stays(source):
    assert not mutants(source)


def test_other_lines_stay_where_they_are():
    source = "x = 'ö' + (a +\n    b)\ny = 1\n"
    place = next(p for p in places(source) if p.line == 3)
    assert mutated(source, place, "(2)") == source.replace("y = 1", "y = (2)")
    inner = next(p for p in places(source) if p.line == 1 and "a - b" in p.texts[0][1])
    assert "'ö' + ((a - b))" in mutated(source, inner, inner.texts[0][1])


def test_the_sample_is_repeatable_and_every_mutant_of_a_room_can_be_parsed():
    rooms = {name: Room(name, Path()) for name in SOURCES}
    drawn = sample(rooms, 10, seed=0)
    assert drawn == sample(rooms, 10, seed=0) != sample(rooms, 10, seed=1)
    assert [mutant.room for mutant in drawn[:4]] == list(SOURCES)
    assert len({mutant.key for mutant in drawn}) == 40
    for mutant in sample(rooms, 60, seed=2):
        source = (ROOT / mutant.module).read_text(encoding="utf-8")
        assert ast.dump(ast.parse(mutated(source, mutant.place, mutant.text))) != ast.dump(
            ast.parse(source)
        )
