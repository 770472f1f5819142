# SPDX-License-Identifier: Apache-2.0
"""Stages of training with a little noise: a study does not begin ever more of the same."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

import stopwise as sw


def curves(noise: float) -> Any:
    """Training that falls fast at first; values differ from smooth ones by noise of each epoch."""

    def train(params: dict[str, Any]) -> Iterator[tuple[int, float]]:
        draw = random.Random(repr(params))  # noqa: S311
        bowl = sum((x - 0.5) ** 2 for x in params.values())
        for step in range(1, 82):
            yield step, 0.1 + 0.1 * bowl + 0.8 * step**-0.4 + noise * draw.random()

    return train


def spent_and_begun(noise: float, parameters: int, seed: int) -> tuple[float, int]:
    space = {f"x{i}": sw.Real(0.0, 3.0) for i in range(parameters)}
    options = {"lam": 0.005, "stages": 81, "seed": seed}
    result = sw.minimize(curves(noise), space, max_trials=120, **options)
    return result.spent, len(result.curves)


def test_it_stops_and_spends_no_more_than_whole_evaluations() -> None:
    spent, begun = spent_and_begun(0.01, 1, 0)  # five whole evaluations without stages
    assert spent < 5.0
    assert begun < 60


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.001, 0.01, 0.03])
@pytest.mark.parametrize(("parameters", "seed"), [(1, 1), (1, 2), (2, 0), (2, 1)])
def test_it_stops_with_other_noise_and_seeds(noise: float, parameters: int, seed: int) -> None:
    spent, begun = spent_and_begun(noise, parameters, seed)
    assert spent < 12.0
    assert begun < 100
