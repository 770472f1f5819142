# SPDX-License-Identifier: Apache-2.0
"""Drawn studies: each ends with a verdict or is refused in words, whatever its numbers are.

They are drawn in lots of 50, each from a seed of its own. ``python -m tests.torture 100`` runs 100
lots and goes on after a failure.
"""

import pytest

from tests.torture.in_stages import check_in_stages, drawn_in_stages
from tests.torture.running import LOT, REFUSED, run_lot

QUICK = (4, 5, 7, 62)  # lots that take 5 to 9 s; others take up to 40


def check_lot(seed, *in_stages):
    """All end well, most are not refused, and they end in several ways."""
    outcomes, failures = run_lot(seed, *in_stages)
    assert not failures, "\n\n".join(failures)
    assert outcomes.total() >= 0.9 * LOT
    assert outcomes[REFUSED] < 0.5 * LOT, outcomes
    assert len(outcomes) >= 3, outcomes


@pytest.mark.parametrize("seed", QUICK)
def test_drawn_studies_end_well(seed):
    check_lot(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [seed for seed in range(100) if seed not in QUICK])
def test_5000_drawn_studies_end_well(seed):
    check_lot(seed)


def test_drawn_studies_in_stages_end_well():
    check_lot(0, drawn_in_stages(), check_in_stages)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 20))
def test_1000_drawn_studies_in_stages_end_well(seed):
    check_lot(seed, drawn_in_stages(), check_in_stages)
