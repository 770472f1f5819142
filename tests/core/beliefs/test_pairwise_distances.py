# SPDX-License-Identifier: Apache-2.0
"""Differences of pairs: kept or worked out every time, they are the same."""

import numpy as np
import pytest

from stopwise.core.beliefs import pairwise_distances as module
from stopwise.core.beliefs.pairwise_distances import PairwiseDistances

GROUPINGS = [np.arange(3), np.array([0, 1, 1]), np.array([1, 0, 1])]


@pytest.fixture(params=["kept", "worked out every time"])
def memory(request, monkeypatch):
    if request.param != "kept":
        monkeypatch.setattr(module, "_LARGEST_TABLE", 0)


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("groups", GROUPINGS, ids=str)
def test_both_are_sums_over_pairs(groups):
    rng = np.random.default_rng(1)
    X, scales, weights = rng.random((7, 3)), np.array([0.3, 2.0, 0.7]), rng.standard_normal(21)
    scales = scales[: groups.max() + 1]
    squares = np.array([(X[i] - X[j]) ** 2 for i in range(7) for j in range(i + 1, 7)])
    sought = PairwiseDistances(X, groups)
    np.testing.assert_allclose(
        sought.square_distances(scales), squares @ scales[groups] ** -2.0, rtol=1e-13
    )
    by_parameter = [(weights @ squares)[groups == g].sum() for g in range(scales.size)]
    np.testing.assert_allclose(
        sought.square_differences(weights), by_parameter, rtol=1e-12, atol=1e-13
    )


@pytest.mark.usefixtures("memory")
def test_one_point_has_no_pair():
    alone = PairwiseDistances(np.ones((1, 2)), np.arange(2))
    assert alone.square_distances(np.ones(2)).size == 0
    assert alone.square_differences(np.empty(0)).tolist() == [0.0, 0.0]
