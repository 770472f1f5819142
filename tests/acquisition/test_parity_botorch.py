# SPDX-License-Identifier: Apache-2.0
"""BoTorch's scores of the same points, at the same hyper-parameters."""

import numpy as np
import pytest

from stopwise.acquisition import LogEIPC
from stopwise.acquisition.lcb import LowerBound
from stopwise.core.beliefs import Hyperparameters
from tests.support.textbook import NUGGET, SQUARE, study
from tests.support.their_gp import double_precision, gpytorch, their_gp, torch

pytestmark = pytest.mark.parity

analytic = pytest.importorskip("botorch.acquisition.analytic")
posteriors = pytest.importorskip("botorch.posteriors")


def test_botorch_scores_the_same_points_the_same():
    hyper = Hyperparameters([0.3, 0.5], 1.4, noise=NUGGET, mean=0.3)
    X = SQUARE.sobol(9, np.random.default_rng(40))
    y = np.sin(5.0 * X).sum(axis=1)
    y = (y - y.mean()) / y.std(ddof=1)  # standardised, so that units agree
    snapshot = study(SQUARE, X=X, y=y, hyper=hyper)
    Q = np.random.default_rng(41).random((20, 2))
    small = gpytorch.settings.min_fixed_noise(double_value=1e-12)
    with double_precision(), small, torch.no_grad():
        gp = their_gp(X, y, hyper, np.arange(2), learned=False)
        gp.eval()
        gp.likelihood.eval()
        gp.num_outputs = 1
        gp.posterior = lambda X, **_: posteriors.GPyTorchPosterior(gp(X))
        points = torch.as_tensor(Q)[:, None, :]
        log_ei = analytic.LogExpectedImprovement(gp, snapshot.best, maximize=False)(points).numpy()
        lower = analytic.UpperConfidenceBound(gp, 3.0, maximize=False)(points).numpy()
    np.testing.assert_allclose(LogEIPC().bind(snapshot)(Q), log_ei, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(LowerBound(3.0).bind(snapshot)(Q), lower, rtol=1e-6, atol=1e-6)
