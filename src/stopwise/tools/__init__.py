# SPDX-License-Identifier: Apache-2.0
"""What people run and look at: progress, report, audit, runner and the command line."""
