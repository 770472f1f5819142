# SPDX-License-Identifier: Apache-2.0
"""Acquisitions: where to evaluate next. One file each; higher scores are better, always.

A new one is a file and a line in ``ACQUISITIONS``. For your own: an acquisition binds to a
``Snapshot`` (data, belief, domain) and gives a ``Score``; ``supremum`` finds where a score is
largest over a domain, as hard as a ``Search`` says, and answers with a ``Supremum``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from stopwise.acquisition._pointwise import Formula, Partials, PointwiseScore
from stopwise.acquisition.eic import EIC
from stopwise.acquisition.lcb import LCB
from stopwise.acquisition.logeipc import LogEIPC
from stopwise.acquisition.pbgi import PBGI
from stopwise.acquisition.pbgi_d import PBGID
from stopwise.acquisition.thompson import ThompsonSampling
from stopwise.core.lookup import make
from stopwise.core.search.score import Score
from stopwise.core.search.supremum import Search, Supremum, supremum
from stopwise.core.snapshot import Bindable, Snapshot

__all__ = [
    "ACQUISITIONS",
    "EIC",
    "LCB",
    "PBGI",
    "PBGID",
    "Acquisition",
    "Formula",
    "LogEIPC",
    "Partials",
    "PointwiseScore",
    "Score",
    "Search",
    "Snapshot",
    "Supremum",
    "ThompsonSampling",
    "make_acquisition",
    "supremum",
]


class Acquisition(Bindable, Protocol):
    """An acquisition: a frozen value that binds to a snapshot and gives a score."""


ACQUISITIONS: dict[str, Callable[..., Acquisition]] = {
    "pbgi": PBGI,
    "pbgi-d": PBGID,
    "logeipc": LogEIPC,
    "logeipc-inv": partial(LogEIPC, cost="inv"),
    "eic": EIC,
    "lcb": LCB,
    "ts": ThompsonSampling,
}


def make_acquisition(given: str | Acquisition, lam: float | None) -> Acquisition:
    """The acquisition of a name; an acquisition as it is."""
    return make("acquisition", ACQUISITIONS, given, lam, methods=("bind",))
