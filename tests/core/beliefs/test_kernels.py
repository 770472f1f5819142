# SPDX-License-Identifier: Apache-2.0
"""Every kernel of the table: its definition, its derivatives, its spectrum, and all that uses it.

A new kernel is tested by being in the table. Of the Matern family the definition is the Bessel
form at the smoothness that a kernel states; of any other kernel its own spectrum is the oracle.
"""

import dataclasses
import math

import mpmath as mp
import numpy as np
import pytest

from stopwise.core.beliefs import KERNELS, Hyperparameters, condition, fit_posterior
from stopwise.core.beliefs.conditioned_paths import PathConditioner
from stopwise.core.beliefs.distances import square_distances
from stopwise.core.beliefs.fit import fit
from stopwise.core.beliefs.kernels import DEFAULT_KERNEL, make_kernel
from stopwise.core.beliefs.likelihood import log_likelihood
from stopwise.core.beliefs.paths import sample_paths
from stopwise.errors import InputError, InputTypeError
from tests.support.draws import assert_drawn_from
from tests.support.gradients import differences

RADII = [1e-12, 1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 200.0]
GROUPS = np.array([0, 1, 1])
EACH = pytest.mark.parametrize("kernel", [make() for make in KERNELS.values()], ids=list(KERNELS))


def matern_of(nu):
    """The correlation at a distance by its definition (Rasmussen and Williams 2006, Eq. 4.14)."""
    if math.isinf(nu):
        return lambda r: mp.exp(-(mp.mpf(r) ** 2) / 2)

    def correlation(r):
        x = mp.sqrt(2 * mp.mpf(nu)) * mp.mpf(r)
        return 2 ** (1 - mp.mpf(nu)) / mp.gamma(nu) * x**nu * mp.besselk(nu, x)

    return correlation


def hyper_of(kernel, noise=0.05):
    return Hyperparameters([0.5, 0.8], outputscale=1.6, noise=noise, mean=0.3, kernel=kernel)


def data(n=9, seed=80):
    rng = np.random.default_rng(seed)
    X = 0.05 + 0.9 * rng.random((n, 3))
    return X, 20.0 + 6.0 * np.sin(4.0 * X).sum(axis=1)


def posterior_of(kernel, *, interpolate=False):
    X, y = data()
    hyper = hyper_of(kernel, 1e-9 if interpolate else 0.05)
    return condition(X, y, hyper, groups=GROUPS, interpolate=interpolate)


def inner_points(n, seed=81):
    return 0.05 + 0.9 * np.random.default_rng(seed).random((n, 3))


# ------------------------------------------------------------------------------ the kernel


def test_names_lead_to_kernels_and_kernels_are_frozen_values():
    for name, make in KERNELS.items():
        kernel = make()
        assert kernel.name == name
        assert make_kernel(name) == make_kernel(kernel) == kernel
        assert hash(kernel) == hash(make())
        assert dataclasses.is_dataclass(kernel)
        with pytest.raises((AttributeError, TypeError)):  # a class with slots raises either
            kernel.name = "another"
    assert KERNELS["matern52"]() == DEFAULT_KERNEL
    with pytest.raises(InputError, match="no kernel 'matern'"):
        make_kernel("matern")
    with pytest.raises(InputTypeError, match="no kernel"):
        make_kernel(5)


@EACH
@pytest.mark.parametrize("r", RADII)
def test_values_and_slopes_are_those_of_the_definition(kernel, r):
    if kernel.smoothness is None:
        pytest.skip("not of the Matern family: its spectrum is the oracle")
    definition = matern_of(kernel.smoothness)
    with mp.workdps(80):
        value = float(definition(r))
        slope = float(-mp.diff(definition, mp.mpf(r)) / r)
    square = np.array([[r * r]])
    found, found_slope = kernel.value_and_slope(square)
    assert kernel.value(square)[0, 0] == pytest.approx(value, rel=1e-12)
    assert found[0, 0] == pytest.approx(value, rel=1e-12)
    assert found_slope[0, 0] == pytest.approx(slope, rel=1e-12)


