# SPDX-License-Identifier: Apache-2.0
"""Initial designs: the points that are evaluated before a model chooses; one a file."""

from collections.abc import Mapping

from stopwise.core.beliefs.models import SurrogateModel
from stopwise.study.designs.design import Design, DesignSoFar
from stopwise.study.designs.priced import PricedDesign
from stopwise.study.designs.spread import SpreadDesign

# The design of each surrogate. A journal of 0.1 goes on as "plain", with the design it began with.
DESIGNS: Mapping[str, Design] = {
    "default": PricedDesign(),
    "plain": SpreadDesign(),
    "paper": SpreadDesign(),
}

__all__ = ["DESIGNS", "Design", "DesignSoFar", "PricedDesign", "SpreadDesign", "design_of"]


def design_of(surrogate: str | SurrogateModel) -> Design:
    """The design of a surrogate; a model of the user's own begins with the priced design."""
    return DESIGNS[surrogate] if isinstance(surrogate, str) else PricedDesign()
