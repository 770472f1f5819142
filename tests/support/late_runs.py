# SPDX-License-Identifier: Apache-2.0
"""Snapshots of runs near their end, and their suprema by brute force."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from stopwise.acquisition import PBGI, LogEIPC
from stopwise.core.search.batched_bfgs import batched_bfgs
from stopwise.core.search.score import nan_excluded
from stopwise.core.search.screen import spread_out
from stopwise.core.search.supremum import Search
from tests.support.landscapes import Tilted, box, matern_draw, snapshot_of, sum_of_sines

FIRST = {1: 8, 2: 16, 4: 32, 6: 40, 12: 50}  # observations of the first snapshot of a run
LAST = {1: 30, 2: 64, 4: 72, 6: 80, 12: 90}
EVERY = {1: 1, 2: 2, 4: 4, 6: 4, 12: 5}  # observations from one snapshot to the next
SMALL = 2  # snapshots with gains that the model cannot resolve, after which a run ends
REFIT = 3  # steps from one fit of a run to the next


def late_snapshots(d, seed):
    """Snapshots of one run: function, prices, acquisition and design depend on the seed."""
    rng = np.random.default_rng([d, seed])
    function, domain = _function(rng, d, seed), box(d)
    cost = Tilted(rng.uniform(-1.0, 1.0, d) * (seed % 3 == 1))
    X = domain.sobol(2 * (d + 1), rng)
    y = function(X)
    acquisition = [LogEIPC(), PBGI(1e-3 * y.std()), PBGI(1e-5 * y.std())][seed // 3 % 3]
    hyper, small = None, 0
    while len(X) <= LAST[d] and small < SMALL:
        wanted = len(X) >= FIRST[d] and (len(X) - FIRST[d]) % EVERY[d] == 0
        kept = None if wanted or len(X) % REFIT == 0 else hyper
        now = snapshot_of(domain, X, y, cost=cost, hyper=kept, seed=seed)
        hyper = now.belief.objective.hyper
        if wanted:
            yield now
            found = now.sup(LogEIPC())
            small += not is_resolved(now, found.x, found.value)
        x = now.sup(acquisition).x
        X, y = np.vstack([X, x]), np.append(y, function(x[None, :]))


def _function(rng, d, seed):
    """In turns: draws of a process with long and short scales, sines, a bowl with ripples."""
    if seed % 4 == 0:
        return matern_draw(rng, d)
    if seed % 4 == 1:
        return sum_of_sines(rng, d)
    if seed % 4 == 2:
        return matern_draw(rng, d, lengthscale=rng.uniform(0.08, 0.2) * np.sqrt(d))
    centre, ripples = rng.uniform(0.1, 0.9, d), rng.uniform(5.0, 15.0)
    return lambda X: np.sum((X - centre) ** 2 + 0.1 * np.cos(ripples * X), axis=1)


def is_resolved(snapshot, x, score):
    """Whether the expected improvement at x is no less than what the model resolves."""
    gain = score + snapshot.belief.log_price(x[None, :])[0]
    return gain >= np.log(snapshot.belief.objective.resolution)


def brute_force(snapshot):
    """The supremum of LogEIPC: points in order, best first, and their scores."""
    if snapshot.domain.width > 2:
        large = Search(raw=50 * snapshot.search.raw, restarts=50 * snapshot.search.restarts)
        found = replace(snapshot, search=large).sup(LogEIPC())
        x, value = between_and_beside(snapshot)
        if value > found.value:
            return x[None, :], np.array([value])
        return found.x[None, :], np.array([found.value])
    score = LogEIPC().bind(snapshot)
    cells = _cells_1d(snapshot) if snapshot.domain.width == 1 else _cells_2d(snapshot)
    tops = []
    for X in cells:
        values = nan_excluded(score(X))
        tops.append(X[np.argmax(values)])
    return _polished(score, np.array(tops))


def _cells_1d(snapshot):
    """Every interval between neighbours, densely, and more densely towards its ends."""
    ends = np.unique(np.append(snapshot.X, [0.0, 1.0]))
    small = np.geomspace(1e-6, 0.5, 60)
    fractions = np.unique(np.concatenate([small, 1.0 - small, np.linspace(0.01, 0.99, 99)]))
    return [(a + fractions * (b - a))[:, None] for a, b in pairwise(ends)]


def _cells_2d(snapshot):
    """Small squares that cover the box, and clouds of all sizes about the observations."""
    rng = np.random.default_rng(0)
    axis = np.linspace(0.0, 1.0, 181)
    squares = [
        np.stack(np.meshgrid(a, b), axis=-1).reshape(-1, 2)
        for a in np.array_split(axis, 20)
        for b in np.array_split(axis, 20)
    ]
    sizes = 10.0 ** rng.uniform(-6.0, -1.0, (100, 1))
    clouds = [np.clip(x + sizes * rng.standard_normal((100, 2)), 0.0, 1.0) for x in snapshot.X]
    return squares + clouds


def between_and_beside(snapshot):
    """The highest hill between and beside all observations, in more than two dimensions.

    Thousands of points between all pairs, beside observations with and without leaving their
    walls, and along the way from one observation to another, of which a thousand climb. A search
    of the whole box, however large, misses some of these hills.
    """
    score, X = LogEIPC().bind(snapshot), snapshot.X[np.argsort(snapshot.y, kind="stable")]
    rng, scales = np.random.default_rng(0), np.minimum(score.scales, 1.0)
    i, j = np.triu_indices(len(X), 1)
    clouds = [X[i] + part * (X[j] - X[i]) for part in (0.5, 0.25, 0.75)]
    centres = np.repeat(X, 16, axis=0)
    inside = (centres > 0.0) & (centres < 1.0)
    for size in (0.3, 0.1, 0.03, 0.01, 0.003):
        moves = size * scales * rng.standard_normal(centres.shape)
        clouds += [centres + moves, centres + moves * inside]
    a, b, c, better = rng.integers(len(X), size=(4, 6000))
    clouds += [X[np.minimum(a, better)] + part * (X[b] - X[c]) for part in (0.5, 0.1, 0.02)]
    points = np.clip(np.vstack(clouds), 0.0, 1.0)
    values = nan_excluded(score(points))
    top = np.argsort(-values, kind="stable")[:8000]
    top = top[values[top] > -np.inf]
    points, values = points[top], values[top]
    counts = {1e-5: 300, 0.005: 300, 0.25: 200}
    chosen = [points[spread_out(points, values, counts[radius], radius)] for radius in counts]
    i, j = np.triu_indices(min(20, len(X)), 1)
    begin, free = np.vstack([*chosen, 0.5 * (X[i] + X[j])]), np.ones(X.shape[1], dtype=bool)
    reached, heights = batched_bfgs(
        score.with_gradient, begin, free, scales=score.scales, max_steps=60
    )
    best = int(np.argmax(heights))
    return reached[best], heights[best]


def _polished(score, X, count=80):
    """The highest of the points, after climbs that none of them gives up."""
    X = X[np.argsort(-nan_excluded(score(X)), kind="stable")[:count]]
    free = np.ones(X.shape[1], dtype=bool)
    found = [(X, nan_excluded(score(X)))]
    for size in (1.0, 0.01):
        tops, scales = found[-1][0][:count], size * score.scales
        found.append(batched_bfgs(score.with_gradient, tops, free, scales=scales, rivals=False))
    X, values = np.vstack([pair[0] for pair in found]), np.concatenate([pair[1] for pair in found])
    order = np.argsort(-values, kind="stable")
    return X[order], values[order]
