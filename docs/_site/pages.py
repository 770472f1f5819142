# SPDX-License-Identifier: Apache-2.0
"""The front door, and titles for the tables that programs wrote.

index.html at the top of the site leads to docs/index.html. A page of docs/results that begins
with a table is called by its file's name.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>stopwise</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
<a href="docs/index.html">stopwise</a></html>
"""


def write_front_door(app: Sphinx, exception: Exception | None) -> None:
    """Write the front door, where the site was built."""
    if exception is None and app.builder.format == "html":
        (Path(app.outdir) / "index.html").write_text(PAGE, "utf-8")


def entitle(app: Sphinx, name: str, source: list[str]) -> None:  # noqa: ARG001  Sphinx hands it in
    """Put a title over a page of results that has none."""
    if name.startswith("docs/results/") and not source[0].lstrip().startswith("# "):
        title = name.rpartition("/")[2].replace("-", " ").capitalize()
        source[0] = f"# {title}\n\n{source[0]}"


def unbroken(app: Sphinx, name: str, source: list[str]) -> None:  # noqa: ARG001  as above
    """Keep a number and its error on one line, in narrow columns too."""
    source[0] = source[0].replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen for pages that are read, and for the end."""
    app.connect("source-read", entitle)
    app.connect("source-read", unbroken)
    app.connect("build-finished", write_front_door)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
