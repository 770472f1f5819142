# SPDX-License-Identifier: Apache-2.0
"""Replay: the verdicts that rules would have given, computed from recorded signals.

Nothing is evaluated, fitted or sampled, so sweeps over lambdas, thresholds and windows are cheap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from stopwise.core.checks import listed
from stopwise.core.traces import Trace
from stopwise.errors import InputError
from stopwise.stopping import StoppingRule, make_rule
from stopwise.stopping.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Replayed:
    """The verdicts of one rule over recorded signals.

    Args:
        rule: The rule.
        verdicts: Its verdict at every recorded t.
        stop_t: The first t at which it stops, or None.
    """

    rule: StoppingRule
    verdicts: Mapping[int, Verdict]
    stop_t: int | None

    @property
    def verdict(self) -> Verdict | None:
        """The verdict that stopped, or the last one; None if nothing was recorded."""
        if self.stop_t is not None:
            return self.verdicts[self.stop_t]
        return next(reversed(list(self.verdicts.values())), None)


class HasTraces(Protocol):
    """An object with recorded signals: a study, or its result."""

    @property
    def traces(self) -> Mapping[str, Trace]:
        """The recorded signals, by key."""
        ...


def replay(
    traces: Mapping[str, Trace] | HasTraces,
    rules: str | StoppingRule | Sequence[str | StoppingRule],
) -> list[Replayed]:
    """Replay rules over recorded signals, such as ``study.traces``.

    Args:
        traces: Recorded signals, by key; or a study or result that has them.
        rules: The rules, or names; those that need a lam take that of the study or result. The
            signal of each must have been recorded. ``study.rules`` are the rules that the study
            obeyed.

    Returns:
        One ``Replayed`` per rule, in order.

    Example:
        >>> import stopwise as sw
        >>> from stopwise.stopping import PBGI
        >>> result = sw.minimize(lambda p: abs(p["n"] - 7), {"n": sw.Integer(1, 40)}, lam=0.01)
        >>> dear, cheap = replay(result.traces, [PBGI(1.0), PBGI(0.01)])
        >>> dear.stop_t < cheap.stop_t == len(result.history) - 4
        True
    """
    recorded = traces if isinstance(traces, Mapping) else traces.traces
    lam = getattr(getattr(traces, "options", None), "lam", None)  # of a study or result
    return [_replay_one(recorded, make_rule(rule, lam)) for rule in listed(rules)]


def _replay_one(traces: Mapping[str, Trace], rule: StoppingRule) -> Replayed:
    if rule.key not in traces:
        message = (
            f"{rule.name} reads the signal {rule.key!r}, which was not recorded; there are"
            f" {', '.join(sorted(traces)) or 'none'}. Watch the rule (watch=[...]) while the study"
            " runs, from its start; study.record(...) adds the present moment only. An audit,"
            " sw.audit(study, rules=[...]), computes signals anew."
        )
        raise InputError(message)
    trace = traces[rule.key]
    verdicts = {signal.t: rule.verdict(trace.upto(signal.n)) for signal in trace}
    stop_t = next((t for t, verdict in verdicts.items() if verdict.stop), None)
    return Replayed(rule, verdicts, stop_t)
