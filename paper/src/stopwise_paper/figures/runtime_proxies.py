# SPDX-License-Identifier: Apache-2.0
"""Runtimes against their proxies: model parameters on LCBench, FLOPs on NATS-Bench."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from stopwise_paper.arrays import Array
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.problems import nats
from stopwise_paper.problems.data_folder import MissingDataError
from stopwise_paper.problems.lcbench import tables
from stopwise_paper.problems.problem import LEARNED

Points = tuple[str, str, Array, Array]  # title, x label, x, seconds


def draw(_results: Results) -> Iterator[Sheet]:
    """Data sets with measured runtimes."""
    yield _sheet("runtime-proxies-lcbench", list(_lcbench()))
    try:
        yield _sheet("runtime-proxies-nats", list(_nats()))
    except MissingDataError:
        return


def _lcbench() -> Iterator[Points]:
    data = tables()
    for i, name in enumerate(data.datasets):
        if np.isfinite(data.seconds[i]).all():
            thousands = data.model_parameters[i] / 1000.0
            yield name, "model parameters (thousands)", thousands, data.seconds[i]


def _nats() -> Iterator[Points]:
    """The proxy is a line in FLOPs, so runtimes are drawn against it."""
    for dataset in nats.DATASETS:
        table = nats.nats_topology(dataset)
        title = f"{dataset} (topology space, stand-in)"
        yield title, "proxy: line in FLOPs (s)", table.costs["proxy"], table.costs[LEARNED]


def _sheet(name: str, points: list[Points]) -> Sheet:
    columns = min(len(points), 3)
    figure, grid = style.panels(-(-len(points) // columns), columns, width=3.6, height=2.6)
    panels = [axes for row in grid for axes in row]
    records: list[dict[str, Any]] = []
    for axes, (title, label, x, seconds) in zip(panels, points, strict=False):
        slope, intercept = (float(c) for c in np.polyfit(x, seconds, 1))
        explained = float(np.corrcoef(x, seconds)[0, 1] ** 2)
        axes.hexbin(
            x,
            seconds,
            gridsize=40,
            cmap="Blues",
            mincnt=1,
            bins="log",
            linewidths=0.3,
            edgecolors=style.SKY,
            rasterized=True,
        )
        ends = np.array([x.min(), x.max()])
        fitted = "" if math.isclose(slope, 1.0) else f"{slope:.3g} x + {intercept:.3g}, "
        line = f"{fitted}R2 = {explained:.2f}"
        axes.plot(ends, slope * ends + intercept, color=style.RED, label=line)
        axes.legend(fontsize=6, frameon=False, loc="upper left")
        style.title(axes, title)
        style.labels(axes, x=label, y="runtime (s)")
        records.append({"dataset": title, "slope": slope, "intercept": intercept, "R2": explained})
    for axes in panels[len(points) :]:
        axes.set_visible(False)
    return Sheet(name, records, figure)
