# SPDX-License-Identifier: Apache-2.0
"""Lambda from a budget: the mean spend where the corollary's assumptions hold.

Behind docs/explanation/guarantees.md, as ``guarantees`` is; spend and budget include the initial
design.
"""

from benchmarks import Row
from stopwise.core.numerics.threads import one_blas_thread
from tests.support import guarantees

BEYOND = (5.0, 20.0)  # of the budget, beyond the cost of the initial design


def run(*, quick: bool) -> list[Row]:
    functions = range(10 if quick else 200)
    with one_blas_thread():
        return [_row(kind, beyond, functions) for kind in guarantees.COSTS for beyond in BEYOND]


def _row(kind: str, beyond: float, functions: range) -> Row:
    lam, budget, (spent, error) = guarantees.spend_of_a_budget(kind, beyond, functions)
    return {
        "cost": kind,
        "budget": f"{budget:.2f}",
        "lam": f"{lam:.4f}",
        "spent": f"{spent:.2f} ± {error:.2f}",
    }
