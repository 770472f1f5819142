# SPDX-License-Identifier: Apache-2.0
"""The parts of a study with stages, put together; options that do not go with them are refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stopwise.core.search.supremum import Search
from stopwise.core.stages import Stages
from stopwise.errors import InputError
from stopwise.stopping import StoppingRule
from stopwise.study.context import StudyContext
from stopwise.study.options import StudyOptions, defaults
from stopwise.study.spending import Spending
from stopwise.study.staged.asking import StagedAsking
from stopwise.study.staged.beliefs import StagedBeliefs
from stopwise.study.staged.choosing import StagedChoosing
from stopwise.study.staged.deciding import StagedDeciding, StagedSignals, check_rules
from stopwise.study.staged.design import StagedDesign
from stopwise.study.staged.telling import StagedTelling

_NOT_WITH_STAGES = (
    "utility",
    "noise",
    "replicates",
    "limits",
    "fallback",
    "acquisition",
    "surrogate",
)
_LIGHT = Search(raw=256, restarts=3)  # of new configurations: a start may be left soon


class StagedParts(NamedTuple):
    """The parts of a study that differ where evaluations have stages."""

    design: StagedDesign
    snapshots: StagedSignals
    deciding: StagedDeciding
    asking: StagedAsking
    telling: StagedTelling


def check_options(options: StudyOptions) -> None:
    """Refuse what a study with stages cannot do yet."""
    usual = defaults()
    for name in _NOT_WITH_STAGES:
        if getattr(options, name) != usual[name]:
            message = (
                f"{name}= does not go with stages= yet: leave one of them out. (Evaluations in"
                " stages have a model and a choice of their own.)"
            )
            raise InputError(message)
    if options.lam is None:
        message = (
            "a study with stages needs lam=, what a unit of cost is worth: each stage has a price."
            " sw.exchange_rate(improvement=..., cost=...) makes one."
        )
        raise InputError(message)


def staged_parts(
    context: StudyContext,
    spending: Spending,
    search: Search,
    rules: Sequence[StoppingRule],
    watched: Sequence[StoppingRule],
) -> StagedParts:
    """The parts of a study whose options have stages."""
    stages = context.options.stages
    assert isinstance(stages, Stages)  # noqa: S101  options are checked
    check_options(context.options)
    check_rules([*rules, *watched])
    beliefs = StagedBeliefs(context, stages)
    design = StagedDesign(context, spending, stages, beliefs)
    raw, restarts = min(search.raw, _LIGHT.raw), min(search.restarts, _LIGHT.restarts)
    lighter = Search(raw, restarts, narrow=False)
    choosing = StagedChoosing(context, stages, beliefs, lighter)
    signals = StagedSignals(context, choosing, design)
    deciding = StagedDeciding(context, stages, signals, choosing, design, list(rules))
    asking = StagedAsking(context, stages, choosing, design)
    return StagedParts(design, signals, deciding, asking, StagedTelling(context, stages))
