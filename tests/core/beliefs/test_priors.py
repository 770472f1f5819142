# SPDX-License-Identifier: Apache-2.0
"""Priors of hyper-parameters, against scipy's densities and what was published."""

import math

import numpy as np
import pytest
from scipy import stats

from stopwise.core.beliefs.priors import Fixed, Flat, GammaPrior, LogNormalPrior, Priors, priors

DENSITIES = [
    (LogNormalPrior(0.7, 1.3), stats.lognorm(s=1.3, scale=math.exp(0.7))),
    (GammaPrior(3.0, 6.0), stats.gamma(3.0, scale=1 / 6.0)),
    (GammaPrior(1.1, 0.05), stats.gamma(1.1, scale=1 / 0.05)),
]


@pytest.mark.parametrize(("prior", "reference"), DENSITIES)
def test_prior_densities_are_scipy_s(prior, reference):
    logs = np.linspace(-6.0, 4.0, 21)
    density, slope = prior.log_density(logs)
    np.testing.assert_allclose(density, reference.logpdf(np.exp(logs)), rtol=1e-11)
    above, below = reference.logpdf(np.exp(logs + 1e-6)), reference.logpdf(np.exp(logs - 1e-6))
    np.testing.assert_allclose(slope, (above - below) / 2e-6, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("prior", [prior for prior, _ in DENSITIES] + [Flat(0.3), Fixed(0.3)])
def test_prior_curvatures_are_those_of_differences(prior):
    logs = np.linspace(-6.0, 4.0, 21)
    fall = prior.log_density(logs - 1e-5)[1] - prior.log_density(logs + 1e-5)[1]
    np.testing.assert_allclose(prior.curvature(logs), fall / 2e-5, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("prior", "reference"), DENSITIES)
def test_modes_are_where_scipy_s_density_is_largest(prior, reference):
    mode = reference.pdf(math.exp(prior.log_mode))
    assert mode > reference.pdf(math.exp(prior.log_mode + 1e-3))
    assert mode > reference.pdf(math.exp(prior.log_mode - 1e-3))


@pytest.mark.parametrize("prior", [Flat(0.3), Fixed(0.3)])
def test_some_priors_have_no_opinion(prior):
    density, slope = prior.log_density(np.linspace(-3.0, 3.0, 5))
    assert density.tolist() == slope.tolist() == [0.0] * 5


@pytest.mark.parametrize("d", [1, 4, 50])
def test_named_priors_are_the_published_ones(d):
    dimension_scaled = LogNormalPrior(math.sqrt(2) + math.log(d) / 2, math.sqrt(3))
    assert priors("lognormal", d).lengthscale == dimension_scaled
    assert priors("gamma", d) == Priors(
        GammaPrior(3.0, 6.0), GammaPrior(2.0, 0.15), GammaPrior(1.1, 0.05)
    )
    assert isinstance(priors(None, d).lengthscale, Flat)
