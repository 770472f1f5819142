# SPDX-License-Identifier: Apache-2.0
"""The published model of Xie et al. 2026 on real problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stopwise.core.beliefs.models.plain import PlainModel

NUGGET = 1e-6


@dataclass(frozen=True, slots=True)
class PaperModel(PlainModel):
    """One posterior with a nugget of 1e-6 and the prior ``"gamma"``."""

    nugget: float = NUGGET
    name: ClassVar[str] = "paper"
    prior: ClassVar[str | None] = "gamma"
