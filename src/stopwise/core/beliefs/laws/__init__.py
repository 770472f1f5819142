# SPDX-License-Identifier: Apache-2.0
"""Laws, one a file: what a belief says of f(x)."""

from stopwise.core.beliefs.laws.law import FairValue, Law, WithSlopes
from stopwise.core.beliefs.laws.normal import Normal

__all__ = ["FairValue", "Law", "Normal", "WithSlopes"]
