# SPDX-License-Identifier: Apache-2.0
"""Measurements that scatter, some of which are worth repeating: python examples/repeats.py

A cake is rated by four guests, who never agree: their mean is off by 0.6 points. Baking one costs
10 to 16 dollars, and a point is worth 1500 dollars to the bakery. To bake the best recipe again,
to be sure of it, competes with trying a new one.
"""

import math

import numpy as np

import stopwise as sw

SPACE = {"minutes": sw.Integer(20, 60), "sugar": sw.Ordinal([60, 80, 100, 120, 150, 200])}
GUESTS = np.random.default_rng(3)


def taste(params):
    """The mean rating of four guests: a true one, between 2 and 9, and what they felt like."""
    off = (params["minutes"] - 42) / 14
    true = 9.0 - 2.0 * off**2 - 2.5 * math.log(params["sugar"] / 110) ** 2
    return true + 0.6 * GUESTS.standard_normal()


def dollars(params):
    """Ingredients and the oven."""
    return 6.0 + 0.02 * params["sugar"] + 0.1 * params["minutes"]


study = sw.Study(
    SPACE,
    cost=dollars,
    lam=sw.exchange_rate(improvement=1.0, cost=1500.0),
    direction="maximize",
    noise=0.6**2,  # the variance of one evaluation; "learn" needs more of them
    replicates=True,
    surrogate="plain",
    max_trials=40,
    seed=2,
)
while not study.should_stop().stop:
    trial = study.ask()
    study.tell(trial, taste(trial.params))
    if trial.repeats is not None:
        print(f"cake {trial.number}: recipe {trial.repeats} again, worth {trial.worth:.2f} points")

best = study.best
print(f"{len(study.history)} cakes for {study.spent:.0f} dollars; {study.should_stop().reason}")
print(f"best: {best.value:.1f} ± {best.std:.1f} points at {dict(best.params)}")
