# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies that property tests share: numbers, normals, data and traces."""

import numpy as np
from hypothesis import strategies as st

from stopwise.core.beliefs import Hyperparameters
from stopwise.core.traces import Signal, Trace


def reals(low, high):
    """Finite numbers between two bounds, both included."""
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


def magnitudes(low, high):
    """Positive numbers spread evenly over the powers of ten from 10^low to 10^high."""
    return reals(low, high).map(lambda exponent: 10.0**exponent)


def dyadics(low, high):
    """Multiples of 1/1024: their sums and differences are exact."""
    return st.integers(1024 * low, 1024 * high).map(lambda count: count / 1024)


def normals():
    """``(mean, std)`` of a value: means that can be shifted exactly, certain to very doubtful."""
    return st.tuples(dyadics(-100, 100), magnitudes(-3, 3))


def costs():
    """Prices of an evaluation in objective units, from nearly free to prohibitive."""
    return magnitudes(-12, 6)


def boxes():
    """``(mean, std, cost)`` of a box that may be opened."""
    return st.builds(lambda normal, cost: (*normal, cost), normals(), costs())


@st.composite
def spd_matrices(draw, max_size=8):
    """Symmetric positive definite matrices of any scale, with condition numbers up to 1e6."""
    size = draw(st.integers(1, max_size))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    basis, _ = np.linalg.qr(rng.standard_normal((size, size)))
    spread = draw(reals(0.0, 6.0))
    eigenvalues = draw(magnitudes(-6, 6)) * 10.0 ** rng.uniform(-spread, 0.0, size)
    matrix = (basis * eigenvalues) @ basis.T
    return 0.5 * (matrix + matrix.T)


@st.composite
def observations(draw, min_size=2, max_size=12, max_width=3):
    """``(X, y)``: points of the unit cube and values of a smooth function there, of spread 1."""
    n, width = draw(st.integers(min_size, max_size)), draw(st.integers(1, max_width))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.random((n, width))
    y = np.sin(X @ rng.uniform(1.0, 5.0, width) + rng.uniform(0.0, 6.0)) + 0.1 * rng.random(n)
    return X, (y - y.mean()) / y.std(ddof=1)


@st.composite
def hyperparameters(draw, width):
    """Hyper-parameters of a kernel over so many columns, none so extreme as to hide an error."""
    return Hyperparameters(
        np.array([draw(magnitudes(-1, 1)) for _ in range(width)]),
        outputscale=draw(magnitudes(-1, 1)),
        noise=draw(magnitudes(-4, -1)),
        mean=draw(reals(-1.0, 1.0)),
    )


FACTS = {"gain": 0.5, "cost": 2.0, "cost_spread": 0.1, "spread": 0.0, "iqr": 1.0, "samples": 64}


@st.composite
def traces(draw, values=None, max_size=30):
    """Recorded signals at rising t, with gaps and here and there without an answer."""
    if values is None:
        values = st.one_of(dyadics(-12, 6), st.sampled_from([-np.inf, np.nan]))
    steps = draw(st.lists(st.integers(1, 4), min_size=1, max_size=max_size))
    ts = np.cumsum(steps) - steps[0] + draw(st.integers(0, 3))
    initial = draw(st.integers(1, 6))
    return Trace.of(tuple(Signal(t, t + initial, float(draw(values)), FACTS) for t in ts.tolist()))
