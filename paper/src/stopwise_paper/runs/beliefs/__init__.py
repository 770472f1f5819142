# SPDX-License-Identifier: Apache-2.0
"""The evidence on beliefs: whole studies run to their own stop, one for each belief and design."""
