# SPDX-License-Identifier: Apache-2.0
"""The options of a study, each written once.

``Study`` takes them as keywords, and so do ``minimize``, the journal, the runner and the
integrations: all of them read the fields of ``StudyOptions``. An option is added by one field
here, with its check in ``__post_init__``, and used where it matters; a journal that was written
before the option existed is resumed with its default, or with the value that the field names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, TypeAlias

from numpy.typing import ArrayLike

from stopwise.acquisition import Acquisition
from stopwise.core.beliefs.laws import Loss
from stopwise.core.beliefs.models import SurrogateModel, make_model, prior_of
from stopwise.core.beliefs.prices import CostModel, cost_model
from stopwise.core.beliefs.priors import priors
from stopwise.core.beliefs.utilities import OwnUtility, Utility, checked_utility, checked_within
from stopwise.core.checks import (
    Bounds,
    checked_bounds,
    checked_budget,
    checked_direction,
    checked_failures,
    checked_noise,
    checked_replicates,
    checked_switch,
    checked_whole,
    listed,
    minimised_bounds,
)
from stopwise.core.exchange_rate import check_lam
from stopwise.core.other_names import meant
from stopwise.core.outcome_limits import Limits, checked_fallback, checked_limits
from stopwise.core.space import Space
from stopwise.core.space.constraints import Constraint, checked_constraints
from stopwise.core.stages import Stages, checked_stages
from stopwise.core.units import AnswerUnits, check_same_unit, checked_name, checked_unit
from stopwise.errors import InputTypeError
from stopwise.record.journal import codec
from stopwise.record.journal.codec import Json, OptionCodec, ParamsCodec
from stopwise.stopping import StoppingRule

Rules: TypeAlias = str | StoppingRule | Sequence[str | StoppingRule]
Cost: TypeAlias = str | float | Callable[[Mapping[str, Any]], float] | ArrayLike | CostModel | None
Constraints: TypeAlias = (
    str
    | Callable[[Mapping[str, Any]], bool]
    | Sequence[str | Callable[[Mapping[str, Any]], bool] | Constraint]
)

_LARGEST_DESIGN = 100_000  # points


def _option(
    default: Any,  # noqa: ANN401  of the option's own type
    as_json: OptionCodec = codec.PLAIN,
    *,
    may_change: bool = False,
    unwritten: Any = MISSING,  # noqa: ANN401  as default
) -> Any:  # noqa: ANN401  as dataclasses.field
    """An option.

    Args:
        default: Its default.
        as_json: How a journal writes it.
        may_change: Whether a resume may change it.
        unwritten: Its value in a journal from before the option existed, if that is not the
            default.
    """
    before = default if unwritten is MISSING else unwritten
    metadata = {"json": as_json, "may_change": may_change, "unwritten": before}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # a table of costs has no plain ==
class StudyOptions:
    """All options of a study; its space is given separately.

    Args:
        lam: What a unit of cost is worth, in objective units; see ``exchange_rate``. (The paper's
            values are for percentage points: accuracy in [0, 1] needs values 100 times smaller.)
            With a utility it is in the utility's units, and 1 if left out; not if both units
            are named and differ.
        cost: None (each evaluation costs 1), a number (each costs that), a callable of the params,
            an array with one cost per row of ``Candidates``, ``"seconds"`` or ``"reported"``
            (told, and learned), or a ``CostModel``.
        budget: What may be spent in all. Without lam, PBGI-D starts from lambda = U/(B - C) and
            chooses among affordable points until there is none.
        direction: ``"minimize"`` or ``"maximize"``.
        acquisition: A name of ``ACQUISITIONS`` or an acquisition.
        stopping: A name of ``RULES``, a rule, or several: any of them stops. ``"pbgi"`` is
            ``PBGI(lam)``, the rule that the paper's theorem is about.
        watch: Rules that are recorded but not obeyed.
        utility: What a value is worth, if that is not the value itself: one of ``sw.utility``, or
            an object with the methods of ``sw.utility.OwnUtility``. Better values must not be
            worth less. Gains, fair values and promises are then in its units.
        noise: None where evaluations are exact, a variance in squared objective units, or
            ``"learn"``.
        replicates: With noise, whether a configuration may be evaluated again: where knowing it
            better is worth more for its price than something new. Choices and the rule then value
            each action by what one noisy observation is expected to bring.
        surrogate: The model of the objective, and with it the initial design. ``"default"``:
            several readings of bad values, weighed by whether their promises came, after a
            design that counts its price. ``"plain"``: one Gaussian process, after 2(d + 1)
            points, as in version 0.1. ``"paper"``: the published model, with the prior
            ``"gamma"`` unless ``prior`` is given. Or a model of your own, an object with the
            methods of ``sw.beliefs.SurrogateModel``, after the design of ``"default"``.
        bounds: ``(low, high)``, either of which may be None: no value is beyond them. A share has
            ``bounds=(0, 1)``, a loss that cannot be negative ``bounds=(0, None)``.
        prior: Of the hyper-parameters: ``"lognormal"``, ``"gamma"`` or None. They are fitted at
            every observation up to 100, then whenever the data have grown by a tenth.
        n_initial: Size of the initial design; the surrogate's if left out. That of ``"default"``
            is 2(d + 1), or d + 1 where costs are learned; with ``max_trials`` (or a budget, where
            each evaluation costs the same) a third of that number, if it is in between.
        failures: ``"chance"``: where evaluations fail is learned, and a gain counts with the
            chance to succeed. ``"median"``: a failure is taken for an ordinary value, as in
            version 0.1.
        limits: ``{"toxicity": (None, 3.0)}``: outcomes that are measured with each evaluation,
            and the lowest and highest value allowed of each. They are told by
            ``tell(..., outcomes={"toxicity": 2.1})`` and modelled; a gain counts with the
            probability that all limits are kept, and the best one is the best that keeps them.
        fallback: With limits, the value that you have if no evaluation keeps them. Without it the
            price cannot stop a study before one does.
        start_from: Configurations that are tried first.
        constraints: What every configuration must satisfy: functions of the params that return
            True or False, or expressions such as ``"a + b <= 1"``, which a journal can hold. One
            that asks for an inactive parameter does not apply.
        seed: Makes everything that is random repeatable.
        max_trials: A hard cap on trials, the initial design included. Without lam and budget it
            alone decides: choices are those of ``"logeipc"``, which needs no lam, and verdicts
            say what the next trial would be expected to gain.
        value_name: The value in your words, with its unit: ``"misread %"``.
        cost_unit: The unit of costs: ``"$"``, ``"GPU hours"``; of ``cost="seconds"`` it is known.
        off_table: Whether data may be told that are in no row of ``Candidates``. They teach the
            model and count as found, and are never proposed.
        stages: Experimental. Of evaluations that report as they go, such as training runs: the
            steps at which they do, ``sw.Stages(81, eta=3)``. A run may then be left at a stage
            and taken up again; see ``Study.next``.
    """

    lam: float | None = _option(None, may_change=True)
    cost: Cost = _option(None, codec.COST)
    budget: float | None = _option(None, may_change=True)
    direction: Literal["minimize", "maximize"] = _option("minimize")
    acquisition: str | Acquisition = _option("pbgi", codec.ACQUISITION, may_change=True)
    stopping: Rules = _option("pbgi", codec.RULES, may_change=True)
    watch: Rules = _option((), codec.RULES, may_change=True)
    utility: Utility | OwnUtility | None = _option(None, codec.UTILITY)
    noise: float | Literal["learn"] | None = _option(None)
    replicates: bool = _option(False)  # noqa: FBT003  a default
    surrogate: str | SurrogateModel = _option("default", codec.SURROGATE, unwritten="plain")
    bounds: Bounds | None = _option(None, codec.BOUNDS)
    prior: str | None = _option("lognormal")
    n_initial: int | None = _option(None)
    failures: Literal["chance", "median"] = _option("chance", unwritten="median")
    limits: Limits | None = _option(None, codec.LIMITS)
    fallback: float | None = _option(None)
    start_from: Iterable[Mapping[str, Any]] = _option((), codec.CONFIGURATIONS)
    constraints: Constraints | None = _option(None, codec.CONSTRAINTS)
    seed: int = _option(0)
    max_trials: int | None = _option(None, may_change=True)
    value_name: str | None = _option(None, may_change=True)
    cost_unit: str | None = _option(None, may_change=True)
    off_table: bool = _option(False, may_change=True)  # noqa: FBT003  a default
    stages: Stages | int | Sequence[int] | None = _option(None, codec.STAGES)

    def __post_init__(self) -> None:
        make_model(self.surrogate)  # refuses what is no model
        priors(self.prior, 1)  # refuses a name that is not known
        first = [self.start_from] if isinstance(self.start_from, Mapping) else self.start_from
        checked: dict[str, Any] = {
            "direction": checked_direction(self.direction),
            "seed": checked_whole("seed", self.seed, least=0, most=2**256),
            "noise": checked_noise(self.noise),
            "failures": checked_failures(self.failures),
            "limits": checked_limits(self.limits),
            "fallback": checked_fallback(self.fallback, checked_limits(self.limits)),
            "bounds": checked_bounds(self.bounds),
            "replicates": checked_replicates(self.replicates, self.noise),
            "constraints": checked_constraints(self.constraints),
            "start_from": [dict(p) if isinstance(p, Mapping) else p for p in list[Any](first)],
            "utility": checked_utility(self.utility),
            "value_name": checked_name("value_name", self.value_name),
            "cost_unit": checked_unit(self.cost_unit, self.cost),
            "stages": checked_stages(self.stages),
            "off_table": checked_switch("off_table", self.off_table),
        }
        if self.lam is not None or self.utility is not None:  # a utility is in units of cost
            checked["lam"] = self._one_unit() if self.lam is None else check_lam(self.lam)
        if self.max_trials is not None:
            checked["max_trials"] = checked_whole("max_trials", self.max_trials)
        if self.n_initial is not None:
            checked["n_initial"] = checked_whole("n_initial", self.n_initial, most=_LARGEST_DESIGN)
        if self.budget is not None:
            checked["budget"] = checked_budget(self.budget)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _one_unit(self) -> float:
        """The lam of a utility in units of cost; one in another unit is refused."""
        check_same_unit(self.currency, self.units.cost_unit)
        return 1.0

    @classmethod
    def of(
        cls,
        given: Mapping[str, Any],
        *,
        owner: str = "a study",
        leave_out: Collection[str] = (),
        also: Collection[str] = (),
    ) -> StudyOptions:
        """Options from keywords; the error for one that does not exist lists those that do.

        A surrogate brings its prior, unless a prior is among the keywords.

        Args:
            given: Names and values.
            owner: Who takes them, for messages.
            leave_out: Options that the owner sets itself.
            also: What the owner takes besides, for messages.
        """
        check_names(given, owner=owner, leave_out=leave_out, also=also)
        if "surrogate" in given and "prior" not in given:
            given = {**given, "prior": prior_of(given["surrogate"])}
        return cls(**given)

    @property
    def sign(self) -> float:
        """1 to minimise, -1 to maximise; inside, everything is minimised."""
        return 1.0 if self.direction == "minimize" else -1.0

    @property
    def minimised_bounds(self) -> tuple[float, float]:
        """The bounds of what is minimised inside; infinite where there is none."""
        return minimised_bounds(self.bounds, self.sign)

    @property
    def minimised_fallback(self) -> float:
        """The fallback of what is minimised inside; infinite where there is none."""
        return math.inf if self.fallback is None else self.sign * self.fallback

    @property
    def loss(self) -> Loss | None:
        """Minus the utility of what is minimised; one that goes the wrong way is refused."""
        utility = checked_utility(self.utility)
        if utility is None:
            return None
        return checked_within(utility.loss(self.sign), *self.minimised_bounds, self.bounds)

    @property
    def currency(self) -> str:
        """The name of the utility's unit; empty if it has none."""
        return getattr(self.utility, "unit", "")

    @property
    def gain_unit(self) -> str:
        """What gains are counted in, in words; empty if nobody has named it."""
        return self.value_name or "" if self.utility is None else self.currency or "units of worth"

    @property
    def units(self) -> AnswerUnits:
        """The names and units in which people are answered."""
        said = self.value_name, self.cost_unit, self.cost, self.direction
        return AnswerUnits.of(*said, noisy=self.noise is not None)

    @property
    def lam_from_budget(self) -> bool:
        """Whether the budget alone says what a unit of cost is worth."""
        return self.lam is None and self.budget is not None

    @property
    def budget_decides(self) -> bool:
        """Whether the budget alone decides when to stop, since the default rule needs a lam."""
        return self.lam_from_budget and listed(self.stopping) == ["pbgi"]

    @property
    def trials_decide(self) -> bool:
        """Whether ``max_trials`` alone decides when to stop: there is no price, or no rule."""
        if self.max_trials is None or self.budget is not None:
            return False
        rules = listed(self.stopping)
        return not rules or (self.lam is None and rules == ["pbgi"])

    def as_json(self, params: ParamsCodec, space: Space) -> dict[str, Json]:
        """The options as a journal writes them."""
        values: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        if self.cost is not None and not isinstance(self.cost, str):
            values["cost"] = cost_model(self.cost, space)  # a table by candidate, not by row
        return option_values_as_json(values, params)


