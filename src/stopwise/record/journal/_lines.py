# SPDX-License-Identifier: Apache-2.0
"""The lines of a journal: events as JSON and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

from stopwise.core.beliefs import (
    DEFAULT_KERNEL,
    DEFAULT_WARP,
    KERNELS,
    WARPS,
    Fitted,
    Hyperparameters,
    Kernel,
    Warp,
)
from stopwise.core.beliefs.foresight import Foresight
from stopwise.core.beliefs.hyperparameters import ObjectiveFit
from stopwise.core.traces import Signal
from stopwise.errors import JournalError
from stopwise.record.events import (
    DesignPlanned,
    Event,
    LambdaChosen,
    SignalsRecorded,
    StageReported,
    StudyResumed,
    TrialAmended,
    TrialAsked,
    TrialAskedAgain,
    TrialContinued,
    TrialDropped,
    TrialTold,
    VerdictGiven,
)
from stopwise.record.history import Observation, Trial
from stopwise.record.journal.codec import Json, ParamsCodec, as_float, number
from stopwise.record.outcomes import outcome_as_json, outcome_from_json
from stopwise.record.staged import Leg, PassedOver, Report
from stopwise.stopping.verdict import Verdict

T = TypeVar("T")


def as_line(event: Event, params: ParamsCodec) -> dict[str, Any]:  # noqa: C901, PLR0911  one case per event
    """An event as a line of a journal."""
    match event:
        case DesignPlanned(initial, queue):
            rows = [params.as_json(row) for row in queue]
            return {"event": "design", "initial": initial, "queue": rows}
        case LambdaChosen(lam0):
            return {"event": "lambda", "lam0": lam0}
        case SignalsRecorded(signals):
            recorded = {key: _signal_as_json(signal) for key, signal in signals.items()}
            return {"event": "signals", "signals": recorded}
        case TrialAsked():
            return _ask_as_json(event, params)
        case TrialAskedAgain(trial_number):
            return {"event": "ask again", "trial": trial_number}
        case TrialTold():
            return _tell_as_json(event, params)
        case StageReported(report):
            return {"event": "report", **dataclasses.asdict(report)}
        case TrialContinued(trial_number, leg):
            return {"event": "continue", "trial": trial_number, **_leg_as_json(leg)}
        case TrialAmended(observation, delivered_anew, step):
            told = _observation_as_json(observation, params)
            measured = _if_any("outcomes", dict(observation.outcomes) or None)
            gains = {str(trial_number): gain for trial_number, gain in delivered_anew.items()}
            staged = _if_any("step", step)
            return {"event": "amend", **told, "delivered": gains, **measured, **staged}
        case VerdictGiven(verdict):
            return {
                "event": "verdict",
                "stop": verdict.stop,
                "rule": verdict.rule,
                "value": number(verdict.value),
                "threshold": number(verdict.threshold),
                "reason": verdict.reason,
            }
        case TrialDropped(trial_number):
            return {"event": "drop", "trial": trial_number}
        case StudyResumed(version, changed, again):
            resumed = {"event": "resume", "version": version, "changed": changed}
            return resumed if again else {**resumed, "again": False}


def _if_any(key: str, value: T | None) -> dict[str, T]:
    """A key that is left out where it has no value, as in journals that do not know it."""
    return {} if value is None else {key: value}


def from_line(line: Mapping[str, Any], params: ParamsCodec) -> Event:
    """The event of a line; a KeyError if the line is not an event."""
    return _READERS[line["event"]](line, params)


def _ask_as_json(event: TrialAsked, params: ParamsCodec) -> dict[str, Any]:
    line: dict[str, Any] = {
        "event": "ask",
        "trial": event.trial.number,
        "params": params.as_json(event.trial.params),
        "expected_cost": event.trial.expected_cost,
        "designed": event.designed,
        "fitted": None if event.fitted is None else _fitted_as_json(event.fitted),
        **_if_any("promised", event.promised),
        **_if_any("repeats", event.trial.repeats),
        **_if_any("worth", event.trial.worth),
    }
    if event.foresight is not None:
        line["foresight"] = {
            "level": event.foresight.level,
            "chances": list(event.foresight.chances),
        }
    if event.fixed is not None:
        line["fixed"] = params.as_json(event.fixed)
    return line if event.leg is None else {**line, "leg": _leg_as_json(event.leg)}


def _leg_as_json(leg: Leg) -> dict[str, Any]:
    kept = _numbers_as_json(leg, "fair_value", "worth", "since")
    passed = {str(n): _numbers_as_json(o, "fair_value", "worth") for n, o in leg.passed.items()}
    return {"to_step": leg.to_step, **kept, **_if_any("passed", passed or None)}


def _leg(line: Json) -> Leg:
    passed = {
        int(trial): PassedOver(*_numbers(other, "fair_value", "worth"))
        for trial, other in line.get("passed", {}).items()
    }
    fair_value, worth, since = _numbers(line, "fair_value", "worth", "since")
    return Leg(line["to_step"], fair_value, worth, since, passed)


def _numbers_as_json(of: Leg | PassedOver, *names: str) -> dict[str, Any]:
    """Numbers by name, without those that are None."""
    numbers = ((name, getattr(of, name)) for name in names)
    return {name: number(value) for name, value in numbers if value is not None}


def _numbers(line: Json, *names: str) -> Iterator[float | None]:
    """The numbers of these names, None where there is none."""
    return (as_float(line[name]) if name in line else None for name in names)


def _read_ask(line: Json, params: ParamsCodec) -> TrialAsked:
    trial = Trial(
        line["trial"],
        params.inside(line["params"]),
        line["expected_cost"],
        line.get("repeats"),
        line.get("worth"),
    )
    fitted = None if line["fitted"] is None else _fitted(line["fitted"])
    foresight = None
    if "foresight" in line:
        foreseen = line["foresight"]
        foresight = Foresight(foreseen["level"], tuple(foreseen["chances"]))
    fixed = params.params(line["fixed"]) if "fixed" in line else None
    leg = _leg(line["leg"]) if "leg" in line else None
    promised = line.get("promised")
    return TrialAsked(trial, line["designed"], fitted, promised, foresight, fixed, leg)


def _tell_as_json(event: TrialTold, params: ParamsCodec) -> dict[str, Any]:
    observation = event.observation
    further = [
        {"trial": o.number, **outcome_as_json(o.outcome), "cost": o.cost} for o in event.further
    ]
    return {
        "event": "tell",
        **_observation_as_json(observation, params),
        **_if_any("delivered", event.delivered),
        **_if_any("outcomes", dict(observation.outcomes) or None),
        **_if_any("further", further or None),
        **_if_any("step", event.step),
    }


def _observation_as_json(observation: Observation, params: ParamsCodec) -> dict[str, Any]:
    return {
        "trial": observation.number,
        "params": params.as_json(observation.params),
        **outcome_as_json(observation.outcome),
        "cost": observation.cost,
        "charged": observation.charged,
        "expected_cost": observation.expected_cost,
    }


def _observation(line: Json, params: ParamsCodec) -> Observation:
    return Observation(
        line["trial"],
        params.inside(line["params"]),
        outcome_from_json(line),
        float(line["cost"]),
        line["charged"],
        line["expected_cost"],
        {name: float(value) for name, value in line.get("outcomes", {}).items()},
    )


def _read_tell(line: Json, params: ParamsCodec) -> TrialTold:
    told = _observation(line, params)
    further = tuple(
        dataclasses.replace(
            told, number=of["trial"], outcome=outcome_from_json(of), cost=float(of["cost"])
        )
        for of in line.get("further", ())
    )
    return TrialTold(told, line.get("delivered"), further, line.get("step"))


def _read_amend(line: Json, params: ParamsCodec) -> TrialAmended:
    delivered = {int(number): gain for number, gain in line["delivered"].items()}
    return TrialAmended(_observation(line, params), delivered, line.get("step"))


def _read_verdict(line: Json, _: ParamsCodec) -> VerdictGiven:
    return VerdictGiven(
        Verdict(
            line["stop"],
            line["rule"],
            as_float(line["value"]),
            as_float(line["threshold"]),
            line["reason"],
        )
    )


_READERS: dict[str, Callable[[Json, ParamsCodec], Event]] = {
    "design": lambda line, params: DesignPlanned(
        line["initial"], tuple(params.params(row) for row in line["queue"])
    ),
    "lambda": lambda line, _: LambdaChosen(line["lam0"]),
    "signals": lambda line, _: SignalsRecorded(
        {key: _signal(signal) for key, signal in line["signals"].items()}
    ),
    "ask": _read_ask,
    "ask again": lambda line, _: TrialAskedAgain(line["trial"]),
    "tell": _read_tell,
    "report": lambda line, _: StageReported(
        Report(line["trial"], line["step"], float(line["value"]), float(line["cost"]))
    ),
    "continue": lambda line, _: TrialContinued(line["trial"], _leg(line)),
    "amend": _read_amend,
    "verdict": _read_verdict,
    "drop": lambda line, _: TrialDropped(line["trial"]),
    "resume": lambda line, _: StudyResumed(
        line["version"], line["changed"], line.get("again", True)
    ),
}


def _signal_as_json(signal: Signal) -> Json:
    facts = {name: number(value) for name, value in signal.facts.items()}
    return {"t": signal.t, "n": signal.n, "value": number(signal.value), "facts": facts}


def _signal(line: Json) -> Signal:
    facts = {name: as_float(value) for name, value in line["facts"].items()}
    return Signal(line["t"], line["n"], as_float(line["value"]), facts)


def _fitted_as_json(fitted: Fitted) -> Json:
    price = None if fitted.price is None else _hyper_as_json(fitted.price)
    return {"objective": _objective_as_json(fitted.objective), "price": price}


def _fitted(line: Json) -> Fitted:
    price = None if line["price"] is None else _hyper(line["price"])
    return Fitted(_objective(line["objective"]), price)


def _objective_as_json(fit: ObjectiveFit) -> Json:
    """The hyper-parameters of one posterior, or those of several with weights and trust."""
    if len(fit.components) == 1:
        return _hyper_as_json(fit.components[0])
    return {
        "components": [_hyper_as_json(hyper) for hyper in fit.components],
        "weights": list(fit.weights),
        "trust": fit.trust,
    }


def _objective(line: Json) -> ObjectiveFit:
    if "components" not in line:
        return ObjectiveFit((_hyper(line),))
    components = tuple(map(_hyper, line["components"]))
    return ObjectiveFit(components, tuple(line["weights"]), line["trust"])


def _hyper_as_json(hyper: Hyperparameters) -> Json:
    # Python writes the shortest digits that read back as the same float: nothing is rounded.
    line = {
        "lengthscales": hyper.lengthscales.tolist(),
        "outputscale": float(hyper.outputscale),
        "noise": float(hyper.noise),
        "mean": float(hyper.mean),
    }
    if hyper.kernel != DEFAULT_KERNEL:
        line["kernel"] = _member_as_json(hyper.kernel, "kernel", KERNELS)
    if hyper.warp != DEFAULT_WARP:
        line["warp"] = _member_as_json(hyper.warp, "warp", WARPS)
    return line


def _hyper(line: Json) -> Hyperparameters:
    numbers = {name: value for name, value in line.items() if name not in ("kernel", "warp")}
    kernel = _member(line["kernel"], KERNELS) if "kernel" in line else DEFAULT_KERNEL
    warp = _member(line["warp"], WARPS) if "warp" in line else DEFAULT_WARP
    return Hyperparameters(**numbers, kernel=kernel, warp=warp)


def _member_as_json(value: Kernel | Warp, kind: str, table: Mapping[str, object]) -> Json:
    """A kernel or a warp as JSON: its name in the table, and its parameters."""
    if table.get(value.name) is not type(value):
        message = (
            f"the {kind} {value!r} cannot be written to a journal: it is none of"
            f" {', '.join(table)}. Leave out journal=, or use one of these."
        )
        raise JournalError(message)
    parameters: dict[str, Json] = {"name": value.name}
    for field in dataclasses.fields(cast("Any", value)):
        of = getattr(value, field.name)  # a number, or the warp within a clipped one
        parameters[field.name] = (
            number(of) if isinstance(of, float) else _member_as_json(of, kind, table)
        )
    return parameters


def _member(line: Json, table: Mapping[str, Callable[..., T]]) -> T:
    parameters = {
        name: _member(value, table) if isinstance(value, dict) else as_float(value)
        for name, value in line.items()
        if name != "name"
    }
    return table[line["name"]](**parameters)
