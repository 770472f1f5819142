# SPDX-License-Identifier: Apache-2.0
"""The experiments: the cells of each, at three scales.

``full`` has the paper's seeds and caps, ``laptop`` fewer seeds (and shorter runs in 8D), ``smoke``
just enough to see that everything works. LCB and Thompson sampling do not look at known prices, so
one cell of theirs serves them all; PBGI depends on lambda, so it has a cell for each lambda.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from stopwise.errors import InputError
from stopwise_paper.cell import COST_BLIND, Cell, Option
from stopwise_paper.problems import LEARNED, nats
from stopwise_paper.problems.data_folder import MissingDataError
from stopwise_paper.problems.functions import FUNCTIONS
from stopwise_paper.problems.lcbench import datasets as lcbench_datasets
from stopwise_paper.problems.sklearn_table import DATASETS as SKLEARN
from stopwise_paper.problems.synthetic_costs import KINDS

Scale = Literal["smoke", "laptop", "full"]
SCALES: tuple[Scale, ...] = ("smoke", "laptop", "full")

SYNTHETIC_LAMS = (1e-1, 1e-2, 1e-3)
LCBENCH_LAMS = (1e-3, 1e-4, 1e-5)
NATS_LAMS = (1e-4, 1e-5, 1e-6)
SKLEARN_LAMS = (1.0, 1e-1, 1e-2)  # percentage points a second
BOXES = (2, 4)
DESIGN_TIMES = (1, 4)  # initial points as multiples of d + 1, beside the usual 2
BUDGET_LAM0 = 50.0 / 10_000.0  # the paper's U/(B - C)
# Data sets of the experiments with unknown costs, and whether their runtimes were measured or are
# predictions of a surrogate.
RUNTIMES = {
    "Fashion-MNIST": "real",
    "higgs": "real",
    "volkert": "real",
    "adult": "surrogate",
}


@dataclass(frozen=True, slots=True)
class Size:
    """The size of an experiment at one scale.

    Args:
        seeds: Number of seeds.
        cap: Evaluations after the initial design.
        options: Options of every cell.
        problems: Number of data sets; all if None.
        lams: Number of lambdas; all if None.
    """

    seeds: int
    cap: int
    options: tuple[tuple[str, Option], ...] = ()
    problems: int | None = None
    lams: int | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """A set of cells.

    Args:
        cells: The cells at a size.
        sizes: The size at each scale.
        lams: Lambdas at which rules are replayed on its trajectories.
        purpose: What the experiment is for, in a few words.
    """

    cells: Callable[[Size], Iterator[Cell]]
    sizes: dict[str, Size]
    lams: tuple[float, ...]
    purpose: str


def plan(experiment: str, scale: Scale = "laptop") -> list[Cell]:
    """The cells of an experiment, seed by seed, so that a run that is cut short is balanced.

    Args:
        experiment: A name of ``EXPERIMENTS``.
        scale: ``"smoke"``, ``"laptop"`` or ``"full"``.
    """
    if experiment not in EXPERIMENTS:
        message = f"there is no experiment {experiment!r}; there are {', '.join(EXPERIMENTS)}."
        raise InputError(message)
    if scale not in SCALES:
        message = f"scale={scale!r} is not known: give one of {', '.join(SCALES)}."
        raise InputError(message)
    chosen = EXPERIMENTS[experiment]
    return sorted(chosen.cells(chosen.sizes[scale]), key=lambda cell: cell.seed)


def with_plugins(
    cells: list[Cell], acquisitions: Sequence[str], rules: Sequence[str]
) -> list[Cell]:
    """The plan with plugin acquisitions and rules in it, each as ``package.module:Class``.

    An acquisition gets a cell for each problem, price and seed of LogEIPC; rules are recorded in
    every cell, beside the paper's.
    """
    templates = [cell for cell in cells if cell.acquisition == "logeipc"]
    more = [replace(cell, acquisition=name) for name in acquisitions for cell in templates]
    if not rules:
        return cells + more
    option = ("rules", ",".join(rules))
    return [replace(cell, options=tuple(sorted((*cell.options, option)))) for cell in cells + more]


# --------------------------------------------------------------------------- experiments


def _policies(
    experiment: str,
    problem: str,
    prices: tuple[str, ...],
    lams: tuple[float, ...],
    size: Size,
    **options: Option,
) -> Iterator[Cell]:
    """The paper's four acquisitions on one problem: PBGI for each lambda, LogEIPC, LCB, TS."""
    options = {**options, **dict(size.options)}
    for seed in range(size.seeds):

        def cell(acquisition: str, price: str, lam: float | None = None, seed: int = seed) -> Cell:
            return Cell.of(
                experiment,
                problem,
                price,
                acquisition,
                lam=lam,
                seed=seed,
                cap=size.cap,
                **options,
            )

        for price in prices:
            for lam in lams[: size.lams]:
                yield cell("pbgi", price, lam)
            yield cell("logeipc", price)
            if price == LEARNED:
                yield cell("logeipc-inv", price)
        for acquisition in COST_BLIND:
            yield cell(acquisition, "+".join(prices))


