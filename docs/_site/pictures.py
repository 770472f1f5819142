# SPDX-License-Identifier: Apache-2.0
"""Small pictures of how rules, acquisitions, kernels, warps, laws, stages and utilities behave.

All rules are asked on one and the same study, all acquisitions on one snapshot, so that they can
be compared. Pictures are drawn when the site is built; an entry of a table for which nobody has
said how to make one has none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import stopwise as sw
from stopwise.acquisition import ACQUISITIONS, make_acquisition
from stopwise.core.beliefs import laws
from stopwise.core.beliefs.kernels import KERNELS
from stopwise.core.beliefs.utilities import UTILITIES
from stopwise.core.beliefs.warps import WARPS
from stopwise.core.numerics.staged_value import leaving_means
from stopwise.stopping import PBGI, RULES, After, Smoothed
from stopwise.stopping.defaults import default_rules

FOLDER = Path(__file__).resolve().parents[1] / "_generated"
LAM = 0.02
GREEN, GREY = "#0b6e4f", "#888888"
NORMAL = laws.Normal(np.array([1.0]), np.array([0.5]))

# How to make an example of what needs parameters; what is not here is made without any.
WARP_PARAMETERS: dict[str, dict[str, float]] = {
    "soft": {"knee": 1.0, "tau": 0.5},
    "log": {"low": 0.0},
    "clipped": {"low": 0.5, "high": 2.0},
}
UTILITY_PARAMETERS: dict[str, dict[str, Any]] = {
    "sigmoid": {"at": 1.5, "width": 0.2},
    "threshold": {"at": 1.5},
    "piecewise": {"points": [(0.5, 0.0), (1.5, 0.8), (2.5, 1.0)]},
    "linear": {"slope": 0.4},
}
WRAPPED = {
    "After": After(PBGI(LAM), trials=10),
    "Smoothed": Smoothed(PBGI(LAM), window=5),
}
LAWS: dict[str, Callable[[], Any]] = {
    "Normal": lambda: NORMAL,
    "Mixture": lambda: laws.Mixture(
        np.array([0.7, 0.3]),
        [laws.Normal(np.array([m]), np.array([s])) for m, s in ((1.3, 0.2), (0.3, 0.15))],
    ),
    "Bounded": lambda: laws.Bounded(NORMAL, low=0.6, high=1.6),
    "SoftWarped": lambda: laws.SoftWarped(NORMAL, knee=1.0, tau=0.3),
    "LogWarped": lambda: laws.LogWarped(laws.Normal(np.array([-0.2]), np.array([0.5])), low=0.0),
    "Shifted": lambda: laws.Shifted(NORMAL, by=0.5),
    "Doubted": lambda: laws.Doubted(NORMAL, level=0.8, trust=0.5),
    "Chance": lambda: laws.Chance(NORMAL, np.log([0.5])),
    "Valued": lambda: laws.Valued(NORMAL, sw.utility.threshold(at=0.8).loss(1.0)),
}


def drawn(
    name: str, *draws: Callable[[Axes], None], size: tuple[float, float] = (6.2, 2.3)
) -> str:
    """Draw panels side by side; where the picture is, as pages of docs/reference link to it."""
    FOLDER.mkdir(exist_ok=True)
    with mpl.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure, [panels] = plt.subplots(
            1, len(draws), figsize=size, layout="constrained", squeeze=False
        )
        for draw, axes in zip(draws, panels, strict=True):
            draw(axes)
        figure.savefig(FOLDER / f"{name}.png", dpi=130)
        plt.close(figure)
    return f"../_generated/{name}.png"


def valley(params: dict[str, float]) -> float:
    """What is minimised in the pictures: two valleys, the right one deeper and dearer."""
    x = params["x"]
    return float(0.3 * np.sin(9 * x) + (x - 0.6) ** 2 - 0.4 * np.exp(-60 * (x - 0.85) ** 2))


def price(params: dict[str, float]) -> float:
    """Its price rises to the right."""
    return 0.5 + params["x"]


@cache
def study() -> sw.Study:
    """A study of 18 trials that obeys no rule and records all of them."""
    made = sw.Study(
        {"x": sw.Real(0, 1)},
        cost=price,
        lam=LAM,
        surrogate="plain",
        stopping=sw.stopping.FixedTrials(100),
        watch=tuple(default_rules(RULES, LAM, typical=True).values()),
    )
    while len(made.history) < 18:
        made.should_stop()
        trial = made.ask()
        made.tell(trial, valley(trial.params))
    made.should_stop()
    return made


def rule(name: str) -> str | None:
    """The signal of a rule on the study, the level that it is compared with, and its stop."""
    ruler = (default_rules(RULES, LAM, typical=True) | WRAPPED).get(name)
    if ruler is None:
        return None
    [replayed] = sw.replay(study(), ruler)
    steps = list(replayed.verdicts)
    signals = [verdict.value for verdict in replayed.verdicts.values()]
    levels = [verdict.threshold for verdict in replayed.verdicts.values()]

    def draw(axes: Axes) -> None:
        axes.plot(steps, signals, "o-", color=GREEN, ms=3, label="signal")
        axes.plot(steps, levels, "--", color=GREY, label="level")
        if replayed.stop_t is not None:
            axes.axvline(
                replayed.stop_t, color="#c0392b", lw=1, label=f"stops at t = {replayed.stop_t}"
            )
        axes.set_xlabel("t, evaluations after the initial design")
        axes.set_ylabel("log" if ruler.signal_scale == "log" else "signal")
        axes.legend(frameon=False, loc="best")

    return drawn(f"rule-{name}", draw)


@cache
def moment() -> Any:  # noqa: ANN401  a snapshot
    """A snapshot after seven observations."""
    made = sw.Study({"x": sw.Real(0, 1)}, cost=price, lam=LAM, surrogate="plain")
    for x in (0.05, 0.2, 0.35, 0.55, 0.7, 0.97):
        made.tell({"x": x}, valley({"x": x}))
    return made.snapshot()


def acquisition(name: str) -> str | None:
    """The score of an acquisition, over what the model believes."""
    snapshot = moment()
    chosen = make_acquisition(name, LAM) if name in ACQUISITIONS else None
    if chosen is None:
        return None
    grid = np.linspace(0, 1, 401)
    X = snapshot.domain.encode([{"x": float(x)} for x in grid])
    scores = np.asarray(chosen.bind(snapshot)(X), dtype=float)
    law = snapshot.belief.objective.law(X)

    def draw(axes: Axes) -> None:
        axes.fill_between(
            grid, law.mean - 2 * law.std, law.mean + 2 * law.std, color=GREY, alpha=0.2, lw=0
        )
        axes.plot(grid, law.mean, color=GREY, lw=1, label="belief")
        axes.plot(
            grid, [valley({"x": float(x)}) for x in grid], ":", color="black", lw=1, label="truth"
        )
        axes.set_xlabel("x (dearer to the right)")
        twin = axes.twinx()
        twin.plot(grid, np.where(np.isfinite(scores), scores, np.nan), color=GREEN, label="score")
        best = grid[int(np.nanargmax(np.where(np.isfinite(scores), scores, np.nan)))]
        twin.axvline(best, color="#c0392b", lw=1, label="choice")
        finite = scores[np.isfinite(scores)]  # a log score has pits of any depth at observations
        twin.set_ylim(
            np.quantile(finite, 0.12), finite.max() + 0.15 * np.ptp(np.quantile(finite, [0.12, 1]))
        )
        twin.set_yticks([])
        lines = axes.get_lines() + twin.get_lines()
        axes.legend(
            lines,
            [line.get_label() for line in lines],
            frameon=False,
            ncols=4,
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
        )

    return drawn(f"acquisition-{name}", draw)


def kernel(name: str) -> str | None:
    """k(r)."""
    made = KERNELS[name]()
    r = np.linspace(0, 4, 200)
    values = made.value(r**2)

    def draw(axes: Axes) -> None:
        axes.plot(r, values, color=GREEN)
        axes.set_xlabel("r, distance in length scales")
        axes.set_ylabel("k(r)")

    return drawn(f"kernel-{name}", draw, size=(4, 2))


def warp(name: str) -> str | None:
    """w(y)."""
    made = WARPS[name](**WARP_PARAMETERS.get(name, {}))
    y = np.linspace(0.05, 3, 200)
    values = made.forward(y)

    def draw(axes: Axes) -> None:
        axes.plot(y, y, "--", color=GREY, lw=1)
        axes.plot(y, values, color=GREEN)
        given = ", ".join(
            f"{key} = {value:g}" for key, value in WARP_PARAMETERS.get(name, {}).items()
        )
        axes.set_title(given)
        axes.set_xlabel("y")
        axes.set_ylabel("w(y)")

    return drawn(f"warp-{name}", draw, size=(4, 2.2))


def law(name: str) -> str | None:
    """The cdf of a law, its expected improvement, and its fair value against the price."""
    if name not in LAWS:
        return None
    made = LAWS[name]()
    levels = np.linspace(-0.6, 3.0, 181)
    cdf = [float(made.cdf(level).value[0]) for level in levels]
    with np.errstate(divide="ignore"):
        improvement = [float(np.exp(made.log_ei(level).value[0])) for level in levels]
    prices = np.geomspace(0.003, 1.0, 80)
    fair = [float(made.fair_value(c).value[0]) for c in prices]

    def draw_gains(axes: Axes) -> None:
        axes.plot(levels, cdf, color=GREY, label="cdf")
        axes.plot(levels, improvement, color=GREEN, label="EI(y), the integral of the cdf")
        axes.set_xlabel("y")
        axes.set_ylim(-0.05, 1.6)
        axes.legend(frameon=False)

    def draw_fair_values(axes: Axes) -> None:
        axes.semilogx(prices, fair, color=GREEN)
        axes.set_xlabel("price")
        axes.set_ylabel("fair value")

    return drawn(f"law-{name}", draw_gains, draw_fair_values, size=(6.2, 2.2))


def utility(name: str) -> str | None:
    """What values are worth."""
    if name not in UTILITY_PARAMETERS:
        return None
    made = UTILITIES[name](**UTILITY_PARAMETERS[name])
    y = np.linspace(0, 3, 200)
    judge = sw.Study({"x": sw.Real(0, 1)}, utility=made, direction="maximize")
    worth = [judge.worth(float(v)) for v in y]

    def draw(axes: Axes) -> None:
        axes.plot(y, worth, color=GREEN)
        axes.set_xlabel("value, larger is better")
        axes.set_ylabel("worth")

    return drawn(f"utility-{name}", draw, size=(4, 2))


def surrogate(name: str) -> str | None:
    """What a model believes after the same observations, one of them very bad."""
    made = sw.Study({"x": sw.Real(0, 1)}, lam=LAM, surrogate=name)
    seen = [(0.02, 6.0), (0.2, 0.5), (0.35, 0.1), (0.5, 0.3), (0.7, 0.2), (0.97, 0.6)]
    for x, value in seen:
        made.tell({"x": x}, value)
    snapshot = made.snapshot()
    grid = np.linspace(0, 1, 301)
    law = snapshot.belief.objective.law(snapshot.domain.encode([{"x": float(x)} for x in grid]))
    low, middle, high = (law.quantile(z).value for z in (-1.645, 0.0, 1.645))

    def draw(axes: Axes) -> None:
        axes.fill_between(grid, low, high, color=GREEN, alpha=0.2, lw=0, label="90 %")
        axes.plot(grid, middle, color=GREEN, label="median")
        axes.plot(*zip(*seen, strict=True), "o", color="black", ms=3)
        axes.set_ylim(-1.2, 2.5)
        axes.set_xlabel("x (one observation, at 6, is beyond the picture)")
        axes.legend(frameon=False)

    return drawn(f"surrogate-{name}", draw)


def curves() -> str:
    """The curves of a small study: which runs were left, and which were finished."""
    made = sw.Study({"x": sw.Real(0, 1)}, lam=0.01, stages=sw.Stages(27, eta=3))
    while not made.should_stop().stop:
        action = made.next()
        x = action.trial.params["x"]
        value = (x - 0.3) ** 2 + 0.5 * np.exp(-action.to_step * (0.05 + 0.3 * x))
        made.tell(action.trial, value, step=action.to_step)

    def draw(axes: Axes) -> None:
        for curve in made.curves.values():
            steps = [report.step for report in curve]
            values = [report.value for report in curve]
            whole = steps[-1] == 27
            axes.semilogx(
                steps, values, "o-", ms=3, lw=1.5 if whole else 1, color=GREEN if whole else GREY
            )
        axes.set_xticks([1, 3, 9, 27], ["1", "3", "9", "27"])
        axes.minorticks_off()
        axes.set_xlabel("epoch (finished runs in green, those that were left in grey)")
        axes.set_ylabel("reported value")

    return f"![Curves of a study]({drawn('stages-curves', draw)})\n"


def leaving() -> str:
    """The fair value of a run by how much its first stages tell, against the simple price."""
    told = np.linspace(0.0, 0.99, 40)  # share of the variance that the first of two stages tells
    prices = np.broadcast_to([0.02, 0.1], (len(told), 2))
    steps = np.column_stack([np.sqrt(told), np.sqrt(1.0 - told)])
    fair = leaving_means(steps, prices)
    simple = float(laws.Normal(np.zeros(1), np.ones(1)).fair_value(0.12).value[0])

    def draw(axes: Axes) -> None:
        axes.plot(told, -fair, color=GREEN, label="may be left after the first stage")
        axes.axhline(simple, ls="--", color=GREY, label="may not")
        axes.set_xlabel("share of the variance that the first stage tells (prices 0.02 and 0.1)")
        axes.set_ylabel("fair value")
        axes.legend(frameon=False)

    return f"![Fair values]({drawn('stages-leaving', draw)})\n"
