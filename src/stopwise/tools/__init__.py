# SPDX-License-Identifier: Apache-2.0
"""Tools for people: the command line, the runner, reports, audits and progress."""
