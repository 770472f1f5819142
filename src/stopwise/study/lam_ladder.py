# SPDX-License-Identifier: Apache-2.0
"""The lam ladder: when other values of lam would have stopped a study, from its recorded signals.

The gain per cost that the PBGI rule compares with lam does not depend on lam, so one record serves
every lam. The ladder reads the trajectory that there is: under an acquisition that knows lam, as
PBGI does, a study with another lam would have made other choices after the first ones. Its caveat
says so, or who has chosen instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from stopwise.core.exchange_rate import check_lam
from stopwise.core.html_table import html_table
from stopwise.core.numerics.limits import as_amount, exp_or_inf
from stopwise.core.numerics.threads import single_threaded
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Trace
from stopwise.core.units import PLAIN, AnswerUnits
from stopwise.errors import InputTypeError
from stopwise.record.history import History
from stopwise.record.journal.codec import number
from stopwise.record.replay import replay
from stopwise.stopping import PBGI, StoppingRule, traits_of
from stopwise.stopping.signals import GAIN_PER_COST, gain_per_cost
from stopwise.study.who_chose import KNOWING_LAM, caveat_of

if TYPE_CHECKING:
    from stopwise.study.result import Result
    from stopwise.study.study import Study

_FACTORS = (0.01, 0.1, 1 / 3, 1.0, 3.0, 10.0, 100.0)


class Rung(NamedTuple):
    """One lam.

    Args:
        lam: Objective units per unit of cost.
        stops_after: Trials told when the rule would have stopped for the first time; None if it
            would not have stopped yet.
        spent: What was spent by then; so far, if it would not have stopped.
        best: The best value measured by then; None if there was none.
        is_given: Whether it is the lam of the study.
        units: The names and units in which it is put into words.
        by_budget: Whether the lam of the study was set by its budget.
    """

    lam: float
    stops_after: int | None
    spent: float
    best: float | None
    is_given: bool = False
    units: AnswerUnits = PLAIN
    by_budget: bool = False

    @property
    def origin(self) -> str:
        """Who has set this lam, in brackets; empty if it is only one to compare with."""
        if not self.is_given:
            return ""
        return " (set by the budget)" if self.by_budget else " (given)"

    @property
    def when(self) -> str:
        """After how many trials it would have stopped, in words."""
        if self.stops_after is None:
            return "not yet"
        return f"after {self.stops_after} trial{'' if self.stops_after == 1 else 's'}"

    @property
    def words(self) -> str:
        """When it would have stopped, what was spent then, and found."""
        return self.words_beside()

    def words_beside(self, *bests: float) -> str:
        """The same, with as many digits as tell the best value apart from others."""
        found = "nothing found"
        if self.best is not None:
            found = f"{self.units.best} {self.units.value(self.best, 0.0, *bests)}"
        return f"{self.when} ({self.units.cost(self.spent)} spent, {found})"


@dataclass(frozen=True, slots=True)
class LamLadder(Sequence[Rung]):
    """A few values of lam, the smallest first, and when each would have stopped the study.

    Args:
        rungs: One for each lam.
        stops_now: The least lam at which the rule would stop now: what the best remaining
            candidate is expected to gain per unit of cost. None while that is not known.
        caveat: Whether another lam would have chosen otherwise.
    """

    rungs: tuple[Rung, ...] = ()
    stops_now: float | None = None
    caveat: str = KNOWING_LAM

    def __len__(self) -> int:
        """Number of lams."""
        return len(self.rungs)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401  as of a tuple
        """One lam, or some of them."""
        return self.rungs[index]

    def __iter__(self) -> Iterator[Rung]:
        """The lams, the smallest first."""
        return iter(self.rungs)

    @property
    def caveat_sentence(self) -> str:
        """The caveat as a sentence."""
        return f"{self.caveat[0].upper()}{self.caveat[1:]}."

    @property
    def lines(self) -> list[str]:
        """The ladder in words, a line each; empty while nothing is recorded."""
        if not self.rungs:
            return []
        title = f"When other lams would have stopped ({self.caveat}):"
        bests = [rung.best for rung in self.rungs if rung.best is not None]
        rows = [
            f"  lam = {quantity(rung.lam)}{rung.origin}: {rung.words_beside(*bests)}"
            for rung in self.rungs
        ]
        now = (
            []
            if self.stops_now is None
            else [f"It would stop now at lam = {quantity(self.stops_now)} or more."]
        )
        return [title, *rows, *now]

    def __str__(self) -> str:
        return "\n".join(self.lines) or "No signal is recorded yet."

    def _repr_html_(self) -> str:
        """The ladder in a notebook."""
        if not self.rungs:
            return "<p>No signal is recorded yet.</p>"
        units = self.rungs[0].units
        bests = [rung.best for rung in self.rungs if rung.best is not None]
        rows = [
            (
                f"{quantity(rung.lam)}{rung.origin}",
                rung.when,
                units.cost(rung.spent),
                "" if rung.best is None else quantity(rung.best, *bests),
            )
            for rung in self.rungs
        ]
        best = f"{units.best} {units.value_label} by then"
        head = ("lam", "would have stopped", "spent by then", best)
        now = self.lines[-1] if self.stops_now is not None else ""
        return f"{html_table(head, rows)}<p>{self.caveat_sentence} {now}</p>"

    def as_json(self) -> dict[str, Any]:
        """The ladder as JSON can hold it."""
        now = None if self.stops_now is None else number(self.stops_now)
        rungs = [rung._asdict() for rung in self.rungs]
        for rung in rungs:
            del rung["units"], rung["by_budget"]
        return {"rungs": rungs, "stops_now": now}


@single_threaded
def lam_ladder(study: Study | Result, lams: Sequence[float] | None = None) -> LamLadder:
    """When other values of lam would have stopped a study, what was spent then, and found.

    Nothing is evaluated, and the study does not change. What is recorded are the expected gains
    per cost along this trajectory. Where choices do not depend on lam (``acquisition="logeipc"``)
    a study with another lam stops exactly there; PBGI's choices depend on it.

    Args:
        study: Running, finished, or loaded from a journal; or the result of one.
        lams: The values; if left out, some around the study's own (or that of its budget; or, if
            it has none, around the one at which it would stop now).

    Example:
        >>> import stopwise as sw
        >>> study = sw.Study({"n": sw.Integer(1, 40)}, lam=0.01, acquisition="logeipc")
        >>> while not study.should_stop().stop:
        ...     trial = study.ask()
        ...     study.tell(trial, abs(trial.params["n"] - 7.0))
        >>> ladder = lam_ladder(study, [1e-6, 0.01, 100.0])
        >>> [rung.stops_after == len(study.history) for rung in ladder]
        [False, True, False]
        >>> ladder[0].stops_after, ladder[2].stops_after
        (None, 4)
    """
    study = study_of(study)
    if study.without_constraints:
        return LamLadder()
    snapshot = study.snapshot() if study.history.succeeded else None
    of_acquisition = [getattr(study.acquisition, name, None) for name in ("lam0", "lam")]
    return ladder(
        study.traces,
        snapshot,
        study.history,
        [*study.rules, *study.watched],
        own_lam([*study.rules, *study.watched], study.options.lam, *of_acquisition),
        lams=lams,
        sign=study.options.sign,
        units=study.options.units,
        by_budget=study.options.budget_decides,
        caveat=caveat_of(study._context),  # noqa: SLF001  its own folder
    )


def study_of(given: Any) -> Study:  # noqa: ANN401  a study or its result
    """A study; of a result, the study that it came from."""
    study = getattr(given, "_study", given)
    if not hasattr(study, "snapshot"):
        message = (
            f"a ladder is read off a study, its result or Study.load(path), not"
            f" {type(given).__name__}."
        )
        raise InputTypeError(message)
    return study  # type: ignore[no-any-return]


def own_lam(
    rules: Sequence[StoppingRule], given: float | None, *of_acquisition: float | None
) -> float | None:
    """The lam of a study: that of a rule, as given, or that of its acquisition."""
    candidates = [*(traits_of(rule).lam for rule in rules), given, *of_acquisition]
    numbers = (lam for lam in candidates if isinstance(lam, int | float))
    return next(map(float, numbers), None)


def ladder(
    traces: Mapping[str, Trace],
    snapshot: Snapshot | None,
    history: History,
    rules: Sequence[StoppingRule],
    lam: float | None,
    *,
    lams: Sequence[float] | None = None,
    sign: float = 1.0,
    units: AnswerUnits = PLAIN,
    by_budget: bool = False,
    caveat: str = KNOWING_LAM,
) -> LamLadder:
    """The ladder from recorded signals and this moment; see ``lam_ladder``.

    Args:
        traces: Recorded signals, by key.
        snapshot: This moment; None before there is an observation.
        history: Every observation.
        rules: The rules of the study; the first with a lam is the one that is replayed.
        lam: The study's own lam.
        lams: The values; some around its own if left out.
        sign: 1 to minimise, -1 to maximise.
        units: The names and units of values and costs.
        by_budget: Whether the study's own lam was set by its budget.
        caveat: Whether another lam would have chosen otherwise.
    """
    trace = with_this_moment(traces.get(GAIN_PER_COST.key, Trace()), snapshot)
    if not len(trace):
        return LamLadder()
    now = exp_or_inf(trace.current.value)
    values = sorted(map(check_lam, lams)) if lams is not None else _around(lam, now)
    rule = next(filter(_takes_other_lams, rules), PBGI(1.0))
    replayed = replay({rule.key: trace}, [_with_lam(rule, value) for value in values])
    n_at = {signal.t: signal.n for signal in trace}
    rungs = [
        _rung(value, None if each.stop_t is None else n_at[each.stop_t], history, sign)
        for value, each in zip(values, replayed, strict=True)
    ]
    own = None if lam is None else float(lam)
    said = tuple(
        r._replace(is_given=r.lam == own, units=units, by_budget=by_budget) for r in rungs
    )
    return LamLadder(said, now, caveat)


def with_this_moment(trace: Trace, snapshot: Snapshot | None) -> Trace:
    """The record, and the present signal if it is not in it: looking records nothing."""
    if snapshot is None or snapshot.t < 0 or not snapshot.has_incumbent:
        return trace
    if len(trace) and trace.current.n == snapshot.n:
        return trace
    return Trace.of((*trace.signals, gain_per_cost(snapshot)))


def _around(lam: float | None, now: float) -> list[float]:
    """Some values around a lam, or around the one at which it would stop now."""
    middle = as_amount(now) if lam is None else lam
    return sorted({as_amount(factor * middle) for factor in _FACTORS})


def _takes_other_lams(rule: StoppingRule) -> bool:
    """Whether a rule compares the gain per cost with a lam that can be exchanged."""
    fields, inner = getattr(rule, "__dataclass_fields__", {}), traits_of(rule).inner
    if rule.key != GAIN_PER_COST.key:
        return False
    return "lam" in fields if inner is None else "rule" in fields and _takes_other_lams(inner)


def _with_lam(rule: StoppingRule, lam: float) -> StoppingRule:
    """The same rule with another lam, also inside wrappers."""
    inner = traits_of(rule).inner
    changed: dict[str, Any] = {"lam": lam} if inner is None else {"rule": _with_lam(inner, lam)}
    copy: StoppingRule = replace(rule, **changed)  # type: ignore[type-var]  # rules are dataclasses
    return copy


def _rung(lam: float, n: int | None, history: History, sign: float) -> Rung:
    """One lam, by the number of observations at which it stops."""
    until = len(history) if n is None else told_with(history, n)
    told = history[:until]
    values = [sign * float(o.value or 0.0) for o in told.feasible]
    best = sign * min(values) if values else None
    return Rung(lam, None if n is None else until, told.spent, best)


def told_with(history: History, n: int) -> int:
    """Trials told when there were n values, failures until the next one included.

    A signal is taken anew after a failure, so the one on record knows of them.
    """
    values = 0
    for told, observation in enumerate(history):
        if values == n and not observation.failed:
            return told
        values += not observation.failed
    return len(history)
