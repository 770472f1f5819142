# SPDX-License-Identifier: Apache-2.0
"""The reader of an Ax experiment: its space, its objective, its trials and their costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from ax.core.outcome_constraint import ComparisonOp
from ax.core.parameter import ChoiceParameter, FixedParameter, ParameterType, RangeParameter

from stopwise.core.one_objective import INSTEAD
from stopwise.core.outcome_limits import Limits, checked_limits
from stopwise.core.space import Categorical, Integer, Real
from stopwise.errors import InputError
from stopwise.integrations.foreign_space import (
    ConstantParameter,
    ForeignSpace,
    Kind,
    of_choices,
    of_numbers,
    translated,
)

_ALLOWED = (
    "range parameters, linear or on a log scale, choice and fixed parameters. Derived,"
    " logit-scaled and hierarchical parameters and constraints cannot be modelled"
)
CostOption = str | float | Callable[[Mapping[str, Any]], float] | None


def read_space(search_space: Any) -> ForeignSpace:  # noqa: ANN401
    """The search space of an Ax experiment."""
    if search_space.parameter_constraints:
        message = (
            f"the search space has parameter constraints, {search_space.parameter_constraints},"
            f" which stopwise cannot keep. Allowed are {_ALLOWED}."
        )
        raise InputError(message)
    return translated(dict(search_space.parameters), _kind, _ALLOWED)


def _kind(name: str, given: Any) -> Kind | None:  # noqa: ANN401, ARG001
    """How one parameter is modelled; None if it cannot be."""
    if given.is_hierarchical:
        return None
    if isinstance(given, FixedParameter):
        return ConstantParameter(given.value)
    if isinstance(given, ChoiceParameter):
        numeric = given.parameter_type.is_numeric and given.is_ordered
        return of_numbers(given.values) if numeric else _of_choices(given.values)
    if not isinstance(given, RangeParameter) or given.logit_scale:
        return None
    if given.parameter_type is ParameterType.INT:
        return Integer(int(given.lower), int(given.upper), log=given.log_scale)
    return Real(float(given.lower), float(given.upper), log=given.log_scale)


def _of_choices(values: list[Any]) -> Kind:
    """Choices without an order, even if they are numbers: Ax says whether they are ordered."""
    return Categorical(values) if len(values) > 1 else of_choices(values)


def objective_of(experiment: Any) -> str:  # noqa: ANN401
    """The name of the one metric that is optimised."""
    config = experiment.optimization_config
    names = [] if config is None else config.objective.metric_names
    if len(names) != 1:
        message = (
            f"the experiment optimises {names}, and {INSTEAD}. Report it as one metric of Ax."
        )
        raise InputError(message)
    return str(names[0])


def limits_of(experiment: Any) -> Limits | None:  # noqa: ANN401
    """The outcome constraints of an experiment, as limits of its metrics."""
    limits: dict[str, tuple[float | None, float | None]] = {}
    for constraint in experiment.optimization_config.outcome_constraints:
        names, weights = constraint.metric_names, [w for _, w in constraint.metric_weights]
        if constraint.relative or len(names) != 1 or weights != [1.0]:
            message = (
                f"the outcome constraint {constraint} cannot be kept: stopwise keeps limits of one"
                " metric each, as in outcome_constraints=['toxicity <= 3.0'], and none that are"
                " relative to a baseline."
            )
            raise InputError(message)
        low, high = limits.get(names[0], (None, None))
        bound = float(constraint.bound)
        if constraint.op is ComparisonOp.LEQ:
            high = bound if high is None else min(high, bound)
        else:
            low = bound if low is None else max(low, bound)
        limits[names[0]] = low, high
    return checked_limits(limits)


def refuse_limits(experiment: Any) -> None:  # noqa: ANN401
    """Refuse outcome constraints where nothing is told of them."""
    if experiment.optimization_config.outcome_constraints:
        message = (
            "an audit compares rules by one metric without outcome constraints; the experiment"
            f" has {experiment.optimization_config.outcome_constraints}."
        )
        raise InputError(message)


def direction_of(experiment: Any) -> Literal["minimize", "maximize"]:  # noqa: ANN401
    """The direction of the objective."""
    objective_of(experiment)
    return "minimize" if experiment.optimization_config.objective.minimize else "maximize"


def means_of(experiment: Any, data: Any = None) -> dict[tuple[int, str], float]:  # noqa: ANN401
    """The mean of each metric in each trial."""
    frame = (experiment.lookup_data() if data is None else data).df
    rows = zip(frame["trial_index"], frame["metric_name"], frame["mean"], strict=True)
    return {(int(t), str(m)): float(mean) for t, m, mean in rows if np.isfinite(mean)}


def finished(experiment: Any) -> list[Any]:  # noqa: ANN401
    """Trials that have ended, in order of completion."""
    ended = [t for t in experiment.trials.values() if t.status.is_terminal]
    return sorted(ended, key=lambda t: t.time_completed.timestamp() if t.time_completed else 0.0)


def params_of(trial: Any) -> dict[str, Any]:  # noqa: ANN401
    """The one configuration of a trial."""
    if len(trial.arms) != 1:
        message = f"trial {trial.index} is a batch of {len(trial.arms)}; give each its own trial."
        raise InputError(message)
    return dict(trial.arms[0].parameters)


def study_cost(cost: CostOption, foreign: ForeignSpace) -> Any:  # noqa: ANN401
    """The option ``cost`` of a ``Study`` that follows the experiment."""
    return "reported" if isinstance(cost, str) else foreign.cost(cost)


def paid_for(
    trial: Any,  # noqa: ANN401
    cost: CostOption,
    means: Mapping[tuple[int, str], float],
    *,
    failed: bool,
) -> float | None:
    """The reported cost of a trial; None if costs are known, or if a failed trial reports none."""
    if not isinstance(cost, str):
        return None
    paid: float | None
    if cost == "seconds":
        begun, ended = trial.time_run_started, trial.time_completed
        paid = None if begun is None or ended is None else (ended - begun).total_seconds()
    else:
        paid = means.get((trial.index, cost))
    if paid is not None and paid > 0:
        return paid
    if failed:
        return None
    message = (
        f"trial {trial.index} does not report its cost, {cost!r}: complete it with"
        f" raw_data={{..., {cost!r}: ...}} and client.configure_tracking_metrics([{cost!r}])."
    )
    raise InputError(message)
