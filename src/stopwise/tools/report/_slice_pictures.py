# SPDX-License-Identifier: Apache-2.0
"""Pictures of the model along each parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.space import Categorical, Ordinal
from stopwise.tools.report._axis import Axis, axis_of, number, thinned
from stopwise.tools.report._chart import Chart
from stopwise.tools.report._markup import shortened
from stopwise.tools.report._picture import Picture
from stopwise.tools.report._slices import Slice

_LETTERS = 36  # of labels that have room side by side
_LABEL = 10  # letters that a label has at least
_FEW = 20  # whole numbers that are marked one by one


def slice_pictures(slices: Sequence[Slice], value_label: str = "value") -> list[Picture]:
    """What the model believes along each parameter, all on one vertical scale."""
    if not slices:
        return []
    ends = [end for s in slices for end in (*_drawn(s, s.low), *_drawn(s, s.high))]
    y = axis_of(ends, value_label, log=False)
    return [_slice_picture(one, y, position) for position, one in enumerate(slices)]


def _slice_picture(one: Slice, y: Axis, position: int) -> Picture:
    categorical = isinstance(one.parameter, Categorical | Ordinal)
    words = _slice_words(one)
    label = shortened(one.name, 40)
    middle = _drawn(one, one.median)
    if categorical:
        names = _names(one)
        xs: list[float] = list(map(float, range(len(one.values))))
        chart = Chart(Axis(-0.5, len(xs) - 0.5, label), y, 380, 240, names=names, top=36)
        chart.bars(xs, _drawn(one, one.low), _drawn(one, one.high))
        chart.points(list(zip(xs, middle, strict=True)), "p")
        here = xs[one.best_at]
    else:
        log = bool(getattr(one.parameter, "log", False))
        whole = all(isinstance(v, int) for v in one.values)
        xs = [float(v) for v in one.values]
        # From end to end; one value alone, a table's column, needs some room around it.
        x = axis_of(xs, label, log=log, whole=whole) if len(xs) == 1 else None
        x = x or Axis(xs[0], xs[-1], label, log=log, whole=whole)
        chart = Chart(x, y, 380, 240, top=36)
        chart.band(xs, _drawn(one, one.low), _drawn(one, one.high))
        chart.line(list(zip(xs, middle, strict=True)), "a")
        if whole and len(xs) <= _FEW:  # between whole numbers there is nothing to be had
            chart.points(list(zip(xs, middle, strict=True)), "p")
        chart.rug(float(v) for v in one.tried)
        here = float(one.best)
    chart.points([(here, one.best_median)], "b", "diamond")
    every = range(len(xs)) if categorical else thinned(len(xs), 13)
    rows = [
        (one.values[i], float(one.median[i]), float(one.low[i]), float(one.high[i])) for i in every
    ]
    header = (one.name, "expected", "95 % from", "95 % to")
    title = one.name
    svg = chart.svg(f"The model along {one.name}. {words}")
    return Picture(f"slice-{position}", title, words, svg, header, rows)


def _drawn(one: Slice, values: Array) -> list[float]:
    """Values as they are drawn: no further from the observed ones than these are spread.

    An interval that reaches to very bad values would leave no room for the others.
    """
    low, high = one.observed
    room = high - low if high > low else math.inf
    drawn: list[float] = np.clip(values, low - room, high + room).tolist()
    return drawn


def _names(one: Slice) -> list[str]:
    """Labels of the choices; of many only some, the best one's among them."""
    names = [shortened(v, max(_LABEL, _LETTERS // len(one.values))) for v in one.values]
    stride = math.ceil(len(names) * (max(map(len, names)) + 1) / _LETTERS)
    return [name if (i - one.best_at) % stride == 0 else "" for i, name in enumerate(names)]


def _slice_words(one: Slice) -> str:
    shown = _value(one.best)
    low, high = float(one.median.min()), float(one.median.max())
    at_low, at_high = (
        _value(one.values[int(i)]) for i in (np.argmin(one.median), np.argmax(one.median))
    )
    run = f"from {number(low)} (at {at_low}) to {number(high)} (at {at_high})"
    return " ".join([f"Best at {shown}. Expected values run {run}.", *one.remarks])


def _value(value: object) -> str:
    return number(value) if isinstance(value, float) else shortened(value, 60)
