# SPDX-License-Identifier: Apache-2.0
"""Runs: the loop of one cell, many cells in parallel, and the files that keep trajectories."""
