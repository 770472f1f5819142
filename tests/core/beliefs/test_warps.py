# SPDX-License-Identifier: Apache-2.0
"""Output warps: every warp of the table, and a posterior whose outputs are warped.

The posterior is tested with a warp that is in no table (`tests.support.square_warp`), so that the
way through a warp is tested whatever the table holds.
"""

import math
import warnings

import numpy as np
import pytest
from scipy.special import ndtri

from stopwise.acquisition import LCB
from stopwise.core.beliefs import (
    WARPS,
    Belief,
    Hyperparameters,
    LogWarp,
    Normal,
    SoftWarp,
    Standardiser,
    UnitCost,
    condition,
    fit_posterior,
    sample_paths,
)
from stopwise.core.beliefs.conditioned_paths import PathConditioner
from stopwise.core.beliefs.paths import JointDraws
from stopwise.core.beliefs.warps import DEFAULT_WARP, Clipped, make_warp
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Real, as_domain
from stopwise.errors import InputError, InputTypeError
from tests.support.gradients import check_gradient, differences
from tests.support.square_warp import Squares

EXAMPLES = {  # arguments of each
    "identity": (), "soft": (1.5, 0.5), "log": (-1.0,), "clipped": (-9.0, math.inf),
}  # fmt: skip
EACH = pytest.mark.parametrize(
    "warp", [make(*EXAMPLES[name]) for name, make in WARPS.items()], ids=list(WARPS)
)
VALUES = np.array([0.3, 1.0, 2.5, 7.0])


# ------------------------------------------------------------------------------ the table


def test_names_lead_to_warps_and_warps_are_values():
    for name, make in WARPS.items():
        warp = make(*EXAMPLES[name])
        assert warp.name == name
        assert make_warp(warp) == warp == make(*EXAMPLES[name])
        assert hash(warp) == hash(make(*EXAMPLES[name]))
    assert make_warp("identity") == WARPS["identity"]() == DEFAULT_WARP
    with pytest.raises(InputError, match=r"'soft' needs knee, tau: .*sw\.beliefs\.SoftWarp\(knee"):
        make_warp("soft")
    with pytest.raises(InputError, match="no warp 'log1p'"):
        make_warp("log1p")
    with pytest.raises(InputTypeError, match="no warp"):
        make_warp(3.0)


@EACH
def test_a_warp_is_increasing_and_its_inverse_undoes_it(warp):
    warped = warp.forward(VALUES)
    assert np.all(np.diff(warped) > 0.0)
    np.testing.assert_allclose(warp.inverse(warped), VALUES, rtol=1e-12)
    rise = (warp.inverse(warped + 1e-6) - warp.inverse(warped - 1e-6)) / 2e-6
    np.testing.assert_allclose(warp.inverse_slope(warped), rise, rtol=1e-7)


