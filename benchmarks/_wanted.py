# SPDX-License-Identifier: Apache-2.0
"""What is wanted; the first table of docs/benchmarks has the same figures and what there is.

Times are in CPU seconds unless the benchmark says otherwise, factors say how often ours fits into
the time of the other.
"""

FIT_AND_SUPREMUM = {  # observations, other -> how many times as fast; both warm
    (100, "botorch"): 20.0,
    (100, "optuna"): 10.0,
    (500, "botorch"): 15.0,
    (500, "optuna"): 15.0,
}
STEP = {  # the same for tell, fit, signal and ask
    (100, "botorch"): 20.0,
    (100, "optuna"): 8.0,
    (500, "botorch"): 15.0,
    (500, "optuna"): 15.0,
}
DEFAULT_OVER_PLAIN = 2.0  # times the plain model's step, at most
LARGE_STEP = {  # space, its parameters or rows, observations -> seconds without a fit, with one
    ("table", 100_000, 200): (0.3, None),
    ("mixed", 30, 300): (0.5, None),
    ("box", 8, 1_000): (0.15, 1.0),
    ("box", 8, 2_000): (0.5, 5.0),
    ("box", 8, 5_000): (3.0, 60.0),
}
LARGE_STEP_MIB = 2048.0  # memory at 5,000 observations
FIRST_SUGGESTION = 0.25  # seconds of a cold process
COUNTS = {"fits": 1.0, "suprema": 1.0}  # of an Optuna trial, at most
STAGED_DECISION = 0.1  # seconds without a fit, after 200 trials and 500 reports
CANDIDATES = (0.2, 1024.0)  # seconds and MiB for posterior and log EI at 32,768 points
SPECIAL_FUNCTIONS = 12.0  # times as fast as bisection


def at_least(value: float, wanted: float | None) -> dict[str, str]:
    """The columns "wanted" and "met" where more is better; empty where nothing is wanted."""
    return _columns(wanted, wanted is not None and value >= wanted)


def at_most(value: float, wanted: float | None, unit: str = "") -> dict[str, str]:
    """The columns "wanted" and "met" where less is better; empty where nothing is wanted."""
    return _columns(wanted, wanted is not None and value <= wanted, unit)


def _columns(wanted: float | None, met: bool, unit: str = "") -> dict[str, str]:  # noqa: FBT001
    if wanted is None:
        return {"wanted": "", "met": ""}
    return {"wanted": f"{wanted:g}{unit}", "met": "yes" if met else "NO"}
