# SPDX-License-Identifier: Apache-2.0
"""Coverage of the space: choices that were never tried, and a best one at the edge of a range.

A model that has not seen a choice can only guess at it, and one that is confined to a range says
nothing of what lies beyond. Neither is in a verdict, so an explanation names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Categorical, Domain, Finite, Integer, Parameter, Real
from stopwise.core.space.finite import codec_of
from stopwise.record.history import History
from stopwise.study.context import StudyContext

BEGINNINGS = ("Never tried: ", "The best one has ")  # of its sentences
_EDGE = 1e-6  # of the unit cube: closer than this is at the limit
_LISTED = 6  # choices that are named for each parameter


def coverage(context: StudyContext, snapshot: Snapshot) -> list[str]:
    """A sentence about choices that were never tried, and one about limits; none if all is well.

    Args:
        context: Of the study.
        snapshot: This moment.
    """
    untried = never_tried(context.domain, context.history)
    lines = [untried] if untried else []
    at_limits = list(_at_limits(context, snapshot))
    if at_limits:
        ranges = "a wider range" if len(at_limits) == 1 else "wider ranges"
        lines.append(f"{BEGINNINGS[1]}{' and '.join(at_limits)}: {ranges} may have better.")
    return lines


def never_tried(domain: Domain, history: History) -> str:
    """A sentence about choices that were never tried; empty if there are none."""
    untried = "; ".join(_untried(domain, history))
    return f"{BEGINNINGS[0]}{untried}." if untried else ""


def _parameters(domain: Domain) -> Mapping[str, Parameter]:
    product = codec_of(domain)
    return dict(zip(product.names, product.parameters, strict=True))


def _untried(domain: Domain, history: History) -> Iterator[str]:
    """The parameters of which choices were never tried, with those choices."""
    for name, parameter in _parameters(domain).items():
        if not isinstance(parameter, Categorical):
            continue
        tried = {o.params[name] for o in history if name in o.params}
        possible = _possible(domain, name, parameter)
        left = [choice for choice in possible if choice not in tried]
        if not left or not tried:  # a conditional parameter may never have been there
            continue
        named = ", ".join(map(str, left[:_LISTED]))
        more = f" and {len(left) - _LISTED} more" if len(left) > _LISTED else ""
        yield f"{name} {named}{more}"


def _possible(domain: Domain, name: str, parameter: Categorical) -> list[Any]:
    """The choices; of a table those that are in its rows."""
    if isinstance(domain, Finite) and domain.rows is not None:
        return list(dict.fromkeys(row[name] for row in domain.rows))
    return list(parameter.choices)


def _at_limits(context: StudyContext, snapshot: Snapshot) -> Iterator[str]:
    """The parameters that the best configuration has at an end of their range.

    Not of a table, whose rows are what there is, nor of whole numbers that are only two.
    """
    domain, succeeded = context.domain, context.history.succeeded
    told = snapshot.prefix(len(succeeded))  # without the values believed of failures
    if (isinstance(domain, Finite) and domain.rows is not None) or not told.has_incumbent:
        return
    best = succeeded[told.incumbent].params
    for name, parameter in _parameters(domain).items():
        if name in best and (end := _end(parameter, best[name], name)):
            yield f"{name} at its {end}"


def _end(parameter: Parameter, value: Any, name: str) -> str:  # noqa: ANN401  of its kind
    """Which end of its range a value is at, in words; empty if at none."""
    if isinstance(parameter, Integer) and parameter.n_values > 2:
        at_low, at_high = value == parameter.low, value == parameter.high
    elif isinstance(parameter, Real):
        place = float(parameter.encode([value], name)[0, 0])
        at_low, at_high = place <= _EDGE, place >= 1.0 - _EDGE
    else:
        return ""
    if at_low or at_high:
        which, limit = ("lower", parameter.low) if at_low else ("upper", parameter.high)
        return f"{which} limit, {quantity(limit)}"
    return ""
