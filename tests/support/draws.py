# SPDX-License-Identifier: Apache-2.0
"""Draws against the distribution that they should come from."""

import math

import numpy as np
from scipy import stats

ERROR_RATE = 1e-6  # with which a test of a right program fails at another seed, over its entries


def assert_drawn_from(mean, covariance, calls):
    """Compare draws with a mean and a covariance, entry by entry, each on its standard error.

    Args:
        mean: The wanted mean at each row.
        covariance: The wanted covariance of the rows.
        calls: The draws, (calls, draws per call, rows); calls are independent of each other.

    Returns:
        The largest error of a covariance, as a share of the largest of them.
    """
    deviations = calls - mean
    upper = np.triu_indices(len(covariance))
    seconds = np.einsum("cni,cnj->cij", deviations, deviations) / calls.shape[1]
    estimates = np.hstack([deviations.mean(axis=1), seconds[:, *upper]])
    errors = estimates.mean(axis=0) - np.append(np.zeros(len(covariance)), covariance[upper])
    standard = estimates.std(axis=0, ddof=1) / math.sqrt(len(calls))
    limit = stats.t.isf(0.5 * ERROR_RATE / errors.size, len(calls) - 1)
    assert np.abs(errors / standard).max() < limit
    return np.abs(errors[len(covariance) :]).max() / covariance.max()