@EACH
def test_the_slope_is_minus_the_derivative_over_the_distance(kernel):
    r = np.linspace(0.05, 4.0, 40)
    _, slope = kernel.value_and_slope(r**2)
    step = 1e-5
    rise = (kernel.value((r + step) ** 2) - kernel.value((r - step) ** 2)) / (2 * step)
    np.testing.assert_allclose(slope, -rise / r, rtol=1e-6, atol=1e-9)


@EACH
def test_nothing_is_lost_at_distance_zero_or_far_away_and_nothing_is_overwritten(kernel):
    squares = np.array([[0.0, 1e12]])
    value, slope = kernel.value_and_slope(squares)
    assert value[0, 0] == kernel.value(squares)[0, 0] == 1.0
    assert 0.0 < slope[0, 0] < np.inf
    assert value[0, 1] == kernel.value(squares)[0, 1] < 1e-3
    assert squares.tolist() == [[0.0, 1e12]]


@EACH
def test_the_spectrum_is_that_of_the_kernel(kernel):
    count = 200_000
    omega = kernel.frequencies(np.random.default_rng(5), 2, count)
    assert omega.shape == (2, count)
    for step in np.array([[0.1, 0.0], [0.3, -0.4], [1.0, 1.0], [0.0, 2.5]]):
        waves = np.cos(step @ omega)
        sure = waves.std() / math.sqrt(count)
        assert abs(waves.mean() - kernel.value(np.array([step @ step]))[0]) < 5.0 * sure


