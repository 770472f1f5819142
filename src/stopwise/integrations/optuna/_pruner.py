# SPDX-License-Identifier: Apache-2.0
"""The pruner: it ends a trial when going on with it is not worth its price."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from optuna.pruners import BasePruner
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from stopwise.core.beliefs.curves import CurveData, CurveFit, condition_curves, fit_curves
from stopwise.core.beliefs.curves.data import stage_times
from stopwise.core.beliefs.refits import RefitAtSizes
from stopwise.core.checks import as_number
from stopwise.core.exchange_rate import check_lam
from stopwise.core.numerics.arrays import Array
from stopwise.core.space import Domain, as_domain
from stopwise.core.staged_actions import Prospects
from stopwise.core.stages import Stages, checked_stages
from stopwise.errors import InputTypeError, shown
from stopwise.integrations.optuna._mirror import direction_of
from stopwise.integrations.optuna._space import Axes, Distributions

WORTH = "stopwise:worth_going_on"  # a system attribute of the trial: times its price, by step
_SIZES = RefitAtSizes(always_up_to=30, part=7)
_SHOWN = 6  # steps in a message


class StopwisePruner(BasePruner):
    """Prunes a trial when what it is expected to gain is not worth what remains to be paid.

    Experimental. It works beside any sampler; ``trial.report`` and ``trial.should_prune`` are used
    as ever. Optuna cannot take a pruned trial up again, so a trial is compared with the best
    finished value alone, and not with other trials: while nothing has finished, nothing is pruned.

    Args:
        lam: What a unit of cost is worth, in objective units; see ``stopwise.exchange_rate``.
        stages: The steps at which it decides, such as ``Stages(81, eta=3)``, as they are given to
            ``trial.report``; the last one is the last that is reported. Others are passed over.
        cost: What a whole trial costs: None (each costs 1), or a function of the params.
    """

    def __init__(
        self,
        lam: float,
        stages: Stages | int | Sequence[int],
        cost: Callable[[Mapping[str, Any]], float] | None = None,
    ) -> None:
        checked = checked_stages(stages)
        if checked is None or not (cost is None or callable(cost)):
            message = (
                f"StopwisePruner(stages={shown(stages)}, cost={shown(cost)}): give"
                " sw.Stages(81, eta=3), and as cost None or a function of the params."
            )
            raise InputTypeError(message)
        self._lam = check_lam(lam)
        self._stages = checked
        self._cost = cost
        self._fit: tuple[list[tuple[int, int, float]], CurveFit] | None = None
        self._looked_at = -1  # the latest trial at which the steps of finished ones were looked at
        self._has_warned = False

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Whether to end a trial at the step that it has reported."""
        sign = 1.0 if direction_of(study) == "minimize" else -1.0
        self._warn_of_steps(study, trial)
        step = trial.last_step
        at_stage = step in self._stages.steps and step != self._stages.last
        if step is None or not at_stage or not _searched(trial):
            return False
        others = study.get_trials(deepcopy=False)
        alike = [t for t in others if t.distributions == trial.distributions]
        trials = [trial if t.number == trial.number else t for t in alike]
        finished = [t for t in trials if t.state == TrialState.COMPLETE and t.value is not None]
        if not finished or not math.isfinite(trial.intermediate_values[step]):
            return bool(finished) and math.isnan(trial.intermediate_values[step])
        best = min(sign * float(t.value or 0.0) for t in finished)
        worth = math.exp(min(self._log_worth(trials, trial, step, best, sign), 700.0))
        said = {**trial.system_attrs.get(WORTH, {}), str(step): worth}
        study._storage.set_trial_system_attr(trial._trial_id, WORTH, said)  # noqa: SLF001
        return worth <= 1.0

    def _warn_of_steps(self, study: Study, trial: FrozenTrial) -> None:
        """Warn once if a finished trial did not report at the stages, or ended before the last."""
        if self._has_warned or trial.number <= self._looked_at:
            return
        self._looked_at = trial.number
        for other in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            steps = sorted(other.intermediate_values)
            at_stages = set(steps).intersection(self._stages.steps)
            if not steps or (at_stages and steps[-1] >= self._stages.last):
                continue
            self._has_warned = True
            message = (
                f"trial {other.number} is complete and reported at steps {_in_words(steps)}, where"
                f" the stages of StopwisePruner are {self._stages}: it decides at these alone, and"
                f" takes a final value for that of step {self._stages.last}. Steps count from 1:"
                " in a loop that begins at 0, report(value, step + 1); or give other stages."
            )
            warnings.warn(message, stacklevel=4)  # the line of should_prune
            return

    def _log_worth(
        self,
        trials: list[FrozenTrial],
        trial: FrozenTrial,
        step: int,
        best: float,
        sign: float,
    ) -> float:
        """Log of what going on gains over its price."""
        axes = Axes(_searched(trial))
        domain = as_domain(axes.space)
        data = self._data(trials, axes, domain, sign)
        price = self._lam * self._price(trial)
        posterior = condition_curves(data, self._fitted(data, price))
        [x], stage = domain.encode([axes.inward(trial.params)]), self._stages.index(step)
        shares = np.diff(np.array(self._stages.steps)) / self._stages.last
        prospects = Prospects(
            posterior.law_of_trials(x[None, :], np.array([trial.number])),
            lambda _: posterior.steps(x[None, :], stage, np.array([trial.number])),
            [self._price(trial) * shares[stage:]],
            self._lam,
        )
        return prospects.log_worth(0, best)

    def _data(
        self, trials: list[FrozenTrial], axes: Axes, domain: Domain, sign: float
    ) -> CurveData:
        """What trials have reported at the stages, trial by trial."""
        rows: list[tuple[int, int, float]] = []
        points: list[Array] = []
        for trial in trials:
            [x] = domain.encode([axes.inward(trial.params)])
            values = dict(trial.intermediate_values)
            if trial.state == TrialState.COMPLETE and trial.value is not None:
                values[self._stages.last] = trial.value
            for stage, step in enumerate(self._stages.steps):
                if step in values and math.isfinite(values[step]):
                    rows.append((trial.number, stage, sign * float(values[step])))
                    points.append(x)
        number, stage_of, y = zip(*rows, strict=True)
        return CurveData(
            np.array(points),
            np.array(number, dtype=np.intp),
            np.array(stage_of, dtype=np.intp),
            np.array(y),
            stage_times(self._stages.steps),
            domain.groups,
        )

    def _fitted(self, data: CurveData, price: float) -> CurveFit:
        """The fit to the first reports, by a schedule of sizes; made once."""
        first = data.first(_SIZES.latest(len(data)))
        key = list(zip(first.trial.tolist(), first.stage.tolist(), first.y.tolist(), strict=True))
        if self._fit is None or self._fit[0] != key:
            self._fit = key, fit_curves(first, price=price)
        return self._fit[1]

    def _price(self, trial: FrozenTrial) -> float:
        if self._cost is None:
            return 1.0
        advice = "A cost function takes the params, one dict, and returns what they cost."
        return as_number("a cost", self._cost(dict(trial.params)), advice)


def _in_words(steps: list[int]) -> str:
    """Steps, shortened if they are many."""
    if len(steps) <= _SHOWN:
        return ", ".join(map(str, steps))
    return f"{steps[0]}, {steps[1]}, ..., {steps[-1]}"


def _searched(trial: FrozenTrial) -> Distributions:
    """The parameters of a trial that are searched over."""
    return {n: d for n, d in trial.distributions.items() if not d.single()}
