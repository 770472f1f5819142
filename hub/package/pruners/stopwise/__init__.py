# SPDX-License-Identifier: MIT
"""A pruner that ends a trial when going on with it is not worth its price."""

from stopwise import Stages
from stopwise.integrations.optuna import StopwisePruner

__all__ = ["Stages", "StopwisePruner"]