def _gp1d(size: Size) -> Iterator[Cell]:
    yield from _policies("gp1d", "gp1d", KINDS, SYNTHETIC_LAMS, size, prb="bound+mean")


def _gp8d(size: Size) -> Iterator[Cell]:
    yield from _policies("gp8d", "gp8d", KINDS, SYNTHETIC_LAMS, size)


def _lcbench(size: Size) -> Iterator[Cell]:
    for dataset in lcbench_datasets()[: size.problems]:
        problem = f"lcbench:{dataset}"
        yield from _policies("lcbench", problem, ("proxy",), LCBENCH_LAMS, size)


def _unknown(size: Size) -> Iterator[Cell]:
    for dataset, runtime in list(RUNTIMES.items())[: size.problems]:
        option = None if runtime == "real" else runtime
        problem = f"lcbench:{dataset}"
        yield from _policies(
            "unknown-cost", problem, (LEARNED,), LCBENCH_LAMS, size, runtime=option
        )


def _budgeted(size: Size) -> Iterator[Cell]:
    options = dict(size.options)
    for dataset in list(RUNTIMES)[: size.problems]:
        for seed in range(size.seeds):
            yield Cell.of(
                "budgeted",
                f"lcbench:{dataset}",
                "proxy",
                "pbgi-d",
                lam=BUDGET_LAM0,
                seed=seed,
                cap=size.cap,
                **options,
            )


def _nats(size: Size) -> Iterator[Cell]:
    """The size space where its accuracies are at hand, else the topology space in its place."""
    try:
        nats.nats_size(nats.DATASETS[0])
        space, prior = "nats-size", None
    except MissingDataError:
        # Operations are one-hot, sqrt 2 apart: at the published prior's length scales of about
        # 1/3 neighbouring architectures are nearly uncorrelated, and nothing is learned.
        space, prior = "nats-topology", "lognormal"
    for dataset in nats.DATASETS[: size.problems]:
        problem = f"{space}:{dataset}"
        yield from _policies("nats", problem, ("proxy",), NATS_LAMS, size, prior=prior)


def _sklearn(size: Size) -> Iterator[Cell]:
    for dataset in SKLEARN[: size.problems]:
        yield from _policies("sklearn", f"sklearn:{dataset}", ("proxy",), SKLEARN_LAMS, size)


def _sklearn_unknown(size: Size) -> Iterator[Cell]:
    for dataset in SKLEARN[: size.problems]:
        problem = f"sklearn:{dataset}"
        yield from _policies("sklearn-unknown", problem, (LEARNED,), SKLEARN_LAMS, size)


def _refit(size: Size) -> Iterator[Cell]:
    """Four data sets of LCBench with a fit at every step, to compare with the schedule."""
    for dataset in list(RUNTIMES)[: size.problems]:
        yield from _policies("refit", f"lcbench:{dataset}", ("proxy",), LCBENCH_LAMS, size)


def _boxes(size: Size) -> Iterator[Cell]:
    """The matched pairs on boxes of 2 and 4 dimensions, for the choice of the default rule."""
    for d in BOXES[: size.problems]:
        for cell in _policies("boxes", "gp8d", ("linear",), SYNTHETIC_LAMS, size, d=d, prb="none"):
            if cell.acquisition in ("pbgi", "logeipc"):
                yield cell


def _functions(size: Size) -> Iterator[Cell]:
    """The matched pairs on textbook functions, where the model is fitted on a box."""
    for name in list(FUNCTIONS)[: size.problems]:
        problem = f"box:{name}"
        for cell in _policies(
            "functions", problem, ("linear",), SYNTHETIC_LAMS, size, prb="none", prior="lognormal"
        ):
            if cell.acquisition in ("pbgi", "logeipc"):
                yield cell


