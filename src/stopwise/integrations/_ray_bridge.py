# SPDX-License-Identifier: Apache-2.0
"""The Ray bridge: a study in the terms of Ray Tune, for the searcher and the stopper."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from ray.tune.utils.util import flatten_dict, unflatten_dict

from stopwise.core.one_objective import INSTEAD, are_several
from stopwise.errors import InputError
from stopwise.integrations._ray_space import flattened, is_searched, read_space
from stopwise.integrations.foreign_outcomes import outcomes_of
from stopwise.integrations.foreign_space import ForeignSpace
from stopwise.record.history import Trial
from stopwise.stopping.verdict import Verdict
from stopwise.study import Study, StudyOptions

SET_HERE = ("direction",)  # from Ray's mode
CostOption = str | float | Callable[[Mapping[str, Any]], float] | None


class RayBridge:
    """A study in the terms of Ray Tune, for the searcher and the stopper.

    Args:
        lam: What a unit of cost is worth, in units of the metric.
        metric: Which reported number is the objective.
        mode: ``"min"`` or ``"max"``.
        cost: Which reported number is the cost, learned; a function of the config, known; or None.
        options: Further options of ``sw.Study``.
        kind: ``Study``, or ``ExternalStudy`` where others choose.
    """

    def __init__(
        self,
        lam: float | None,
        metric: str | None,
        mode: str | None,
        cost: CostOption,
        options: Mapping[str, Any],
        kind: type[Study] = Study,
    ) -> None:
        reserved = {*SET_HERE, "space"} & set(options)
        if reserved:
            message = f"{sorted(reserved)} come from Ray's mode and param_space; leave them out."
            raise InputError(message)
        # Refused here, not at the first trial.
        _check_one_objective(metric, mode)
        StudyOptions.of(options, owner="the search")
        self.lam = lam
        self.metric = metric
        self.mode = mode
        self.cost = cost
        self.options = dict(options)
        self.kind = kind
        self.constants: dict[str, Any] = {}
        self.study: Study | None = None
        self.foreign: ForeignSpace | None = None
        self._answer: tuple[tuple[int, int], Verdict] | None = None
        self._has_warned = False

    def open(self, param_space: Mapping[str, Any]) -> Study:
        """Begin a study over a param_space."""
        _check_one_objective(self.metric, self.mode)
        if self.metric is None or self.mode not in ("min", "max"):
            message = (
                f"metric={self.metric!r}, mode={self.mode!r}: give the name of the metric, and"
                " 'min' or 'max', here or in TuneConfig."
            )
            raise InputError(message)
        searched = read_space(param_space)
        constant = {k: v for k, v in flattened(param_space).items() if not is_searched(v)}
        return self.begin(searched, {k: v for k, v in constant.items() if k not in searched.kinds})

    def begin(self, foreign: ForeignSpace, constants: Mapping[str, Any]) -> Study:
        """Begin a study over a space; ``constants`` are the entries that do not vary."""
        self.constants = dict(constants)
        options = dict(self.options)
        first = options.pop("start_from", ())
        first = [first] if isinstance(first, Mapping) else first
        cost = self.cost
        options["constraints"] = foreign.constraints(options.get("constraints"))

        def price(params: Mapping[str, Any]) -> float:
            return float(cost(unflatten_dict(self.constants | foreign.outward(params))))  # type: ignore[misc, operator]

        self.foreign = foreign
        self.study = self.kind(
            foreign.space,
            lam=self.lam,
            direction="minimize" if self.mode == "min" else "maximize",
            cost=price if callable(cost) else "reported" if isinstance(cost, str) else cost,
            start_from=[foreign.inward(flattened(params)) for params in first],
            **options,
        )
        return self.study

    def reopen(self) -> Study:
        """Begin the study again, without data."""
        _, foreign = self.opened
        self._answer = None
        return self.begin(foreign, self.constants)

    @property
    def opened(self) -> tuple[Study, ForeignSpace]:
        """The study and its space."""
        if self.study is None or self.foreign is None:
            message = "there is no search space: give param_space to Tuner, or to Tuner.restore."
            raise InputError(message)
        return self.study, self.foreign

    def paid(self, result: Mapping[str, Any] | None) -> float | None:
        """The cost that a result reports; None if costs are known, or if it reports none."""
        if not isinstance(self.cost, str) or result is None:
            return None
        paid = flatten_dict(dict(result)).get(self.cost)
        return float(paid) if paid is not None and paid > 0 else None

    def value(self, result: Mapping[str, Any] | None) -> float | None:
        """The objective that a result reports."""
        value = None if result is None else flatten_dict(dict(result)).get(self.metric)
        return None if value is None or not math.isfinite(value) else float(value)

    def tell(self, trial: Trial | Mapping[str, Any], result: Any, *, error: bool) -> None:  # noqa: ANN401
        """Tell the study the result of a trial; without a value the trial has failed."""
        study, _ = self.opened
        value = None if error else self.value(result)
        paid = self.paid(result)
        if value is not None and paid is None and isinstance(self.cost, str):
            message = (
                f"a result does not report {self.cost!r}, its cost; reported are"
                f" {sorted(result or ())}. Name one of them, or give a function of the config."
            )
            raise InputError(message)
        why = "the trial raised an error" if error else f"no {self.metric!r} was reported"
        outcomes: dict[str, Any] | None = None
        if value is not None:
            outcomes, why = self.outcomes(result)
            value = None if why else value
        study.tell(trial, value, paid, charge=True, message=why, outcomes=outcomes)

    def outcomes(self, result: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
        """What a result reports of the outcomes that have limits; see ``outcomes_of``."""
        study, _ = self.opened
        how = "Report it beside the metric, as in tune.report({..., name: value})."
        reported = flatten_dict(dict(result))
        return outcomes_of(reported, study.options.limits, who="a result", how=how)

    def verdict(self) -> Verdict:
        """The study's verdict; computed once per number of told and running trials."""
        study, _ = self.opened
        at = len(study.history), len(study.pending)
        if self._answer is None or self._answer[0] != at:
            self._answer = at, study.should_stop()
        return self._answer[1]

    def warn_if_anew(self, trial_id: str, number: int, step: int) -> None:
        """Warn once if a trial that was taken up begins anew, without its checkpoint."""
        study, _ = self.opened
        reached = study.curves[number][-1].step
        if self._has_warned or step > reached:
            return
        self._has_warned = True
        message = (
            f"trial {trial_id} was taken up after step {reached} and reports step {step}: it did"
            " not go on from a checkpoint, and is run, and paid for, again. Report a checkpoint"
            " at each stage, and begin from tune.get_checkpoint() if there is one."
        )
        warnings.warn(message, stacklevel=4)


def _check_one_objective(metric: object, mode: object) -> None:
    """Refuse lists of metrics and modes."""
    if are_several(metric) or are_several(mode):
        raise InputError(f"metric={metric!r}, mode={mode!r}: {INSTEAD}.")
