# SPDX-License-Identifier: Apache-2.0
"""The core: the arithmetic of a decision, without I/O, clocks or other people's frameworks."""
