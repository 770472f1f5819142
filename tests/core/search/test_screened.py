# SPDX-License-Identifier: Apache-2.0
"""What searches of one moment share: the laws and prices of a screen."""

from dataclasses import replace

import numpy as np

from stopwise.acquisition import PBGI, LogEIPC
from stopwise.core.beliefs.gp import Posterior
from tests.support.landscapes import box, snapshot_of


def test_acquisitions_that_screen_the_same_points_ask_for_their_laws_once(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.random((12, 3))
    snapshot = snapshot_of(box(3), X, X.sum(axis=1))
    scores = [LogEIPC().bind(snapshot), PBGI(0.01).bind(snapshot)]
    many, few = rng.random((300, 3)), rng.random((20, 3))
    others = [many, few, many.copy(), few, many[::-1].copy()]
    fresh = [[replace(s, snapshot=replace(snapshot))(P) for P in others] for s in scores]
    asked, law = [], Posterior.law
    monkeypatch.setattr(Posterior, "law", lambda self, X: asked.append(len(X)) or law(self, X))
    for score, expected in zip(scores, fresh, strict=True):
        for points, values in zip(others, expected, strict=True):
            np.testing.assert_array_equal(score(points), values)
    assert asked == [300, 20, 20, 300, 20, 20]


def test_a_score_with_a_belief_of_its_own_asks_that():
    rng = np.random.default_rng(1)
    X, many = rng.random((12, 3)), rng.random((300, 3))
    snapshot = snapshot_of(box(3), X, X.sum(axis=1))
    score = LogEIPC().bind(snapshot)
    before = replace(snapshot.belief, objective=snapshot.belief.objective.prefix(5))
    assert not np.array_equal(score(many), replace(score, belief=before)(many))
