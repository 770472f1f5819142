# SPDX-License-Identifier: Apache-2.0
"""The direction numbers of Sobol sequences are scipy's."""

import numpy as np
import pytest
from scipy.stats import qmc

from stopwise.core.space._joe_kuo import DIMENSIONS, direction_numbers
from stopwise.core.space._sobol import _directions_of_scipy, sobol_block


@pytest.mark.parametrize("m", [0, 1, 5, 12])
def test_direction_numbers_are_those_of_scipy(m):
    np.testing.assert_array_equal(
        direction_numbers(DIMENSIONS, m), _directions_of_scipy(DIMENSIONS, m)
    )


@pytest.mark.parametrize("d", [1, 2, DIMENSIONS, DIMENSIONS + 1])
def test_blocks_are_those_of_scipy(d):
    block = sobol_block(d, 7, np.random.default_rng(3))
    theirs = qmc.Sobol(d, seed=np.random.default_rng(3)).random_base2(7)
    np.testing.assert_array_equal(block, theirs)
