# SPDX-License-Identifier: Apache-2.0
"""A chart: axes, and marks on them, as SVG that a style sheet colours.

A series of points is one path, each point of which begins with ``M x,y``: compact, and the page's
script reads the positions from it. ``data-t`` names the trial of each point.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from stopwise.tools.report._axis import Axis
from stopwise.tools.report._markup import Markup, el, join

Point = tuple[float, float]

_MANY = 150  # points of one series that are drawn smaller
_LETTER = 9.6  # room for a letter of the legend, as large as it is on a phone

# Shapes around a point, in SVG's relative commands: series differ by shape, not by colour alone.
_SHAPES = {
    "dot": "h0",
    "cross": "m-3.5,-3.5l7,7m-7,0l7,-7",
    "diamond": "m0,-7l7,7l-7,7l-7,-7z",
    "dash": "m-4,0h8",
    "square": "m-4,-4h8v8h-8z",
    "up": "m0,-5l5,8h-10z",
    "down": "m0,5l5,-8h-10z",
}


@dataclass(slots=True)
class Chart:
    """Marks between two axes.

    Args:
        x: The horizontal axis.
        y: The vertical axis.
        width: Of the picture, in its own units.
        height: Of the picture.
        names: Labels of a horizontal axis of categories, at 0, 1, 2, ...
    """

    x: Axis
    y: Axis
    width: int = 560
    height: int = 360
    names: Sequence[str] | None = None
    _marks: list[Markup] = field(default_factory=list)
    _keys: list[tuple[str, str, str]] = field(default_factory=list)
    left: int = 76
    right: int = 14
    top: int = 68
    bottom: int = 58

    def px(self, x: float) -> float:
        """Where a number of the horizontal axis lies."""
        return round(self.left + self.x.at(x) * (self.width - self.left - self.right), 1)

    def py(self, y: float) -> float:
        """Where a number of the vertical axis lies."""
        return round(self.height - self.bottom - self.y.at(y) * self._inner_height, 1)

    @property
    def _inner_height(self) -> int:
        return self.height - self.top - self.bottom

    def points(
        self,
        points: Iterable[Point],
        style: str,
        shape: str = "dot",
        trials: Sequence[int] | None = None,
    ) -> None:
        """A mark at each point."""
        each = [f"M{self.px(x):g},{self.py(y):g}{_SHAPES[shape]}" for x, y in points]
        if each:
            path = "".join(each)
            style = f"{style} sw-small" if len(each) > _MANY else style
            named = None if trials is None else " ".join(map(str, trials))
            self._marks.append(el("path", class_=f"sw-{shape} {style}", d=path, data_t=named))

    def line(self, points: Sequence[Point], style: str, *, steps: bool = False) -> None:
        """A line through points, interrupted where a number is missing."""
        path, pen = "", False
        for x, y in points:
            if not math.isfinite(y):
                pen = False
                continue
            here = f"{self.px(x):g}", f"{self.py(y):g}"
            if pen:
                path += f"H{here[0]}V{here[1]}" if steps else f"L{here[0]},{here[1]}"
            else:
                path += f"M{here[0]},{here[1]}"
            pen = True
        if path:
            self._marks.append(el("path", class_=f"sw-line {style}", d=path))

    def band(self, xs: Sequence[float], low: Sequence[float], high: Sequence[float]) -> None:
        """An area between two lines."""
        there = [f"{self.px(x):g},{self.py(y):g}" for x, y in zip(xs, low, strict=True)]
        back = [f"{self.px(x):g},{self.py(y):g}" for x, y in zip(xs, high, strict=True)][::-1]
        self._marks.append(el("path", class_="sw-band", d=f"M{'L'.join(there + back)}z"))

    def bars(self, xs: Sequence[float], low: Sequence[float], high: Sequence[float]) -> None:
        """Vertical intervals."""
        path = "".join(
            f"M{self.px(x):g},{self.py(a):g}V{self.py(b):g}"
            f"M{self.px(x) - 5:g},{self.py(a):g}h10M{self.px(x) - 5:g},{self.py(b):g}h10"
            for x, a, b in zip(xs, low, high, strict=True)
        )
        self._marks.append(el("path", class_="sw-bars", d=path))

    def rug(self, xs: Iterable[float]) -> None:
        """Short ticks at the foot: where trials were."""
        feet = sorted({round(self.px(x)) for x in xs})
        y = self.height - self.bottom
        path = "".join(f"M{x},{y}v-7" for x in feet)
        self._marks.append(el("path", class_="sw-rug", d=path))

    def upright(self, x: float, style: str) -> None:
        """A vertical line."""
        path = f"M{self.px(x):g},{self.top}V{self.height - self.bottom}"
        self._marks.append(el("path", class_=f"sw-line {style}", d=path))

    def key(self, words: str, style: str, shape: str = "line") -> None:
        """An entry of the legend."""
        self._keys.append((words, style, shape))

    def svg(self, label: str) -> Markup:
        """The picture; ``label`` is what a screen reader says of it."""
        return el(
            "svg",
            el("rect", class_="sw-ground", width=self.width, height=self.height),
            self._across(),
            self._along(),
            el("g", *self._marks),
            self._legend(),
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {self.width} {self.height}",
            class_="sw-chart",
            role="img",
            aria_label=label,
        )

    def _across(self) -> Markup:
        """The vertical axis: faint lines, numbers, and what they mean."""
        parts = []
        for value, label in self.y.ticks(5):
            y = self.py(value)
            parts.append(
                el("path", class_="sw-grid", d=f"M{self.left},{y:g}H{self.width - self.right}")
            )
            parts.append(el("text", label, x=self.left - 8, y=f"{y + 4:g}", text_anchor="end"))
        # Above the axis and horizontal: easy to read, and no margin is lost on a phone.
        title = el("text", self.y.label, class_="sw-label", x=8, y=self.top - 16)
        return join(*parts, title)

    def _along(self) -> Markup:
        """The horizontal axis."""
        foot = self.height - self.bottom
        parts = [el("path", class_="sw-axis", d=f"M{self.left},{foot}H{self.width - self.right}")]
        named = enumerate(self.names) if self.names is not None else self.x.ticks(5)
        for value, label in named:
            x = self.px(value)
            parts.append(el("path", class_="sw-axis", d=f"M{x:g},{foot}v5"))
            parts.append(el("text", label, x=f"{x:g}", y=foot + 20, text_anchor="middle"))
        middle = self.left + (self.width - self.left - self.right) / 2
        title = el(
            "text",
            self.x.label,
            class_="sw-label",
            x=f"{middle:g}",
            y=self.height - 10,
            text_anchor="middle",
        )
        return join(*parts, title)

    def _legend(self) -> Markup:
        """The keys above the picture."""
        parts, rows = [], self._rows_of_keys()
        first = 15 if len(rows) == 1 else 10  # two rows fit above the title of the axis
        for at, row in enumerate(rows):
            y = first + 17 * at
            for x, (words, style, shape) in row:
                if shape == "line":
                    sample = el("path", class_=f"sw-line {style}", d=f"M{x:g},{y}h22")
                else:
                    drawn = f"M{x + 11:g},{y}{_SHAPES[shape]}"
                    sample = el("path", class_=f"sw-{shape} {style}", d=drawn)
                parts += [sample, el("text", words, x=f"{x + 28:g}", y=y + 4, class_="sw-key")]
        return join(*parts)

    def _rows_of_keys(self) -> list[list[tuple[float, tuple[str, str, str]]]]:
        """The keys with their places; those that a row has no room for are in the next."""
        rows, x = list[list[tuple[float, tuple[str, str, str]]]]([[]]), 8.0
        for key in self._keys:
            wide = 28 + _LETTER * len(key[0])
            if rows[-1] and x + wide > self.width:
                rows.append([])
                x = 8.0
            rows[-1].append((x, key))
            x += wide + 16
        return rows
