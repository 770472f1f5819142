# SPDX-License-Identifier: Apache-2.0
"""The staged design: many configurations are begun, and run to their first stage only."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from stopwise.core.stages import Stages
from stopwise.study.context import StudyContext
from stopwise.study.hard_limits import is_exhausted
from stopwise.study.initial_design import TRIES, InitialDesign, distinct
from stopwise.study.spending import Spending
from stopwise.study.staged.beliefs import StagedBeliefs


class StagedDesign(InitialDesign):
    """The first configurations of a study with stages."""

    def __init__(
        self,
        context: StudyContext,
        spending: Spending,
        stages: Stages,
        beliefs: StagedBeliefs,
    ) -> None:
        super().__init__(context, spending)
        self._stages = stages
        self._beliefs = beliefs

    @cached_property
    def wanted(self) -> int:
        """Number of configurations that are begun before a model chooses."""
        given = self._context.options.n_initial
        size = 2 * (self._context.domain.n_active + 1) if given is None else given
        return max(size, len(list(self._context.options.start_from)))

    @property
    def size(self) -> int:
        """The same."""
        return self.wanted

    @property
    def is_begun(self) -> bool:
        """Whether enough configurations are begun; where many fail, others are tried instead."""
        state, most = self._context.state, self._context.options.max_trials
        if not state.reports:
            return False
        if (most is not None and state.asked >= most) or is_exhausted(self._context):
            return True
        alive = state.next - sum(o.failed for o in state.history)
        enough = alive >= max(self.wanted // 2, 1) or state.next >= TRIES * self.wanted
        return state.next >= self.wanted and enough

    @property
    def is_done(self) -> bool:
        """Whether rules can be asked: the design is begun, and there is a result."""
        state = self._context.state
        has_result = self._stages.usable or bool(state.history.succeeded)
        return self.is_begun and has_result

    def next(self) -> dict[str, Any] | None:
        """The next configuration of the design; None if it is begun, or there is no other."""
        context, state = self._context, self._context.state
        most = context.options.max_trials
        if self.is_begun or (most is not None and state.asked >= most):
            return None
        taken = self._taken()
        first = distinct(context.domain, list(context.options.start_from), taken)
        if first:
            return first[0]
        paid_at, paid = self._beliefs.paid()
        so_far = self._so_far(taken, paid_at, paid)
        return next(iter(self._design.points(1, so_far)), None)

    def words(self) -> str:
        """How far the design is."""
        return f"initial design, {self._context.state.next} of {self.wanted} begun: go on"
