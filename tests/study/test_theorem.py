# SPDX-License-Identifier: Apache-2.0
"""The paper's lemma, theorem and corollaries, measured where their assumptions hold."""

import pytest

from tests.support import guarantees

CASES = [
    pytest.param(kind, lam, pair, id=f"{kind}-{lam}-{pair}")
    for kind in guarantees.COSTS
    for lam in guarantees.LAMS
    for pair in guarantees.PAIRS
]


@pytest.mark.parametrize(("kind", "lam", "pair"), CASES)
def test_the_lemma_holds_on_a_few_functions(kind, lam, pair):
    runs = [guarantees.run(seed, kind, lam, pair) for seed in range(4)]
    assert sum(run.steps for run in runs) > 0  # else nothing was chosen
    assert min(run.worst_lemma for run in runs) >= -1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "lam", "pair"), CASES)
def test_lemma_theorem_and_corollary_hold_over_many_functions(kind, lam, pair):
    runs = [guarantees.run(seed, kind, lam, pair) for seed in range(200)]
    found = guarantees.summary(runs, lam)
    assert found["lemma"] >= -1e-9  # before stopping, EI is worth its price, without exception
    saved, error = found["saved"]
    assert saved >= -2 * error  # no worse than stopping at once
    slack, error = found["slack"]
    assert slack >= -2 * error  # lam times mean spend is at most U


@pytest.mark.slow
@pytest.mark.parametrize("kind", guarantees.COSTS)
@pytest.mark.parametrize("beyond_design", [5.0, 20.0])
def test_lam_for_a_budget_keeps_the_mean_spend_within_it(kind, beyond_design):
    _, budget, (spent, error) = guarantees.spend_of_a_budget(kind, beyond_design, range(200))
    assert spent <= budget + 2 * error
