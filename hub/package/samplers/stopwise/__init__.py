# SPDX-License-Identifier: MIT
"""A sampler that chooses by what an evaluation costs."""

from stopwise.integrations.optuna import StopwiseSampler, timed, timing

__all__ = ["StopwiseSampler", "timed", "timing"]
