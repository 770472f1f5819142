# SPDX-License-Identifier: Apache-2.0
"""The explanation of a verdict in words: the gain still expected, its cost, kept promises.

It says how the model reads bad values where it does so in several ways, warns of suspect
thresholds, and of values that look bounded where no bounds were given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from stopwise.acquisition.logeipc import LogEIPC
from stopwise.acquisition.one_observation import values_one_observation
from stopwise.core.beliefs.fit import NUGGET
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.limits import LEAST_VALUE
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.units import AnswerUnits, settings
from stopwise.record.history import Observation
from stopwise.record.promises import Promises
from stopwise.stopping import StoppingRule, traits_of
from stopwise.stopping.signals import in_currency
from stopwise.stopping.verdict import Verdict
from stopwise.study.budget_worth import beyond_budget, worth_by_budget
from stopwise.study.context import StudyContext
from stopwise.study.coverage import coverage
from stopwise.study.hard_limits import EXHAUSTED, is_exhausted
from stopwise.study.lam_ladder import ladder, own_lam
from stopwise.study.options import StudyOptions
from stopwise.study.readings import Readings, readings_of
from stopwise.study.remaining import Remaining, best_remaining
from stopwise.study.who_chose import caveat_of

if TYPE_CHECKING:
    from stopwise.study.study import Study

_OFF_SCALE = 100.0  # a threshold this many times the spread of the data is suspect
_DECADE = 10.0  # values of one sign whose ratio is at least this look bounded by 0


def explain(
    context: StudyContext,
    snapshot: Snapshot,
    rules: Iterable[StoppingRule],
    verdict: Verdict,
) -> str:
    """The verdict, the best remaining candidate, promises, readings, and warnings."""
    if math.isinf(snapshot.best):
        return _explain_nothing_feasible(context, snapshot, verdict)
    rules = list(rules)
    promises = Promises(tuple(context.state.promises.values()))
    said = promises.words(context.options.gain_unit)
    kept = [f"{said[0].upper()}{said[1:]}."] if len(promises.told) else []
    return "\n".join(
        [
            f"{verdict.rule}: {verdict.reason}.",
            *_before_any_choice(context, verdict),
            *_of_worth(context, snapshot),
            *_remaining_actions(context, snapshot, rules),
            *_by_budget(context, snapshot),
            *_of_success(context, snapshot),
            *coverage(context, snapshot),
            *kept,
            *_of_readings(readings_of(context, snapshot.belief.objective)),
            *_ladder(context, snapshot, rules),
            *_warnings(snapshot, rules),
            *_underflows(context.history.succeeded),
            *_off_scale_noise(snapshot, context.options.noise),
            *_possible_bounds(snapshot.y, context.options),
        ]
    )


def rests_on_no_choice(study: Study) -> list[str]:
    """That the last verdict rests on no choice of the model, in a sentence, if it does."""
    context = study._context  # noqa: SLF001  its own folder
    verdict = context.state.verdict
    return [] if verdict is None else _before_any_choice(context, verdict)


def _before_any_choice(context: StudyContext, verdict: Verdict) -> list[str]:
    """What a stop rests on before the model has chosen anything that was evaluated."""
    state = context.state
    waits = state.promises and all(state.observed(number) is None for number in state.promises)
    has_chosen = context.others_choices is not None or (state.fitted is not None and not waits)
    if not verdict.stop or verdict.rule == EXHAUSTED or has_chosen or not state.history.succeeded:
        return []
    n, given = len(state.history.succeeded), any(not o.charged for o in state.history)
    others = " and data from elsewhere" if given else ""
    evaluations = "1 evaluation" if n == 1 else f"{n} evaluations"
    sentence = (
        f"No choice of the model was tried yet: this verdict rests on {evaluations} that it did"
        f" not choose, the initial design{others}."
    )
    return [sentence]


def _by_budget(context: StudyContext, snapshot: Snapshot) -> list[str]:
    """Whether going on is worth it at the lam that the budget has set, if it alone decides."""
    worth = worth_by_budget(context, snapshot)
    return [] if worth is None else [worth.words]


def _ladder(context: StudyContext, snapshot: Snapshot, rules: list[StoppingRule]) -> list[str]:
    """When other lams would have stopped; where there is no lam, nothing."""
    if context.lacking:
        return []
    state, options = context.state, context.options
    lam = own_lam(rules, options.lam, state.lam0)
    remains = beyond_budget(snapshot) if options.budget_decides else snapshot
    if lam is None or remains.sup(LogEIPC()).x is None:
        return []
    rungs = ladder(
        state.traces,
        snapshot,
        state.history,
        rules,
        lam,
        sign=options.sign,
        units=options.units,
        by_budget=options.budget_decides,
        caveat=caveat_of(context),
    )
    return rungs.lines[:-1]  # at which lam it would stop now is said before


def _explain_nothing_feasible(context: StudyContext, snapshot: Snapshot, verdict: Verdict) -> str:
    """The verdict while nothing keeps the limits, and where that is likeliest for its price."""
    best = best_remaining(context, snapshot)
    if best is None:
        nothing = context.without_constraints or "Nothing remains to be evaluated"
        return f"{verdict.rule}: {verdict.reason}.\n{nothing}."
    return (
        f"{verdict.rule}: {verdict.reason}.\nThe likeliest for its price is"
        f" {settings(best.params)}: it keeps all limits with probability {quantity(best.chance)}"
        f" and costs {context.options.units.cost(best.cost)}."
    )


def _of_success(context: StudyContext, snapshot: Snapshot) -> list[str]:
    """How many failed or broke a limit, and the chance of the best remaining candidate."""
    if snapshot.belief.success is None or context.lacking:
        return []
    history, best = context.history, snapshot.sup(LogEIPC())
    if best.x is None:
        return []
    failed, infeasible = (sum(getattr(o, of) for o in history) for of in ("failed", "infeasible"))
    chance = math.exp(float(snapshot.belief.log_chance(best.x[None, :])[0]))
    broke = "" if context.options.limits is None else f" and {infeasible} broke a limit"
    if broke and context.options.noise is not None:
        were = "was" if infeasible == 1 else "were"
        broke = f" and {infeasible} {were} measured beyond a limit"
    says = (
        f"Of {len(history)} evaluations {failed} failed{broke}; that"
        f" candidate is expected to succeed with probability {quantity(chance)}, with which its"
        " gain counts."
    )
    return [says]


def _remaining(
    context: StudyContext, snapshot: Snapshot, best: Remaining | None, who: str, lams: list[float]
) -> list[str]:
    """The best remaining candidate, its expected gain and cost, and the lam at which to go on."""
    said = context.options.units
    if best is None or best.gain is None or best.lam is None:
        if snapshot.loss is None or is_exhausted(context):
            return ["Nothing remains to be evaluated."]
        return ["Nothing that remains can be worth more."]
    gained, unit = said.gain(best.gain), said.lam
    if snapshot.loss is not None:
        gained = f"be worth {in_currency(best.gain, snapshot.currency)} more"
        unit = f"{snapshot.currency or 'units of worth'} per {said.one_of_cost}"
    the = "The" if best.affordable else "Nothing that remains is affordable. With more money: the"
    what = f"it is expected to {gained} and costs {said.cost(best.cost)}"
    return [
        f"{the} best remaining candidate is {settings(best.params)}: {what}.",
        f"{who} would go on for any lam below {quantity(best.lam, *lams)} ({unit}).",
    ]


def _remaining_actions(
    context: StudyContext, snapshot: Snapshot, rules: list[StoppingRule]
) -> list[str]:
    """The best remaining candidate; where repeats are allowed, the best observation to make."""
    if context.lacking:
        return [f"{context.without_constraints}."]
    best = best_remaining(context, snapshot)
    lams = [lam for rule in rules if (lam := traits_of(rule).lam) is not None]
    who = "One" if lams else "No rule here has a lam; the PBGI rule"
    if not values_one_observation(snapshot):
        return _remaining(context, snapshot, best, who, lams)
    lines, said = [], context.options.units
    for trial in context.state.pending.values():
        if trial.repeats is not None:
            what = f"Trial {trial.number} is a repeat of trial {trial.repeats}"
            price = trial.expected_cost or 0.0
            worth = _worth(trial.worth or 0.0, price, "knowing it better", said)
            lines.append(f"{what}: {worth}.")
    if best is None or best.gain is None or best.lam is None:
        return [*lines, "No observation is expected to change which configuration is the best."]
    what, it = f"evaluates {settings(best.params)}", "it"
    if best.repeats is not None:
        what, it = f"is a repeat of trial {best.repeats}", "knowing it better"
    return [
        *lines,
        f"The best remaining action {what}: {_worth(best.gain, best.cost, it, said)}.",
        f"{who} would go on for any lam below {quantity(best.lam)} ({said.lam}).",
    ]


def _worth(gain: float, price: float, it: str, said: AnswerUnits) -> str:
    return f"{it} is worth {quantity(gain)}{said.in_value} and costs {said.cost(price)}"


def _of_worth(context: StudyContext, snapshot: Snapshot) -> list[str]:
    """What the best value is worth, where there is a utility."""
    if snapshot.loss is None:
        return []
    value = context.options.units.value(context.options.sign * snapshot.best)
    worth = in_currency(0.0 - snapshot.level, snapshot.currency)  # and not -0
    return [f"The best value, {value}, is worth {worth}."]


def _of_readings(readings: Readings | None) -> list[str]:
    """The trust in foreseen gains, and the readings of bad values if there are several."""
    if readings is None:
        return []
    trust = readings.trust_words
    lines = [f"{trust[0].upper()}{trust[1:]}."] if readings.trust < 1.0 else []
    if len(readings.entries) > 1:
        lines.append(f"The model reads the values in several ways: {readings.words}.")
    return lines


def _warnings(snapshot: Snapshot, rules: Iterable[StoppingRule]) -> list[str]:
    """Thresholds that the model cannot resolve, or that are far off the scale of the data."""
    if snapshot.n < 2:
        return []  # one value has no scale
    if np.ptp(snapshot.y) == 0:
        return [f"All {snapshot.n} values are equal, so nothing is expected to vary."]
    objective = snapshot.belief.objective
    spread = objective.unit
    # Noise does not limit the resolution: averaging resolves differences below it.
    resolution = objective.resolution
    thresholds = (pair for rule in rules for pair in _thresholds(rule, snapshot))
    warnings = (_warning(*threshold, spread, resolution) for threshold in thresholds)
    return list(dict.fromkeys(filter(None, warnings)))  # rules may share a threshold


def _warning(threshold: str, amount: float, spread: float, resolution: float) -> str:
    """A warning if a threshold of this amount is suspect, else an empty string."""
    says = f"Warning: {threshold} amounts to {quantity(amount)}"
    if amount < resolution:
        return (
            f"{says}, below what the model resolves ({quantity(resolution)}): the rule may not"
            " stop. All of these are in objective units; is it 100 times too small?"
        )
    if amount > _OFF_SCALE * spread or amount < spread / _OFF_SCALE**3:
        return (
            f"{says} where observed values spread by {quantity(spread)}. It is in objective units:"
            " accuracy in [0, 1] needs values 100 times smaller than accuracy in percent."
        )
    return ""


def _underflows(succeeded: Iterable[Observation]) -> list[str]:
    """A warning if values are so small that the model takes them for 0."""
    small = [o.value for o in succeeded if o.value and abs(o.value) < LEAST_VALUE]
    if not small:
        return []
    count = f"{len(small)} values are" if len(small) > 1 else "a value is"
    warning = f"Warning: {count} closer to 0 than {LEAST_VALUE:g} and modelled as 0"
    return [f"{warning}: give the objective in a smaller unit."]


def _off_scale_noise(snapshot: Snapshot, noise: float | str | None) -> list[str]:
    """A warning if a given noise is so small that it counts as none, or hides every difference."""
    if snapshot.n < 2 or not isinstance(noise, float):
        return []
    spread, deviation = snapshot.belief.objective.unit, math.sqrt(noise)
    says = f"Warning: noise = {quantity(noise)} is a deviation of {quantity(deviation)}"
    if deviation < math.sqrt(NUGGET) * spread:
        return [f"{says}; where values spread by {quantity(spread)} the model takes it for none."]
    if deviation > _OFF_SCALE * spread:
        return [f"{says}: where values spread by only {quantity(spread)} they say little."]
    return []


def _possible_bounds(y: Array, options: StudyOptions) -> list[str]:
    """A hint that values of one sign that spread over a decade may be bounded by 0.

    The side that matters is the one where better values lie: a model that knows no bound expects
    gains beyond it.
    """
    if options.bounds is not None or len(y) < 2 or y.min() <= 0 or y.max() < _DECADE * y.min():
        return []
    times = f"{quantity(float(y.max()) / float(y.min()))} times"
    hint = (
        f"All values are positive and the largest is {times} the smallest: if they cannot fall"
        " below 0, bounds=(0, None) says so."
    )
    if options.direction == "maximize":
        hint = (
            f"All values are negative and the lowest is {times} the highest: if they cannot rise"
            " above 0, bounds=(None, 0) says so."
        )
    return [hint]


def _thresholds(rule: StoppingRule, snapshot: Snapshot) -> Iterator[tuple[str, float]]:
    """The numbers in objective units that a rule compares with, each with its name."""
    traits = traits_of(rule)
    best = snapshot.sup(LogEIPC())
    # A utility is in a currency of the user's, which the scale of the values says nothing of.
    if traits.lam is not None and best.x is not None and snapshot.loss is None:
        cost = math.exp(_log_price(snapshot, best.x))
        name = f"lam = {quantity(traits.lam)} times the cost of {quantity(cost)}"
        yield name, traits.lam * cost
    yield from ((tolerance.name, tolerance.value) for tolerance in traits.tolerances)


def _log_price(snapshot: Snapshot, x: Array) -> float:
    return float(snapshot.belief.log_price(x[None, :])[0])
