# SPDX-License-Identifier: Apache-2.0
"""How parameters that are inactive should look to a model: predictions under five encodings.

A configuration has a branch, parameters that every branch has, and parameters of its own branch.
Each encoding is fitted to configurations drawn at random and predicts others; what is compared is
the mean log density of the predictions and their root mean square error, in deviations of f.

- imputed: an inactive parameter is at the middle of its range; the branch alone says so.
- indicated: the same, with a column more that is 1 where the parameter is active.
- arc: active values lie on an arc of one radian about the place of inactive ones, so that all of
  them are equally far from it (Swersky et al. 2014).
- wide arc: the same on half a circle.
- sum: a kernel over what all have, plus one over the parameters of each branch, which is zero
  between branches: a sum over shared sub-spaces.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from benchmarks import Row
from stopwise.core.beliefs.distances import square_distances
from stopwise.core.beliefs.fit import fit_posterior
from stopwise.core.beliefs.kernels import DEFAULT_KERNEL
from stopwise.core.beliefs.priors import LogNormalPrior, priors
from stopwise.core.numerics.arrays import Array

_SEEDS, _SIZES, _TESTED = 10, (20, 40, 80), 400
_NUGGET = 1e-6
_ENCODINGS = ("imputed", "indicated", "arc", "wide arc", "sum")


def unrelated(branch: int, shared: Array, own: Array) -> float:
    """Three branches with two parameters of their own each, and a bowl in what all have."""
    centre = (0.2, 0.8, 0.5)[branch]
    tilt = (1.0, 2.0, 3.0)[branch]
    return float((shared[0] - 0.3) ** 2 + 0.3 * branch + tilt * ((own - centre) ** 2).sum())


def boosters(branch: int, shared: Array, own: Array) -> float:
    """As boosters: two branches alike but for weak parameters of one, and one that differs."""
    rate = math.cos(3.0 * shared[0]) + (shared[1] - 0.6) ** 2
    if branch == 0:
        return rate + 0.5
    return rate + math.sin(4.0 * own[0]) * 0.5 + (0.05 * own[1] if branch == 2 else 0.0)


def waves(branch: int, shared: Array, own: Array) -> float:
    """Branches with strong parameters of their own, and a strong one that all have."""
    wave = math.sin(5.0 * shared[0] + branch)
    return float(wave + sum(math.cos(4.0 * u + branch + k) for k, u in enumerate(own)))


# Which own parameters each branch has, of how many in all.
_PROBLEMS: dict[str, tuple[Callable[[int, Array, Array], float], int, list[list[int]]]] = {
    "unrelated": (unrelated, 1, [[0, 1], [2, 3], [4, 5]]),
    "boosters": (boosters, 2, [[], [0], [0, 1]]),
    "waves": (waves, 1, [[0], [1, 2], [3, 4, 5]]),
}


def _drawn(problem: str, n: int, rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """Branches, shared values, own values (nan where inactive) and what f gives."""
    function, shared_count, owned = _PROBLEMS[problem]
    branches = rng.integers(len(owned), size=n)
    shared = rng.random((n, shared_count))
    own = np.full((n, 1 + max(max(each, default=0) for each in owned)), np.nan)
    y = np.empty(n)
    for i, branch in enumerate(branches.tolist()):
        own[i, owned[branch]] = rng.random(len(owned[branch]))
        y[i] = function(branch, shared[i], own[i, owned[branch]])
    return np.eye(len(owned))[branches], shared, own, y


def _own_columns(encoding: str, u: Array) -> Array:
    active = ~np.isnan(u)
    if encoding == "imputed":
        return np.where(active, u, 0.5)[:, None]
    if encoding == "indicated":
        return np.stack([np.where(active, u, 0.5), active], axis=1)
    angle, radius = {"arc": (1.0, 1.0), "wide arc": (math.pi, 1.0 / math.pi)}[encoding]
    turned = np.where(active, angle * u, 0.0)
    return radius * active[:, None] * np.stack([np.sin(turned), np.cos(turned)], axis=1)


def _encoded(encoding: str, branches: Array, shared: Array, own: Array) -> tuple[Array, Array]:
    blocks = [branches, *shared.T[:, :, None], *(_own_columns(encoding, u) for u in own.T)]
    groups = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
    return np.hstack(blocks), groups


def _by_encoding(
    encoding: str, train: tuple[Array, ...], test: tuple[Array, ...]
) -> tuple[Array, Array]:
    X, groups = _encoded(encoding, *train[:3])
    posterior = fit_posterior(X, train[3], groups=groups)
    mean, std = posterior(_encoded(encoding, *test[:3])[0])
    return mean, std


class _Sum:
    """The sum over shared sub-spaces, fitted by its own search."""

    def __init__(self, train: tuple[Array, ...]) -> None:
        self.branches, self.shared, self.own, y = train
        self.shift, self.scale = float(y.mean()), float(y.std())
        self.z = (y - self.shift) / self.scale
        self.blocks = 1 + self.branches.shape[1]
        self.d = 1 + self.shared.shape[1] + self.own.shape[1]
        prior = priors("lognormal", self.d).lengthscale
        assert isinstance(prior, LogNormalPrior)
        self.prior = prior
        start = np.concatenate([np.full(self.d, prior.log_mode), np.full(self.blocks, -1.0)])
        bounds = [(-4.0, 6.0)] * self.d + [(-8.0, 3.0)] * self.blocks
        self.at = minimize(self._loss, start, bounds=bounds, options={"maxiter": 60}).x

    def kernel(self, logs: Array, a: tuple[Array, ...], b: tuple[Array, ...]) -> Array:
        """Covariances of rows."""
        scales, variances = np.exp(logs[: self.d]), np.exp(logs[self.d :])
        first = [np.hstack([rows[0], rows[1]]) for rows in (a, b)]
        by = np.append(np.full(self.branches.shape[1], scales[0]), scales[1:][: first[0].shape[1]])
        by = by[: first[0].shape[1]]
        total = variances[0] * DEFAULT_KERNEL.value(square_distances(first[0] / by, first[1] / by))
        own = [np.nan_to_num(rows[2]) / scales[1 + self.shared.shape[1] :] for rows in (a, b)]
        within = DEFAULT_KERNEL.value(square_distances(*own))
        for branch, variance in enumerate(variances[1:]):
            both = np.multiply.outer(a[0][:, branch], b[0][:, branch])
            total = total + variance * both * within
        return np.asarray(total)

    def _loss(self, logs: Array) -> float:
        rows = (self.branches, self.shared, self.own)
        K = self.kernel(logs, rows, rows) + _NUGGET * np.eye(len(self.z))
        try:
            lower = np.linalg.cholesky(K)
        except np.linalg.LinAlgError:
            return 1e10
        white = np.linalg.solve(lower, np.stack([self.z, np.ones(len(self.z))], axis=1))
        rest = white[:, 0] - white[:, 1] * (white[:, 0] @ white[:, 1]) / (
            white[:, 1] @ white[:, 1]
        )
        density = self.prior.log_density(logs[: self.d])[0].sum()
        return float(0.5 * rest @ rest + np.log(np.diag(lower)).sum() - density)

    def predict(self, test: tuple[Array, ...]) -> tuple[Array, Array]:
        """Means and deviations."""
        rows = (self.branches, self.shared, self.own)
        K = self.kernel(self.at, rows, rows) + _NUGGET * np.eye(len(self.z))
        inverse, ones = np.linalg.inv(K), np.ones(len(self.z))
        mean = float(ones @ inverse @ self.z / (ones @ inverse @ ones))
        k = self.kernel(self.at, rows, test[:3])
        total = np.exp(self.at[self.d :])
        prior = total[0] + test[0] @ total[1:]
        variance = np.maximum(prior - np.einsum("ij,ij->j", k, inverse @ k), 1e-12)
        at = mean + k.T @ (inverse @ (self.z - mean))
        return at * self.scale + self.shift, np.sqrt(variance) * self.scale


def run(*, quick: bool) -> list[Row]:
    """Mean log densities (higher is better) and errors, with standard errors."""
    sizes, seeds = (_SIZES[:1], 2) if quick else (_SIZES, _SEEDS)
    rows = []
    for problem in _PROBLEMS:
        for n in sizes:
            scores = np.array([_scores(problem, n, seed) for seed in range(seeds)])
            for encoding, (densities, errors) in zip(_ENCODINGS, scores.T, strict=True):
                row: Row = {"problem": problem, "n": n, "encoding": encoding}
                row["log density"] = _with_error(densities, 2)
                row["error"] = _with_error(errors, 3)
                rows.append(row)
    return rows


def _scores(problem: str, n: int, seed: int) -> Array:
    """The mean log density and the error of each encoding: (2, encodings)."""
    rng = np.random.default_rng(seed)
    train, test = _drawn(problem, n, rng), _drawn(problem, _TESTED, rng)
    unit = float(test[3].std())
    densities, errors = [], []
    for encoding in _ENCODINGS:
        if encoding == "sum":
            mean, std = _Sum(train).predict(test)
        else:
            mean, std = _by_encoding(encoding, train, test)
        std = np.maximum(std / unit, 1e-3)
        off = (test[3] - mean) / unit
        densities.append(float((-0.5 * (off / std) ** 2 - np.log(std)).mean()))
        errors.append(float(np.sqrt((off**2).mean())))
    return np.array([densities, errors])


def _with_error(values: Array, digits: int) -> str:
    error = values.std(ddof=1) / math.sqrt(len(values))
    return f"{values.mean():.{digits}f} ± {error:.{digits}f}"
