# SPDX-License-Identifier: Apache-2.0
"""A chemist with a limit and a corner in which reactions fail: python examples/toxic_corner.py

Yield grows with dose and temperature. So does toxicity, which must stay below 3. And where both
are high the mixture decomposes: nothing can be measured, and the 121 dollars are spent.
"""

import math

import stopwise as sw

SPACE = {"dose": sw.Real(0.0, 1.0), "temperature": sw.Real(20.0, 90.0)}


def react(params):
    """The yield in percent, and the toxicity that was measured; None if it decomposes."""
    dose, heat = params["dose"], (params["temperature"] - 20.0) / 70.0
    if dose + heat > 1.6:
        return None
    value = 60.0 * dose + 30.0 * heat + 5.0 * math.sin(6.0 * dose)
    return sw.Evaluation(value, outcomes={"toxicity": 3.5 * dose**2 + 1.5 * heat})


result = sw.maximize(
    react,
    SPACE,
    limits={"toxicity": (None, 3.0)},
    cost=lambda _: 121.0,
    lam=sw.exchange_rate(improvement=1.0, cost=1000.0),  # a percent of yield is worth 1000 dollars
    surrogate="plain",
    max_trials=40,
)
failed = sum(o.failed for o in result.history)
infeasible = sum(o.infeasible for o in result.history)
print(f"{len(result.history)} reactions, {failed} failed, {infeasible} too toxic")
print(result.verdict.reason)
best = result.best
print(f"best: {best.value:.1f} % at {best.params}, toxicity {best.outcomes['toxicity']:.2f}")