def _designs(
    base: Callable[[Size], Iterator[Cell]], dimension: Callable[[Cell], int]
) -> Callable[[Size], Iterator[Cell]]:
    """PBGI of an experiment, after smaller and larger initial designs than its 2(d + 1)."""

    def cells(size: Size) -> Iterator[Cell]:
        for cell in base(size):
            if cell.acquisition == "pbgi" and cell.cost in ("linear", "proxy"):
                for times in DESIGN_TIMES:
                    points = times * (dimension(cell) + 1)
                    options = {**dict(cell.options), "initial": points, "prb": "none"}
                    name = f"design-{cell.experiment}"
                    yield replace(cell, experiment=name, options=tuple(sorted(options.items())))

    return cells


# At laptop scale hyper-parameters are fitted on a schedule (see ``runs.models``), which the
# experiment "refit" compares with a fit at every step. The paper's runs fit at every step.
_SCHEDULE: tuple[tuple[str, Option], ...] = (("refit", "schedule"),)
_TINY = Size(1, 4, problems=1, lams=1)
_TABLES = {"smoke": _TINY, "laptop": Size(10, 200, _SCHEDULE), "full": Size(50, 200)}
_EVERY_STEP = {"smoke": Size(1, 4, lams=1), "laptop": Size(5, 200), "full": Size(50, 200)}
_GP1D = {
    "smoke": Size(1, 5, (("grid", 501),), lams=2),
    "laptop": Size(50, 100),
    "full": Size(50, 100),
}
_GP8D = {
    "smoke": Size(1, 3, (("d", 2),), lams=1),
    "laptop": Size(20, 300),
    "full": Size(50, 500),
}

EXPERIMENTS = {
    "gp1d": Experiment(
        _gp1d, _GP1D, SYNTHETIC_LAMS, "Bayesian regret in 1D; order of the posterior update"
    ),
    "gp8d": Experiment(
        _gp8d,
        _GP8D,
        SYNTHETIC_LAMS,
        "Bayesian regret in 8D; moving averages; runtime of the rules",
    ),
    "lcbench": Experiment(
        _lcbench,
        _TABLES,
        LCBENCH_LAMS,
        "LCBench, known costs; misspecification; validation and test",
    ),
    "unknown-cost": Experiment(
        _unknown, _TABLES, LCBENCH_LAMS, "LCBench, costs learned from runtimes"
    ),
    "budgeted": Experiment(_budgeted, _TABLES, (), "PBGI-D on LCBench, regret against cost"),
    "nats": Experiment(
        _nats,
        {**_TABLES, "laptop": Size(3, 200, _SCHEDULE)},
        NATS_LAMS,
        "NATS-Bench, known costs",
    ),
    "sklearn": Experiment(
        _sklearn, _TABLES, SKLEARN_LAMS, "the table of this package, known costs"
    ),
    "sklearn-unknown": Experiment(
        _sklearn_unknown, _TABLES, SKLEARN_LAMS, "the table of this package, learned costs"
    ),
    "refit": Experiment(
        _refit, _EVERY_STEP, LCBENCH_LAMS, "whether the refit schedule changes anything"
    ),
    "boxes": Experiment(
        _boxes,
        {
            "smoke": Size(1, 3, problems=1, lams=1),
            "laptop": Size(20, 100),
            "full": Size(50, 200),
        },
        SYNTHETIC_LAMS,
        "the matched pairs on boxes in 2 and 4 dimensions",
    ),
    "functions": Experiment(
        _functions,
        {"smoke": _TINY, "laptop": Size(10, 100), "full": Size(50, 200)},
        SYNTHETIC_LAMS,
        "the matched pairs on textbook functions, with fitted models",
    ),
    "design-gp1d": Experiment(
        _designs(_gp1d, lambda _: 1), _GP1D, SYNTHETIC_LAMS, "other initial designs in 1D"
    ),
    "design-gp8d": Experiment(
        _designs(_gp8d, lambda cell: int(cell.option("d", 8))),
        {**_GP8D, "laptop": Size(5, 100, lams=2)},
        SYNTHETIC_LAMS,
        "other initial designs in 8D",
    ),
    "design-functions": Experiment(
        _designs(_functions, lambda cell: FUNCTIONS[cell.problem.removeprefix("box:")].d),
        {"smoke": _TINY, "laptop": Size(5, 100), "full": Size(50, 200)},
        SYNTHETIC_LAMS,
        "other initial designs on textbook functions",
    ),
    "design-lcbench": Experiment(
        _designs(_lcbench, lambda _: 7),
        {**_TABLES, "laptop": Size(2, 200, _SCHEDULE)},
        LCBENCH_LAMS,
        "other initial designs on LCBench",
    ),
}
