# SPDX-License-Identifier: Apache-2.0
"""What tests of several tools need."""

import pytest

from stopwise.tools.runner import load


@pytest.fixture
def loaded(tmp_path):
    """The configuration of a run that a TOML text describes."""

    def load_text(text):
        path = tmp_path / "tune.toml"
        path.write_text(text, encoding="utf-8")
        return load(path)

    return load_text
