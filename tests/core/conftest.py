# SPDX-License-Identifier: Apache-2.0
"""Fixtures that turn warnings of numpy and of Python into failures.

A module asks for one by ``pytestmark = pytest.mark.usefixtures(...)``. They are of its scope since
hypothesis runs a test many times.
"""

import warnings

import numpy as np
import pytest


@pytest.fixture(scope="module")
def no_floating_point_errors():
    """Overflow, underflow, division by zero and invalid operations raise, as warnings do."""
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(scope="module")
def no_warnings():
    """Warnings raise; numbers may become too small to be told from 0."""
    with np.errstate(all="warn", under="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
