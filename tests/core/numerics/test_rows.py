# SPDX-License-Identifier: Apache-2.0
"""Different rows of a matrix."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from stopwise.core.numerics.rows import unique_rows

FEW = st.sampled_from([-1.5, -0.0, 0.0, 0.25, 2.0])


@given(npst.arrays(float, st.tuples(st.integers(0, 12), st.integers(1, 3)), elements=FEW))
def test_different_rows_are_those_of_numpy(X):
    rows, which = unique_rows(X)
    theirs, inverse = np.unique(X, axis=0, return_inverse=True)
    np.testing.assert_array_equal(rows, theirs)
    np.testing.assert_array_equal(which, inverse.reshape(-1))


@given(npst.arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 3))))
def test_each_row_is_one_of_them(X):
    rows, which = unique_rows(X)
    np.testing.assert_array_equal(rows[which], X)
    assert rows.dtype == X.dtype
    assert len({tuple(row) for row in X}) == len(rows)
