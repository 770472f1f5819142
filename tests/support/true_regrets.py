# SPDX-License-Identifier: Apache-2.0
"""What can still be gained, in joint draws of the textbook's posterior, and PRB's answer to it."""

import functools
from dataclasses import replace

import numpy as np

from stopwise.core.beliefs import Hyperparameters
from stopwise.core.space import Integer, as_domain
from stopwise.core.traces import Trace
from stopwise.stopping import (
    ProbabilisticRegretBound,
)
from stopwise.stopping.sampled_regret import exceedances
from tests.support.textbook import LINE, Textbook, study

DELTA = 0.05
LEVEL = DELTA / 2.0  # that of one error of the two
DRAWS = 100_000

# Short length scales: many candidates that are nearly independent. Long: nearly one.
# Elsewhere lower values are expected than were seen, so that there is something to gain.
ROUGH = Hyperparameters([0.12, 0.12], 1.0, mean=-0.5)
SMOOTH = Hyperparameters([0.6, 0.6], 1.0, mean=-1.0)
CROWD = as_domain({"k": Integer(0, 200)})


def true_regrets(snapshot, points, draws=DRAWS, seed=70):
    """Draws of f(x*) - min f; what only rounding makes of 0 is 0."""
    book = Textbook(snapshot)
    rng = np.random.default_rng(seed)
    rows = np.vstack([points, book.incumbent])
    found = []
    for _ in range(draws // 10_000):
        values = book.draws(rows, rng, 10_000)
        found.append(values[:, -1] - values.min(axis=1))
    regret = np.concatenate(found)
    return np.where(regret < 1e-6, 0.0, regret)


def margin_for(regret, probability):
    """The epsilon that is exceeded with this probability."""
    return float(np.quantile(regret, 1.0 - probability))


def crowd(noise=None):
    """Many neighbours far from the data: their chances add up to more than they amount to."""
    return study(
        CROWD, X=CROWD.points[[0, 10, 20]], hyper=Hyperparameters([0.5], 1.0), noise=noise
    )


def exceeding(snapshot, epsilon, batches):
    """How many paths of each batch have a regret above epsilon."""
    return [np.count_nonzero(batch) for batch in exceedances(snapshot, epsilon, batches)]


def ask(snapshot, epsilon, seed=0, **options):
    rule = ProbabilisticRegretBound(epsilon, **options)
    signal = rule.signal(replace(snapshot, seed=seed))
    return rule.verdict(Trace.of((signal,))), signal


def box_study(domain, n, noise):
    scale = 0.12 if domain is LINE else 0.3
    return study(domain, n, hyper=Hyperparameters([scale] * domain.d, 1.0), noise=noise, seed=2)


def fine(domain):
    axis = np.linspace(0.0, 1.0, 301 if domain is LINE else 27)
    return np.stack(np.meshgrid(*[axis] * domain.d), axis=-1).reshape(-1, domain.d)


@functools.cache
def box_truth(domain, n, noise):
    return true_regrets(box_study(domain, n, noise), fine(domain), 20_000)
