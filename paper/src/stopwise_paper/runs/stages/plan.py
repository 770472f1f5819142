# SPDX-License-Identifier: Apache-2.0
"""The plan of the evidence on evaluations in stages: which searches are run on which curves.

Studies know a price: one study for each. Pruners know none: a search with a number of trials is
run once and scored at every price. Lambda follows from the table: the gap from the median of its
judged values to the best is worth 20, 100 or 500 whole runs of median cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from stopwise.errors import InputError
from stopwise_paper.problems.curve_tables import CHOSEN, CurveTable, half_of, problem_names
from stopwise_paper.runs.stages import halving, optuna_pruners, study_runs
from stopwise_paper.runs.stages.ledger import Ledger

EVALUATIONS = (20, 100, 500)  # median runs that the gap is worth
HOURS = {54: "1 % for 5 hours", 214: "1 % for 20 hours"}  # the same, further prices of AlexNet
WHOLE, STAGED = "whole runs", "stages"
STUDIES: dict[str, Callable[[CurveTable, float, int], Ledger]] = {
    WHOLE: study_runs.whole_runs,
    STAGED: study_runs.staged_runs,
}
COUNTS = (10, 20, 30, 50, 100, 200)  # trials of the searches that know no price
SEARCHES: dict[str, Callable[[CurveTable, int, int], Ledger]] = {
    "random": halving.random_search,
    "ASHA": halving.asha,
    "Hyperband": halving.hyperband,
    "TPE + Hyperband": lambda table, n, seed: optuna_pruners.tpe(table, n, seed, "hyperband"),
    "TPE + median": lambda table, n, seed: optuna_pruners.tpe(table, n, seed, "median"),
}
METHODS = (*STUDIES, *SEARCHES)
_SEEDS = {"smoke": 1, "laptop": 3}


@dataclass(frozen=True, slots=True)
class StagesCell:
    """One search.

    Args:
        problem: A name of ``problem_names``.
        method: A name of ``METHODS``.
        size: Of a study the median runs that the gap is worth, of a search its trials.
        seed: Of all that is random.
    """

    problem: str
    method: str
    size: int
    seed: int


def stages_plan(
    scale: str = "laptop", methods: Sequence[str] = (), problems: Sequence[str] = ()
) -> list[StagesCell]:
    """The cells, seed by seed, and within a seed the judged half first.

    Args:
        scale: ``"smoke"`` or ``"laptop"``.
        methods: Names of ``METHODS``; all if empty.
        problems: Names of ``problem_names``; all if empty.
    """
    for kind, names, table in (
        ("scale", [scale], _SEEDS),
        ("method", methods, METHODS),
        ("problem", problems, problem_names()),
    ):
        for name in names:
            if name not in table:
                message = f"there is no {kind} {name!r}; there are {', '.join(table)}."
                raise InputError(message)
    cells = _cells(problems or problem_names(), methods or METHODS, _SEEDS[scale])
    if scale == "smoke":
        cells = (cell for cell in cells if cell.size <= min(EVALUATIONS))
    return sorted(cells, key=lambda cell: (cell.seed, half_of(cell.problem) == CHOSEN))


def _cells(problems: Sequence[str], methods: Sequence[str], seeds: int) -> Iterator[StagesCell]:
    for problem in problems:
        for method in methods:
            for size in _sizes(problem, method):
                for seed in range(seeds):
                    yield StagesCell(problem, method, size, seed)


def _sizes(problem: str, method: str) -> tuple[int, ...]:
    if method not in STUDIES:
        return COUNTS
    return (*EVALUATIONS, *HOURS) if problem == "alexnet" else EVALUATIONS


def run_search(cell: StagesCell, table: CurveTable) -> Ledger:
    """What a search paid for and found."""
    if cell.method in STUDIES:
        return STUDIES[cell.method](table, cell.size, cell.seed)
    return SEARCHES[cell.method](table, cell.size, cell.seed)
