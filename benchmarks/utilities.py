# SPDX-License-Identifier: Apache-2.0
"""Studies with a utility against studies with a straight line of the same mean slope.

The user is to get the utility of the best value and to pay for all evaluations, in dollars. One
contender is told the utility; the other is told that a unit of the objective is worth the mean
slope of that utility, between the best of six random configurations (on average) and the optimum.
That is ``lam`` as somebody would choose it who has no other word for what a result is worth.

``python -m benchmarks utilities`` runs one seed of each problem. For more of them run
``python -m benchmarks.utilities FILE [SEEDS [WORD]]``: each run appends a line of JSON to the
file, and what is there is not run again; a word of a problem's name runs that problem alone.
Without seeds it prints a table of what the file holds. A FILE that ends in .png gets the picture
of docs/how-to/utilities.md.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

import stopwise as sw
from benchmarks import Row
from stopwise.core.beliefs.laws import valued
from stopwise.core.utility import Utility

MOST = 60  # trials
CONTENDERS = ("utility", "straight line")

_TABLE = Path(__file__).parents[1] / "paper/src/stopwise_paper/data/sklearn.npz"
_A = np.array([[3.0, 10, 30], [0.1, 10, 35], [3.0, 10, 30], [0.1, 10, 35]])
_P = 1e-4 * np.array(
    [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]
)
_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])


@dataclass(frozen=True)
class Problem:
    """What is tuned, in which space, at which cost, and what its values are worth."""

    space: Any
    objective: Callable[[Mapping[str, Any]], float]
    cost: Any
    direction: Literal["minimize", "maximize"]
    optimum: float
    start: float  # the best of six random configurations, on average over many draws
    utility: Utility

    @property
    def sign(self) -> float:
        """1 to minimise, -1 to maximise."""
        return 1.0 if self.direction == "minimize" else -1.0

    def worth(self, value: float) -> float:
        """The utility of a value."""
        return -float(self.utility.loss(self.sign)(np.array([self.sign * value]))[0])

    @property
    def slope(self) -> float:
        """The mean slope of the utility, dollars for a unit of the objective."""
        gained = self.worth(self.optimum) - self.worth(self.start)
        return gained / abs(self.optimum - self.start)


def branin(p: Mapping[str, Any]) -> float:
    """Branin's function; its minimum is 0.398."""
    x, y = p["x"], p["y"]
    bowl = y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6
    return bowl**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def branin_cost(p: Mapping[str, Any]) -> float:
    """From 0.5 to 2 dollars; the right half is dear."""
    return 0.5 + 1.5 / (1.0 + math.exp(-(p["x"] - 2.5)))


def hartmann(p: Mapping[str, Any]) -> float:
    """Minus Hartmann's function of three parameters; its maximum is 3.863."""
    x = np.array([p["a"], p["b"], p["c"]])
    return float(_WEIGHTS @ np.exp(-np.sum(_A * (x - _P) ** 2, axis=1)))


@cache
def problems() -> dict[str, Problem]:
    """The problems, by name."""
    with np.load(_TABLE) as file:
        names = file["digits-network/names"].tolist()
        configs = file["digits-network/configs"].tolist()
        error, _, seconds = file["digits-network/measured"].T.astype(float)
    whole = ("units", "layers", "batch_size", "epochs")
    rows = [
        {n: int(v) if n in whole else v for n, v in zip(names, row, strict=True)}
        for row in configs
    ]
    keys = {json.dumps(row): float(e) for row, e in zip(rows, error, strict=True)}
    cube = {name: sw.Real(0.0, 1.0) for name in "abc"}
    square = {"x": sw.Real(-5.0, 10.0), "y": sw.Real(0.0, 15.0)}
    return {
        "Branin, good enough": Problem(
            square,
            branin,
            branin_cost,
            "minimize",
            0.397887,
            _start(lambda r: branin({"x": r.uniform(-5, 10), "y": r.uniform(0, 15)}), 1.0),
            sw.utility.threshold(at=3.0, slope=5.0),
        ),
        "Hartmann, a level to reach": Problem(
            cube,
            hartmann,
            None,
            "maximize",
            3.862782,
            _start(lambda r: hartmann(dict(zip("abc", r.random(3), strict=True))), -1.0),
            sw.utility.piecewise([(3.2, 0.0), (3.6, 60.0)]),
        ),
        "network on digits, a bonus": Problem(
            sw.Candidates(rows),
            lambda p: keys[json.dumps({n: p[n] for n in names})],
            60.0 * seconds,  # a second of training costs 60 dollars
            "minimize",
            float(error.min()),
            _start(lambda r: float(error[r.integers(len(error))]), 1.0),
            sw.utility.piecewise([(2.0, 200.0), (3.0, 0.0)]),
        ),
    }


def _start(draw: Callable[[np.random.Generator], float], sign: float) -> float:
    rng = np.random.default_rng(0)
    best = [min(sign * draw(rng) for _ in range(6)) for _ in range(2000)]
    return sign * float(np.mean(best))


