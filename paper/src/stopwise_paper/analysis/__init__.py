# SPDX-License-Identifier: Apache-2.0
"""Analysis: rules replayed on trajectories, regret tables, and published numbers beside ours."""
