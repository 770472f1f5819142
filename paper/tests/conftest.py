# SPDX-License-Identifier: Apache-2.0
"""Hypothesis profiles: those of the library's tests."""

from tests import conftest as _library  # noqa: F401  it registers and loads the profile
