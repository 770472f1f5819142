# SPDX-License-Identifier: Apache-2.0
"""Hypothesis profiles: few examples while working, more and always the same ones in CI.

The profile "mutation" (tests/mutation) has to be quick and always the same.
"""

import os

from hypothesis import settings

from tests.support.browser import chromium  # noqa: F401  a fixture, for all folders

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True)
settings.register_profile("mutation", max_examples=20, deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "dev")
