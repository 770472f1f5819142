# SPDX-License-Identifier: Apache-2.0
"""The soft logarithm: the identity up to its knee, a logarithm beyond, smooth at the knee."""

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose, assert_array_equal

from stopwise.core.numerics.soft_log import (
    log_slope_of_soft_log,
    slope_of_soft_exp,
    soft_exp,
    soft_log,
)

KNEES = pytest.mark.parametrize(("knee", "tau"), [(0.0, 1.0), (0.4, 0.3), (-2.0, 5.0)])
BEYOND = np.array([1e-12, 1e-3, 0.5, 3.0, 1e6])


@KNEES
def test_up_to_the_knee_it_is_the_identity(knee, tau):
    y = knee - np.array([0.0, 1e-9, 1.0, 1e6])
    assert_array_equal(soft_log(y, knee, tau), y)
    assert_array_equal(soft_exp(y, knee, tau), y)
    assert_array_equal(log_slope_of_soft_log(y, knee, tau), 0.0)
    assert_array_equal(slope_of_soft_exp(y, knee, tau), 1.0)


@KNEES
@pytest.mark.parametrize("over", BEYOND)
def test_beyond_the_knee_it_is_the_integral_of_its_slope(knee, tau, over):
    # Its slope is 1/(1 + (y - knee)/tau), that of a logarithm which goes on smoothly.
    y = knee + over
    with mp.workdps(30):
        k, t, u = mp.mpf(knee), mp.mpf(tau), mp.mpf(y)
        ends = [k, *(k + (u - k) / 10**power for power in (5, 4, 3, 2, 1)), u]
        wanted = k + mp.quad(lambda s: t / (t + s - k), ends)
        slope = -mp.log1p((u - k) / t)
    assert_allclose(soft_log(y, knee, tau), float(wanted), rtol=1e-14)
    assert_allclose(log_slope_of_soft_log(y, knee, tau), float(slope), rtol=1e-14)


def test_a_ratio_larger_than_any_number_has_a_logarithm():
    y, tau = np.array([1e300, 0.5, 1e-300, -1.0]), 1e-80
    with np.errstate(all="raise", under="ignore"):
        value, log_slope = soft_log(y, 0.0, tau), log_slope_of_soft_log(y, 0.0, tau)
    with mp.workdps(30):
        logs = [float(mp.log1p(max(mp.mpf(each), 0) / mp.mpf(tau))) for each in y]
    assert_allclose(value, [*(tau * log for log in logs[:3]), -1.0], rtol=1e-12)
    assert_allclose(log_slope, np.negative(logs), rtol=1e-12)
    assert soft_log(np.inf, 0.0, tau) == np.inf


@KNEES
def test_the_inverse_and_its_slope(knee, tau):
    y = knee + np.append(-BEYOND, BEYOND)
    v = soft_log(y, knee, tau)
    assert_allclose(soft_exp(v, knee, tau), y, rtol=1e-9)
    slopes = np.exp(-log_slope_of_soft_log(y, knee, tau))
    assert_allclose(slope_of_soft_exp(v, knee, tau), slopes, rtol=1e-9)


def test_far_beyond_the_inverse_is_infinite_without_a_warning():
    with np.errstate(all="raise"):
        assert soft_exp(np.array([1e6]), 0.0, 1.0)[0] == np.inf
        assert slope_of_soft_exp(np.array([1e6]), 0.0, 1.0)[0] == np.inf
