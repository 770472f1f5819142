# SPDX-License-Identifier: Apache-2.0
"""What was asked and what came back."""

import dataclasses
import sys

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.errors import MissingExtraError
from stopwise.record.history import History, Observation, Trial
from stopwise.record.outcomes import Completed, Failed
from tests.support.strategies import magnitudes, reals

OBSERVATIONS = st.builds(
    Observation,
    number=st.integers(0, 99),
    params=st.fixed_dictionaries({"x": reals(0, 1)}),
    outcome=st.builds(Completed, reals(-5, 5))
    | st.builds(Failed, st.sampled_from(["", "out of memory"])),
    cost=magnitudes(-3, 3),
    charged=st.booleans(),
)


def history_of(observations):
    history = History()
    for observation in observations:
        history = history.with_(observation)
    return history


@given(st.lists(OBSERVATIONS, max_size=8))
def test_a_history_is_what_was_told_in_order(observations):
    history = history_of(observations)
    assert len(history) == len(observations)
    assert list(history) == observations
    assert [history[i] for i in range(len(history))] == observations
    assert list(history.succeeded) == [o for o in observations if o.value is not None]
    assert [o.failed for o in history] == [o.value is None for o in observations]
    assert history.spent == pytest.approx(sum(o.cost for o in observations if o.charged))


@given(st.lists(OBSERVATIONS, max_size=8), st.integers(-9, 9))
def test_a_part_of_a_history_is_a_history(observations, cut):
    history = history_of(observations)
    assert history[cut:] == history_of(observations[cut:])
    assert history[:cut] == history_of(observations[:cut])


def test_adding_leaves_the_history_as_it_was():
    first = History().with_(Observation(0, {"x": 1}, Completed(2.0), 3.0))
    longer = first.with_(Observation(1, {"x": 2}, Completed(1.0), 3.0))
    assert (len(first), len(longer)) == (1, 2)
    assert first.observations == longer.observations[:1]


@pytest.mark.parametrize(
    "thing", [Trial(0, {}), Observation(0, {}, Completed(1.0), 1.0), History()]
)
def test_nothing_in_it_can_be_reassigned(thing):
    for field in dataclasses.fields(thing):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, field.name, None)


def test_an_empty_history_spent_nothing_and_has_no_rows():
    assert History().spent == 0.0
    assert History().to_frame().empty


def test_a_frame_has_a_row_per_observation_and_a_column_per_parameter():
    history = history_of(
        [
            Observation(0, {"lr": 0.1, "act": "relu"}, Completed(0.5), 10.0),
            Observation(1, {"lr": 0.2, "act": "tanh"}, Failed("diverged"), 2.0),
        ]
    )
    expected = pd.DataFrame(
        {
            "number": [0, 1],
            "lr": [0.1, 0.2],
            "act": ["relu", "tanh"],
            "value": [0.5, None],
            "cost": [10.0, 2.0],
            "message": ["", "diverged"],
        }
    )
    pd.testing.assert_frame_equal(history.to_frame(), expected)


def test_a_parameter_called_like_a_column_is_not_lost():
    params = {"value": 7, "cost": 8, "number": 9, "message": "m", "x": 1}
    [row] = (
        History().with_(Observation(0, params, Completed(0.5), 10.0)).to_frame().to_dict("records")
    )
    assert row == {
        "number": 0, "param_value": 7, "param_cost": 8, "param_number": 9, "param_message": "m",
        "x": 1, "value": 0.5, "cost": 10.0, "message": "",
    }  # fmt: skip


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"needs the package 'pandas'.*frames"):
        History().to_frame()
