# SPDX-License-Identifier: Apache-2.0
"""Gradients of scores in x against finite differences, with prices that vary and are learned."""

from dataclasses import replace

import numpy as np
import pytest

from stopwise.acquisition import ACQUISITIONS, make_acquisition
from stopwise.acquisition.improvement import ImprovementBy
from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs.prices import LearnedPrice
from tests.support.textbook import SQUARE, ensemble_study, study

SCORES = {
    **{name: make_acquisition(name, 0.3) for name in ACQUISITIONS},
    "improvement": ImprovementBy(0.1),
}
ROUGH, SMOOTH = Hyperparameters([0.3, 0.5], 1.3), Hyperparameters([0.8, 0.6], 0.9, mean=-0.4)


def learned_price():
    X = SQUARE.sobol(9, np.random.default_rng(21))
    paid = np.random.default_rng(22).standard_normal(9) + 2.0 * X[:, 0] - X[:, 1]
    return LearnedPrice(condition(X, paid, Hyperparameters([0.4, 0.6], 1.0, noise=0.1)))


def priced(snapshot):
    return replace(snapshot, belief=replace(snapshot.belief, price=learned_price()))


SNAPSHOTS = {
    "exact": lambda: priced(study(SQUARE, n=6, hyper=ROUGH)),
    "noisy": lambda: priced(study(SQUARE, n=6, hyper=ROUGH, noise=0.05)),
    "ensemble": lambda: priced(
        ensemble_study([ROUGH, SMOOTH], [0.3, 0.7], trust=0.8, domain=SQUARE, n=6)[0]
    ),
}


@pytest.mark.parametrize("kind", SNAPSHOTS)
@pytest.mark.parametrize("name", SCORES)
def test_gradients_are_those_of_differences(name, kind):
    score = SCORES[name].bind(SNAPSHOTS[kind]())
    X = 0.05 + 0.9 * np.random.default_rng(3).random((12, 2))
    values, gradients = score.with_gradient(X)
    np.testing.assert_allclose(values, score(X), rtol=1e-12)
    for i, step in enumerate(1e-5 * np.eye(2)):
        rise = (score(X + step) - score(X - step)) / 2e-5
        np.testing.assert_allclose(gradients[:, i], rise, rtol=1e-5, atol=1e-5)
    assert np.abs(gradients).max() > 0.1
