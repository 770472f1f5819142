# SPDX-License-Identifier: Apache-2.0
"""When each of the other rules would have stopped, and what that would have cost or lost.

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
from stopwise.stopping import RULES, After, FixedTrials, Smoothed, StoppingRule
from stopwise.tools.report._axis import number, thinned
from stopwise.tools.report._facts import Facts, Step, inner

Role = Literal["obeyed", "watched", ""]

_FIXED = 20  # evaluations of the rule that only counts, for comparison
_OF_VALUES = frozenset({"convergence", "immediate", "fixed"})  # they read no model
_DEAR = frozenset({"prb"})  # a second for each moment: known only where it was recorded
_MEMORYLESS = frozenset(
    {"ucb-lcb"}
)  # may be asked now and then, because it reads no earlier signal
_MOMENTS = 40  # a longer record is too long to be judged afterwards at every moment
_FEW = 12  # then those without memory are asked so often
_QUICK = Search(raw=128, restarts=3)  # looking back, a search may be less thorough

UNKNOWN = "not recorded; watch=[...] records it"


@dataclass(frozen=True, slots=True)
class Rival:
    """One rule over one study.

    Args:
        rule: The rule, with its parameters.
        role: Whether the study obeyed it or recorded it.
        source: Where its signals come from, in words.
        stopped: The evaluation after which it would have stopped; None if it would not have.
        saved: What would not have been spent.
        lost: By how much the best value would be worse, at least 0.
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
    if snapshot is None or snapshot.t < 0:
        return []
    # What runs, what failed and what is left are of today; the past knew none of it.
    past = replace(snapshot, pending=snapshot.pending[:0], left=math.inf, search=_QUICK)
    return [_rival(facts, past, rule, role) for rule, role in _asked(facts)]


def _asked(facts: Facts) -> Iterator[tuple[StoppingRule, Role]]:
    """The study's own rules as they are, and the others of the table with their defaults."""
    study = facts.study
    for rule in study.rules:
        yield rule, "obeyed"
    for rule in study.watched:
        yield rule, "watched"
    own = {inner(rule).name for rule in [*study.rules, *study.watched]}
    for name, make in RULES.items():
        if name in own:
            continue
        if name == "fixed":
            yield FixedTrials(_FIXED), ""
        elif name != "pbgi":
            yield make(), ""
        elif facts.lam is not None:
            yield make(facts.lam), ""


def rule_words(rule: StoppingRule) -> str:
    """A rule and its numbers, as one says it."""
    if isinstance(rule, Smoothed):
        return f"{rule_words(rule.rule)}, averaged over {rule.window}"
    if isinstance(rule, After):
        return f"{rule_words(rule.rule)}, from trial {rule.trials} on"
    own = getattr(rule, "__dataclass_fields__", {})  # a rule of the user's may have none
    found = {name: getattr(rule, name) for name in own}
    numbers = [
        f"{k}\u00a0=\u00a0{number(v)}" for k, v in found.items() if isinstance(v, int | float)
    ]
    return ", ".join([rule.name, *numbers])


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
        lost = facts.sign * (stopped.best - final)
    return Rival(rule, role, source, stopped, saved, lost)


def _trace(facts: Facts, past: Snapshot, rule: StoppingRule) -> tuple[Trace, str]:
    """The rule's signals: as recorded from the start, or as asked now; and which of them."""
    recorded = facts.study.traces.get(rule.key, Trace())
    if len(recorded) and recorded.signals[0].t <= 1:
        return recorded, "recorded during the run"
    first = max(past.initial, 1)
    every = range(first, past.n + 1)
    if rule.name in _OF_VALUES or (rule.name == "gss" and facts.is_exact):
        return _asked_at(past, rule, every), "computed from the values"
    if len(every) <= _MOMENTS and rule.name not in _DEAR:
        return _asked_at(past, rule, every), "judged with the final model"
    if rule.name in _MEMORYLESS:
        few = [every[i] for i in thinned(len(every), _FEW)]
        words = f"judged with the final model, at {len(few)} of {len(every)} moments"
        return _asked_at(past, rule, few), words
    return Trace(), UNKNOWN


def _asked_at(past: Snapshot, rule: StoppingRule, moments: Sequence[int]) -> Trace:
    """The rule's signals after so many observations each, up to where it stops."""
    trace = Trace()
    for n in moments:
        trace = Trace.of((*trace.signals, rule.signal(past.prefix(n))))
        if rule.verdict(trace).stop:
            break
    return trace