def run(*, quick: bool) -> list[Row]:
    rows = []
    for name, problem in list(problems().items())[: 1 if quick else None]:
        for who in CONTENDERS:
            columns = played(problem, who, seed=0)
            row: Row = {"problem": name, "told": who}
            row |= {column: f"{amount:.1f}" for column, amount in columns.items()}
            rows.append(row)
    return rows


def played(problem: Problem, who: str, seed: int) -> dict[str, float]:
    """One study: what the best value is worth less what was spent."""
    told: dict[str, Any] = {"utility": problem.utility}
    if who == "straight line":
        told = {"lam": 1.0 / problem.slope}
    study = sw.Study(
        problem.space,
        cost=problem.cost,
        direction=problem.direction,
        seed=seed,
        max_trials=MOST,
        surrogate="plain",  # the faster model
        **told,
    )
    while not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, problem.objective(trial.params))
    best = study.best
    value = math.nan if best is None else best.value
    worth = problem.worth(value)
    return {
        "net": worth - study.spent,
        "worth": worth,
        "spent": study.spent,
        "value": value,
        "trials": len(study.history),
    }


def run_all(path: Path, seeds: range, word: str = "") -> None:
    """Run what the file does not hold yet, a line for each run."""
    done = {(line["problem"], line["who"], line["seed"]) for line in _lines(path)}
    for seed in seeds:
        for name, problem in problems().items():
            if word not in name:
                continue
            for who in CONTENDERS:
                if (name, who, seed) not in done:
                    line = {"problem": name, "who": who, "seed": seed}
                    with path.open("a") as file:
                        file.write(json.dumps({**line, **played(problem, who, seed)}) + "\n")


def table(path: Path) -> str:
    """Means over seeds that both ran, and of the difference its mean and standard error."""
    rows = [
        "| problem | told | seeds | trials | worth | spent | net |",
        "|---|---|---|---|---|---|---|",
    ]
    lines = _lines(path)
    for name in dict.fromkeys(line["problem"] for line in lines):
        of = {
            who: {r["seed"]: r for r in lines if (r["problem"], r["who"]) == (name, who)}
            for who in CONTENDERS
        }
        both = [seed for seed in of["utility"] if seed in of["straight line"]]
        for who, runs in of.items():
            columns = ("trials", "worth", "spent", "net")
            means = [np.mean([runs[seed][column] for seed in both]) for column in columns]
            cells = " | ".join(f"{mean:.1f}" for mean in means)
            rows.append(f"| {name} | {who} | {len(both)} | {cells} |")
        more = np.array([of["utility"][s]["net"] - of["straight line"][s]["net"] for s in both])
        error = more.std(ddof=min(1, len(more) - 1)) / math.sqrt(len(more))
        wins = f"{int(np.sum(more > 0.0))} of {len(more)} won"
        rows.append(f"| | more, paired | | {wins} | | | {more.mean():.1f} ± {error:.1f} |")
    return "\n".join(rows)


def picture(path: Path) -> None:
    """Four utilities, and what two candidates are expected to gain by one of them."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    values = np.linspace(84.0, 98.0, 400)
    shown = {
        "sigmoid(at=90, width=1.5, height=1000)": sw.utility.sigmoid(90, 1.5, 1000),
        "threshold(at=88, slope=125)": sw.utility.threshold(88, 125),
        "piecewise([(90, 0), (94, 1000)])": sw.utility.piecewise([(90, 0), (94, 1000)]),
        "linear(71), less a constant": sw.utility.linear(71.0),
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.8), layout="constrained")
    for name, utility in shown.items():
        worth = -utility.loss(-1.0)(-values)
        left.plot(values, worth - (worth[0] if "linear" in name else 0.0), label=name)
    left.set(
        xlabel="accuracy, maximised", ylabel="worth in dollars", title="What a value is worth"
    )
    left.legend(fontsize=8)
    best = np.linspace(85.0, 97.0, 200)
    utility = sw.utility.piecewise([(90, 0), (94, 1000)])
    for (mean, std), name in (((90.0, 1.0), "safe: 90 ± 1"), ((88.0, 3.0), "bold: 88 ± 3")):
        law = sw.beliefs.Normal(np.full(200, -mean), np.full(200, std))
        loss = utility.loss(-1.0)
        gains = np.exp(valued(law, loss).log_ei(loss(-best)).value)
        [line] = right.plot(best, gains, label=f"{name}, piecewise")
        by_line = 71.0 * np.exp(law.log_ei(-best).value)
        right.plot(best, by_line, "--", color=line.get_color(), label=f"{name}, linear")
    right.axhline(31.0, color="0.6", linewidth=0.8)
    right.text(97.0, 36.0, "an evaluation for 31 dollars", fontsize=8, color="0.4", ha="right")
    right.set(
        xlabel="best accuracy so far",
        ylabel="expected gain in dollars",
        title="What a candidate is expected to add",
        ylim=(0.0, 300.0),
    )
    right.legend(fontsize=8)
    figure.savefig(path, dpi=100)


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


if __name__ == "__main__":
    _file = Path(sys.argv[1])
    if _file.suffix == ".png":
        picture(_file)
        sys.exit()
    if len(sys.argv) > 2:
        run_all(_file, range(int(sys.argv[2])), *sys.argv[3:4])
    sys.stdout.write(table(_file) + "\n")
