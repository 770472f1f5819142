# SPDX-License-Identifier: Apache-2.0
"""The field: whole packages, played as their users run them, on the same problems and seeds."""
