# SPDX-License-Identifier: Apache-2.0
"""Truth values in expressions: what ``and``, ``or`` and ``not`` join, and what a whole one gives.

Python takes any number and any text for true or false, so that ``kind == 'x' or 'y'`` would hold
wherever it is asked. Here that is an error, which says what to write.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator
from typing import cast

from stopwise.errors import InputTypeError

_SIGNS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


def check_truth_values(whole: ast.expr, text: str) -> None:
    """Refuse numbers, texts, lists and arithmetic where true or false is needed."""
    if _is_none(whole):
        raise InputTypeError(
            f"the expression {text!r} gives no True or False, and it must give True or False: "
            "compare, as in 'a + b <= 1'"
        )
    for part, word, before in _joined(whole):
        if _is_none(part):
            raise InputTypeError(
                f"the expression {text!r} has {written(part)} beside {word!r}, which is neither "
                f"true nor false by itself; {_instead(part, before)}"
            )


def truth(value: object, part: str, text: str) -> bool:
    """The value of an operand; one that is not true or false, 1 or 0, is refused."""
    if value in (True, False):  # 1 and 0 are equal to them
        return bool(value)
    raise InputTypeError(
        f"the expression {text!r} takes {part} for true or false, and it is {value!r}; compare "
        f"it with a value, as in {part} == {value!r}"
    )


def written(node: ast.AST) -> str:
    """A part of an expression as a user writes it."""
    node = copy.deepcopy(node)
    for name in ast.walk(node):
        if isinstance(name, ast.Name) and not name.id.isidentifier():
            name.id = f"`{name.id}`"
    return ast.unparse(node)


def _joined(whole: ast.expr) -> Iterator[tuple[ast.expr, str, ast.expr | None]]:
    """The operands of and, or and not: each with that word and the operand before it, if any."""
    for node in ast.walk(whole):
        if isinstance(node, ast.BoolOp):
            word = "and" if isinstance(node.op, ast.And) else "or"
            for before, part in itertools.pairwise([None, *node.values]):
                yield cast("ast.expr", part), word, before
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node.operand, "not", None


def _is_none(node: ast.expr) -> bool:
    """Whether a part is certainly no truth value, whatever the parameters are."""
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not)
    return isinstance(node, ast.BinOp | ast.List | ast.Tuple)


def _instead(part: ast.expr, before: ast.expr | None) -> str:
    """What is likely meant: the comparison before it, once more."""
    if not isinstance(before, ast.Compare) or type(before.ops[-1]) not in _SIGNS:
        return "compare it, as in 'a + b <= 1'"
    left = written(before.left) if len(before.ops) == 1 else written(before.comparators[-2])
    meant = f"write {left} {_SIGNS[type(before.ops[-1])]} {written(part)}"
    if isinstance(before.ops[-1], ast.Eq):
        meant += f", or {left} in [{written(before.comparators[-1])}, {written(part)}]"
    return meant
