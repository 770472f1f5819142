# SPDX-License-Identifier: Apache-2.0
"""The plan of the field: which contenders play which problems, fixed before any of them is run.

Prices are such that the gap from the median of a problem's values to the best is worth 20, 100 or
500 evaluations of median cost. A contender that knows no price plays a problem once, and every
number of trials is read from the beginning of that run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial

from stopwise.errors import InputError
from stopwise_paper.cell import Cell
from stopwise_paper.problems import LEARNED, bbob
from stopwise_paper.problems.curves import RUNS
from stopwise_paper.problems.functions import FUNCTIONS
from stopwise_paper.problems.live import OBJECTIVES, check_sklearn
from stopwise_paper.problems.sklearn_table import DATASETS as SKLEARN
from stopwise_paper.runs.beliefs import plan as beliefs
from stopwise_paper.runs.field.contenders import ALL_SEEDS, CONTENDERS

EXPERIMENT = "field"
EVALUATIONS = beliefs.EVALUATIONS
_QUICK_TRIALS = 20
_DIMENSIONS, _INSTANCES = (2, 5, 10), (1, 2, 3)  # of bbob


@dataclass(frozen=True, slots=True)
class FieldPart:
    """Problems of one kind.

    Args:
        title: For tables and figures.
        problems: Names the problems, each with its price; refuses where data are missing.
        seeds: How many.
        priced: Whether what is spent counts; else contenders are compared at equal trials.
        pooled: Whether its problems are tables, which the first table of the page puts together.
        trials: Evaluations for each parameter, where they are compared at equal trials.
        known: Whether costs differ and are known beforehand: stopwise and BoTorch per cost are
            told them.
        needs: Distributions that must be installed.
    """

    title: str
    problems: Callable[[], list[tuple[str, str]]]
    seeds: int
    priced: bool = True
    pooled: bool = True
    trials: int = 0
    known: bool = False
    needs: tuple[str, ...] = ()


def field_plan(
    part: str,
    contenders: Sequence[str],
    *,
    quick: bool = False,
    seeds: int | None = None,
    problems: str = "*",
) -> list[Cell]:
    """The cells of a part, seed by seed.

    Args:
        part: A name of ``PARTS``.
        contenders: Names of ``CONTENDERS``.
        quick: One problem, one seed, the middle price and 20 trials.
        seeds: Of the planned seeds only the first ones; all if left out.
        problems: Of the planned problems only those whose names match this pattern.
    """
    if part not in PARTS:
        message = f"there is no part {part!r}; there are {', '.join(PARTS)}."
        raise InputError(message)
    chosen = PARTS[part]
    named = [(name, cost) for name, cost in chosen.problems() if fnmatch(name, problems)]
    return [
        cell
        for seed in range(1 if quick else chosen.seeds)[:seeds]
        for problem, cost in named[: 1 if quick else None]
        for name in contenders
        if seed < CONTENDERS[name].seeds
        for cell in _cells(chosen, name, problem, cost, seed, quick=quick)
    ]


def part_of(cell: Cell) -> str:
    """The name of the part that a cell belongs to."""
    collection = cell.problem.partition(":")[0]
    if collection == "lcbench" and cell.cost == LEARNED:
        return "lcbench-learned"
    return {"nats-topology": "nats", "box": "functions"}.get(collection, collection)


def _cells(
    part: FieldPart, name: str, problem: str, cost: str, seed: int, *, quick: bool
) -> list[Cell]:
    contender = CONTENDERS[name]
    kinds = {"all", "priced" if part.priced else "unpriced"}
    if part.known and part.pooled:
        kinds.add("known")
    of_first_instance = part.priced or bbob.instance(problem) == 1
    if contender.plays not in kinds or (contender.seeds < ALL_SEEDS and not of_first_instance):
        return []
    cap = part.trials * bbob.dimension(problem) if part.trials else contender.trials
    cap = min(cap, _QUICK_TRIALS) if quick else cap
    prices: Sequence[int | None] = EVALUATIONS[1:2] if quick else EVALUATIONS
    return [
        Cell.of(EXPERIMENT, problem, cost, name, seed=seed, cap=cap, evaluations=evaluations)
        for evaluations in (prices if contender.priced else [None])
    ]


def _bbob() -> list[tuple[str, str]]:
    return [
        (f"bbob:f{function:03}_i{instance:02}_d{d:02}", RUNS)
        for instance in _INSTANCES
        for d in _DIMENSIONS
        for function in bbob.FUNCTIONS
    ]


def _live(collection: str) -> list[tuple[str, str]]:
    check_sklearn()
    return [
        (name, objective.price)
        for name, objective in OBJECTIVES.items()
        if name.startswith(f"{collection}:")
    ]


def _learned_tables() -> list[tuple[str, str]]:
    return [(f"sklearn:{name}", LEARNED) for name in SKLEARN]


PARTS = {
    "sklearn": FieldPart("scikit-learn tables, learned costs", _learned_tables, ALL_SEEDS),
    "lcbench": FieldPart("LCBench, known costs", beliefs.judged_lcbench, ALL_SEEDS, known=True),
    "lcbench-learned": FieldPart(
        "LCBench, learned costs", beliefs.PARTS["lcbench-learned"].problems, ALL_SEEDS
    ),
    "alexnet": FieldPart("AlexNet, learned costs", beliefs.PARTS["alexnet"].problems, ALL_SEEDS),
    "taskset": FieldPart("TaskSet", beliefs.PARTS["taskset"].problems, ALL_SEEDS),
    "nats": FieldPart(
        "NATS-Bench, topology space, known costs",
        beliefs.PARTS["nats"].problems,
        ALL_SEEDS,
        known=True,
    ),
    "bbob": FieldPart(
        "bbob, 10 evaluations for each parameter, stopping off",
        _bbob,
        1,
        priced=False,
        trials=10,
        needs=("coco-experiment",),
    ),
    "functions": FieldPart(
        "textbook functions",
        lambda: [(f"box:{name}", "linear") for name in FUNCTIONS],
        3,
        pooled=False,
        known=True,
    ),
    "live": FieldPart("trained live, learned costs", partial(_live, "live"), 3, pooled=False),
    "bayesmark": FieldPart(
        "after Bayesmark's problems, trained live", partial(_live, "bayesmark"), 3, pooled=False
    ),
}
