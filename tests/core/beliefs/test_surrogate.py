# SPDX-License-Identifier: Apache-2.0
"""A model that offers no more than ``Surrogate`` says serves all that reads laws at points."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from stopwise.acquisition import EIC, LCB, PBGI, LogEIPC, ThompsonSampling
from stopwise.acquisition.improvement import ImprovementBy
from stopwise.core.beliefs import Marginals, Posterior, Surrogate
from stopwise.errors import InputTypeError
from stopwise.stopping import RULES, UCBLCB, ProbabilisticRegretBound, SRGapMedian
from tests.support.textbook import SQUARE, TABLE, study

OFFERED = {name for name in (*vars(Surrogate), *vars(Marginals)) if not name.startswith("_")} | {
    "__len__"
}


@dataclass(frozen=True, eq=False)
class OnlyThat:
    """A posterior behind a window: it shows what the protocol says and nothing else."""

    _posterior: Posterior

    def __getattr__(self, name):
        if name in OFFERED:
            return getattr(self._posterior, name)
        raise AttributeError(name)

    def __len__(self):
        return len(self._posterior)


def behind_the_window(snapshot):
    objective = OnlyThat(snapshot.belief.objective)
    return replace(snapshot, belief=replace(snapshot.belief, objective=objective))


KINDS = pytest.mark.parametrize(
    ("domain", "noise"), [(TABLE, None), (TABLE, 0.05), (SQUARE, None), (SQUARE, 0.05)]
)


@KINDS
@pytest.mark.parametrize(
    "acquisition", [LogEIPC(), PBGI(0.1), EIC(0.1), LCB(), ImprovementBy(0.2)], ids=repr
)
def test_acquisitions_read_laws_alone(domain, noise, acquisition):
    snapshot = study(domain, noise=noise)
    own, foreign = acquisition.bind(snapshot), acquisition.bind(behind_the_window(snapshot))
    X = domain.points if domain is TABLE else np.random.default_rng(1).random((9, 2))
    np.testing.assert_array_equal(own(X), foreign(X))
    np.testing.assert_array_equal(own.with_gradient(X)[1], foreign.with_gradient(X)[1])
    np.testing.assert_array_equal(own.scales, foreign.scales)
    assert own.unit == foreign.unit


@KINDS
def test_rules_that_need_no_paths_read_laws_alone(domain, noise):
    snapshot = study(domain, noise=noise)
    for rule in (RULES["pbgi"](0.1), UCBLCB()):
        assert rule.signal(behind_the_window(snapshot)) == rule.signal(snapshot)


def test_what_needs_more_says_so():
    snapshot = behind_the_window(study(SQUARE))
    for needs_more in (
        lambda: snapshot.belief.posterior,
        lambda: snapshot.belief.prefix(2),
        lambda: ThompsonSampling().bind(snapshot),
        lambda: SRGapMedian().signal(snapshot),
        lambda: ProbabilisticRegretBound(epsilon=1e-3, estimate="mean").signal(snapshot),
    ):
        with pytest.raises(InputTypeError, match="OnlyThat, which gives the law of f at points"):
            needs_more()
