# SPDX-License-Identifier: Apache-2.0
"""Studies resumed from journals, in tests that are not about what a resume warns of."""

from __future__ import annotations

import warnings

import stopwise as sw
from stopwise.record.journal import ResumeWarning


def quietly_resumed(path, kind=sw.Study, **given):
    """A study resumed from its journal; what is said of the resume is ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResumeWarning)
        return kind.resume(path, **given)
