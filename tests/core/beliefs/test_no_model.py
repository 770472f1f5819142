# SPDX-License-Identifier: Apache-2.0
"""A surrogate that knows values alone says so when it is asked for more."""

from operator import attrgetter

import numpy as np
import pytest

from stopwise.core.beliefs.no_model import NoModel
from stopwise.errors import InputError

X = np.zeros((3, 1))
QUESTIONS = {
    "the unit": attrgetter("unit"),
    "the resolution": attrgetter("resolution"),
    "length scales": attrgetter("column_lengthscales"),
    "the law of f at 3 points": lambda model: model.law(X),
    "f at 3 points": lambda model: model.law_with_gradient(X),
    "gains": lambda model: model.relative_to(X[0], 1.0),
}


def test_values_are_exact():
    model = NoModel(7)
    assert len(model) == 7
    assert model.exact


@pytest.mark.parametrize("what", QUESTIONS)
def test_what_a_model_would_know_is_refused_by_name(what):
    with pytest.raises(InputError, match=rf"{what}.*there is no model.*parameters"):
        QUESTIONS[what](NoModel(7))
