# SPDX-License-Identifier: Apache-2.0
"""The knowledge gradient against its definition, by quadrature and by simulation."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from stopwise.core.numerics.knowledge_gradient import knowledge_gradient
from stopwise.math import log_ei

NUMBERS = st.floats(-3.0, 3.0).map(lambda x: round(x, 3))
LINES = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=8)


def by_quadrature(a, b):
    """min a - E[min(a + bZ)], piece by piece between all crossings."""
    a, b = np.array(a), np.array(b)
    pairs = [(i, j) for i in range(len(a)) for j in range(i) if b[i] != b[j]]
    crossings = [(a[j] - a[i]) / (b[i] - b[j]) for i, j in pairs]
    ends = sorted({-9.0, 9.0, *(c for c in crossings if abs(c) < 9.0)})

    def fall(z):
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        return (a.min() - (a + b * z).min()) * density

    return sum(quad(fall, low, high, epsabs=1e-12)[0] for low, high in pairwise(ends))


@given(LINES)
def test_it_is_the_expected_fall_of_the_lowest_line(lines):
    a, b = zip(*lines, strict=True)
    assert knowledge_gradient(a, b) == pytest.approx(by_quadrature(a, b), rel=1e-7, abs=1e-9)


@given(LINES, NUMBERS, NUMBERS)
def test_a_common_line_changes_nothing_and_one_more_never_takes_away(lines, shift, tilt):
    a, b = np.array(lines).T
    value = knowledge_gradient(a, b)
    assert value >= 0.0
    assert knowledge_gradient(a + shift, b) == pytest.approx(value, abs=1e-9)
    assert knowledge_gradient(a, -b) == pytest.approx(value, abs=1e-9)
    assert knowledge_gradient(np.append(a, a.min()), np.append(b, tilt)) >= value - 1e-9


@pytest.mark.parametrize("gap", [0.0, 0.4, 3.0, 20.0])
def test_with_one_uncertain_line_it_is_the_expected_improvement_to_the_last_digits(gap):
    wanted = math.exp(float(log_ei(gap, 0.7, 0.0)))
    assert knowledge_gradient([0.0, gap], [0.0, 0.7]) == pytest.approx(wanted, rel=1e-12)
    assert wanted > 0.0


def test_parallel_and_single_lines_gain_nothing():
    assert knowledge_gradient([1.0], [2.0]) == 0.0
    assert knowledge_gradient([1.0, 1.0, 3.0], [2.0, 2.0, 2.0]) == 0.0
    assert knowledge_gradient([0.0, 0.0], [0.0, 1e-300]) == pytest.approx(0.0, abs=1e-200)
