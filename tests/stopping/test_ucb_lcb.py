# SPDX-License-Identifier: Apache-2.0
"""UCB-LCB: the gap of confidence bounds against the formula of Makarova et al. 2022."""

import math

import numpy as np
import pytest

from stopwise.core.traces import Signal
from stopwise.stopping import (
    UCBLCB,
)
from tests.support.rules import KINDS, verdict_of
from tests.support.textbook import (
    LINE,
    SQUARE,
    TABLE,
    Textbook,
    study,
)


def their_gap(book, X, evaluated, n, d):
    """Makarova et al. 2022: min over D of UCB - min over X of LCB, beta scaled by 1/5."""
    root = math.sqrt(2.0 / 5.0 * math.log(d * n**2 * math.pi**2 / (6.0 * 0.1)))
    upper = np.min(book.mean(evaluated) + root * book.std(evaluated))
    lower = np.min(book.mean(X) - root * book.std(X))
    return upper - lower, upper, lower


@KINDS
def test_the_gap_on_a_table(noise):
    for seed in range(4):
        snapshot = study(noise=noise, seed=seed)
        signal = UCBLCB().signal(snapshot)
        found = (signal.value, signal.facts["upper"], signal.facts["lower"])
        wanted = their_gap(Textbook(snapshot), TABLE.points, snapshot.X, snapshot.n, 2)
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8)


@KINDS
@pytest.mark.parametrize("domain", [LINE, SQUARE], ids=["line", "square"])
def test_the_gap_on_a_box_is_that_of_a_fine_grid(domain, noise):
    snapshot = study(domain, 7, noise=noise)
    axis = np.linspace(0.0, 1.0, 1001 if domain is LINE else 41)
    grid = np.stack(np.meshgrid(*[axis] * domain.d), axis=-1).reshape(-1, domain.d)
    signal = UCBLCB().signal(snapshot)
    gap, upper, lower = their_gap(Textbook(snapshot), grid, snapshot.X, 7, domain.d)
    assert signal.facts["upper"] == pytest.approx(upper, abs=1e-6)
    assert lower - 0.01 <= signal.facts["lower"] <= lower + 1e-9
    assert gap - 1e-6 <= signal.value <= gap + 0.01


def test_the_gap_is_never_negative():
    # One very good value among bad ones: no point elsewhere can be as low.
    X = TABLE.points[:39]
    y = np.append(np.zeros(38) + np.linspace(9.0, 10.0, 38), 0.0)
    assert UCBLCB().signal(study(X=X, y=y)).value >= 0.0


def test_on_a_box_the_evaluated_points_count_too():
    # A search that finds nothing must not make the gap negative or too small.
    snapshot = study(LINE, 5, noise=0.3)
    root = math.sqrt(0.4 * math.log(25 * math.pi**2 / 0.6))
    mean, std = snapshot.belief.objective(snapshot.X)
    signal = UCBLCB().signal(snapshot)
    assert signal.facts["lower"] <= np.min(mean - root * std)


def test_ucb_lcb_compares_with_theta():
    rule = UCBLCB(0.5)
    for value, stop in ((0.5, True), (0.50001, False), (0.0, True)):
        verdict = verdict_of(rule, Signal(3, 9, value))
        assert (verdict.stop, verdict.threshold) == (stop, 0.5)
    assert verdict.reason == (
        "the confidence bounds leave at most 0 to be gained; the tolerance is 0.5: stop"
    )
    assert UCBLCB(0.1).key == UCBLCB(0.2).key
