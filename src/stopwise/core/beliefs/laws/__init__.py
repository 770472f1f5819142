# SPDX-License-Identifier: Apache-2.0
"""Laws, one a file: what a belief says of f(x)."""

from stopwise.core.beliefs.laws.bounded import Bounded
from stopwise.core.beliefs.laws.chance import Chance
from stopwise.core.beliefs.laws.doubted import Doubted
from stopwise.core.beliefs.laws.law import FairValue, Law, WithSlopes
from stopwise.core.beliefs.laws.log_warped import LogWarped
from stopwise.core.beliefs.laws.loss import Loss
from stopwise.core.beliefs.laws.mixture import Mixture
from stopwise.core.beliefs.laws.normal import Normal
from stopwise.core.beliefs.laws.shifted import Shifted
from stopwise.core.beliefs.laws.soft_warped import SoftWarped
from stopwise.core.beliefs.laws.valued import Valued, valued

__all__ = [
    "Bounded",
    "Chance",
    "Doubted",
    "FairValue",
    "Law",
    "LogWarped",
    "Loss",
    "Mixture",
    "Normal",
    "Shifted",
    "SoftWarped",
    "Valued",
    "WithSlopes",
    "valued",
]
