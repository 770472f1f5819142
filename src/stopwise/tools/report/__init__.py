# SPDX-License-Identifier: Apache-2.0
"""The report of a study: one HTML page, and its pictures one by one.

``page`` makes the HTML, ``write`` puts it into a file, ``serve`` shows a journal that is still
being written, and ``plot_*`` give the pictures to a notebook.
"""

from __future__ import annotations

from stopwise.tools.report._command import cli_report
from stopwise.tools.report._page import page
from stopwise.tools.report._plots import (
    Plot,
    plot_best,
    plot_costs,
    plot_curves,
    plot_importance,
    plot_promises,
    plot_signal,
    plot_slices,
    plot_value,
)
from stopwise.tools.report._serve import ReportServer
from stopwise.tools.report._write import write

__all__ = [
    "Plot",
    "ReportServer",
    "cli_report",
    "page",
    "plot_best",
    "plot_costs",
    "plot_curves",
    "plot_importance",
    "plot_promises",
    "plot_signal",
    "plot_slices",
    "plot_value",
    "write",
]
