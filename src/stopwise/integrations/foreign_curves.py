# SPDX-License-Identifier: Apache-2.0
"""Foreign curves: what trials of another package reported on the way, as stages of ours."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from stopwise.core.stages import Stages
from stopwise.study.told_again import Telling


class ForeignCurves(NamedTuple):
    """What trials reported on the way.

    Args:
        stages: The steps that are read; others are passed over.
        params: The configuration of each trial, by its number.
        tellings: Reports at the stages, and failures, trial by trial.
    """

    stages: Stages
    params: Mapping[int, Mapping[str, Any]]
    tellings: tuple[Telling, ...]


def stages_among(steps: Collection[int], last: int) -> Stages | None:
    """A few stages, a factor of three apart, among steps; None if there is none before the last.

    Args:
        steps: The steps that can be read, from 1 on.
        last: The last step of a whole trial.
    """
    early = sorted(step for step in steps if step < last)
    if not early:
        return None
    wanted = Stages(last).steps[:-1]
    nearest = {min(early, key=lambda step: abs(math.log(step / near))) for near in wanted}
    return Stages((*sorted(nearest), last))
