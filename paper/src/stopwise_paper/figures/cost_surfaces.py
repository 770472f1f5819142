# SPDX-License-Identifier: Apache-2.0
"""The three synthetic costs on the unit square."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.problems.synthetic_costs import KINDS, SyntheticCost

_SIDE = 61
_OPTIMUM = np.array([0.5, 0.5])


def draw(_results: Results) -> Iterator[Sheet]:
    """As heat maps on one scale; the periodic cost is highest at the optimum."""
    side = np.linspace(0.0, 1.0, _SIDE)
    points = np.array([(a, b) for a in side for b in side])
    costs = {kind: SyntheticCost(kind, _OPTIMUM)(points) for kind in KINDS}
    top = max(float(values.max()) for values in costs.values())
    figure, (panels,) = style.panels(1, len(KINDS), width=3.0, height=2.5)
    image = None
    for axes, (kind, values) in zip(panels, costs.items(), strict=True):
        image = axes.imshow(
            values.reshape(_SIDE, _SIDE).T,
            origin="lower",
            extent=(0.0, 1.0, 0.0, 1.0),
            vmin=0.0,
            vmax=top,
            cmap="viridis",
        )
        axes.grid(visible=False)
        style.title(axes, f"{kind} (mean {values.mean():.2f})")
        style.labels(axes, x="x1", y="x2")
    if image is not None:
        figure.colorbar(image, ax=panels, label="cost")
    records = [
        {"x1": float(p[0]), "x2": float(p[1]), **{k: float(v[i]) for k, v in costs.items()}}
        for i, p in enumerate(points)
    ]
    yield Sheet("cost-surfaces", records, figure)
