# SPDX-License-Identifier: Apache-2.0
"""The setting of the paper's theorem, exactly: functions from the prior, on a grid in 1D.

Kernel and mean are the truth, observations exact, the rule plain, nothing pending. A run stops at
the first t at which the rule says so, and every choice until then is recorded.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import i0

from stopwise.acquisition import PBGI, LogEIPC
from stopwise.core.beliefs.belief import Belief
from stopwise.core.beliefs.distances import square_distances
from stopwise.core.beliefs.fit import NUGGET
from stopwise.core.beliefs.gp import Hyperparameters, Standardiser, condition
from stopwise.core.beliefs.kernels import DEFAULT_KERNEL
from stopwise.core.beliefs.prices import KnownCost
from stopwise.core.numerics.seeds import stream
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Candidates, Real
from stopwise.core.traces import Trace
from stopwise.math import log_ei
from stopwise.stopping import RULES
from stopwise.study.budget import lam_for_budget

GRID = 501
DESIGN = 4  # 2 (d + 1)
LAMS = (0.1, 0.01, 0.001)
COSTS = ("uniform", "linear", "periodic")
PAIRS = ("pbgi", "logeipc")
TRUTH = Hyperparameters(np.array([0.1]), outputscale=1.0, noise=NUGGET, mean=0.0)

_x = np.linspace(0.0, 1.0, GRID)
_table = Candidates([{"x": float(x)} for x in _x], {"x": Real(0, 1)})
DOMAIN = _table.domain
_covariance = DEFAULT_KERNEL.value(square_distances(_x[:, None] / 0.1, _x[:, None] / 0.1))
_factor = np.linalg.cholesky(_covariance + 1e-10 * np.eye(GRID))


@dataclass(frozen=True)
class Run:
    """One run to its stop."""

    first_regret: float  # at t = 0
    last_regret: float
    spent: float  # after the initial design
    design_cost: float
    worst_lemma: float  # smallest log EI - log(lam c) over the choices made
    steps: int


def draw(seed):
    """A function of the prior, on the grid."""
    return _factor @ stream(seed, "function").standard_normal(GRID)


def cost_table(kind, f):
    """The costs of the paper's appendix, on the grid; the periodic one peaks at the best."""
    if kind == "uniform":
        return np.ones(GRID)
    if kind == "linear":
        return (1 + 20 * _x) / 11
    return np.exp(2 * np.cos(4 * np.pi * (_x - _x[np.argmin(f)]))) / i0(2.0)


def run(seed, kind, lam, pair):
    """Evaluate until the rule stops."""
    f = draw(seed)
    costs = cost_table(kind, f)
    price = KnownCost(costs).price(DOMAIN, DOMAIN.points, costs)
    chosen = list(stream(seed, "design").choice(GRID, DESIGN, replace=False))
    acquisition = PBGI(lam) if pair == "pbgi" else LogEIPC()
    rule, worst = RULES["pbgi"](lam), np.inf
    posterior = condition(
        DOMAIN.points[chosen], f[chosen], TRUTH, standardiser=Standardiser(), interpolate=True
    )
    while True:
        snapshot = Snapshot(
            DOMAIN,
            DOMAIN.points[chosen],
            f[chosen],
            Belief(posterior, price),
            np.empty((0, 1)),
            initial=DESIGN,
        )
        if rule.verdict(Trace.of((rule.signal(snapshot),))).stop:
            break
        x = snapshot.sup(acquisition).x
        new = int(DOMAIN.index_of(x[None, :])[0])
        mean, std = posterior(x[None, :])
        gain = log_ei(mean, std, snapshot.best)[0]
        worst = min(worst, gain - np.log(lam * costs[new]))
        chosen.append(new)
        posterior = posterior.append(x, f[new])
    regret = f[chosen[:DESIGN]].min() - f.min()
    after = chosen[DESIGN:]
    return Run(
        float(regret),
        float(f[chosen].min() - f.min()),
        float(costs[after].sum()),
        float(costs[chosen[:DESIGN]].sum()),
        float(worst),
        len(after),
    )


def summary(runs, lam):
    """Means with standard errors: regret, immediate, their paired difference, spend and bound."""

    def mean(values):
        values = np.asarray(values)
        return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))

    adjusted = np.array([r.last_regret + lam * r.spent for r in runs])
    immediate = np.array([r.first_regret for r in runs])
    spent = lam * np.array([r.spent for r in runs])
    return {
        "adjusted": mean(adjusted),
        "immediate": mean(immediate),
        "saved": mean(immediate - adjusted),
        "slack": mean(immediate - spent),  # U - lam spend, paired
        "spent": mean([r.spent for r in runs]),
        "steps": float(np.mean([r.steps for r in runs])),
        "lemma": float(min(r.worst_lemma for r in runs)),
    }


def spend_of_a_budget(kind, beyond, seeds):
    """Lambda for a budget of so much beyond the design: lambda, the budget, the mean spend."""
    at_once = [run(seed, kind, 1e6, "pbgi") for seed in seeds]
    gain = float(np.mean([r.first_regret for r in at_once]))
    design = float(np.mean([r.design_cost for r in at_once]))
    lam = lam_for_budget(gain, design + beyond, design)
    runs = [run(seed, kind, lam, "pbgi") for seed in seeds]
    spent = np.array([r.design_cost + r.spent for r in runs])
    error = float(spent.std(ddof=1) / np.sqrt(len(spent)))
    return lam, design + beyond, (float(spent.mean()), error)
