# SPDX-License-Identifier: Apache-2.0
"""Reports that several tests look at, each made once a process; and a stand-in for a journal."""

from functools import cache

import stopwise as sw
from stopwise.tools import report
from tests.support import report_studies

KINDS = ["stopped", "five", "maximised", "exhausted_budget", "hostile", "all_failed", "noisy"]


@cache
def study_of(kind):
    """The study of tests/support/report_studies.py with this name."""
    return getattr(report_studies, kind)()


@cache
def page_of(kind):
    """Its report."""
    return report.page(study_of(kind))


def study_of_lines(path):
    """The study of a stand-in for a journal: one value a line."""
    study = sw.Study({"n": sw.Integer(1, 50)}, lam=0.1, n_initial=40)
    with open(path, encoding="utf-8") as file:  # noqa: PTH123  the path is a string
        for number, line in enumerate(file, start=1):
            study.tell({"n": number}, float(line))
    return study
