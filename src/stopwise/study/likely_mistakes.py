# SPDX-License-Identifier: Apache-2.0
"""Warnings of what a new study may be told and is seldom meant.

They are a direction that nobody gave where the value's name speaks of the other one, and numbers
that are in no order where their order counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from stopwise.core.space import Ordinal, Space
from stopwise.core.units import sounds_better_larger
from stopwise.errors import shown

_IN_THE_NAME = "'negative {name}' or '1 - {name}'"


def warn_of_likely_mistakes(space: Space, options: Mapping[str, Any]) -> None:
    """Warn of what the arguments of a new study seldom mean.

    Called by the constructor that its user calls.
    """
    for message in (*_of_direction(options), *_of_order(space)):
        warnings.warn(message, stacklevel=3)


def _of_direction(options: Mapping[str, Any]) -> Iterator[str]:
    """That what sounds like more is better would be minimised, and no direction is given."""
    name = options.get("value_name")
    if "direction" not in options and isinstance(name, str) and sounds_better_larger(name):
        yield (
            f"the value is called {name!r}, of which more is mostly better, and no direction was"
            " given, so it is minimised: say direction='maximize', or direction='minimize' if"
            " less is better here."
        )


def _of_order(space: Space) -> Iterator[str]:
    """That numbers of an ordinal parameter neither rise nor fall."""
    for name, parameter in space.items() if isinstance(space, Mapping) else ():
        if isinstance(parameter, Ordinal) and parameter.is_jumbled:
            listed, rising = list(parameter.values), sorted(parameter.values)
            yield (
                f"the numbers of {name!r} are in no order, Ordinal({shown(listed)}), where"
                " neighbours in the list count as near each other. In ascending order it is"
                f" Ordinal({shown(rising)}); of values without an order make a Categorical([...])."
            )


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
