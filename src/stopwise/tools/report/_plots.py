# SPDX-License-Identifier: Apache-2.0
"""The report's pictures one by one, for notebooks and files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from stopwise.errors import InputError
from stopwise.study import Study
from stopwise.tools.report._curves_picture import curves_picture
from stopwise.tools.report._drawing import draw
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._importance_picture import importance_picture
from stopwise.tools.report._markup import Markup, el
from stopwise.tools.report._page import asset
from stopwise.tools.report._picture import Picture
from stopwise.tools.report._pictures import best_picture, costs_picture, value_picture
from stopwise.tools.report._promises_picture import promises_picture
from stopwise.tools.report._signal_picture import signal_picture
from stopwise.tools.report._slice_pictures import slice_pictures
from stopwise.tools.report._slices import slices
from stopwise.tools.report._write import check_writable, write_text

_WIDE, _HIGH = 560, 360


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture, or several, that a notebook shows and ``save`` writes.

    Args:
        pictures: What is shown.
    """

    pictures: tuple[Picture, ...] = field(repr=False)

    @property
    def words(self) -> str:
        """What there is to see, in words."""
        return "\n".join(f"{picture.title}: {picture.words}" for picture in self.pictures)

    def __str__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        parts = [
            el("figure", el("figcaption", el("strong", p.title), ". ", p.words), p.svg or "")
            for p in self.pictures
        ]
        width = "sw-many" if len(self.pictures) > 1 else "sw-one"
        style = asset("chart.css") + _NOTEBOOK
        return el("div", el("style", Markup(style)), *parts, class_=f"sw-plot {width}")

    def _repr_svg_(self) -> str | None:
        drawn = [p.svg for p in self.pictures if p.svg is not None]
        if not drawn:
            return None
        high = _HIGH if len(self.pictures) == 1 else round(_WIDE * 240 / 380)
        placed = [
            el("svg", one, y=i * high, width=_WIDE, height=high) for i, one in enumerate(drawn)
        ]
        return el(
            "svg",
            el("style", Markup(asset("chart.css"))),
            *placed,
            xmlns="http://www.w3.org/2000/svg",
            width=_WIDE,
            height=high * len(drawn),
            viewBox=f"0 0 {_WIDE} {high * len(drawn)}",
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture: ``.svg``, ``.png``, ``.pdf``, or ``.html`` with its words.

        PNG and PDF need Matplotlib: ``pip install 'stopwise[pictures]'``.

        Args:
            path: Of the file.
        """
        kind = Path(path).suffix.lower()
        content: str | None
        drawn = [p.svg for p in self.pictures if p.svg is not None]
        if kind in (".png", ".pdf") and drawn:
            check_writable(path)
            draw(drawn, asset("chart.css"), Path(path))
            return Path(path)
        if kind == ".html":
            content = f'<!doctype html>\n<meta charset="utf-8"/>\n{self._repr_html_()}\n'
        elif kind in (".svg", ".png", ".pdf"):
            content = self._repr_svg_()
        else:
            message = (
                "a picture is saved as .svg, .png, .pdf or .html, not as"
                f" {kind or 'a file without an ending'!r}."
            )
            raise InputError(message)
        if content is None:
            message = f"there is nothing to draw yet. {self.words}"
            raise InputError(message)
        return write_text(content, path)


_NOTEBOOK = """
.sw-plot { display: grid; gap: 1em; }
.sw-one { max-width: 45em; }
.sw-many { grid-template-columns: repeat(auto-fill, minmax(20em, 1fr)); }
.sw-plot figure { margin: 0; }
.sw-plot .sw-chart { width: 100%; height: auto; }
"""


def plot_best(study: Study) -> Plot:
    """Best value against what was spent."""
    return Plot((best_picture(Facts(study)),))


def plot_signal(study: Study) -> Plot:
    """The stopping signal against its threshold."""
    return Plot((signal_picture(Facts(study)),))


def plot_value(study: Study) -> Plot:
    """Cost-adjusted value over time."""
    return Plot((value_picture(Facts(study)),))


def plot_costs(study: Study) -> Plot:
    """Expected and actual cost of every trial."""
    return Plot((costs_picture(Facts(study)),))


def plot_curves(study: Study) -> Plot:
    """The curves of evaluations in stages, and where each was left."""
    return Plot((curves_picture(Facts(study)),))


def plot_promises(study: Study) -> Plot:
    """The gains that choices promised, against those that came, added up."""
    return Plot((promises_picture(Facts(study)),))


def plot_importance(study: Study) -> Plot:
    """How much each parameter matters, with its uncertainty."""
    return Plot((importance_picture(Facts(study)),))


def plot_slices(study: Study) -> Plot:
    """What the model believes along each parameter, through the best configuration."""
    facts = Facts(study)
    pictures = slice_pictures(slices(facts), facts.names.value_label)
    if pictures:
        return Plot(tuple(pictures))
    return Plot((Picture("slices", "What the model believes", facts.nothing_yet),))
