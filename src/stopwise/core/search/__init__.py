# SPDX-License-Identifier: Apache-2.0
"""Suprema of scores over domains: enumeration, screening, local search and discrete moves."""
