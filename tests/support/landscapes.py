# SPDX-License-Identifier: Apache-2.0
"""Random functions on the unit cube with many hills, and snapshots of studies of them."""

import numpy as np

from stopwise.core.beliefs.belief import Belief
from stopwise.core.beliefs.fit import fit_posterior
from stopwise.core.beliefs.gp import Normal, condition
from stopwise.core.beliefs.prices import UnitCost
from stopwise.core.search.supremum import Search
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Real, as_domain


def box(d):
    """The unit cube, with parameters x0, x1, ..."""
    return as_domain({f"x{i}": Real(0, 1) for i in range(d)})


def matern_draw(rng, d, lengthscale=None, features=1000):
    """A draw from a Matern-5/2 process, by random Fourier features; 0.3 sqrt(d) by default."""
    lengthscale = 0.3 * np.sqrt(d) if lengthscale is None else lengthscale
    stretch = np.sqrt(rng.gamma(2.5, 1 / 2.5, size=(features, 1)))  # spectrum: Student, 5 d.o.f.
    W = rng.standard_normal((features, d)) / (stretch * lengthscale)
    b = rng.uniform(0.0, 2.0 * np.pi, features)
    w = rng.standard_normal(features) * np.sqrt(2.0 / features)
    return lambda X: np.cos(X @ W.T + b) @ w


def sum_of_sines(rng, d, terms=6):
    """Sines along random directions; parameters matter little, somewhat or much."""
    W = rng.standard_normal((terms, d)) * rng.choice([0.3, 1.5, 3.0], size=d)
    b, w = rng.uniform(0.0, 2.0 * np.pi, terms), rng.standard_normal(terms)
    return lambda X: np.sin(X @ W.T + b) @ w


def hilly(seed, d):
    """A generator and a function drawn from it: of the one kind and the other, in turns."""
    rng = np.random.default_rng(seed)
    return rng, (sum_of_sines if seed % 2 else matern_draw)(rng, d)


class Tilted:
    """A cost model, and its price: ln c rises along a direction."""

    def __init__(self, slopes):
        self.slopes = np.asarray(slopes, dtype=float)

    def price(self, domain, X, costs, start=None):  # noqa: ARG002  one interface for all
        return self

    def log_cost(self, X):
        return Normal(X @ self.slopes, np.zeros(len(X)))

    def log_cost_with_gradient(self, X):
        return self.log_cost(X), np.tile(self.slopes, (len(X), 1)), np.zeros_like(X)


def snapshot_of(
    domain, X, y, *, cost=None, hyper=None, pending=None, seed=0, search=None, **fitting
):
    """A snapshot of exact observations; hyper-parameters are fitted, with options, or given."""
    if hyper is None:
        objective = fit_posterior(X, y, groups=domain.groups, **fitting)
    else:
        objective = condition(X, y, hyper, groups=domain.groups, interpolate=True)
    price = (cost or UnitCost()).price(domain, X, np.ones(len(X)))
    pending = np.empty((0, X.shape[1])) if pending is None else pending
    return Snapshot(
        domain, X, y, Belief(objective, price), pending, seed=seed, search=search or Search()
    )
