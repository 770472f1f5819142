# SPDX-License-Identifier: Apache-2.0
"""Which of these evaluations is worth its price, and when is none? On a real function.

A Gaussian process of the Forrester function gives each candidate a mean and a deviation; with its
price that makes a fair value, at which evaluating it would just be worth its price. While that is
below the best value in hand it is worth it. Then stopwise goes on from the same seven evaluations.
"""

import numpy as np
from rich.console import Console
from rich.table import Table

import stopwise as sw
from stopwise.core.beliefs import fit_posterior
from stopwise.math import log_ei, pbgi

LAM = sw.exchange_rate(improvement=0.2, cost=10)  # I would pay 10 seconds for 0.2


def forrester(x):
    return (6 * x - 2) ** 2 * np.sin(12 * x - 4)


def seconds(x):
    return 1.0 + 9.0 * x  # the further right, the longer it takes


observed = np.array([0.0, 0.15, 0.35, 0.5, 0.65, 0.8, 1.0])
values = forrester(observed)
best = values.min()
candidates = np.array([0.07, 0.25, 0.3, 0.42, 0.58, 0.7, 0.74, 0.78, 0.85, 0.92])
posterior = fit_posterior(observed[:, None], values)
mean, std = posterior(candidates[:, None])
price = LAM * seconds(candidates)
fair = pbgi(mean, std, price)
gain = np.exp(log_ei(mean, std, best))
table = Table(title=f"Best value in hand: {best:.3f}. One second is worth {LAM} of the objective.")
for heading in ("x", "mean", "±", "costs", "price", "gain", "fair value", "worth it"):
    table.add_column(heading, justify="right")
for i, x in enumerate(candidates):
    numbers = [f"{each[i]:.3f}" for each in (mean, std, price, gain, fair)]
    numbers.insert(2, f"{seconds(x):.1f} s")
    table.add_row(f"{x:.2f}", *numbers, "yes" if fair[i] < best else "no")
console = Console()
console.print(table)
choice = int(np.argmin(fair))
chosen = f"x = {candidates[choice]:.2f}, expected to gain {gain[choice]:.3f}"
console.print(f"Lowest fair value: {chosen} at a price of {price[choice]:.3f}.")
study = sw.Study({"x": sw.Real(0, 1)}, cost=lambda params: seconds(params["x"]), lam=LAM)
for x, value in zip(observed, values, strict=True):
    study.tell({"x": x}, value)  # in hand already, so not charged
while not (verdict := study.should_stop()):
    trial = study.ask()
    study.tell(trial, forrester(trial.params["x"]))
console.print(
    f"\nFrom there stopwise made {len(study.history) - len(observed)} evaluations for"
    f" {study.spent:.1f} s and found {study.best.value:.4f} at x = {study.best.params['x']:.4f}"
    f" (the minimum is -6.0207).\nWhy it stopped: {verdict.reason}."
)
