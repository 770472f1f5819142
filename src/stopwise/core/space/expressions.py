# SPDX-License-Identifier: Apache-2.0
"""Expressions about parameters: a small, safe part of Python's grammar.

Names of parameters (in backticks if Python would not take them for names: `svm/C`), numbers,
strings, True, False and None; + - * / // % **; comparisons, chained ones too, and ``in`` a list;
and, or, not; min, max, abs, log, exp, sqrt. The text is read with Python's parser and turned into
nested functions of the kinds listed here; nothing of it is ever executed as Python, and there are
no attributes, no indices and no other calls.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stopwise.core.space.comparisons import COMPARISONS, Sum
from stopwise.core.space.truth_values import check_truth_values, truth, written
from stopwise.errors import InputError, InputTypeError, shown

Evaluate = Callable[[Mapping[str, Any]], Any]


LONGEST = 1000  # characters
_QUOTED = re.compile(r"`([^`]+)`")
_ALLOWED = (
    "names of parameters, numbers, strings, + - * / // % **, comparisons, in [...], and, or, not, "
    "min, max, abs, log, exp and sqrt"
)
_OTHER_SIGNS = {  # of mathematics and of other languages: what is written here instead
    "=<|≤": "write <= for at most",
    "=>|≥": "write >= for at least, and 'not A or B' for B wherever A",
    r"(?<![<>=!])=(?![=<>])": "write == for equal",
    "&": "write and",
    r"\|": "write or",
    "!(?!=)": "write not",
    r"\^": "write ** for a power",
    r"^\s*$": "it is empty",
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "log": math.log,
    "exp": math.exp,
    "sqrt": math.sqrt,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: math.pow,  # of floats: a power of whole numbers may be too long to compute
}


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """An expression that was read.

    Args:
        evaluate: Params -> its value. Where it has none (a division by zero, the logarithm of a
            negative number) the value is False.
        names: The parameters that it reads.
        compared: The parameters that it compares with text, each with that text.
    """

    evaluate: Evaluate
    names: frozenset[str]
    compared: frozenset[tuple[str, str]] = frozenset()


def parsed(text: str) -> Expression:
    """Read an expression.

    Example:
        >>> expression = parsed("a + b <= 1 and kind in ['x', 'y']")
        >>> sorted(expression.names), expression.evaluate({"a": 0.2, "b": 0.3, "kind": "x"})
        (['a', 'b', 'kind'], True)
    """
    if len(text) > LONGEST:
        raise InputError(
            f"the expression {shown(text)} has {len(text)} characters, more than {LONGEST}; give "
            "several constraints, or a function"
        )
    quoted = list(dict.fromkeys(_QUOTED.findall(text)))
    standing_for = {f"_{i}_quoted": name for i, name in enumerate(quoted)}
    plain = text.strip()
    for stand_in, name in standing_for.items():
        plain = plain.replace(f"`{name}`", stand_in)
    try:
        tree = ast.parse(plain, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = standing_for.get(node.id, node.id)
        names: set[str] = set()
        evaluate = _built(tree.body, names, text)
        check_truth_values(tree.body, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        why = getattr(error, "msg", str(error))  # a SyntaxError adds the place in "<unknown>"
        raise InputError(
            f"{shown(text)} is no expression ({why}{_meant(text)}); write for example 'a + b <= 1'"
        ) from error
    return Expression(_guarded(evaluate, text), frozenset(names), frozenset(_compared(tree)))


def _compared(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Names that are to equal some text, or not, or that of a list; each with that text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            terms = itertools.pairwise([node.left, *node.comparators])
            for (left, right), op in zip(terms, node.ops, strict=True):
                if isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
                    yield from _texts(left, right)
                    yield from _texts(right, left)


def _texts(name: ast.expr, other: ast.expr) -> Iterator[tuple[str, str]]:
    items = other.elts if isinstance(other, ast.List | ast.Tuple) else [other]
    if isinstance(name, ast.Name):
        for item in items:
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                yield name.id, item.value


def _meant(text: str) -> str:
    """What may be meant by signs of other languages in a text."""
    hints = [hint for sign, hint in _OTHER_SIGNS.items() if re.search(sign, text)]
    return f": {'; '.join(hints)}" if hints else ""


def _guarded(evaluate: Evaluate, text: str) -> Evaluate:
    def guarded(params: Mapping[str, Any]) -> Any:  # noqa: ANN401  any value
        try:
            return evaluate(params)
        except InputTypeError:
            raise  # it says what to write
        except (ArithmeticError, ValueError):
            return False  # it has no value there, so it does not hold
        except TypeError as error:
            raise InputError(
                f"the expression {text!r} cannot be computed for {dict(params)}: {error}; compare "
                "numbers with numbers and strings with strings"
            ) from error

    return guarded


def _built(node: ast.expr, names: set[str], text: str) -> Evaluate:
    """A function of the params for one node; it adds the names that it reads."""
    for kind, build in _BUILDERS.items():
        if isinstance(node, kind):
            return build(node, names, text)
    raise _refused(node, text)


def _refused(node: ast.AST, text: str) -> InputError:
    part = written(node)
    return InputError(
        f"the expression {text!r} contains {part!r}, which is not allowed{_meant(part)}; allowed "
        f"are {_ALLOWED}. Give a function for anything else"
    )


def _constant(node: ast.Constant, names: set[str], text: str) -> Evaluate:  # noqa: ARG001
    value = node.value
    if value is not None and not isinstance(value, bool | int | float | str):
        raise _refused(node, text)
    return lambda _: value


def _name(node: ast.Name, names: set[str], text: str) -> Evaluate:  # noqa: ARG001
    name = node.id
    names.add(name)
    return lambda params: params[name]


def _list(node: ast.List | ast.Tuple, names: set[str], text: str) -> Evaluate:
    items = [_built(item, names, text) for item in node.elts]
    return lambda params: [item(params) for item in items]


def _unary(node: ast.UnaryOp, names: set[str], text: str) -> Evaluate:
    if isinstance(node.op, ast.Not):
        negated = _truth(node.operand, names, text)
        return lambda params: not negated(params)
    inner = _built(node.operand, names, text)
    if isinstance(node.op, ast.USub):
        return lambda params: -inner(params)
    raise _refused(node, text)


def _binary(node: ast.BinOp, names: set[str], text: str) -> Evaluate:
    if type(node.op) not in _ARITHMETIC:
        raise _refused(node, text)
    compute = _ARITHMETIC[type(node.op)]
    left, right = _built(node.left, names, text), _built(node.right, names, text)

    def number(value: Any) -> Any:  # noqa: ANN401  refused if it is no number
        if isinstance(value, str | list):
            raise TypeError(f"{value!r} is no number")
        return value

    if isinstance(node.op, ast.Add | ast.Sub):
        return Sum(lambda p: compute(number(left(p)), number(right(p))), (left, right))
    return lambda params: compute(number(left(params)), number(right(params)))


def _truth(node: ast.expr, names: set[str], text: str) -> Callable[[Mapping[str, Any]], bool]:
    """An operand of and, or and not; comparisons give truth values, names and calls may not."""
    inner = _built(node, names, text)
    if not isinstance(node, ast.Name | ast.Call):
        return inner
    part = written(node)
    return lambda params: truth(inner(params), part, text)


def _boolean(node: ast.BoolOp, names: set[str], text: str) -> Evaluate:
    parts = [_truth(part, names, text) for part in node.values]
    every = isinstance(node.op, ast.And)
    return lambda params: (all if every else any)(part(params) for part in parts)


def _comparison(node: ast.Compare, names: set[str], text: str) -> Evaluate:
    if any(type(op) not in COMPARISONS for op in node.ops):
        raise _refused(node, text)
    comparisons = [COMPARISONS[type(op)] for op in node.ops]
    sides = [_built(side, names, text) for side in (node.left, *node.comparators)]

    def evaluate(params: Mapping[str, Any]) -> bool:
        left = sides[0](params)
        for comparison, pair in zip(comparisons, itertools.pairwise(sides), strict=True):
            right = pair[1](params)
            if not comparison.holds((left, right), pair, params):
                return False
            left = right
        return True

    return evaluate


def _call(node: ast.Call, names: set[str], text: str) -> Evaluate:
    plain = isinstance(node.func, ast.Name) and not node.keywords and node.args
    if not plain or node.func.id not in _FUNCTIONS:  # type: ignore[attr-defined]
        raise _refused(node, text)
    function = _FUNCTIONS[node.func.id]  # type: ignore[attr-defined]
    arguments = [_built(argument, names, text) for argument in node.args]
    return lambda params: function(*(argument(params) for argument in arguments))


_BUILDERS: dict[Any, Callable[[Any, set[str], str], Evaluate]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.List | ast.Tuple: _list,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.Compare: _comparison,
    ast.Call: _call,
}
