# SPDX-License-Identifier: Apache-2.0
"""Weighted sums of kernels against sums over centres, one by one, and their differences."""

import numpy as np
import pytest

from stopwise.core.beliefs.kernel_basis import KernelBasis
from stopwise.core.beliefs.kernels import DEFAULT_KERNEL


@pytest.fixture
def basis():
    return KernelBasis(DEFAULT_KERNEL, np.random.default_rng(1).random((7, 3)), 1.7)


def naive_sum(basis, x, weights):
    squares = ((x - basis.centres) ** 2).sum(axis=1)
    return float(basis.variance * weights @ basis.kernel.value(squares))


def test_values_with_and_without_slopes_are_the_kernels(basis):
    Q = np.random.default_rng(2).random((4, 3))
    wanted = [[naive_sum(basis, q, e) for e in np.eye(7)] for q in Q]
    np.testing.assert_allclose(basis.values(Q), wanted, rtol=1e-14)
    np.testing.assert_allclose(basis.at(Q).values, wanted, rtol=1e-14)


@pytest.mark.parametrize("sums", [1, 2, 3])
def test_gradients_of_several_sums_are_those_of_differences(basis, sums):
    rng = np.random.default_rng(3)
    Q = rng.random((4, 3))
    shared = rng.standard_normal(7)
    weights = [shared, *rng.standard_normal((2, 4, 7))][:sums]
    gradients = basis.at(Q).gradients(*weights)
    assert gradients.shape == (sums, 4, 3)
    for found, weight in zip(gradients, weights, strict=True):
        rows = np.broadcast_to(weight, (4, 7))
        for q, of_row, gradient in zip(Q, rows, found, strict=True):
            for i, step in enumerate(1e-6 * np.eye(3)):
                rise = naive_sum(basis, q + step, of_row) - naive_sum(basis, q - step, of_row)
                assert gradient[i] == pytest.approx(rise / 2e-6, rel=1e-6, abs=1e-8)


def test_one_sum_and_the_same_sum_among_others_agree(basis):
    rng = np.random.default_rng(4)
    kernels, weights = basis.at(rng.random((5, 3))), rng.standard_normal((5, 7))
    alone, together = kernels.gradients(weights)[0], kernels.gradients(weights, weights)
    np.testing.assert_allclose(together, [alone, alone], rtol=1e-12, atol=1e-14)


def test_no_centres_sum_to_nothing():
    basis = KernelBasis(DEFAULT_KERNEL, np.empty((0, 2)))
    kernels = basis.at(np.ones((3, 2)))
    assert kernels.values.shape == (3, 0)
    np.testing.assert_array_equal(kernels.gradients(np.empty(0), np.empty(0)), np.zeros((2, 3, 2)))
