# SPDX-License-Identifier: Apache-2.0
"""Promises as values, and in a journal."""

import json

import pytest

from stopwise.core.beliefs import Fitted, Hyperparameters, ObjectiveFit
from stopwise.core.space import Real, as_domain
from stopwise.record.events import TrialAsked, TrialDropped, TrialTold
from stopwise.record.history import Observation, Trial
from stopwise.record.journal._lines import as_line, from_line
from stopwise.record.journal.codec import ParamsCodec
from stopwise.record.outcomes import Completed
from stopwise.record.promises import Promise, Promises
from stopwise.record.state import State

CODEC = ParamsCodec(as_domain({"x": Real(0, 1)}))
FITTED = Fitted(ObjectiveFit((Hyperparameters([0.3]),)))
TRIAL = Trial(0, {"x": 0.5})
TOLD = Observation(0, {"x": 0.5}, Completed(1.0), 1.0)


def test_a_sequence_with_totals_over_those_that_were_told():
    promises = Promises((Promise(4, 0.3, 0.1), Promise(5, 0.2), Promise(6, 0.5, 0.0)))
    assert len(promises) == 3
    assert [p.trial for p in promises] == [4, 5, 6]
    assert promises[1].delivered is None
    assert promises[1:] == Promises(promises.entries[1:])
    assert promises.promised == pytest.approx(0.8)
    assert promises.delivered == pytest.approx(0.1)
    assert str(promises) == "promised 0.8 in 2 choices, 0.1 came"
    assert str(promises[:1]) == "promised 0.3 in 1 choice, 0.1 came"


def test_no_promises_come_to_nothing():
    assert (Promises().promised, Promises().delivered) == (0.0, 0.0)
    assert str(Promises()) == "promised 0 in 0 choices, 0 came"


@pytest.mark.parametrize(
    "event",
    [TrialAsked(TRIAL, designed=False, fitted=FITTED, promised=0.25), TrialTold(TOLD, 0.125)],
    ids=["ask", "tell"],
)
def test_a_journal_brings_promises_back(event):
    line = json.loads(json.dumps(as_line(event, CODEC)))
    assert from_line(line, CODEC) == event


def test_a_line_without_a_promise_has_no_key_for_it():
    asked = as_line(TrialAsked(TRIAL, designed=True, fitted=None), CODEC)
    assert list(asked) == ["event", "trial", "params", "expected_cost", "designed", "fitted"]
    assert "delivered" not in as_line(TrialTold(TOLD), CODEC)
    state = State()
    state = state.after(from_line({**asked, "designed": False}, CODEC))
    state = state.after(TrialTold(TOLD))
    assert state.promises == {}


def test_a_trial_that_is_dropped_promises_nothing_any_more():
    state = State()
    state = state.after(TrialAsked(TRIAL, designed=False, fitted=FITTED, promised=0.25))
    assert state.promises == {0: Promise(0, 0.25)}
    assert state.chosen_with == {0: (FITTED, 0)}
    state = state.after(TrialDropped(0))
    assert (state.promises, state.chosen_with) == ({}, {})
