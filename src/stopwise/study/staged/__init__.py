# SPDX-License-Identifier: Apache-2.0
"""Studies of evaluations in stages: their belief, choices, verdicts and reports."""
