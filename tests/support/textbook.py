# SPDX-License-Identifier: Apache-2.0
"""Small studies at hyper-parameters set by hand, and what a textbook says about them.

Nothing here calls the code under test: means and covariances come from dense inverses
(`tests.support.dense`), expectations from sums over a fine grid, probabilities from joint draws.
"""

import math
from dataclasses import replace

import numpy as np

from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs.belief import Belief
from stopwise.core.beliefs.ensemble import Ensemble
from stopwise.core.beliefs.prices import KnownCost, UnitCost
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Integer, Real, as_domain
from tests.support.dense import DenseGP

NUGGET = 1e-9

TABLE = as_domain({"a": Integer(0, 7), "b": Integer(0, 4)})
LINE = as_domain({"x": Real(0.0, 1.0)})
SQUARE = as_domain({"x": Real(0.0, 1.0), "z": Real(0.0, 1.0)})

COSTS = 0.5 + np.random.default_rng(10).random(len(TABLE))  # of the table's candidates


def height(X):
    """The objective: smooth, with several basins, of spread 2 or so about 5."""
    return 5.0 + 2.0 * np.sin(6.0 * X.sum(axis=1)) + 1.5 * np.cos(9.0 * X[:, 0])


def study(
    domain=TABLE,
    n=8,
    *,
    X=None,
    y=None,
    hyper=None,
    noise=None,
    cost=None,
    seed=0,
    **fields,
):
    """A snapshot after n observations; ``noise`` is a standardised variance, None is exact."""
    rng = np.random.default_rng([11, seed])
    if X is None:
        X = domain.design(n, rng) if hasattr(domain, "design") else domain.sobol(n, rng)
    y = height(X) if y is None else np.asarray(y, dtype=float)
    if hyper is None:
        hyper = Hyperparameters([0.4] * domain.d, 1.3, mean=0.2)
    hyper = Hyperparameters(
        hyper.lengthscales, hyper.outputscale, NUGGET if noise is None else noise, hyper.mean
    )
    objective = condition(X, y, hyper, groups=domain.groups, interpolate=noise is None)
    price = (cost or UnitCost()).price(domain, X, np.ones(len(X)))
    fields = {"pending": X[:0], "initial": 3, "seed": seed} | fields
    return Snapshot(domain, X, y, Belief(objective, price), **fields)


def costs_of(points):
    """The costs of candidates of the table."""
    return COSTS[TABLE.index_of(points)]


def priced_table(**fields):
    """A study over the table whose costs are known and vary."""
    return study(cost=KnownCost(COSTS), **fields)


class Textbook:
    """What is believed after the first k observations, at the study's hyper-parameters."""

    def __init__(self, snapshot, k=None):
        posterior = snapshot.belief.objective
        self.X, self.y = snapshot.X[:k], snapshot.y[:k]
        self.exact = posterior.interpolate
        self.gp = DenseGP(
            self.X,
            self.y,
            posterior.hyper,
            groups=posterior.groups,
            shift=posterior.standardiser.shift,
            scale=posterior.standardiser.scale,
        )

    def mean(self, Q):
        """Means; of exact data, the values themselves at evaluated points."""
        mean = self.gp.mean(Q)
        if self.exact:
            for x, y in zip(self.X, self.y, strict=True):
                mean[np.all(x == Q, axis=1)] = y
        return mean

    def covariance(self, Q):
        covariance = self.gp.covariance(Q, Q, exact_data=self.exact)
        if self.exact:
            known = np.array([np.any(np.all(q == self.X, axis=1)) for q in Q])
            covariance[known, :] = covariance[:, known] = 0.0
        return covariance

    def std(self, Q):
        return np.sqrt(np.maximum(np.diag(self.covariance(Q)), 0.0))

    @property
    def incumbent(self):
        """The best point: by its value where that is exact, by its mean where it is not."""
        return self.X[np.argmin(self.y if self.exact else self.gp.mean(self.X))]

    @property
    def best(self):
        return float(self.mean(self.incumbent[None, :])[0])

    def lead(self, Q):
        """Mean and deviation of f(x*) - f(x) at the rows of Q, x* being the incumbent."""
        both = np.vstack([Q, self.incumbent])
        mean, covariance = self.mean(both), self.covariance(both)
        variance = np.diag(covariance) + covariance[-1, -1] - 2.0 * covariance[:, -1]
        return (mean[-1] - mean)[:-1], np.sqrt(np.maximum(variance, 0.0))[:-1]

    def draws(self, Q, rng, n):
        """Joint draws of f at the rows of Q, (n, rows), through the eigenvectors."""
        eigenvalues, vectors = np.linalg.eigh(self.covariance(Q))
        root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
        return self.mean(Q) + rng.standard_normal((n, len(Q))) @ root.T


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(400)


def positive_part(mean, std):
    """E max(G, 0) of a normal G: its density summed up from 0 to 12 deviations, to rounding."""
    mean, std = np.asarray(mean, dtype=float)[..., None], np.asarray(std, dtype=float)[..., None]
    low, high = np.clip(-mean / np.maximum(std, 1e-100), -12.0, 12.0), 12.0
    z = low + 0.5 * (high - low) * (1.0 + _NODES)
    density = np.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi)
    return np.sum((mean + std * z) * density * 0.5 * (high - low) * _WEIGHTS, axis=-1)


def free(snapshot):
    """Candidates that are neither evaluated nor pending."""
    known = {tuple(x) for x in np.vstack([snapshot.X, snapshot.pending])}
    return np.array([x for x in snapshot.domain.points if tuple(x) not in known])


def ensemble_study(hypers, weights, trust=1.0, noise=None, **options):
    """A snapshot whose belief weighs posteriors at several hyper-parameters; and each alone."""
    alone = [study(hyper=hyper, noise=noise, **options) for hyper in hypers]
    posteriors = tuple(snapshot.belief.objective for snapshot in alone)
    names = tuple(map(str, range(len(hypers))))
    ensemble = Ensemble(posteriors, np.asarray(weights, dtype=float), names, trust)
    return replace(alone[0], belief=Belief(ensemble, alone[0].belief.price)), alone
