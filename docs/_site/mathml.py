# SPDX-License-Identifier: Apache-2.0
"""Formulas as MathML, which browsers draw themselves: no script and no network."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math import latex2mathml

# docutils hangs a sub- or superscript on the last letter only; a name in braces is one thing.
SCRIPTED = re.compile(r"(\\(?:math\w+|operatorname)\{[^{}]*\})(?=[_^])")
# It wants braces around what is above and below a line; TeX takes one sign without.
SHORT_FRACTION = re.compile(r"\\[td]?frac\s*([0-9A-Za-z])\s*([0-9A-Za-z])")

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator


def mathml(latex: str, *, block: bool) -> str:
    """A formula as a MathML element."""
    latex = SHORT_FRACTION.sub(r"\\frac{\1}{\2}", SCRIPTED.sub(r"{\1}", latex))
    source = rf"\begin{{aligned}}{latex}\end{{aligned}}" if r"\\" in latex else latex
    tree = latex2mathml.MathRow()
    latex2mathml.parse_latex_math(tree, source)
    display = "block" if block else "inline"
    inside = "".join(child.toxml() for child in tree)
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="{display}">{inside}</math>'


def inline(self: HTML5Translator, node: nodes.math) -> None:
    """A formula within a sentence."""
    self.body.append(f'<span class="math">{mathml(node.astext(), block=False)}</span>')
    raise nodes.SkipNode


def block(self: HTML5Translator, node: nodes.math_block) -> None:
    """A formula on a line of its own."""
    self.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
