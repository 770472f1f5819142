# SPDX-License-Identifier: Apache-2.0
"""The configuration that is best to start: also where a score is highest at one that was begun."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.numerics.arrays import Array
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Domain, Finite, as_domain
from stopwise.core.space.constraints import checked_constraints
from stopwise.core.space.domain import SAME
from stopwise.study.staged.starting import best_start
from tests.support.landscapes import box, snapshot_of


@dataclass(frozen=True)
class Bowl:
    """A score that falls off from a point, which may be outside; barred points are left out."""

    centre: tuple[float, ...]
    asked: ClassVar[list[int]] = []

    def bind(self, snapshot: Snapshot) -> Any:
        centre, asked = np.array(self.centre), self.asked

        class Score:
            scales, unit, starts = None, 1.0, None

            def __call__(self, X: Array) -> Array:
                return self.with_gradient(X)[0]

            def with_gradient(self, X: Array) -> tuple[Array, Array]:
                asked.append(len(X))
                gap = X - centre
                values = -np.vecdot(gap, gap)
                return np.where(snapshot.barred(X), -np.inf, values), -2.0 * gap

        return Score()


def moment(domain: Domain, begun: Any) -> Snapshot:
    """Two configurations have finished, and others were begun."""
    rng, width = np.random.default_rng(0), len(begun[0])
    X = domain.design(2, rng) if isinstance(domain, Finite) else rng.random((2, width))
    return snapshot_of(domain, X, np.array([1.0, 2.0]), pending=np.array(begun))


@pytest.mark.parametrize("centre", [(1.5, -0.5), (0.3, 0.7), (0.5, 1.3)])
def test_beside_a_configuration_that_was_begun_as_close_as_may_be(
    centre: tuple[float, ...],
) -> None:
    top = np.clip(centre, 0.0, 1.0)
    snapshot = moment(box(2), [top, (0.2, 0.2)])
    Bowl.asked.clear()
    x = best_start(snapshot, Bowl(centre))
    assert x is not None
    assert not snapshot.taken(x[None, :]).any()
    assert SAME < np.abs(x - top).max() < 2.1 * SAME
    assert np.all((x >= 0.0) & (x <= 1.0))
    assert len(Bowl.asked) < 40


def test_a_finished_configuration_counts_as_begun() -> None:
    snapshot = moment(box(1), [[0.2]])
    top = float(snapshot.X[0, 0])
    x = best_start(snapshot, Bowl((top,)))
    assert x is not None
    assert SAME < abs(x[0] - top) < 2.1 * SAME


def test_further_away_where_all_that_is_close_was_begun() -> None:
    around = [[0.5], [0.5 + 1.5 * SAME], [0.5 - 1.5 * SAME]]
    x = best_start(moment(box(1), around), Bowl((0.5,)))
    assert x is not None
    assert 2.5 * SAME < abs(x[0] - 0.5) < 3.2 * SAME


def test_where_everything_close_by_was_begun_the_search_leaves_it_out() -> None:
    line = 0.5 + 1.5 * SAME * np.arange(-1000, 1001)
    snapshot = moment(box(1), line[:, None])
    x = best_start(snapshot, Bowl((0.5,)))
    assert x is not None
    assert not snapshot.taken(x[None, :]).any()


def test_a_configuration_that_was_not_begun_is_the_answer() -> None:
    x = best_start(moment(box(2), [(0.2, 0.2)]), Bowl((0.6, 0.4)))
    np.testing.assert_allclose(np.asarray(x), [0.6, 0.4], atol=1e-5)


def test_what_constraints_forbid_is_not_beside() -> None:
    space = {"x0": sw.Real(0.0, 1.0), "x1": sw.Real(0.0, 1.0)}
    domain = as_domain(space, constraints=checked_constraints(["x0 + x1 <= 1.0"]))
    snapshot = moment(domain, [(0.5, 0.5)])
    x = best_start(snapshot, Bowl((0.5, 0.5)))
    assert x is not None
    assert domain.allowed(x[None, :]).all()
    assert not snapshot.taken(x[None, :]).any()
    assert np.abs(x - 0.5).max() < 1e-3


def test_where_parameters_are_discrete_another_value_is_taken() -> None:
    domain = as_domain({"n": sw.Integer(0, 10)})
    x = best_start(moment(domain, [[0.5]]), Bowl((0.5,)))
    assert x is not None
    assert domain.decode(x[None, :])[0]["n"] in (4, 6)