def check_names(
    given: Collection[str],
    *,
    owner: str = "a study",
    leave_out: Collection[str] = (),
    also: Collection[str] = (),
) -> None:
    """Refuse an option that does not exist, with those that do; see ``StudyOptions.of``."""
    unknown = [name for name in given if name not in names(leave_out)]
    if unknown:
        allowed = [*names(leave_out), *also]
        question = meant(unknown[0], allowed, elsewhere=leave_out)
        hint = f" ({question})" if question else ""
        message = f"{unknown[0]!r} is no option of {owner}{hint}; it has {', '.join(allowed)}."
        raise InputTypeError(message)


def names(leave_out: Collection[str] = ()) -> list[str]:
    """The names of all options, in order."""
    return [f.name for f in fields(StudyOptions) if f.name not in leave_out]


def defaults() -> dict[str, Any]:
    """The default of every option, as it stands in signatures."""
    return {f.name: f.default for f in fields(StudyOptions)}


def unwritten() -> dict[str, Any]:
    """The value of every option in a journal that was begun before the option existed."""
    return {f.name: f.metadata["unwritten"] for f in fields(StudyOptions)}


def may_change() -> list[str]:
    """The options that may change when a journal is resumed."""
    return [f.name for f in fields(StudyOptions) if f.metadata["may_change"]]


def option_values_as_json(values: Mapping[str, Any], params: ParamsCodec) -> dict[str, Json]:
    """Some options as a journal writes them."""
    codecs = {f.name: f.metadata["json"] for f in fields(StudyOptions)}
    return {name: codecs[name].write(value, params) for name, value in values.items()}


def option_values_from_json(written: Mapping[str, Json], params: ParamsCodec) -> dict[str, Any]:
    """Options read from a journal; one that it does not contain is as in ``unwritten``."""
    return {
        f.name: f.metadata["json"].read(written[f.name], params)
        if f.name in written
        else f.metadata["unwritten"]
        for f in fields(StudyOptions)
    }
