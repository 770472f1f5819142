# SPDX-License-Identifier: Apache-2.0
"""Studies in stages without the rule for leaving, and with the simple price, on chosen tables.

Behind docs/results/README.md#stages. Paid is regret plus all that was spent, in gaps from the
median of a table to its best, in the mean over the ten tables on which choices are made (two of
TaskSet, eight surrogates), one seed. The standard error is that of the paired difference to the
study as it is.

- as it is: the price knows that a run may be left, and a run that has just reported is left only
  if its fair value exceeds the one at which it was taken up.
- no rule: the lowest fair value is taken after every report.
- simple price: the price of an action is that of all its stages to come.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from benchmarks import Row
from stopwise.core.staged_actions import Prospects
from stopwise.study.staged.asking import StagedAsking
from stopwise_paper.problems.curve_tables import CHOSEN, half_of, problem_names
from stopwise_paper.runs.stages.plan import EVALUATIONS, STAGED, StagesCell
from stopwise_paper.runs.stages.runner import run_cell


@contextmanager
def as_it_is() -> Iterator[None]:
    yield


@contextmanager
def no_rule() -> Iterator[None]:
    def lowest(_: StagedAsking, options: Any) -> Any:  # noqa: ANN401  as the original
        return options.prospects.lowest()

    with mock.patch.object(StagedAsking, "_chosen", lowest):
        yield


@contextmanager
def simple_price() -> Iterator[None]:
    def total(self: Prospects, rows: Any) -> Any:  # noqa: ANN401  as the original
        return self._total[rows]

    with mock.patch.object(Prospects, "counting_prices", total):
        yield


CONTENDERS = {"as it is": as_it_is, "no rule": no_rule, "simple price": simple_price}


def run(*, quick: bool) -> list[Row]:
    """One row for each contender, one column for each price."""
    tables = [name for name in problem_names() if half_of(name) == CHOSEN]
    prices = EVALUATIONS[:1] if quick else EVALUATIONS
    paid = {who: np.array([_paid(who, tables, price) for price in prices]) for who in CONTENDERS}
    usual = paid["as it is"]
    return [_row(who, prices, found, found - usual) for who, found in paid.items()]


def _paid(who: str, tables: list[str], price: int) -> list[float]:
    with CONTENDERS[who]():
        cells = [StagesCell(table, STAGED, price, seed=0) for table in tables]
        return [run_cell(cell).paid(price) for cell in cells]


def _row(who: str, prices: tuple[int, ...], paid: Any, more: Any) -> Row:  # noqa: ANN401  arrays
    row: Row = {"who": who}
    for price, found, extra in zip(prices, paid, more, strict=True):
        error = extra.std(ddof=1) / np.sqrt(extra.size)
        row[f"gap/{price}"] = f"{found.mean():.3f}"
        row[f"gap/{price}, more"] = f"{extra.mean():+.3f} (se {error:.3f})"
    return row
