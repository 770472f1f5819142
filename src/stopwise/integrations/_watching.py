# SPDX-License-Identifier: Apache-2.0
"""A study in which others choose: it is told what they evaluate, and asked when to stop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stopwise.record.events import Asked, Designed
from stopwise.record.history import Trial
from stopwise.study import Study


class Watching(Study):
    """A study that is told what others evaluate.

    The first ``n_initial`` values count as the initial design, so t counts from there on.
    """

    def begin(self, params: Mapping[str, Any]) -> Trial:
        """Somebody evaluates these params: they are pending."""
        self.domain.encode(params)  # refuse what is not in the space
        trial = Trial(self._state.next, dict(params))
        self._happen(Asked(trial, designed=False, fitted=None))
        return trial

    def tell(self, *args: Any, **options: Any) -> None:  # noqa: ANN401
        """Report an evaluation, as in ``Study``."""
        super().tell(*args, **options)
        if self._state.initial is None and len(self.history.succeeded) >= self.n_initial:
            self._happen(Designed(self.n_initial, ()))
