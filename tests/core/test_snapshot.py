# SPDX-License-Identifier: Apache-2.0
"""Nothing in a snapshot changes."""

from dataclasses import replace

import numpy as np
import pytest

from stopwise.core.space.domain import SAME
from tests.support.landscapes import box, snapshot_of
from tests.support.textbook import study


@pytest.mark.parametrize("name", ["X", "y", "pending", "failed"])
def test_arrays_of_a_snapshot_are_read_only_and_the_caller_s_are_not(name):
    X = study().X.copy()
    y = study().y.copy()
    given = {"X": X, "y": y, "pending": X[:1].copy(), "failed": X[1:2].copy()}
    snapshot = replace(study(), **given)
    for view in (snapshot, replace(snapshot, trial=7)):
        with pytest.raises(ValueError, match="read-only"):
            getattr(view, name)[0] = 0.0
    given[name][0] = 0.5  # what the caller does with its own is its own affair


def test_a_prefix_is_read_only_too():
    with pytest.raises(ValueError, match="read-only"):
        study().prefix(3).y[0] = 0.0


@pytest.mark.parametrize("d", [1, 2, 8])
def test_points_are_taken_that_are_the_same_in_every_column(d):
    rng = np.random.default_rng(d)
    X = rng.random((30, d))
    X[0], X[1] = 0.0, 1.0
    snapshot = snapshot_of(box(d), X, X.sum(axis=1))
    corners = rng.choice([-1.0, 1.0], size=X.shape)  # where the sums differ most, or not at all
    assert np.all(snapshot.taken(X + 0.999 * SAME * corners))
    beyond = X.copy()
    beyond[:, -1] += 1.001 * SAME * corners[:, -1]
    elsewhere = np.abs(beyond[:, None] - X).max(axis=2).min(axis=1) > SAME
    assert np.array_equal(snapshot.taken(beyond), ~elsewhere)
    assert elsewhere.any()
    swapped = X[:, ::-1]  # the same sums, and other points
    same = np.abs(swapped[:, None] - X).max(axis=2).min(axis=1) <= SAME
    assert np.array_equal(snapshot.taken(swapped), same)
    assert not snapshot.taken(np.full((1, d), np.nan))[0]
