# SPDX-License-Identifier: Apache-2.0
"""Notebooks as pages: their cells, and what they printed when they were last run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def page(notebook: dict[str, Any]) -> str:
    """A notebook as Markdown."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"]).strip()
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        printed = ("".join(output["text"]).rstrip() for output in cell.get("outputs", ()))
        parts += [f"```text\n{text}\n```" for text in printed]
    return "\n\n".join(parts) + "\n"


def convert(app: Sphinx, name: str, source: list[str]) -> None:  # noqa: ARG001  Sphinx hands it in
    """Read a notebook as a page."""
    if name.startswith("docs/notebooks/"):
        source[0] = page(json.loads(source[0]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Take notebooks for pages."""
    app.connect("source-read", convert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
