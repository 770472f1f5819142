# SPDX-License-Identifier: Apache-2.0
"""Who has chosen the evaluations of a study, and what another lam would have changed."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from stopwise.acquisition import ACQUISITIONS
from stopwise.study.context import StudyContext

if TYPE_CHECKING:
    from stopwise.study.study import Study

KNOWING_LAM = "read off this trajectory; under PBGI another lam would have chosen otherwise"
"""What is said of choices of an acquisition that knows lam."""
WITHOUT_LAM = "read off this trajectory; its choices do not depend on lam"
"""What is said of choices of an acquisition that does not."""
BY_OTHERS = "read off this history; others chose its evaluations, whatever lam is"
"""What is said of choices that were not this study's."""

_LAMS = ("lam", "lam0")


def caveat_of(context: StudyContext) -> str:
    """Whether another lam would have chosen otherwise, by who has made the choices so far."""
    if context.others_choices is not None and context.state.fitted is None:
        return context.others_choices
    given = context.options.acquisition
    if isinstance(given, str):
        knows_lam = not set(_LAMS).isdisjoint(inspect.signature(ACQUISITIONS[given]).parameters)
    else:
        knows_lam = any(hasattr(given, name) for name in _LAMS)
    return KNOWING_LAM if knows_lam else WITHOUT_LAM


def caveat_of_study(study: Study) -> str:
    """The same of a study."""
    return caveat_of(study._context)  # noqa: SLF001  its own folder