@EACH
def test_the_inverse_overflows_without_a_warning(warp):
    with np.errstate(all="raise", over="warn"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.all(warp.inverse(np.array([1e200, np.inf])) > 1e199)
        assert np.all(warp.inverse_slope(np.array([1e200, np.inf])) >= 1.0)


def test_warps_say_what_they_do():
    assert DEFAULT_WARP.words() == DEFAULT_WARP.words(-1.0) == "values as they are"
    assert SoftWarp(7.1, 0.2).words() == "values above 7.1 are compressed"
    assert LogWarp(0.0).words() == "the logarithm of the distance to 0 is modelled"
    assert Clipped(0.0, np.inf, SoftWarp(7.1, 0.2)).words() == SoftWarp(7.1, 0.2).words()


def test_where_the_user_maximises_they_speak_of_the_users_values():
    assert SoftWarp(-0.8, 0.2).words(-1.0) == "values below 0.8 are compressed"
    assert SoftWarp(0.0, 0.2).words(-1.0) == "values below 0 are compressed"
    assert LogWarp(-1.0).words(-1.0) == "the logarithm of the distance to 1 is modelled"
    assert Clipped(-1.0, 0.0, SoftWarp(-0.8, 0.2)).words(-1.0) == SoftWarp(-0.8, 0.2).words(-1.0)


def test_the_soft_warp_is_the_identity_up_to_its_knee():
    warp, y = SoftWarp(1.5, 0.5), np.array([-1e300, 0.1, 1.5])
    np.testing.assert_array_equal(warp.forward(y), y)
    np.testing.assert_array_equal(warp.inverse(y), y)
    assert warp.forward(np.array([2.5]))[0] == pytest.approx(1.5 + 0.5 * np.log(3.0), rel=1e-15)


@pytest.mark.parametrize("tau", [0.0, -1.0, np.inf, np.nan])
def test_a_soft_warp_without_a_scale_is_refused(tau):
    with pytest.raises(InputError, match="tau > 0"):
        SoftWarp(1.0, tau)
    with pytest.raises(InputError, match="finite knee"):
        SoftWarp(np.nan, 1.0)


def test_the_log_warp_refuses_what_it_cannot_take():
    with pytest.raises(InputError, match=r"a value of 0 cannot be warped: .* values above 0"):
        LogWarp(0.0).forward(np.array([1.0, 0.0, 2.0]))
    with pytest.raises(InputError, match="nan cannot be warped"):
        LogWarp(0.0).forward(np.array([1.0, np.nan]))
    with pytest.raises(InputError, match="finite bound"):
        LogWarp(-np.inf)
    assert LogWarp(0.0).forward(np.array([])).size == 0
    law = LogWarp(0.0).law(Normal(np.zeros(2), np.ones(2)))
    with pytest.raises(InputError, match="above 0, got a value of -1"):
        law.known_at(np.array([0, 1]), np.array([2.0, -1.0]))


@EACH
def test_the_law_has_the_normal_s_parameters_and_its_quantiles_are_the_warped_ones(warp):
    normal = Normal(warp.forward(VALUES), np.array([0.1, 0.2, 0.05, 0.3]))
    law = warp.law(normal)
    for one, other in zip(law.parameters, normal.parameters, strict=True):
        np.testing.assert_array_equal(one, other)
    for p in (0.01, 0.5, 0.9):
        z = float(ndtri(p))
        wanted = warp.inverse(normal.quantile(z).value)
        np.testing.assert_allclose(law.quantile(z).value, wanted, rtol=1e-9)
        np.testing.assert_allclose(law.cdf(wanted).value, p, rtol=1e-9)


@EACH
def test_the_law_s_expected_gain_and_mean_are_those_of_draws(warp):
    normal = Normal(warp.forward(VALUES), np.array([0.1, 0.2, 0.05, 0.3]))
    law = warp.law(normal)
    z = np.random.default_rng(1).standard_normal((200_000, 4))
    draws = warp.inverse(normal.mean + normal.std * z)
    gains = np.maximum(VALUES - draws, 0.0)
    for found, of in ((np.exp(law.log_ei(VALUES).value), gains), (law.mean, draws)):
        sure = of.std(axis=0) / np.sqrt(len(draws))
        assert np.all(np.abs(found - of.mean(axis=0)) < 5.0 * sure)
    np.testing.assert_allclose(law.std, draws.std(axis=0), rtol=0.02)


# ------------------------------------------------------------------- a warped posterior


def warped_posterior(*, interpolate=True):
    X = np.random.default_rng(2).random((8, 2))
    y = 4.0 + np.sin(5.0 * X).sum(axis=1)
    hyper = Hyperparameters([0.4, 0.6], 1.2, 1e-9 if interpolate else 0.05, warp=Squares())
    return X, y, condition(X, y, hyper, interpolate=interpolate)


def test_a_warped_posterior_is_the_posterior_of_warped_values():
    X, y, posterior = warped_posterior()
    Q = np.random.default_rng(3).random((5, 2))
    plain = condition(X, np.sqrt(y) - 1.0, Hyperparameters([0.4, 0.6], 1.2), interpolate=True)
    np.testing.assert_array_equal(posterior(Q), plain(Q))
    law = posterior.law(Q)
    np.testing.assert_allclose(law.quantile(0.0).value, (plain(Q).mean + 1.0) ** 2, rtol=1e-14)
    np.testing.assert_allclose(posterior.law(X).mean, y, rtol=1e-6)
    unit = Standardiser.of(np.sqrt(y))
    assert posterior.unit == pytest.approx(2.0 * unit.shift * unit.scale, rel=1e-12)
    assert posterior.resolution == pytest.approx(posterior.unit * np.sqrt(1e-9))
    grown = posterior.append(Q[0], 5.0)
    assert grown.law(Q[:1]).mean[0] == pytest.approx(5.0, rel=1e-6)
    np.testing.assert_allclose(posterior.prefix(3).law(X[:3]).mean, y[:3], rtol=1e-6)


def test_gradients_pass_through_the_law():
    X, y, posterior = warped_posterior(interpolate=False)
    domain = as_domain({"a": Real(0, 1), "b": Real(0, 1)})
    price = UnitCost().price(domain, X, np.ones(len(X)))
    snapshot = Snapshot(domain, X, y, Belief(posterior, price), X[:0])
    Q = np.random.default_rng(4).random((4, 2))
    check_gradient(LCB().bind(snapshot), Q, tolerance=1e-5)
    relative = posterior.relative_to(X[0], 0.0)
    law, gradients = relative.law_with_gradient(Q)
    np.testing.assert_allclose(law.mean, relative.law(Q).mean, rtol=1e-12)
    for i, gradient in enumerate(gradients):
        rises = differences(lambda X, i=i: relative.law(X).parameters[i], Q)
        np.testing.assert_allclose(gradient, rises, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("interpolate", [False, True])
def test_paths_and_draws_are_in_the_user_s_units(interpolate):
    X, y, posterior = warped_posterior(interpolate=interpolate)
    Q = np.random.default_rng(5).random((4, 2))
    rng = np.random.default_rng(6)
    drawn = JointDraws.at(posterior, Q)(rng, 40_000)
    sure = drawn.std(axis=0) / 200.0
    assert np.all(np.abs(drawn.mean(axis=0) - posterior.law(Q).mean) < 5.0 * sure)
    conditioner = PathConditioner.at(posterior, Q, np.full(4, 1e-7))
    normals = conditioner.normals(rng, 3)
    conditioned, free = conditioner.paths(normals, rng), sample_paths(posterior, rng, 3)
    if interpolate:
        np.testing.assert_allclose(free(X), np.tile(y, (3, 1)), rtol=1e-5)
    which = np.array([0, 1, 2, 0])
    values, _ = conditioned.with_gradient(Q, which)
    np.testing.assert_allclose(values, conditioner.values(normals)[which, np.arange(4)], rtol=1e-7)
    for paths in (free, conditioned):
        _, gradient = paths.with_gradient(Q, which)
        rises = differences(lambda X, of=paths: of.with_gradient(X, which)[0], Q)
        np.testing.assert_allclose(gradient, rises, rtol=1e-5, atol=1e-5)


def test_a_fit_carries_its_warp():
    X, y, _ = warped_posterior()
    posterior = fit_posterior(X, y, warp=Squares())
    assert posterior.hyper.warp == Squares()
    assert posterior.hyper == condition(X, y, posterior.hyper).hyper
    plain = fit_posterior(X, np.sqrt(y) - 1.0)
    np.testing.assert_array_equal(posterior.hyper.lengthscales, plain.hyper.lengthscales)
    assert posterior.hyper != plain.hyper
    assert fit_posterior(X, y, warp="identity").hyper == fit_posterior(X, y).hyper
