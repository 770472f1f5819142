# SPDX-License-Identifier: Apache-2.0
"""The direction that nobody gave: asked about where the value's name speaks of the other one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from stopwise.core.units import sounds_better_larger

_IN_THE_NAME = "'negative {name}' or '1 - {name}'"


def warn_of_direction(options: Mapping[str, Any]) -> None:
    """Warn if a study would minimise what sounds like more is better, and no direction is given.

    Called by the constructor that its user calls.
    """
    name = options.get("value_name")
    if "direction" not in options and isinstance(name, str) and sounds_better_larger(name):
        message = (
            f"the value is called {name!r}, of which more is mostly better, and no direction was"
            " given, so it is minimised: say direction='maximize', or direction='minimize' if"
            " less is better here."
        )
        warnings.warn(message, stacklevel=3)


def warn_of_minimising(options: Mapping[str, Any]) -> None:
    """Warn if ``minimize`` is called with what sounds like more is better."""
    name = options.get("value_name")
    if isinstance(name, str) and sounds_better_larger(name):
        instead = _IN_THE_NAME.format(name=name)
        message = (
            f"minimize() with a value called {name!r}, of which more is mostly better: call"
            f" sw.maximize() if it is. If less is better here, say so in its name: {instead}."
        )
        warnings.warn(message, stacklevel=5)
