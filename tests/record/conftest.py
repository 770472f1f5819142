# SPDX-License-Identifier: Apache-2.0
"""What the tests of journals share."""

import pytest


@pytest.fixture
def path(tmp_path):
    """Where a journal may be written."""
    return tmp_path / "run.jsonl"
