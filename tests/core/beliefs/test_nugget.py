# SPDX-License-Identifier: Apache-2.0
"""The nugget must not decide: what cannot be told from the incumbent gains nothing."""

import numpy as np
import pytest

from stopwise.acquisition import LogEIPC
from stopwise.core.beliefs.fit import NUGGET
from stopwise.core.space.domain import SAME
from tests.support.landscapes import box, snapshot_of
from tests.support.problems import SMOOTH


def run(name, noise, *, interpolate):
    """Maximise EI again and again; returns sup EI over sd(y), and the nearest repeat."""
    function, d, steps, _ = SMOOTH[name]
    domain = box(d)
    X = domain.sobol(2 * (d + 1), np.random.default_rng(0))
    y, start = function(X), None
    suprema, distances = [], []
    for _ in range(steps):
        snapshot = snapshot_of(domain, X, y, noise=noise, interpolate=interpolate, start=start)
        start = snapshot.belief.objective.hyper
        found = snapshot.sup(LogEIPC())
        suprema.append(np.exp(found.value) / np.std(y, ddof=1))
        distances.append(np.abs(X - found.x).max(axis=1).min())
        X, y = np.vstack([X, found.x]), np.append(y, function(found.x[None, :]))
    return suprema, distances, y.min()


@pytest.mark.parametrize("name", SMOOTH)
def test_expected_improvement_falls_below_a_millionth_of_the_spread(name):
    suprema, distances, best = run(name, NUGGET, interpolate=True)
    assert min(suprema) < 1e-6
    assert suprema[-1] < 1e-6
    assert min(distances) > SAME  # no proposal repeats an evaluated point
    assert best - SMOOTH[name][3] < 1e-4


def test_a_nugget_taken_for_noise_keeps_a_floor():
    suprema, _, _ = run("wave", 1e-6, interpolate=False)
    assert min(suprema) > 1e-5  # what interpolation removes
