# SPDX-License-Identifier: Apache-2.0
"""Drawn studies: each ends with a verdict or is refused in words, whatever its numbers are.

They are drawn in lots of 100, each from a seed of its own. ``python -m tests.torture 50`` runs 50
lots and goes on after a failure.
"""

import pytest

from tests.torture.running import LOT, REFUSED, run_lot


def check_lot(seed):
    """All end well, most are not refused, and they end in several ways."""
    outcomes, failures = run_lot(seed)
    assert not failures, "\n\n".join(failures)
    assert outcomes.total() >= 0.9 * LOT
    assert outcomes[REFUSED] < 0.5 * LOT, outcomes
    assert len(outcomes) >= 4, outcomes


@pytest.mark.parametrize("seed", range(2))
def test_drawn_studies_end_well(seed):
    check_lot(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 50))
def test_5000_drawn_studies_end_well(seed):
    check_lot(seed)
