# SPDX-License-Identifier: Apache-2.0
"""One objective: what to do with several, in the words of every message about them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

INSTEAD = (
    "stopwise optimises one objective. Of several make one: a weighted sum, or another utility of"
    " them, computed in the objective; or optimise one, and give the others limits"
    " (limits={...}, told by outcomes={...})"
)

SEVERAL = (
    f"{INSTEAD[0].upper()}{INSTEAD[1:]}. Repeats of one evaluation are told as a list to a study"
    " with noise='learn' or a variance."
)


def are_several(given: object) -> bool:
    """Whether what was given for one value holds several, or a collection of another kind."""
    if isinstance(given, list | tuple | Mapping | AbstractSet):
        return True
    size = getattr(given, "size", None)  # of arrays; torch has a method of this name
    size = getattr(given, "numel", lambda: size)()
    return isinstance(size, int) and size != 1
