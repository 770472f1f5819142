# SPDX-License-Identifier: Apache-2.0
"""Several objectives are refused, in a sentence that says what to do instead."""

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.one_objective import are_several
from stopwise.errors import InputError, InputTypeError

LINE = {"x": sw.Real(0.0, 1.0)}
WORDS = ("one objective", "weighted sum", "utility", "limits={...}")


def says_what_to_do(error):
    assert all(words in str(error) for words in WORDS), error


@pytest.mark.parametrize(
    "several", [[0.3, 0.4], (0.3, 0.4), np.array([0.3, 0.4]), {"loss": 0.3}, {0.3, 0.4}, [0.3]]
)
def test_a_study_is_told_one_value(several):
    study = sw.Study(LINE, lam=0.01)
    trial = study.ask()
    with pytest.raises(InputTypeError) as refused:
        study.tell(trial, several)
    says_what_to_do(refused.value)
    # if they were repeats
    assert isinstance(several, dict) or "noise='learn'" in str(refused.value)
    assert len(study.history) == 0


@pytest.mark.parametrize("several", [(0.3, 0.4), {0.3, 0.4}, {"loss": 0.3}, np.ones((2, 2))])
def test_with_noise_a_list_is_repeats_and_nothing_else_is(several):
    study = sw.Study(LINE, lam=0.01, noise="learn")
    with pytest.raises(InputTypeError) as refused:
        study.tell({"x": 0.5}, several)
    says_what_to_do(refused.value)


@pytest.mark.parametrize(
    ("returned", "options"),
    [
        ([0.3, 0.4], {}),
        ((0.3, 0.4), {}),  # without costs it is no (value, cost)
        ((0.3, 0.4), {"cost": "seconds"}),
        ((0.3, 0.4, 0.5), {"cost": lambda _: 1.0}),
        (([0.3, 0.4], 1.0), {"cost": "reported"}),
        ({"loss": 0.3, "latency": 2.0}, {}),
        (sw.Evaluation([0.3, 0.4]), {}),
    ],
)
def test_an_objective_returns_one_value(returned, options):
    with pytest.raises(InputTypeError) as refused:
        sw.minimize(lambda _: returned, LINE, lam=0.01, **options)
    says_what_to_do(refused.value)


def test_a_pair_is_a_value_and_its_cost_where_costs_are_reported():
    result = sw.minimize(lambda p: (p["x"], 2.0), LINE, lam=1.0, cost="reported")
    assert result.spent == 2.0 * len(result.history)


@pytest.mark.parametrize("direction", [["minimize", "maximize"], ("minimize",)])
def test_a_study_has_one_direction(direction):
    with pytest.raises(InputError) as refused:
        sw.Study(LINE, lam=0.01, direction=direction)
    says_what_to_do(refused.value)


def test_one_number_is_not_several():
    torch = pytest.importorskip("torch")
    assert are_several(torch.ones(2))
    one = (0.3, 3, None, "text", np.float64(0.3), np.array(0.3), np.array([0.3]), torch.ones(1))
    assert not any(map(are_several, one))
