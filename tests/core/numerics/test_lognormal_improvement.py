# SPDX-License-Identifier: Apache-2.0
"""The improvement of a log-normal, against E max(1 - exp(s U - gap), 0) itself."""

import numpy as np
import pytest
from hypothesis import given

from stopwise.core.numerics.lognormal_improvement import log_lognormal_improvement, lognormal_gap
from tests.support import oracles
from tests.support.oracles import mp
from tests.support.strategies import magnitudes, reals

pytestmark = pytest.mark.usefixtures("no_floating_point_errors")

Z = np.array([-100.0, -35.0, -13.0, -5.0, -1.0, -1e-9, 0.0, 1e-9, 0.4, 2.0, 9.0, 40.0])
STDS = [1e-12, 1e-6, 1e-3, 0.1, 0.25, 0.3, 1.0, 2.0, 30.0, 1e3]


@pytest.mark.parametrize("std", STDS)
def test_log_improvement(std):
    gaps = Z * std
    for gap, got in zip(gaps, log_lognormal_improvement(gaps, std)[0], strict=True):
        s, g = mp.mpf(std), mp.mpf(gap)
        want = oracles.log_gain(lambda u, s=s, g=g: mp.exp(s * u - g), 1, g / s, scales=(1 / s,))
        assert abs(got - want) <= 2e-15 * max(1, abs(want)), gap / std


@pytest.mark.parametrize("std", STDS)
def test_derivatives(std):
    """Differences of the closed form in 120 digits."""

    def log_g(gap, s):
        a = gap / s
        return mp.log(mp.ncdf(a) - mp.exp(s * s / 2 - gap) * mp.ncdf(a - s))

    _, d_gap, d_std = log_lognormal_improvement(Z * std, std)
    with mp.workdps(120):
        for i, z in enumerate(Z):
            if abs(z) > 36.0:  # beyond, the closed form needs yet more digits
                continue
            gap, s, h = mp.mpf(float(z * std)), mp.mpf(std), mp.mpf(std) / 10**30
            want = (log_g(gap + h, s) - log_g(gap - h, s)) / (2 * h)
            assert abs(d_gap[i] - want) <= 1e-13 * want + mp.mpf("1e-300"), z
            want_std = (log_g(gap, s + h) - log_g(gap, s - h)) / (2 * h)
            terms = abs(want_std) + s * want
            assert abs(d_std[i] - want_std) <= 1e-13 * terms + mp.mpf("1e-300"), z


def test_without_a_deviation():
    value, d_gap, d_std = log_lognormal_improvement([-1.0, 0.0, np.log(2.0), np.inf], 0.0)
    assert value == pytest.approx([-np.inf, -np.inf, np.log(0.5), 0.0])
    assert d_gap == pytest.approx([0.0, 0.0, 1.0, 0.0])
    assert d_std.tolist() == [0.0] * 4
    assert lognormal_gap([-np.inf, 0.0, np.inf], 0.0) == pytest.approx([0.0, np.log(2.0), np.inf])


def test_infinite_gaps_and_nan():
    value, d_gap, d_std = log_lognormal_improvement([-np.inf, np.inf, np.nan], 0.5)
    assert value[:2].tolist() == [-np.inf, 0.0]
    assert d_gap[:2].tolist() == d_std[:2].tolist() == [0.0, 0.0]
    assert np.isnan([value[2], d_gap[2], d_std[2]]).all()
    gaps = lognormal_gap([-np.inf, np.inf, np.nan], 0.5)
    assert gaps[:2].tolist() == [-np.inf, np.inf]
    assert np.isnan(gaps[2])


@pytest.mark.parametrize("std", [1e-300, *STDS])
def test_the_inverse(std):
    t = np.concatenate(
        [-np.logspace(-3, 6, 200), np.logspace(-3, 2.8, 100), 0.5 * std**2 + np.arange(-99, 99)]
    )
    gap = lognormal_gap(t, std)
    back = gap + log_lognormal_improvement(gap, std)[0]
    assert np.max(np.abs(back - t) / np.maximum(1.0, np.abs(t))) <= (
        1e-14 if std > 1e-99 else 1e-13
    )


@given(reals(-400.0, 400.0), magnitudes(-8, 3))
def test_the_inverse_anywhere(t, std):
    gap = lognormal_gap(t, std)
    assert gap + log_lognormal_improvement(gap, std)[0] == pytest.approx(t, rel=1e-13, abs=1e-13)


def test_scalars_and_shapes():
    assert isinstance(lognormal_gap(-1.0, 0.5), float)
    assert log_lognormal_improvement(np.zeros((2, 3)), 0.5)[0].shape == (2, 3)
    assert lognormal_gap(np.zeros((2, 1)), np.ones(3)).shape == (2, 3)
    assert lognormal_gap(np.zeros(0), 0.5).shape == (0,)
