# SPDX-License-Identifier: Apache-2.0
"""Length scales of choices: their prior, and what the default model foresees from it."""

import itertools
import math

import numpy as np
import pytest

from stopwise.core.beliefs import Hyperparameters
from stopwise.core.beliefs.fit import fit
from stopwise.core.beliefs.models import Data, PlainModel, WeighedModel
from stopwise.core.beliefs.priors import LogNormalPrior, priors, priors_with_choices
from tests.support.dense import DenseGP

GROUPS = np.array([0, 1, 1, 2, 3, 3, 3])  # a number, a choice of two, a number, a choice of three
CHOICES = np.array([False, True, False, True])


def mixed_data(n=30):
    """Standardised observations in which every parameter has an effect."""
    rng = np.random.default_rng(3)
    a, b = rng.random((2, n))
    two, three = rng.integers(2, size=n), rng.integers(3, size=n)
    X = np.hstack([a[:, None], np.eye(2)[two], b[:, None], np.eye(3)[three]])
    y = np.sin(4 * a) + 0.7 * two + (b - 0.4) ** 2 + np.array([0.0, 0.5, 2.0])[three] * (1 + a)
    return X, (y - y.mean()) / y.std(ddof=1)


def test_numbers_keep_the_published_prior_and_the_others_have_its_median_as_their_mode():
    usual, new = priors("lognormal", 4), priors_with_choices(CHOICES)
    published = LogNormalPrior(math.sqrt(2) + math.log(4) / 2, math.sqrt(3))
    for prior, is_choice in zip(new.by_parameter, CHOICES, strict=True):
        assert (prior == published) == (not is_choice)
        assert prior.std == published.std
        assert prior.log_mode == pytest.approx(published.mean - (0.0 if is_choice else 3.0))
    assert (new.lengthscale, new.noise) == (usual.lengthscale, usual.noise)
    assert (new.outputscale.std, new.outputscale.log_mode) == (1.0, 0.0)


def density(X, y, hyper, prior, *, learned):
    """Log posterior density of hyper-parameters, written again and in full."""
    dense = DenseGP(X, y, hyper, groups=GROUPS, shift=0.0, scale=1.0)
    parts = [(p, v) for p, v in zip(prior.by_parameter, hyper.lengthscales, strict=True)]
    parts += [(prior.outputscale, hyper.outputscale)] + [(prior.noise, hyper.noise)] * learned
    logs = [float(p.log_density(np.log([v]))[0][0]) for p, v in parts]
    return dense.log_likelihood() + math.fsum(logs)


@pytest.mark.parametrize("noise", [1e-3, None], ids=["fixed", "learned"])
def test_a_fit_with_a_prior_for_each_parameter_is_a_maximum_in_every_direction(noise):
    X, y = mixed_data()
    prior, learned = priors_with_choices(CHOICES), noise is None
    hyper = fit(X, y, groups=GROUPS, prior=prior, noise=noise)
    best = density(X, y, hyper, prior, learned=learned)
    for i, step in itertools.product(range(5 + learned), (-0.05, 0.05)):
        theta = np.zeros(6)
        theta[i] = step
        nearby = Hyperparameters(
            hyper.lengthscales * np.exp(theta[:4]),
            hyper.outputscale * math.exp(theta[4]),
            hyper.noise * math.exp(theta[5]),
            hyper.mean,
        )
        assert density(X, y, nearby, prior, learned=learned) < best + 1e-5


# ---------------------------------------------------------------------------- the default model


def catalogue():
    """Four solvents, three bases and two temperatures, with effects that add; one-hot columns."""
    rows = np.array(list(itertools.product(range(4), range(3), range(2))))
    X = np.hstack([np.eye(k)[rows[:, j]] for j, k in enumerate((4, 3, 2))])
    solvent, base = np.array([0.0, 9.0, 30.0, 4.0]), np.array([0.0, 7.0, 3.0])
    y = -(solvent[rows[:, 0]] + base[rows[:, 1]] + 12.0 * rows[:, 2])
    return rows, X, y


def test_what_a_step_has_brought_three_times_is_expected_of_it_elsewhere():
    """The best solvent was never heated; heating has brought 12 with each of the others."""
    rows, X, y = catalogue()
    told = [(0, 0, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1), (3, 2, 0), (3, 2, 1), (2, 1, 0), (2, 2, 0)]
    at = [int(np.flatnonzero((rows == row).all(axis=1))[0]) for row in told]
    heated = int(np.flatnonzero((rows == (2, 1, 1)).all(axis=1))[0])
    data = Data(X[at], y[at], np.repeat(np.arange(3), (4, 3, 2)))
    best = np.array(y[at].min())
    gains = {}
    for model in (WeighedModel(), PlainModel()):
        law = model.fit(data, None, ()).law(X[[heated]])
        gains[model.name] = math.exp(float(law.log_ei(best).value[0]))
    assert best - y[heated] == 12.0
    assert gains["default"] > 1.0
    assert gains["default"] > 5.0 * gains["plain"]


def test_which_parameters_are_choices_follows_from_the_columns():
    X, y = mixed_data()
    assert Data(X, y, GROUPS).choices.tolist() == CHOICES.tolist()


def test_without_choices_or_with_another_prior_the_first_component_is_the_plain_fit():
    X, y = mixed_data()
    numbers = Data(X[:, [0, 3]], y, np.arange(2))
    others = [Data(X, y, GROUPS, prior=prior) for prior in ("gamma", None)]
    for data in (numbers, *others):
        first = WeighedModel().fit(data, None, ()).components[0]
        assert first.hyper == PlainModel().fit(data, None, ()).hyper
    data = Data(X, y, GROUPS)
    first = WeighedModel().fit(data, None, ()).components[0]
    assert first.hyper != PlainModel().fit(data, None, ()).hyper


def test_a_choice_that_decides_which_parameters_exist_keeps_its_prior():
    X, y = mixed_data()

    def fitted(deciding):
        data = Data(X, y, GROUPS, deciding=deciding)
        return WeighedModel().fit(data, None, ()).components[0].hyper

    plain = PlainModel().fit(Data(X, y, GROUPS), None, ()).hyper
    assert fitted([1, 3]) == plain
    assert fitted([0]) == fitted([]) != plain  # a number has its prior anyway
    one = fitted([1])
    assert one not in (plain, fitted([]))
