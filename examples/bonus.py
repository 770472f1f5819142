# SPDX-License-Identifier: Apache-2.0
"""A contract that pays by accuracy: python examples/bonus.py

The customer pays nothing below 90 %, up to 500 dollars at 94 %, and not a dollar more beyond. A
training run costs 3 to 15 dollars. What is worth doing next depends on where the best one stands.
"""

import math

import stopwise as sw

SPACE = {"rate": sw.Real(1e-4, 1e-1, log=True), "layers": sw.Integer(1, 5)}
CONTRACT = sw.utility.piecewise([(90.0, 0.0), (94.0, 500.0)], unit="dollars")


def train(params):
    """The accuracy in percent; best at a rate of about 0.01 and three layers."""
    off = math.log10(params["rate"] / 0.01)
    return 94.8 - 4.0 * off**2 - 0.9 * (params["layers"] - 3) ** 2


def dollars(params):
    """What a run costs: deeper networks take longer."""
    return 3.0 * params["layers"]


result = sw.maximize(train, SPACE, cost=dollars, utility=CONTRACT, surrogate="plain", seed=1)
print(f"{len(result.history)} runs, {result.spent:.0f} dollars spent")
print(f"{result.best.value:.1f} % is worth {result.worth:.0f} dollars")
print(result.verdict.reason)
