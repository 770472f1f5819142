# SPDX-License-Identifier: MIT
"""A callback that stops a study when the next trial is not worth its price."""

from stopwise.integrations.optuna import StopwiseCallback, timed, timing

__all__ = ["StopwiseCallback", "timed", "timing"]
