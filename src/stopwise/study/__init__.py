# SPDX-License-Identifier: Apache-2.0
"""The study: ask, tell and should_stop, and the parts that it is made of."""

from stopwise.study.options import Cost, Rules, StudyOptions
from stopwise.study.study import Study

__all__ = ["Cost", "Rules", "Study", "StudyOptions"]
