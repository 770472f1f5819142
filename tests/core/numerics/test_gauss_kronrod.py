# SPDX-License-Identifier: Apache-2.0
"""The Gauss-Kronrod rule on the interval from 0 to 1."""

import numpy as np
import pytest

from stopwise.core.numerics.gauss_kronrod import GAUSS_WEIGHTS, KRONROD_NODES, KRONROD_WEIGHTS


@pytest.mark.parametrize("degree", range(23))
def test_polynomials_up_to_degree_22_are_integrated_exactly(degree):
    integral = KRONROD_WEIGHTS @ KRONROD_NODES**degree
    assert integral == pytest.approx(1.0 / (degree + 1), rel=4e-15)


def test_every_second_node_is_one_of_the_gauss_rule_of_seven():
    nodes, weights = np.polynomial.legendre.leggauss(7)
    kept = GAUSS_WEIGHTS > 0.0
    np.testing.assert_array_equal(kept, np.arange(15) % 2 == 1)
    np.testing.assert_allclose(KRONROD_NODES[kept], 0.5 * (1 + nodes), atol=1e-15)
    np.testing.assert_allclose(GAUSS_WEIGHTS[kept], 0.5 * weights, atol=1e-15)
