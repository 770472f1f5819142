# SPDX-License-Identifier: Apache-2.0
"""Parts of scipy are loaded when they are first asked for."""

import pytest

from stopwise.core.numerics import scipy_parts


def test_a_part_of_scipy_is_an_attribute():
    assert scipy_parts.blas.dtrmm
    assert scipy_parts.lapack.dpotrf
    assert scipy_parts.special.erfcx
    assert scipy_parts.distance.cdist
    with pytest.raises(AttributeError, match="no attribute 'cuda'"):
        scipy_parts.cuda  # noqa: B018
    loaded = dict(vars(scipy_parts))
    for name in ("blas", "distance", "lapack", "special"):
        del vars(scipy_parts)[name]
        assert getattr(scipy_parts, name) is loaded[name]
