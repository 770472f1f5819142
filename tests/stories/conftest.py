# SPDX-License-Identifier: Apache-2.0
"""The stories are scripts, which tests start; they are not imported in search of doctests."""

collect_ignore = ["booster.py", "old_runs.py", "price_list.py"]
