# SPDX-License-Identifier: Apache-2.0
"""A plugin for pytest: run the tests listed in a file, in that order."""

import os
from pathlib import Path

VARIABLE = "STOPWISE_MUTATION_TESTS"


def pytest_collection_modifyitems(items):
    """Keep what is listed, in the order of the list."""
    wanted = Path(os.environ[VARIABLE]).read_text(encoding="utf-8").split("\n")
    order = {test: at for at, test in enumerate(wanted)}
    items[:] = sorted(
        (item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid]
    )
