# SPDX-License-Identifier: Apache-2.0
"""Mutants: a module's text with one small mistake in it.

A place is an expression or a statement; at each place one or more mistakes can be made. The text
around the place stays as it is, so that line numbers do not move. No mistakes are made in what
only people or type checkers read: docstrings, messages, annotations, ``__repr__``, ``__all__``.
Plain assignments to a name are not deleted: the NameError that follows is no test of the tests.
"""

import ast
import math
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
SWAPPED = {
    one: other
    for pair in (
        ("min", "max"), ("minimum", "maximum"), ("fmin", "fmax"), ("argmin", "argmax"),
        ("nanmin", "nanmax"), ("any", "all"), ("floor", "ceil"), ("log", "log1p"),
        ("exp", "expm1"), ("isfinite", "isnan"),
    )
    for one, other in (pair, pair[::-1])
}  # fmt: skip
SYMMETRIC = {*SWAPPED, "logaddexp", "hypot", "array_equal", "isinstance", "replace", "cast"}
SILENT = {"__repr__", "__str__", "_repr_html_"}  # functions that only people read


@dataclass(frozen=True)
class Place:
    """Where mistakes can be made: ``texts`` are what may stand there instead, by kind."""

    line: int
    begin: int  # bytes of the file
    end: int
    lines: tuple[int, int]  # of the statement around it: which tests pass here
    inside: bool  # of a function: outside, a line runs at import alone
    texts: tuple[tuple[str, str], ...]


def places(source):
    """All places of a module, in order."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return sorted(finder.places, key=lambda place: (place.begin, place.end))


def mutated(source, place, text):
    """The module with ``text`` at ``place``."""
    data = source.encode()
    return (data[: place.begin] + text.encode() + data[place.end :]).decode()


class _Finder(ast.NodeVisitor):
    def __init__(self, source):
        self.places = []
        self._starts = [0]
        for line in source.encode().splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._statement = (1, 1)
        self._inside = False

    def visit(self, node):
        """Note the mistakes that can be made at a node, then look inside it."""
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno
            self._statement = (node.lineno, max(last, node.lineno))
        if isinstance(node, ast.expr | ast.stmt):
            texts = tuple(
                (kind, text) for kind, text in _mistakes(node) if text != ast.unparse(node)
            )
            if texts:
                self._note(node, texts)
        if _looked_into(node) and _is_negated_whole(node):
            self._note(node.test, (("condition", _text(_not(node.test))),))
        for inner in _looked_into(node):
            before = self._inside, self._statement
            if isinstance(node, ast.FunctionDef) and inner in node.body:
                self._inside = True
            self.visit(inner)
            self._inside, self._statement = before

    def _note(self, node, texts):
        if isinstance(node, ast.BinOp) and not self._inside and isinstance(node.op, ast.BitOr):
            return  # a union of types
        begin = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        self.places.append(Place(node.lineno, begin, end, self._statement, self._inside, texts))


def _is_negated_whole(node):
    """Comparisons and negations are mistaken as what they are."""
    conditional = isinstance(node, ast.If | ast.While)
    return conditional and not isinstance(node.test, ast.Compare | ast.UnaryOp)


def _looked_into(node):  # noqa: C901, PLR0911  one case a kind of node
    """The parts of a node that run and matter to the answer."""
    match node:
        case ast.FunctionDef(name=name) if name in SILENT:
            return []
        case ast.FunctionDef():
            return [*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body]
        case ast.ClassDef():
            return node.body
        case ast.AnnAssign():
            return [node.value] if node.value else []
        case ast.Assign(targets=[ast.Name(id=name)]) if name.startswith("__"):
            return []
        case ast.Raise() | ast.JoinedStr() | ast.Assert() | ast.Import() | ast.ImportFrom():
            return []
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return []
        case ast.Call(func=ast.Name(id="cast")):
            return node.args[1:]
    return list(ast.iter_child_nodes(node))


def _mistakes(node):  # noqa: C901, PLR0912  one case a kind of mistake
    """Kinds and texts of the mistakes at a node."""
    match node:
        case ast.Compare(ops=[op]):
            for other in COMPARISONS[type(op)]:
                yield "comparison", _text(ast.Compare(node.left, [other()], node.comparators))
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            yield "arithmetic", _text(ast.BinOp(node.left, ARITHMETIC[type(op)](), node.right))
        case ast.BoolOp(op=op):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "and/or", _text(ast.BoolOp(other, node.values))
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert(), operand=operand):
            yield "sign", _text(operand)
        case ast.Constant(value=bool(value)):
            yield "constant", str(not value)
        case ast.Constant(value=int(value)):
            yield from (("constant", f"({other})") for other in (value + 1, value - 1))
        case ast.Constant(value=float(value)):
            others = {value + 1.0, value * 2.0} - {value, math.inf}
            yield from (("constant", f"({other!r})") for other in sorted(others))
        case ast.IfExp():
            yield "condition", _text(ast.IfExp(_not(node.test), node.body, node.orelse))
        case ast.Call():
            yield from _calls(node)
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            yield "deleted", "return None"
        case ast.Expr(value=value) if not isinstance(value, ast.Constant):
            yield "deleted", "pass"
        case ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            yield "deleted", "pass"
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield "deleted", "pass"


def _calls(node):
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    plain = not any(isinstance(a, ast.Starred) for a in node.args)
    if name in SWAPPED:
        function = (
            ast.Attribute(node.func.value, SWAPPED[name])
            if isinstance(node.func, ast.Attribute)
            else ast.Name(SWAPPED[name])
        )
        yield "min/max", _text(ast.Call(function, node.args, node.keywords))
    elif plain and name == "where" and len(node.args) == 3:
        condition, one, other = node.args
        yield "arguments", _text(ast.Call(node.func, [condition, other, one], node.keywords))
    elif plain and len(node.args) >= 2 and name not in SYMMETRIC:
        one, other, *rest = node.args
        yield "arguments", _text(ast.Call(node.func, [other, one, *rest], node.keywords))


def _not(node):
    return ast.UnaryOp(ast.Not(), node)


def _text(node):
    return f"({ast.unparse(ast.fix_missing_locations(node))})"
