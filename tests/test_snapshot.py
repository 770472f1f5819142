# SPDX-License-Identifier: Apache-2.0
"""Nothing in a snapshot changes."""

from dataclasses import replace

import pytest

from tests.textbook import study


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
