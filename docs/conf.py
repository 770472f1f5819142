# SPDX-License-Identifier: Apache-2.0
"""The site: ``sphinx-build -c docs . build/site`` from the root of the repository (``make docs``).

The source folder is the repository, so that a link from a page to an example, to the changelog or
to another distribution leads to the same place here as where the files are read as they are.
"""

import os
import sys
from pathlib import Path

import stopwise

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))
os.environ.setdefault("MPLBACKEND", "Agg")

project = "stopwise"
author = "The stopwise authors"
copyright = "The stopwise authors, Apache-2.0"  # noqa: A001  Sphinx's name for it
version = release = stopwise.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "_site.mathml",
    "_site.pages",
    "_site.notebooks",
    "_site.tables",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "GOVERNANCE.md",
    "SECURITY.md",
    "paper/README.md",
]
exclude_patterns = ["docs/_*", "docs/results/*/cells", "**/.*"]
source_suffix = {".md": "markdown", ".ipynb": "markdown"}
nitpicky = False  # names of types that other packages define have no page here

# ------------------------------------------------------------------------------------ Markdown

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
highlight_language = "none"  # a block that names no language is a picture or a session
suppress_warnings = ["misc.highlighting_failure"]  # a block of a shell session is no program

# ------------------------------------------------------------------------------------- autodoc

autodoc_typehints = "none"  # signatures are wide; the arguments are described below them
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

# ---------------------------------------------------------------------------------------- HTML

html_theme = "furo"
html_title = "stopwise"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["calculator.js", "fair_values.js"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6e4f", "color-brand-content": "#0b6e4f"},
    "dark_css_variables": {"color-brand-primary": "#5fd3a5", "color-brand-content": "#5fd3a5"},
}
copybutton_exclude = ".linenos, .gp, .go"
