# SPDX-License-Identifier: Apache-2.0
"""Journals of small studies: written, resumed and read line by line."""

from __future__ import annotations

import json
import warnings

import stopwise as sw
from stopwise.record.journal import ResumeWarning
from tests.support.small_studies import bowl, run


def quietly_resumed(path, kind=sw.Study, **given):
    """A study resumed from its journal; what is said of the resume is ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResumeWarning)
        return kind.resume(path, **given)


def resumed(path, **given):
    """A study resumed from its journal, of which nothing is to be said."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return sw.Study.resume(path, **given)


def grown(study, steps):
    """So many trials of a bowl, with a verdict after each."""
    for _ in range(steps):
        run(study, bowl, 1)
        study.should_stop()
    return study


def journal_lines(path):
    """The lines of a journal, each a dict."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
