# SPDX-License-Identifier: Apache-2.0
"""Suprema: where a score is largest over a domain, and how sure we are of it."""
