# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies of parameters, spaces, configurations and points."""

import math

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stopwise.core.space import Categorical, Integer, Mixed, Real

NAMES = st.text(min_size=1, max_size=8)

# True and 1, 0 and "0" and None side by side: choices that are easily mistaken for each other
CHOICES = st.one_of(
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from(["relu", "tanh", "", "0", None, 0.5, (64, 64), (64,)]),
)


@st.composite
def reals(draw):
    """Draw a Real whose range is not narrow: its width is at least a 1000th of its bounds."""
    if draw(st.booleans()):
        low, high = sorted(math.exp(draw(st.floats(-300, 300))) for _ in range(2))
        assume(high / low > 1.001)
        return Real(low, high, log=True)
    scale = 10.0 ** draw(st.integers(-30, 30))
    low, high = sorted(scale * draw(st.floats(-1, 1)) for _ in range(2))
    assume(high - low > 1e-3 * max(abs(low), abs(high)))
    assume(high - low > 1e-250)
    return Real(low, high)


@st.composite
def integers(draw, most=10**12):
    log = draw(st.booleans())
    low = draw(st.integers(1 if log else -most, most - 1))
    high = draw(st.one_of(st.integers(low + 1, most), st.integers(low + 1, min(low + 100, most))))
    return Integer(low, high, log=log)


@st.composite
def categoricals(draw):
    unique = st.lists(CHOICES, min_size=1, max_size=6, unique_by=lambda c: (type(c) is bool, c))
    return Categorical(draw(unique))


def parameters():
    return st.one_of(reals(), integers(), categoricals())


def spaces(parameter=None):
    return st.dictionaries(NAMES, parameter or parameters(), min_size=1, max_size=5)


def small_spaces():
    """Spaces of integers and categories with few combinations: at most 7^4."""
    few = st.builds(
        lambda low, extent, log: Integer(low, low + extent, log=log),
        st.integers(1, 1000),
        st.integers(1, 6),
        st.booleans(),
    )
    return st.dictionaries(NAMES, st.one_of(few, categoricals()), min_size=1, max_size=4)


def values(parameter):
    """Values of one parameter, its bounds among them."""
    if isinstance(parameter, Categorical):
        return st.sampled_from(parameter.choices)
    bounds = st.sampled_from([parameter.low, parameter.high])
    if isinstance(parameter, Integer):
        return st.one_of(bounds, st.integers(parameter.low, parameter.high))
    return st.one_of(bounds, st.floats(parameter.low, parameter.high))


def configurations(space):
    """Non-empty lists of configurations of a space."""
    one = st.fixed_dictionaries({name: values(parameter) for name, parameter in space.items()})
    return st.lists(one, min_size=1, max_size=6)


def points(width):
    """Matrices of points in and around the unit cube, attainable or not."""
    coordinates = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(-0.5, 1.5))
    shapes = st.tuples(st.integers(0, 6), st.just(width))
    return hnp.arrays(np.float64, shapes, elements=coordinates)


@st.composite
def spaces_and_configurations(draw, space=None):
    chosen = draw(space or spaces())
    return chosen, draw(configurations(chosen))


@st.composite
def domains_and_points(draw, space=None):
    domain = Mixed.of(draw(space or spaces()))
    return domain, draw(points(domain.width))
