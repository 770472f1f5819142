# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/explanation/promises.md: bad values, and promises kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

import stopwise as sw
from stopwise_paper.arrays import Array
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Ten values between 2 and 3, and two that went wrong.
PLACES = np.array([0.03, 0.1, 0.19, 0.27, 0.36, 0.44, 0.52, 0.6, 0.67, 0.74, 0.86, 0.95])
WRONG = (50.0, 42.0)
READINGS = sw.beliefs.WeighedModel().readings
TRIALS, SEED, LAM = 40, 3, 0.01
_COLOURS = (style.GREY, style.ORANGE, style.GREEN)


def draw(_results: Results) -> Iterator[Sheet]:
    """One model read in three ways; then two studies, trial by trial."""
    yield _readings()
    yield _kept()


# ------------------------------------------------------------------------- three readings


def _readings() -> Sheet:
    y = np.append(2.0 + 2.0 * (PLACES[:-2] - 0.4) ** 2 + 0.1 * np.sin(25 * PLACES[:-2]), WRONG)
    x, best = np.linspace(0.0, 1.0, 201), float(y.min())
    data = sw.beliefs.Data(PLACES[:, None], y, np.array([0]))
    ensemble = sw.beliefs.WeighedModel().fit(data, None, ())
    figure, (panels,) = style.panels(1, 3, width=3.0, height=2.4, share_y=True)
    records: list[dict[str, Any]] = []
    for axes, reading, (_, model), colour in zip(
        panels, READINGS, ensemble.weighted, _COLOURS, strict=True
    ):
        law = model.law(x[:, None])
        low, middle, high = (law.quantile(z).value for z in (-1.96, 0.0, 1.96))
        gain = np.exp(law.log_ei(best).value)
        axes.fill_between(x, low, high, color=colour, alpha=0.25, linewidth=0)
        axes.plot(x, middle, color=colour, linewidth=1.2)
        axes.plot(PLACES, y, "o", color="black", markersize=3)
        axes.axhline(best, color="black", linestyle="--", linewidth=0.8)
        axes.set_ylim(-1.0, 6.0)
        style.title(axes, f"{reading.name}: promises up to {gain.max():.2g}")
        style.labels(axes, x="x", y="value" if reading is READINGS[0] else "")
        records += [
            {"reading": reading.name, "x": a, "low": b, "median": c, "high": d, "promised": e}
            for a, b, c, d, e in zip(*map(_listed, (x, low, middle, high, gain)), strict=True)
        ]
    wrong = " and ".join(f"{value:g}" for value in WRONG)
    note = f"Band: 95 % interval. Dashed: the best value. Off the picture: {wrong}."
    return Sheet("promises-readings", records, figure, note)


# ------------------------------------------------------------- promised and delivered, in a study


def cliff(params: dict[str, Any]) -> float:
    """A bowl with the minimum 2, and a corner in which values are 50 higher."""
    bowl: float = 2.0 + 4.0 * ((params["a"] - 0.4) ** 2 + (params["b"] - 0.4) ** 2)
    return bowl + (50.0 if params["a"] > 0.7 and params["b"] < 0.4 else 0.0)


def _kept() -> Sheet:
    figure, (panels,) = style.panels(1, 2, width=4.4, height=2.6)
    records = []
    for surrogate, colour in (("plain", style.RED), ("default", style.BLUE)):
        rows = _study(surrogate)
        records += rows
        trials = [row["trial"] for row in rows]
        for what, line in (("promised", "-"), ("delivered", ":")):
            label = f'surrogate="{surrogate}": {what}'
            sums = [row[what] for row in rows]
            panels[0].plot(trials, sums, line, color=colour, label=label)
    style.log_axis(panels[0])
    style.labels(panels[0], x="trials", y="gain, added up")
    style.title(panels[0], "promised gains and those that came")
    _weights(panels[1], [row for row in records if row["surrogate"] == "default"])
    style.legend(figure, panels, columns=4)
    return Sheet("promises-kept", records, figure)


def _study(surrogate: str) -> list[dict[str, Any]]:
    """Promised and delivered so far, weights and trust after each choice."""
    space = {"a": sw.Real(0.0, 1.0), "b": sw.Real(0.0, 1.0)}
    study = sw.Study(space, lam=LAM, seed=SEED, surrogate=surrogate, max_trials=TRIALS)
    rows: list[dict[str, Any]] = []
    while not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, cliff(dict(trial.params)))
        told, readings = study.promises, study.readings()
        if len(told):
            row = {"surrogate": surrogate, "trial": len(study.history)}
            row |= {"promised": told.promised, "delivered": told.delivered}
            weights = [r.weight for r in readings.entries] if readings else [1.0, 0.0, 0.0]
            row |= {r.name: w for r, w in zip(READINGS, weights, strict=True)}
            rows.append({**row, "trust": readings.trust if readings else 1.0})
    return rows


def _weights(axes: Axes, rows: list[dict[str, Any]]) -> None:
    trials = [row["trial"] for row in rows]
    for reading, colour in zip(READINGS, _COLOURS, strict=True):
        weights = [row[reading.name] for row in rows]
        axes.plot(trials, weights, color=colour, label=f"weight of: {reading.name}")
    trust = [row["trust"] for row in rows]
    axes.plot(trials, trust, "--", color="black", label="trust in promised gains")
    axes.set_ylim(0.0, 1.02)
    axes.locator_params(axis="x", integer=True)
    style.labels(axes, x="trials", y="share")
    style.title(axes, "weights of the readings, and trust")


def _listed(values: Array) -> list[float]:
    return [float(value) for value in values]
