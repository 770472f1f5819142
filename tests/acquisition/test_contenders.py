# SPDX-License-Identifier: Apache-2.0
"""Scores are computed at contenders and where points are allowed, with the same answer."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

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


@dataclass
class Noting:
    """A formula that notes at how many points it is asked."""

    formula: LogEIPC
    asked: list[int] = field(default_factory=list)

    def __call__(self, law, log_price, best):
        self.asked.append(len(log_price))
        return self.formula(law, log_price, best)


@pytest.mark.parametrize("rows", [ROWS[:300], ROWS[:25]], ids=["some", "all"])
@pytest.mark.parametrize("surrogate", ["default", "plain"])
def test_a_formula_is_not_asked_about_points_that_are_left_out(rows, surrogate):
    now = snapshot(rows=rows, surrogate=surrogate)
    points, taken = now.domain.points, now.taken(now.domain.points)
    assert taken.sum() == 25
    score = LogEIPC().bind(now)
    noting = Noting(score.formula)
    values = replace(score, formula=noting)(points)
    assert noting.asked == [len(rows) - 25] * (len(rows) > 25)
    assert (values[taken] == -np.inf).all()
    everywhere = replace(score, exclude=False)(points)
    assert_allclose(values[~taken], everywhere[~taken], rtol=1e-13)
