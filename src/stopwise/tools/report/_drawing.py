# SPDX-License-Identifier: Apache-2.0
"""Pictures as PNG and PDF: the report's own SVG, drawn by Matplotlib.

The SVG has a few kinds of marks only (straight paths, texts, one rectangle), and its style sheet
has selectors of classes and tags; both are read here as far as they are used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from stopwise.errors import MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

_PX = 72.0 / 96.0  # points in a pixel
_DPI = 200
_DOT = 0.01  # a line of length 0 with round ends is a dot, which Matplotlib would not draw
_TOKEN = re.compile(r"[MmLlHhVvz]|-?\d+(?:\.\d+)?(?:e-?\d+)?")
_ANCHORS = {"start": "left", "middle": "center", "end": "right", None: "left"}
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_AT_RULES = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class _Rule:
    """One rule of the style sheet.

    Args:
        tag: The tag that it is for; empty for any.
        classes: The classes that an element must have.
        declarations: What it says.
    """

    tag: str
    classes: frozenset[str]
    declarations: dict[str, str]


def draw(svgs: Sequence[str], style: str, path: Path) -> None:
    """Draw pictures below each other into a PNG or PDF file.

    Args:
        svgs: The pictures.
        style: The style sheet of charts.
        path: Of the file; its ending says the format.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        purpose = f"saving pictures as {path.suffix.lower()} (.svg needs nothing)"
        raise MissingExtraError.of("matplotlib", extra="pictures", purpose=purpose) from error
    roots = [ET.fromstring(svg) for svg in svgs]  # noqa: S314  our own markup
    sizes = [tuple(map(float, root.attrib["viewBox"].split()[2:])) for root in roots]
    width, height = max(w for w, _ in sizes), sum(h for _, h in sizes)
    figure = Figure(figsize=(width / 96.0, height / 96.0), dpi=_DPI)
    FigureCanvasAgg(figure)
    rules, below = _rules(style), 1.0
    for root, (w, h) in zip(roots, sizes, strict=True):
        below -= h / height
        axes = figure.add_axes((0.0, below, w / width, h / height))
        axes.set_xlim(0.0, w)
        axes.set_ylim(h, 0.0)
        axes.set_axis_off()
        for order, element in enumerate(root.iter()):
            _mark(axes, element, _styled(element, rules), order)
    figure.savefig(path, facecolor="white")


def _rules(style: str) -> list[_Rule]:
    """The rules of the style sheet for paper in daylight, the least specific first."""
    rules, variables = [], {}
    for selectors, body in _RULE.findall(_AT_RULES.sub("", _COMMENT.sub("", style))):
        pairs = (part.split(":", 1) for part in body.split(";") if ":" in part)
        said = {name.strip(): value.strip() for name, value in pairs}
        variables.update({name: value for name, value in said.items() if name.startswith("--")})
        for selector in selectors.split(","):
            last = selector.split()[-1]
            tag, *classes = last.split(".")
            rules.append(_Rule(tag, frozenset(classes), said))
    known = [
        _Rule(r.tag, r.classes, {k: _resolved(v, variables) for k, v in r.declarations.items()})
        for r in rules
    ]
    return sorted(known, key=lambda rule: len(rule.classes))


def _resolved(value: str, variables: dict[str, str]) -> str:
    return re.sub(r"var\((--[\w-]+)\)", lambda match: variables.get(match[1], "black"), value)


def _styled(element: ET.Element, rules: Sequence[_Rule]) -> dict[str, str]:
    """What the style sheet says of an element."""
    tag, classes = _tag(element), frozenset(element.get("class", "").split())
    style: dict[str, str] = {}
    for rule in rules:
        if rule.tag in ("", tag) and rule.classes <= classes:
            style.update(rule.declarations)
    return style


def _tag(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _mark(axes: Axes, element: ET.Element, style: dict[str, str], order: int) -> None:
    """Draw one element; what is neither a path nor a text is only a container."""
    if _tag(element) == "text":
        size = re.search(r"(\d+)px", style.get("font", "13px"))
        axes.text(
            float(element.get("x", 0)),
            float(element.get("y", 0)),
            element.text or "",
            fontsize=float(size[1]) * _PX if size else 10.0,
            color=style.get("fill", "black"),
            ha=_ANCHORS[element.get("text-anchor")],
            va="baseline",
            family="DejaVu Sans",
            parse_math=False,
            zorder=order,
        )
    elif _tag(element) == "path":
        _path(axes, element, style, order)


def _path(axes: Axes, element: ET.Element, style: dict[str, str], order: int) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    vertices, codes = _outline(element.get("d", ""))
    fill, stroke = style.get("fill", "none"), style.get("stroke", "none")
    dashes = [float(part) * _PX for part in style.get("stroke-dasharray", "").split()]
    shown: dict[str, Any] = {
        "facecolor": "none" if fill == "none" else (fill, float(style.get("fill-opacity", "1"))),
        "edgecolor": "none"
        if stroke == "none"
        else (stroke, float(style.get("stroke-opacity", "1"))),
        "linewidth": float(style.get("stroke-width", "1")) * _PX,
        "capstyle": style.get("stroke-linecap", "butt"),
        "linestyle": (0, tuple(dashes)) if dashes else "-",
    }
    # Snapped to whole pixels, a dot of one series alone would be a line of length 0 again.
    snap = False if style.get("stroke-linecap") == "round" else None
    axes.add_patch(PathPatch(Outline(vertices, codes), zorder=order, snap=snap, **shown))


def _outline(data: str) -> tuple[list[tuple[float, float]], list[int]]:
    """The vertices of a path of straight lines, and what each of them is (Matplotlib's codes)."""
    move, line, close = 1, 2, 79
    vertices, codes, begin = [], [], (0.0, 0.0)
    x = y = 0.0
    for command, numbers in _commands(data):
        if command == "z":
            vertices.append(begin)
            codes.append(close)
            x, y = begin
            continue
        relative, kind = command.islower(), command.upper()
        pairs: list[tuple[float | None, float | None]]
        if kind in "HV":
            pairs = [(n or _DOT, None) if kind == "H" else (None, n) for n in numbers]
        else:
            pairs = [*zip(numbers[::2], numbers[1::2], strict=True)]
        for at, (dx, dy) in enumerate(pairs):
            x = x if dx is None else x + dx if relative else dx
            y = y if dy is None else y + dy if relative else dy
            moves = kind == "M" and at == 0
            begin = (x, y) if moves else begin
            vertices.append((x, y))
            codes.append(move if moves else line)
    return vertices, codes


def _commands(data: str) -> Iterator[tuple[str, list[float]]]:
    """The commands of a path, each with its numbers."""
    command, numbers = "", list[float]()
    for token in _TOKEN.findall(data):
        if token.isalpha():
            if command:
                yield command, numbers
            command, numbers = token, []
        else:
            numbers.append(float(token))
    if command:
        yield command, numbers