@EACH
def test_the_warp_is_increasing_and_keeps_the_walls_and_its_slope_is_its_derivative(kernel):
    x = np.linspace(0.01, 0.99, 50)[:, None]
    assert np.all(np.diff(kernel.warp(x), axis=0) > 0.0)
    np.testing.assert_allclose(kernel.warp(np.array([[0.0, 1.0]])), [[0.0, 1.0]], atol=1e-15)
    rise = (kernel.warp(x + 1e-6) - kernel.warp(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(kernel.warp_slope(x), rise, rtol=1e-6)


@EACH
def test_covariances_are_positive_definite(kernel):
    X = np.random.default_rng(4).random((40, 2))
    scaled = kernel.warp(X) / [0.4, 1.5]
    assert np.linalg.eigvalsh(kernel.value(square_distances(scaled, scaled))).min() > 0


# --------------------------------------------------------------------- posteriors and fits


@EACH
@pytest.mark.parametrize("interpolate", [False, True])
def test_posteriors_are_the_textbook_s(kernel, interpolate):
    X, y = data()
    Q = inner_points(5)
    posterior = posterior_of(kernel, interpolate=interpolate)
    hyper, unit = posterior.hyper, posterior.standardiser

    def k(A, B):
        a, b = (kernel.warp(M) / hyper.lengthscales[GROUPS] for M in (A, B))
        squares = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)
        return hyper.outputscale * kernel.value(squares)

    K = k(X, X) + hyper.noise * np.eye(len(X))
    w = np.linalg.solve(K, k(X, Q))
    mean = hyper.mean + w.T @ ((y - unit.shift) / unit.scale - hyper.mean)
    variance = k(Q, Q) - k(Q, X) @ w - (hyper.noise * w.T @ w if interpolate else 0.0)
    np.testing.assert_allclose(posterior(Q).mean, unit.shift + unit.scale * mean, rtol=1e-9)
    covariance = unit.scale**2 * variance
    np.testing.assert_allclose(posterior.covariance(Q, Q), covariance, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(posterior.covariance(Q, Q.copy()), covariance, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(posterior(Q).std ** 2, np.diag(covariance), rtol=1e-6)


@EACH
@pytest.mark.parametrize("interpolate", [False, True])
def test_gradients_of_posteriors_are_those_of_differences(kernel, interpolate):
    posterior, Q = posterior_of(kernel, interpolate=interpolate), inner_points(6)
    models = (
        [posterior] if interpolate else [posterior, posterior.relative_to(posterior.X[2], 0.0)]
    )
    for model in models:
        _, d_mean, d_std = model.with_gradient(Q)
        np.testing.assert_allclose(
            d_mean, differences(lambda X, at=model: at(X).mean, Q), rtol=1e-5, atol=1e-5
        )
        np.testing.assert_allclose(
            d_std, differences(lambda X, at=model: at(X).std, Q), rtol=1e-5, atol=1e-5
        )


@EACH
def test_the_gradient_of_the_likelihood_is_that_of_differences(kernel):
    X, y = data(12)
    z = (y - y.mean()) / y.std()

    def at(theta, mean=0.1):
        hyper = Hyperparameters(
            np.exp(theta[:2]), math.exp(theta[2]), math.exp(theta[3]), mean, kernel=kernel
        )
        return log_likelihood(X, z, hyper, GROUPS)

    theta = np.log([0.6, 0.9, 1.4, 0.02])
    here = at(theta)
    found = [*here.d_log_lengthscales, here.d_log_outputscale, here.d_log_noise]
    for slope, step in zip(found, 1e-5 * np.eye(4), strict=True):
        rise = (at(theta + step).value - at(theta - step).value) / 2e-5
        assert slope == pytest.approx(rise, rel=1e-5, abs=1e-6)


@EACH
def test_a_fit_is_at_a_maximum_and_carries_its_kernel(kernel):
    X, y = data(20)
    posterior = fit_posterior(X, y, groups=GROUPS, kernel=kernel, noise=None, prior="gamma")
    assert posterior.hyper.kernel == kernel
    by_name = fit_posterior(X, y, groups=GROUPS, kernel=kernel.name, noise=None, prior="gamma")
    assert by_name.hyper == posterior.hyper
    assert posterior.append(X[0], float(y[0])).hyper.kernel == kernel
    z = posterior.standardiser.forward(y)
    best = log_likelihood(X, z, posterior.hyper, GROUPS)
    assert best.value == pytest.approx(posterior.log_likelihood, rel=1e-9)
    again = fit(X, z, groups=GROUPS, kernel=kernel, noise=None, prior="gamma", start=by_name.hyper)
    np.testing.assert_allclose(again.lengthscales, posterior.hyper.lengthscales, rtol=0.02)


def test_hyper_parameters_of_another_kernel_are_others():
    class Other(type(DEFAULT_KERNEL)):
        pass

    assert hyper_of(Other()) != hyper_of(DEFAULT_KERNEL)
    assert hyper_of(KERNELS["matern52"]()) == hyper_of(DEFAULT_KERNEL)


# -------------------------------------------------------------------------------- paths


@EACH
@pytest.mark.parametrize("interpolate", [False, True])
def test_paths_have_the_posterior_s_mean_and_covariance(kernel, interpolate):
    posterior, Q = posterior_of(kernel, interpolate=interpolate), inner_points(4)
    rng = np.random.default_rng(62)
    found = np.array([sample_paths(posterior, rng, 40, frequencies=64)(Q) for _ in range(1000)])
    assert assert_drawn_from(posterior(Q).mean, posterior.covariance(Q, Q), found) < 0.05


@EACH
@pytest.mark.parametrize("interpolate", [False, True])
def test_gradients_of_paths_are_those_of_differences(kernel, interpolate):
    posterior, Q = posterior_of(kernel, interpolate=interpolate), inner_points(6)
    rng = np.random.default_rng(86)
    conditioner = PathConditioner.at(posterior, inner_points(8, seed=87), np.full(8, 1e-7))
    conditioned = conditioner.paths(conditioner.normals(rng, 3), rng)
    which = np.array([0, 1, 2, 2, 1, 0])
    for paths in (sample_paths(posterior, rng, 3), conditioned):
        _, gradient = paths.with_gradient(Q, which)
        rise = differences(lambda X, paths=paths: paths.with_gradient(X, which)[0], Q)
        np.testing.assert_allclose(gradient, rise, rtol=1e-5, atol=1e-4)


@EACH
def test_conditioned_paths_go_through_their_draws(kernel):
    posterior, Q = posterior_of(kernel), inner_points(8, seed=87)
    rng = np.random.default_rng(83)
    conditioner = PathConditioner.at(posterior, Q, np.full(8, 1e-7))
    normals = conditioner.normals(rng, 3)
    paths = conditioner.paths(normals, rng)
    for path, wanted in enumerate(conditioner.values(normals)):
        found, _ = paths.with_gradient(Q, np.full(8, path))
        np.testing.assert_allclose(found, wanted, rtol=1e-7)
