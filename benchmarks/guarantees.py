# SPDX-License-Identifier: Apache-2.0
"""The paper's lemma, theorem and corollary, measured where their assumptions hold.

Behind docs/explanation/guarantees.md. Means over functions with their standard errors, not
timings: the figures do not depend on the machine. Costs of the initial design are on both
sides and left out.
"""

from benchmarks import Row
from stopwise.core.numerics.threads import one_blas_thread
from tests.support import guarantees


def run(*, quick: bool) -> list[Row]:
    functions = range(10 if quick else 200)
    with one_blas_thread():
        return [
            _row(kind, lam, pair, functions)
            for kind in guarantees.COSTS
            for lam in guarantees.LAMS
            for pair in guarantees.PAIRS
        ]


def _row(kind: str, lam: float, pair: str, functions: range) -> Row:
    found = guarantees.summary([guarantees.run(i, kind, lam, pair) for i in functions], lam)
    spent, error = found["spent"]
    gain, _ = found["immediate"]
    return {
        "cost": kind,
        "lam": lam,
        "pair": pair,
        "adjusted regret": _with_error(found["adjusted"]),
        "immediate": _with_error(found["immediate"]),
        "saved": _with_error(found["saved"]),
        "lam*spend": _with_error((lam * spent, lam * error)),
        "U": f"{gain:.3f}",
        "steps": f"{found['steps']:.1f}",
        "lemma margin": f"{found['lemma']:.1e}",
    }


def _with_error(estimate: tuple[float, float]) -> str:
    return "{:.4f} ± {:.4f}".format(*estimate)
