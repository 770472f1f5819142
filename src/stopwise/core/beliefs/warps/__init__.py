# SPDX-License-Identifier: Apache-2.0
"""Output warps, one a file, and the table of their names.

A new warp is a file with a frozen class (see ``Warp``) and a line in ``WARPS``.
"""

from __future__ import annotations

from collections.abc import Callable

from stopwise.core.beliefs.warps.identity import Identity
from stopwise.core.beliefs.warps.log import LogWarp
from stopwise.core.beliefs.warps.soft import SoftWarp
from stopwise.core.beliefs.warps.warp import Warp
from stopwise.core.lookup import make

__all__ = ["DEFAULT_WARP", "WARPS", "Identity", "LogWarp", "SoftWarp", "Warp", "make_warp"]

WARPS: dict[str, Callable[..., Warp]] = {
    "identity": Identity,
    "soft": SoftWarp,
    "log": LogWarp,
}

DEFAULT_WARP: Warp = Identity()


def make_warp(given: str | Warp) -> Warp:
    """The warp of a name; a warp as it is."""
    return make("warp", WARPS, given, None, methods=("forward", "inverse", "law"))
