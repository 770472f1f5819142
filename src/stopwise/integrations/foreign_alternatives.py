# SPDX-License-Identifier: Apache-2.0
"""Alternatives between groups of foreign parameters: lists of dicts, choices between dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stopwise.integrations.foreign_kinds import Alternatives, Kind
from stopwise.integrations.foreign_space import ForeignSpace


@dataclass(frozen=True, slots=True)
class Group:
    """Parameters that exist together, as in ``ForeignSpace``; all of them may be constant."""

    kinds: Mapping[str, Kind]
    when: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    outer: Mapping[str, str] = field(default_factory=dict)

    def renamed(self, position: int) -> Group:
        """The group with names of its own for ours, if some depend on others of them."""
        if not self.when:
            return self
        called = {name: f"{name} [{position}]" for name in self.kinds}
        when = {
            called[name]: {called[parent]: values for parent, values in condition.items()}
            for name, condition in self.when.items()
        }
        outer = {called[name]: self.outer.get(name, name) for name in self.kinds}
        return Group({called[name]: kind for name, kind in self.kinds.items()}, when, outer)


def alternatives(name: str, groups: Sequence[Group]) -> ForeignSpace:
    """A choice between groups of parameters.

    A parameter that several groups define in the same way is one parameter, and exists when any of
    them is chosen; one that they define in different ways is several.

    Args:
        name: What we call the choice.
        groups: The groups.
    """
    while any(name in group.kinds for group in groups):
        name += "_"
    kinds: dict[str, Kind] = {name: Alternatives(len(groups))}
    outer: dict[str, str] = {}
    inside: dict[str, Mapping[str, Sequence[Any]]] = {}  # conditions within a group
    chosen: dict[str, list[int]] = {}  # the groups that a parameter belongs to
    for position, group in enumerate(group.renamed(i) for i, group in enumerate(groups)):
        for member, kind in group.kinds.items():
            theirs = group.outer.get(member, member)
            shared = (n for n in chosen if outer[n] == theirs and _same(kinds[n], kind))
            free = member if member not in kinds else f"{member} [{position}]"
            ours = free if group.when else next(shared, free)
            kinds[ours], outer[ours] = kind, theirs
            if member in group.when:
                inside[ours] = group.when[member]
            else:
                chosen.setdefault(ours, []).append(position)
    when = {n: {name: at} for n, at in chosen.items() if len(at) < len(groups)}
    return ForeignSpace(kinds, {**when, **inside}, outer)


def _same(one: Kind, other: Kind) -> bool:
    try:
        return bool(one == other)
    except ValueError:  # constants that are arrays
        return one is other
