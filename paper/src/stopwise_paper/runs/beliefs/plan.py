# SPDX-License-Identifier: Apache-2.0
"""The plan of the evidence on beliefs: which studies are run, in parts of one kind of problem.

A variant is a belief (``surrogate=`` of a study) and an initial design. On LCBench with known
costs lambdas are the published ones, so that regret can be set beside that of the published
trajectories. Elsewhere lambda follows from the problem: the gap from the median of its values to
the best is worth 20, 100 or 500 evaluations of median cost.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stopwise.errors import InputError
from stopwise_paper.cell import Cell, Option
from stopwise_paper.experiments import LCBENCH_LAMS, Scale, Size
from stopwise_paper.problems import LEARNED, curves, nats
from stopwise_paper.problems.lcbench import datasets as lcbench_datasets
from stopwise_paper.problems.sklearn_table import DATASETS as SKLEARN

EXPERIMENT = "beliefs"
EVALUATIONS = (20, 100, 500)  # median evaluations that the gap is worth
MEASURED = ("Fashion-MNIST", "higgs", "volkert", "blood-transfusion-service-center")  # runtimes
PUBLISHED_DESIGN, PRICED_DESIGN = "published", "priced"
CHOSEN, JUDGED = "chosen", "judged"
_CHOSEN_REMAINDERS = (0, 1, 2, 3)  # of crc32 modulo 7


@dataclass(frozen=True, slots=True)
class BeliefVariant:
    """A belief after an initial design.

    Args:
        surrogate: The option of a study.
        design: ``"published"`` (2(d + 1) points, as in the paper's experiments) or ``"priced"``.
        prior: Of the hyper-parameters; the study's default if left out.
        noise: ``"learn"`` if the noise of evaluations is learned; none if left out.
        bounded: Whether the study is told the lowest value possible, where a part has one.
    """

    surrogate: str
    design: str
    prior: str | None = None
    noise: str | None = None
    bounded: bool = False


PAPER, DEFAULT = "paper", "default"
VARIANTS = {
    PAPER: BeliefVariant("paper", PUBLISHED_DESIGN, "gamma"),
    DEFAULT: BeliefVariant("default", PRICED_DESIGN),
    "weighed + published design": BeliefVariant("default", PUBLISHED_DESIGN),
    "plain": BeliefVariant("plain", PUBLISHED_DESIGN),
    "plain + priced design": BeliefVariant("plain", PRICED_DESIGN),
    "default, noise learned": BeliefVariant("default", PRICED_DESIGN, noise="learn"),
    "default, bounded": BeliefVariant("default", PRICED_DESIGN, bounded=True),
}


@dataclass(frozen=True, slots=True)
class Part:
    """Studies on one kind of problem.

    Args:
        problems: Names the problems, each with its price; refuses where data are missing.
        sizes: Seeds, cap and options at each scale.
        title: For tables and figures.
        lams: Lambdas; from the gap of each problem if left out.
        prior: Of the published model; ``"gamma"`` unless it learns nothing under it.
        to_the_cap: Whether studies go on to the cap whatever the rule says. What was promised and
            delivered is then over the same number of choices for every belief.
        lowest: The lowest value possible, as a user would know it; None if there is none.
    """

    problems: Callable[[], list[tuple[str, str]]]
    sizes: dict[str, Size]
    title: str
    lams: tuple[float, ...] | None = None
    prior: str | None = "gamma"
    to_the_cap: bool = False
    lowest: float | None = None


def beliefs_plan(
    part: str, scale: Scale = "laptop", variants: Sequence[str] = tuple(VARIANTS)
) -> list[Cell]:
    """The cells of a part: seed by seed, and within a seed the judged half first.

    Args:
        part: A name of ``PARTS``.
        scale: ``"smoke"`` or ``"laptop"``.
        variants: Names of ``VARIANTS``.
    """
    _check_known("part", [part], PARTS)
    _check_known("variant", variants, VARIANTS)
    if scale not in PARTS[part].sizes:
        message = f"scale={scale!r} is not planned: give one of {', '.join(PARTS[part].sizes)}."
        raise InputError(message)
    cells = _cells(PARTS[part], PARTS[part].sizes[scale], variants)
    return sorted(cells, key=lambda cell: (cell.seed, half_of(cell.problem) == CHOSEN))


def half_of(problem: str) -> str:
    """``"chosen"`` if beliefs were chosen on it, ``"judged"`` if it was kept back."""
    collection, _, dataset = problem.partition(":")
    if collection == "lcbench":
        return CHOSEN if zlib.crc32(dataset.encode()) % 7 in _CHOSEN_REMAINDERS else JUDGED
    return CHOSEN if collection == "taskset" else JUDGED


def variant_of(cell: Cell) -> str:
    """The name of a cell's variant."""
    options = tuple(map(cell.option, ("surrogate", "design", "noise")))
    bounded = cell.option("lowest") is not None
    for name, variant in VARIANTS.items():
        same = (variant.surrogate, variant.design, variant.noise) == options
        if same and variant.bounded == bounded:
            return name
    message = f"no variant has the options {dict(cell.options)}."
    raise InputError(message)


def part_of(cell: Cell) -> str:
    """The name of the part that a cell belongs to."""
    collection = cell.problem.partition(":")[0]
    by_collection = {"nats-topology": "nats", "box": "functions"}
    name = by_collection.get(collection, collection)
    if name != "lcbench":
        return name
    if cell.option("to_the_cap"):
        return "lcbench-100"
    return "lcbench-learned" if cell.cost == LEARNED else name


def _check_known(kind: str, names: Sequence[str], table: Mapping[str, object]) -> None:
    for name in names:
        if name not in table:
            message = f"there is no {kind} {name!r}; there are {', '.join(table)}."
            raise InputError(message)


def _cells(part: Part, size: Size, variants: Sequence[str]) -> Iterator[Cell]:
    prices: list[tuple[float | None, int | None]] = (
        [(None, evaluations) for evaluations in EVALUATIONS]
        if part.lams is None
        else [(lam, None) for lam in part.lams]
    )
    variants = [v for v in variants if part.lowest is not None or not VARIANTS[v].bounded]
    for problem, cost in part.problems()[: size.problems]:
        for seed in range(size.seeds):
            for lam, evaluations in prices[: size.lams]:
                for name in variants:
                    options = {**_options(part, name), **dict(size.options)}
                    yield Cell.of(
                        EXPERIMENT,
                        problem,
                        cost,
                        "pbgi",
                        lam=lam,
                        seed=seed,
                        cap=size.cap,
                        evaluations=evaluations,
                        **options,
                    )


def _options(part: Part, name: str) -> dict[str, Option]:
    """The options that make a cell one of a variant."""
    variant = VARIANTS[name]
    prior = None if variant.prior is None else part.prior
    return {
        "surrogate": variant.surrogate,
        "design": variant.design,
        "prior": prior,
        "noise": variant.noise,
        "to_the_cap": part.to_the_cap or None,
        "lowest": part.lowest if variant.bounded else None,
    }


# ------------------------------------------------------------------------------- parts


def _lcbench() -> list[tuple[str, str]]:
    return [(f"lcbench:{dataset}", "proxy") for dataset in lcbench_datasets()]


def judged_lcbench() -> list[tuple[str, str]]:
    """The sets that were kept back, with known costs."""
    return [(name, cost) for name, cost in _lcbench() if half_of(name) == JUDGED]


def _lcbench_learned() -> list[tuple[str, str]]:
    there = lcbench_datasets()
    return [(f"lcbench:{dataset}", LEARNED) for dataset in MEASURED if dataset in there]


def _alexnet() -> list[tuple[str, str]]:
    curves.check_alexnet()
    return [("alexnet", LEARNED)]


def _taskset() -> list[tuple[str, str]]:
    curves.check_taskset()
    return [(f"taskset:{task}", curves.RUNS) for task in curves.TASKS]


def _nats() -> list[tuple[str, str]]:
    nats.nats_topology(nats.DATASETS[0])  # refuses where the table is missing
    return [(f"nats-topology:{dataset}", "proxy") for dataset in nats.DATASETS]


def _sklearn() -> list[tuple[str, str]]:
    return [(f"sklearn:{dataset}", "proxy") for dataset in SKLEARN]


def _functions() -> list[tuple[str, str]]:
    return [("box:branin", "linear"), ("box:hartmann6", "linear")]


def _sizes(seeds: int, cap: int = 100, **options: Option) -> dict[str, Size]:
    pairs = tuple(options.items())
    return {"smoke": Size(1, 3, pairs, problems=1, lams=1), "laptop": Size(seeds, cap, pairs)}


PARTS = {
    "lcbench": Part(_lcbench, _sizes(2, 200), "LCBench, known costs", LCBENCH_LAMS, lowest=0.0),
    "lcbench-100": Part(
        judged_lcbench,
        _sizes(1),
        "LCBench, always 100 evaluations",
        LCBENCH_LAMS[1:2],
        to_the_cap=True,
        lowest=0.0,
    ),
    "lcbench-learned": Part(_lcbench_learned, _sizes(3), "LCBench, learned costs", lowest=0.0),
    "alexnet": Part(_alexnet, _sizes(3), "AlexNet, learned costs", lowest=0.0),
    "taskset": Part(_taskset, _sizes(2), "TaskSet", lowest=0.0),
    "functions": Part(_functions, _sizes(3), "textbook functions"),
    "sklearn": Part(_sklearn, _sizes(3), "scikit-learn", lowest=0.0),
    "gp1d": Part(lambda: [("gp1d", "linear")], _sizes(10, grid=501), "1D"),
    "gp8d": Part(lambda: [("gp8d", "linear")], _sizes(2), "8D"),
    # Under the gamma prior nothing is learned on one-hot coordinates; see ``experiments``.
    "nats": Part(_nats, _sizes(1), "NATS-Bench, topology space", prior="lognormal", lowest=0.0),
}
