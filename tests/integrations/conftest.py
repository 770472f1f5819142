# SPDX-License-Identifier: Apache-2.0
"""Other packages: Optuna is quiet, and one Ray serves all tests of this folder."""

import os
import sys

import pytest

os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # read when ray is imported
os.environ.setdefault("RAY_worker_niceness", "0")  # on a busy machine workers would hardly run


@pytest.fixture(autouse=True)
def _quiet():
    """Optuna says nothing of each trial, wherever it has been imported."""
    if "optuna" in sys.modules:
        sys.modules["optuna"].logging.set_verbosity(sys.modules["optuna"].logging.ERROR)


@pytest.fixture(scope="package")
def cluster():
    """A real Ray on this machine."""
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()
