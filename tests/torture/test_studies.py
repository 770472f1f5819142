# SPDX-License-Identifier: Apache-2.0
"""Drawn studies: each ends with a verdict or is refused in words, whatever its numbers are."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.torture.drawn import REFUSED, check, drawn_studies


def run_drawn(count):
    """Run so many studies, and count how they ended."""
    outcomes = Counter()

    # A study is short to read as it was drawn, and shrinking it takes minutes.
    @settings(
        max_examples=count,
        phases=[Phase.reuse, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(drawn_studies())
    def run(drawn):
        outcomes[check(drawn)] += 1

    run()
    return outcomes


def check_that_most_run(outcomes, *, ways):
    """Few are refused: the others have shown something, and ended in several ways."""
    assert outcomes[REFUSED] < 0.3 * outcomes.total(), outcomes
    assert len(outcomes) >= ways, outcomes


def test_50_drawn_studies_end_well():
    check_that_most_run(run_drawn(50), ways=3)


@pytest.mark.slow
def test_5000_drawn_studies_end_well():
    check_that_most_run(run_drawn(5000), ways=8)
