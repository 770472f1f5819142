# SPDX-License-Identifier: Apache-2.0
"""Hypothesis profiles: few examples while working, more and always the same ones in CI.

The profile "mutation" (tests/mutation) has to be quick and always the same.
"""

import os

import pytest
from hypothesis import settings

from tests.support.browser import chromium  # noqa: F401  a fixture, for all folders

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("mutation", max_examples=20, deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "dev")

# Whole studies, many of them: they run the same lines again and again, and tracing them takes a
# quarter of the time of `make test`. Every line has to have a test of its own elsewhere.
NOT_TRACED = (
    "paper/",
    "tests/core/beliefs/test_parity",
    "tests/core/search/test_lemma",
    "tests/core/search/test_supremum_laws",
    "tests/core/search/test_supremum_parity",
    "tests/stopping/test_rule_laws",
    "tests/stories/",
    "tests/study/test_determinism",
    "tests/study/test_looking",
    "tests/testing/test_conformance",
    "tests/torture/",
    "tests/trajectories/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Coverage is not traced where whole studies are run for their outcome."""
    for item in items:
        if item.nodeid.startswith(NOT_TRACED):
            item.add_marker("no_cover")
