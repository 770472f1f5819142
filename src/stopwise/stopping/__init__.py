# SPDX-License-Identifier: Apache-2.0
"""Stopping rules: when to evaluate no more. One file each.

A new one is a file and a line in ``RULES``; what others need to know of it, it says in ``traits``.

- ``traits_of`` gives the traits of any rule, wrapped or not; ``innermost`` the rule inside.
- ``sweep`` gives the verdicts over a whole record at once, and ``moving_average`` the numbers that
  ``Smoothed`` reads of one (``SignalColumns``).
"""

from __future__ import annotations

from collections.abc import Callable

from stopwise.core.lookup import make
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.stopping._moving_average import moving_average
from stopwise.stopping.compose import After, Smoothed
from stopwise.stopping.convergence import Convergence
from stopwise.stopping.fixed import FixedTrials
from stopwise.stopping.gss import GSS
from stopwise.stopping.immediate import Immediate
from stopwise.stopping.logeipc_median import LogEIPCMedian
from stopwise.stopping.pbgi import PBGI
from stopwise.stopping.prb import ProbabilisticRegretBound
from stopwise.stopping.rule import StoppingRule
from stopwise.stopping.signals import SignalKind
from stopwise.stopping.srgap_median import SRGapMedian
from stopwise.stopping.sweeps import sweep
from stopwise.stopping.threshold_rule import (
    Boundary,
    SignalColumns,
    SignalRecord,
    ThresholdRule,
)
from stopwise.stopping.traits import RuleParameter, RuleTraits, innermost, traits_of
from stopwise.stopping.ucb_lcb import UCBLCB
from stopwise.stopping.verdict import Verdict

__all__ = [
    "GSS",
    "PBGI",
    "RULES",
    "UCBLCB",
    "After",
    "Boundary",
    "Convergence",
    "FixedTrials",
    "Immediate",
    "LogEIPCMedian",
    "ProbabilisticRegretBound",
    "RuleParameter",
    "RuleTraits",
    "SRGapMedian",
    "Scale",
    "Signal",
    "SignalColumns",
    "SignalKind",
    "SignalRecord",
    "Smoothed",
    "StoppingRule",
    "ThresholdRule",
    "Trace",
    "Verdict",
    "innermost",
    "make_rule",
    "moving_average",
    "sweep",
    "traits_of",
]

RULES: dict[str, Callable[..., StoppingRule]] = {
    "pbgi": PBGI,
    "logeipc-med": LogEIPCMedian,
    "srgap-med": SRGapMedian,
    "ucb-lcb": UCBLCB,
    "prb": ProbabilisticRegretBound,
    "gss": GSS,
    "convergence": Convergence,
    "immediate": Immediate,
    "fixed": FixedTrials,
}


def make_rule(given: str | StoppingRule, lam: float | None) -> StoppingRule:
    """The rule of a name, with its defaults; a rule as it is."""
    says = ("name", "key", "signal_scale")
    return make("stopping rule", RULES, given, lam, methods=("signal", "verdict"), properties=says)
