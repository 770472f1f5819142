# SPDX-License-Identifier: Apache-2.0
"""Two workers on one study that would choose the same point: one of them steps aside."""

import threading
import time
from dataclasses import replace

import optuna
import pytest
from optuna.trial import create_trial

from stopwise.integrations.optuna import StopwiseSampler
from stopwise.integrations.optuna._board import Board, Note
from tests.support.optuna_study import SPACE, loss


def pair(seed=3):
    """Two workers with their own samplers on one study, where everything is known but the last."""
    study = optuna.create_study()
    for layers in (1, 2, 5, 6):
        for act in (None, "relu"):
            params = {"layers": layers, "act": act}
            study.add_trial(create_trial(value=loss(params), params=params, distributions=SPACE))
    samplers = [StopwiseSampler(0.001, space=SPACE, seed=seed) for _ in range(2)]
    trials = [study._storage.get_trial(study._storage.create_new_trial(0)) for _ in range(2)]
    return study, samplers, trials


def hide_once(monkeypatch, board_of, hidden):
    """The first look of one trial does not show another, which had not written yet."""
    seen, left = Board.look, [True]

    def stale(board):
        look = seen(board)
        if board.trial.number == board_of.number and left and left.pop():
            return look._replace(others=[t for t in look.others if t.number != hidden.number])
        return look

    monkeypatch.setattr(Board, "wait_for_turn", lambda board: board.look())
    monkeypatch.setattr(Board, "look", stale)


def test_the_later_trial_steps_aside_for_what_it_did_not_know(monkeypatch):
    study, (one, two), (first, second) = pair()
    chosen = one.sample_relative(study, first, SPACE)
    hide_once(monkeypatch, second, first)
    asked = []
    choose = two._choose
    monkeypatch.setattr(two, "_choose", lambda *a: asked.append(choose(*a)) or asked[-1])
    other = two.sample_relative(study, second, SPACE)
    assert [choice.params == chosen for choice in asked] == [True, False]
    assert other != chosen


@pytest.mark.parametrize("settles", [True, False])
def test_the_earlier_trial_waits_for_a_later_one_to_settle_or_leave(monkeypatch, settles):
    study, (one, two), (first, second) = pair()
    later = Board(study, second)
    choice = two._choose(study, later, SPACE, later.look().others)
    hide_once(monkeypatch, first, second)
    later.write(choice.note)

    def decide():
        time.sleep(0.3)
        later.write(replace(choice.note, settled=True) if settles else Note())

    thread = threading.Thread(target=decide)
    thread.start()
    mine = one.sample_relative(study, first, SPACE)
    thread.join()
    assert (mine == choice.params) is not settles


def test_a_dead_worker_is_not_waited_for(monkeypatch):
    study, (one, _), (first, second) = pair()
    monkeypatch.setattr("stopwise.integrations.optuna._waiting.PATIENCE", 0.2)
    dead = Board(study, first)
    dead.write(Note())  # and nothing after
    dead._write_turn(over=False)
    begin = time.monotonic()
    one.sample_relative(study, second, SPACE)
    assert time.monotonic() - begin < 20


def test_a_trial_that_others_always_forestall_is_pruned_in_the_end(monkeypatch):
    study, (one, _), (first, _) = pair()
    monkeypatch.setattr("stopwise.integrations.optuna._sampler._MOST_PROPOSALS", 3)
    proposed = []
    monkeypatch.setattr(Board, "stands", lambda board, *_: proposed.append(board) or False)
    with pytest.raises(optuna.TrialPruned, match="proposed 3 points, and other workers had each"):
        one.sample_relative(study, first, SPACE)
    assert len(proposed) == 3
    assert Note.of(study._storage.get_trial(first._trial_id)).settled
