# SPDX-License-Identifier: Apache-2.0
"""Rival rules: when each would have stopped, and what that would have saved or lost.

A rule that was recorded from the start is replayed. Any other is asked afterwards, of the final
model cut back to what was observed by then: nearly what it would have said, and the page says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from stopwise.core.search.supremum import Search
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Trace
from stopwise.record.replay import replay
from stopwise.stopping import RULES, StoppingRule, innermost, traits_of
from stopwise.stopping.defaults import default_rules
from stopwise.stopping.signals import EVALUATIONS
from stopwise.tools.report._axis import number, thinned
from stopwise.tools.report._facts import Facts, Step

Role = Literal["obeyed", "watched", ""]

_MOMENTS = 40  # a longer record is too long to be judged afterwards at every moment
_FEW = 12  # moments at which a rule that reads no earlier signal is asked then
_QUICK = Search(raw=128, restarts=3)  # looking back, a search may be less thorough

UNKNOWN = "not recorded; watch=[...] records it"
LACKING = "not recorded, and constraints are not at hand"


@dataclass(frozen=True, slots=True)
class Rival:
    """One rule over one study.

    Args:
        rule: The rule, with its parameters.
        role: Whether the study obeyed it or recorded it.
        source: Where its signals come from, in words.
        stopped: The evaluation after which it would have stopped; None if it would not have.
        saved: What would not have been spent.
        lost: By how much the best value would be worse, or worth less, at least 0.
    """

    rule: StoppingRule
    role: Role
    source: str
    stopped: Step | None
    saved: float
    lost: float

    def net(self, lam: float | None) -> float | None:
        """What stopping there would have gained, both counted in objective units."""
        return None if lam is None or self.stopped is None else lam * self.saved - self.lost


def rivals(facts: Facts) -> list[Rival]:
    """Every rule of the study, and of the table, over the study's record."""
    snapshot = facts.snapshot
    if snapshot is None or snapshot.t < 0 or not snapshot.has_incumbent:
        return []
    # What runs, what failed and what is left are of today; the past knew none of it.
    past = replace(snapshot, pending=snapshot.pending[:0], left=math.inf, search=_QUICK)
    return [_rival(facts, past, rule, role) for rule, role in _asked(facts)]


def _asked(facts: Facts) -> Iterator[tuple[StoppingRule, Role]]:
    """The rules of the study as they are, and the others of the table with their defaults."""
    study = facts.study
    for rule in study.rules:
        yield rule, "obeyed"
    for rule in study.watched:
        yield rule, "watched"
    names = {innermost(rule).name for rule in [*study.rules, *study.watched]}
    for name, rule in default_rules(RULES, facts.lam, typical=True).items():
        if name not in names:
            yield rule, ""


def rule_words(rule: StoppingRule) -> str:
    """A rule and its numbers, as one says it."""
    traits = traits_of(rule)
    if traits.inner is not None and traits.manner:
        return f"{rule_words(traits.inner)}, {traits.manner}"
    names = getattr(rule, "__dataclass_fields__", {})  # a rule of the user's may have none
    fields = {name: getattr(rule, name) for name in names}
    numbers = [
        f"{k}\u00a0=\u00a0{number(v)}" for k, v in fields.items() if isinstance(v, int | float)
    ]
    counted = numbers and traits.signal.key == EVALUATIONS.key
    return ", ".join([rule.name, *numbers]) + (" after the initial design" if counted else "")


def _rival(facts: Facts, past: Snapshot, rule: StoppingRule, role: Role) -> Rival:
    trace, source = _trace(facts, past, rule)
    [replayed] = replay({rule.key: trace}, rule)
    stopped = None
    if replayed.stop_t is not None:
        stopped = facts.succeeded[past.initial + replayed.stop_t - 1]
    final = facts.steps[-1].best
    saved = lost = 0.0
    if stopped is not None and stopped.best is not None and final is not None:
        saved = facts.result.spent - stopped.spent
        lost = facts.lost(stopped.best, final)
    return Rival(rule, role, source, stopped, saved, lost)


def _trace(facts: Facts, past: Snapshot, rule: StoppingRule) -> tuple[Trace, str]:
    """The rule's signals: as recorded from the start, or as asked now; and which of them."""
    recorded = facts.study.traces.get(rule.key, Trace())
    if len(recorded) and recorded.signals[0].t <= 1:
        return recorded, "recorded during the run"
    first = max(past.initial, 1)
    every = range(first, past.n + 1)
    traits = traits_of(rule)
    if not traits.signal.reads_model(exact=facts.is_exact):
        return _asked_at(past, rule, every), "computed from the values"
    if facts.study.lacking or traits.signal.costly:
        return Trace(), LACKING if facts.study.lacking else UNKNOWN
    judged = "judged with the final model"
    if past.belief.success is not None:  # of which an earlier belief knows nothing
        judged += ", as if nothing could fail or break a limit"
    if len(every) <= _MOMENTS:
        return _asked_at(past, rule, every), judged
    if traits.memory == 1:
        few = [every[i] for i in thinned(len(every), _FEW)]
        words = f"{judged}, at {len(few)} of {len(every)} moments"
        return _asked_at(past, rule, few), words
    return Trace(), UNKNOWN


def _asked_at(past: Snapshot, rule: StoppingRule, moments: Sequence[int]) -> Trace:
    """The rule's signals after so many observations each, up to where it stops."""
    trace = Trace()
    kept = (n for n in moments if past.prefix(n).has_incumbent)  # before, none is asked
    for n in kept:
        trace = Trace.of((*trace.signals, rule.signal(past.prefix(n))))
        if rule.verdict(trace).stop:
            break
    return trace
