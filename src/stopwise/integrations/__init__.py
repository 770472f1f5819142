# SPDX-License-Identifier: Apache-2.0
"""Integrations: stopwise in the loops of other packages, one module each, behind an extra.

Each module imports the package that it is named after; no other module of stopwise does.
"""
