# SPDX-License-Identifier: Apache-2.0
"""Models of the objective, one a file, and the table of their names: what ``surrogate=`` takes.

A new model is a file with a frozen class (see ``SurrogateModel``) and a line in ``SURROGATES``.
"""

from __future__ import annotations

from collections.abc import Callable

from stopwise.core.beliefs.hyperparameters import ObjectiveFit
from stopwise.core.beliefs.models.model import DEFAULT_PRIOR, Data, DataOptions, SurrogateModel
from stopwise.core.beliefs.models.paper import PaperModel
from stopwise.core.beliefs.models.plain import PlainModel
from stopwise.core.beliefs.models.weighed import WeighedModel
from stopwise.core.lookup import make

__all__ = [
    "SURROGATES",
    "Data",
    "DataOptions",
    "ObjectiveFit",
    "PaperModel",
    "PlainModel",
    "SurrogateModel",
    "WeighedModel",
    "make_model",
    "prior_of",
]

SURROGATES: dict[str, Callable[..., SurrogateModel]] = {
    "default": WeighedModel,
    "plain": PlainModel,
    "paper": PaperModel,
}


def make_model(given: str | SurrogateModel) -> SurrogateModel:
    """The model of a name; a model as it is."""
    return make("surrogate", SURROGATES, given, None, methods=("fit", "as_fitted", "weighed"))


def prior_of(model: str | SurrogateModel) -> str | None:
    """The prior that belongs to a model; the usual one where the model names none."""
    prior: str | None = getattr(make_model(model), "prior", DEFAULT_PRIOR)
    return prior
