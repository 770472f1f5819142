# SPDX-License-Identifier: Apache-2.0
"""The evidence on evaluations in stages: whole studies and pruners on tables of curves."""
