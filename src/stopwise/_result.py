# SPDX-License-Identifier: Apache-2.0
"""What a study comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stopwise.history import History
from stopwise.trace import Trace, Verdict


@dataclass(frozen=True, slots=True)
class Best:
    """The best evaluated configuration.

    Args:
        params: The configuration.
        value: Its value; where evaluations are noisy, its posterior mean.
        number: Of its trial.
        std: Deviation of the value; 0 where evaluations are exact.
    """

    params: Mapping[str, Any]
    value: float
    number: int
    std: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """What a study came to.

    Args:
        best: The best configuration; None if no evaluation succeeded.
        verdict: The last answer of the stopping rules, with its reason.
        spent: Sum of the costs paid.
        history: Every observation.
        traces: The recorded signals, for ``replay``.
    """

    best: Best | None
    verdict: Verdict
    spent: float
    history: History = field(repr=False)
    traces: Mapping[str, Trace] = field(repr=False)
