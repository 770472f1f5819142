# SPDX-License-Identifier: Apache-2.0
"""stopwise where people already work: one module per package, each behind its extra.

Importing a module here imports the package it is named after, and nothing else does.
"""
