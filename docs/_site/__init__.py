# SPDX-License-Identifier: Apache-2.0
"""What the site is built with beside Sphinx: formulas, the front door, and pages from tables."""
