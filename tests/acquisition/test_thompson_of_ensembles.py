# SPDX-License-Identifier: Apache-2.0
"""Thompson sampling under several posteriors: one of them, by its weight, then a path of it."""

from dataclasses import replace

import numpy as np
import pytest

from stopwise.acquisition import ThompsonSampling
from stopwise.core.beliefs import Hyperparameters
from tests.support.textbook import ensemble_study


def test_a_posterior_is_chosen_as_often_as_its_weight_says():
    hypers = [Hyperparameters([0.12, 0.12], 1.0), Hyperparameters([0.6, 0.6], 1.0)]
    snapshot, alone = ensemble_study(hypers, [0.25, 0.75])
    sampling, chosen = ThompsonSampling(), []
    for trial in range(300):
        drawn = sampling.bind(replace(snapshot, trial=trial)).values
        same = [
            np.array_equal(drawn, sampling.bind(replace(one, trial=trial)).values) for one in alone
        ]
        assert sum(same) == 1
        chosen.append(same.index(True))
    assert np.mean(chosen) == pytest.approx(0.75, abs=4.0 * np.sqrt(0.25 * 0.75 / 300))
