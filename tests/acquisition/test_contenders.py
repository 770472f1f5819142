# SPDX-License-Identifier: Apache-2.0
"""On a large table fair values are computed where they may be the lowest, with the same answer."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import stopwise as sw
from stopwise.acquisition import PBGI, LogEIPC

ROWS = [{"x": float(x), "y": float(y)} for x, y in np.random.default_rng(3).random((5000, 2))]


def value(params):
    return (params["x"] - 0.4) ** 2 + params["y"] * np.sin(9.0 * params["x"])


def snapshot(*, n=25, rows=ROWS, **options):
    study = sw.Study(sw.Candidates(rows), lam=1e-3, seed=0, **options)
    for params in rows[:n]:
        study.tell(params, value(params))
    return study.snapshot()


@pytest.mark.parametrize("lam", [1e-9, 1e-4, 1e-2, 10.0])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"surrogate": "plain"},
        {"noise": 1e-4},
        {"bounds": (-1.5, 2.0)},
        {"cost": lambda params: 0.1 + params["x"]},
    ],
    ids=["default", "plain", "noise", "bounds", "costs"],
)
def test_the_answer_is_that_of_all_candidates_to_the_last_bit(options, lam):
    now = snapshot(**options)
    points = now.domain.points
    score = PBGI(lam).bind(now)
    everywhere, here = score(points), score.at_contenders(points)
    asked = here > -np.inf
    assert_array_equal(here[asked], everywhere[asked])
    assert here.argmax() == everywhere.argmax()
    assert asked.sum() < len(points) / 2
    assert now.sup(PBGI(lam)).value == everywhere.max()


def test_all_are_scored_where_nothing_tells_contenders_apart():
    now = snapshot()
    points = now.domain.points
    for score in (LogEIPC().bind(now), replace(PBGI(1e-3).bind(now), starts=None)):
        assert_array_equal(score.at_contenders(points), score(points))
    few = snapshot(rows=ROWS[:300])
    score = PBGI(1e-3).bind(few)
    assert_array_equal(score.at_contenders(few.domain.points), score(few.domain.points))


def test_a_start_that_is_barred_is_no_measure():
    now = snapshot()
    score = replace(PBGI(1e-3).bind(now), starts=now.X[:1])
    points = now.domain.points
    assert_array_equal(score.at_contenders(points), score(points))
