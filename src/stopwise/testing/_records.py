# SPDX-License-Identifier: Apache-2.0
"""Snapshots, records made from them, and other rules, with which a rule is confronted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Signal, Trace
from stopwise.stopping import RULES, StoppingRule
from stopwise.stopping.defaults import default_rules
from stopwise.stopping.verdict import Verdict
from stopwise.testing._law import LawBroken, numbers_of, with_parameters
from stopwise.testing._problems import KINDS, run, snapshot_of

_LONG = 64  # evaluations of a made-up record: past every default window
_WINDOWS = (1, 2, 3, 5, 10, 20, 40)  # over which an average may have to be brought to a tie


def moments() -> Iterator[tuple[str, Snapshot]]:
    """Fresh snapshots of every kind."""
    snapshots = run()
    yield from ((f"table, t = {t}", snapshots[t]) for t in (0, 1, 9, len(snapshots) - 1))
    yield from ((kind, snapshot_of(kind)) for kind in KINDS)


def contents(snapshot: Snapshot) -> dict[str, object]:
    """All of a snapshot that a rule could change."""
    names = ("X", "y", "pending", "traces", "seed", "trial")
    parts = {name: getattr(snapshot, name) for name in names}
    return {n: v.tolist() if isinstance(v, np.ndarray) else copy(v) for n, v in parts.items()}


def recorded(
    rule: StoppingRule, change: Callable[[Snapshot], Snapshot] = lambda snapshot: snapshot
) -> Trace:
    """The rule's signals over the run."""
    return Trace.of(tuple(rule.signal(change(snapshot)) for snapshot in run()))


def alike(what: str, one: Signal, other: Signal) -> None:
    """Raise unless two signals are the same but for what a machine's last bits may do."""
    first, second = _as_dict(one), _as_dict(other)
    if first.keys() != second.keys() or not np.allclose(
        [*first.values()], [*second.values()], rtol=1e-6, atol=1e-12, equal_nan=True
    ):
        raise LawBroken(f"{what}: {one!r} and {other!r}")


def _as_dict(signal: Signal) -> dict[str, float]:
    facts = {f"fact {name}": signal.facts[name] for name in sorted(signal.facts)}
    return {"t": signal.t, "n": signal.n, "value": signal.value, **facts}


def prefixes(trace: Trace) -> Iterator[Trace]:
    """The record as it was at each of its moments."""
    yield from (trace.upto(signal.n) for signal in trace)


def lengthened(trace: Trace) -> Trace:
    """The record, going on as it ended."""
    last = trace.signals[-1]
    more = (replace(last, t=t, n=t + last.n - last.t) for t in range(last.t + 1, _LONG))
    return Trace.of((*trace.signals, *more))


def level(trace: Trace, value: float | None = None) -> Trace:
    """The record with one number throughout: the last one, or another."""
    last = trace.current if value is None else replace(trace.current, value=value)
    return Trace.of(tuple(replace(last, t=s.t, n=s.n) for s in trace))


def all_of(rule: StoppingRule) -> list[Trace]:
    """No record, the record of the run at each of its moments, and a long one."""
    trace = recorded(rule)
    return [Trace(), *prefixes(trace), lengthened(trace)]


def near(rule: StoppingRule, trace: Trace, value: float) -> Iterator[Verdict]:
    """Verdicts where the last few values are a given one, or the last is a bit beside it."""
    for window in _WINDOWS:
        first, last = trace.signals[:-window], trace.signals[-window:-1]
        level = (*first, *(replace(s, value=value) for s in last))
        for aim in (value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf)):
            yield rule.verdict(Trace.of((*level, replace(trace.current, value=aim))))


Record = tuple[StoppingRule, Trace]


def moves_by(what: str, one: Record, other: Record, powers: tuple[int, ...], by: float) -> None:
    """Raise unless one power of a factor takes every value and threshold to its counterpart."""
    scale, first, second = one[0].signal_scale, _numbers(one), _numbers(other)
    far = []
    for power in powers:
        wanted = first + power * math.log(by) if scale == "log" else first * by**power
        agree = np.isclose(wanted, second, rtol=1e-6, atol=1e-9, equal_nan=True).all(axis=1)
        if agree.all():
            return
        far.append(int(np.argmin(agree)))
    i, factors = max(far), " or ".join(f"{by**power:g}" for power in powers)
    (value, threshold), (other_value, other_threshold) = first[i], second[i]
    raise LawBroken(
        f"{what}: a {scale} signal and its threshold must both move by one factor, {factors}; at"
        f" t = {one[1].signals[i].t} they went from {value:.9g} and {threshold:.9g} to"
        f" {other_value:.9g} and {other_threshold:.9g}"
    )


def _numbers(record: Record) -> Array:
    """Value and threshold at each moment of a record."""
    rule, trace = record
    thresholds = [rule.verdict(prefix).threshold for prefix in prefixes(trace)]
    return np.column_stack([[signal.value for signal in trace], thresholds])


def same_decisions(what: str, one: Record, other: Record) -> None:
    """Raise unless two rules say the same on two records, moment by moment."""
    for here, there in zip(prefixes(one[1]), prefixes(other[1]), strict=True):
        first, second = one[0].verdict(here), other[0].verdict(there)
        if first.stop != second.stop:
            raise LawBroken(f"{what}: at t = {here.current.t} {first!r} became {second!r}")


def relatives(rule: StoppingRule) -> Iterator[StoppingRule]:
    """The rule with each of its numbers changed, and the rules of the table."""
    for name, value in numbers_of(rule).items():
        try:
            yield with_parameters(
                rule, {name: value + 1 if isinstance(value, int) else 0.5 * value}
            )
        except (ValueError, TypeError):  # not every number is allowed
            continue
    yield from default_rules(RULES, 0.01).values()
