# SPDX-License-Identifier: Apache-2.0
"""Workers on one storage take turns: one chooses for those that wait, one asks the rules."""

import threading
import time

import optuna
import pytest
from optuna.distributions import FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

import stopwise as sw
from stopwise.integrations.optuna import StopwiseCallback, StopwiseSampler, _waiting
from stopwise.integrations.optuna._board import NOTE, OFFER, Board, Note
from stopwise.integrations.optuna._callback import VERDICT
from stopwise.integrations.optuna._lookout import LOOKOUT
from stopwise.integrations.optuna._mirror import Mirror
from stopwise.integrations.optuna._turn import Turn

SPACE = {"x": FloatDistribution(0.0, 1.0), "n": IntDistribution(1, 9)}


def loss(params):
    return (params["x"] - 0.3) ** 2 + 0.02 * (params["n"] - 4) ** 2


def price(params):
    return float(params["n"])


def begun(workers, finished=8, **options):
    """A study with some data, and workers that have each begun a trial."""
    study = optuna.create_study()
    for i in range(finished):
        params = {"x": (0.37 * i) % 1.0, "n": 1 + i}
        study.add_trial(create_trial(value=loss(params), params=params, distributions=SPACE))
    options = {"lam": 1e-6, "space": SPACE, "surrogate": "plain", "seed": 0} | options
    samplers = [StopwiseSampler(**options) for _ in range(workers)]
    trials = [study._storage.get_trial(study._storage.create_new_trial(0)) for _ in samplers]
    return study, samplers, trials


def no_clash(trials):
    return []


def stored(study, trial):
    return study._storage.get_trial(trial._trial_id)


def wait_beside(study, samplers, trials, space=SPACE):
    """Threads in which all but the first choose; returns when they wait for the first."""
    chosen = {}

    def choose(sampler, trial):
        chosen[trial.number] = sampler.sample_relative(study, trial, space)

    pairs = list(zip(samplers, trials, strict=True))[1:]
    threads = [threading.Thread(target=choose, args=each) for each in pairs]
    for thread in threads:
        thread.start()
    while not all(NOTE in stored(study, trial).system_attrs for trial in trials[1:]):
        time.sleep(0.01)
    return threads, chosen


def test_the_worker_that_has_the_turn_chooses_for_those_that_wait(monkeypatch):
    study, samplers, trials = begun(4)
    first = Board(study, trials[0])
    first.write(Note())  # it is choosing: the others wait
    for sampler in samplers[1:]:
        monkeypatch.setattr(sampler, "_choose", None)  # they do not choose themselves
    threads, chosen = wait_beside(study, samplers, trials)
    mine = samplers[0].sample_relative(study, trials[0], SPACE)
    for thread in threads:
        thread.join()
    points = [mine, *chosen.values()]
    assert len({tuple(p.items()) for p in points}) == 4
    notes = [Note.of(stored(study, trial)) for trial in trials]
    assert [note.settled for note in notes] == [True, False, False, False]  # params will say so
    assert len({note.turn for note in notes}) == 1
    # As one study that is asked four times: each choice knows those before it.
    mirror = samplers[0].mirrors.mirror(study, SPACE, [])
    assert len(mirror.study.pending) == 4


def test_an_offer_holds_only_the_parameters_that_exist(monkeypatch):
    tree = {
        "kind": sw.Categorical(["flat", "deep"]),
        "x": sw.Real(0, 1, when={"kind": ["deep"]}),
        "y": sw.Real(0, 1),
    }
    study, samplers, trials = begun(6, finished=0, space=tree)
    Board(study, trials[0]).write(Note())
    for sampler in samplers[1:]:
        monkeypatch.setattr(sampler, "_choose", None)
    space = samplers[0].infer_relative_search_space(study, trials[0])
    threads, relative = wait_beside(study, samplers, trials, space)
    samplers[0].sample_relative(study, trials[0], space)
    for thread in threads:
        thread.join()
    assert not any(relative.values())  # of a declared space, values are handed out one by one
    chosen = {n: p for sampler in samplers[1:] for (_, n), p in sampler._chosen.items()}
    assert len(chosen) == 5
    assert {params["kind"] for params in chosen.values()} == {"flat", "deep"}
    for number, params in chosen.items():
        assert set(params) == {"kind", "y"} | ({"x"} if params["kind"] == "deep" else set())
        assert set(Note.of(stored(study, trials[number])).numbers) == set(params)


def test_settings_tell_conditions_and_constraints_apart():
    def settings(**options):
        sampler = StopwiseSampler(1e-6, **options)
        return sampler.mirrors.settings(sampler.mirrors.distributions(list))

    def tree(*kinds, kind=sw.Categorical):
        return {"kind": kind(["a", "b", "c"]), "x": sw.Real(0, 1, when={"kind": list(kinds)})}

    same = [settings(space=tree("a", "b")) for _ in range(2)]
    assert same[0] == same[1]
    others = [tree("a"), tree("a", "b", kind=sw.Ordinal)]
    limited = [settings(space=SPACE, constraints=[text]) for text in ("x < 0.5", "x < 0.6")]
    functions = [settings(space=SPACE, constraints=[loss, price]) for _ in range(2)]
    assert len({same[0], *(settings(space=each) for each in others), *limited}) == 5
    assert functions[0] == functions[1]


def test_a_granted_point_is_found_though_the_next_turn_has_begun(monkeypatch):
    study, samplers, (first, second, third) = begun(3)
    monkeypatch.setattr("stopwise.integrations.optuna._board._UNSEEN", 3600.0)
    monkeypatch.setattr(samplers[2], "_choose", None)
    boards = [Board(study, trial) for trial in (first, second)]
    for board in boards:
        board.write(Note())
    boards[0]._write_turn(over=False)
    threads, chosen = wait_beside(study, samplers[1:], [second, third])
    time.sleep(0.3)  # it has seen the turn of the first
    looks, look = [], Board.look
    monkeypatch.setattr(Board, "look", lambda board: looks.append(board.trial) or look(board))
    boards[0]._granted = {str(third.number): {"x": 0.5, "n": 3.0}}
    boards[0]._write_turn(over=False)
    with boards[1].turn(boards[1].look()):  # what the first one granted may not have been seen
        threads[0].join(timeout=20)
    assert chosen == {third.number: {"x": 0.5, "n": 3}}
    assert looks == [second]


def test_an_offer_of_an_earlier_turn_is_found_when_the_next_is_over(monkeypatch):
    study, samplers, (first, second, third) = begun(3)
    monkeypatch.setattr("stopwise.integrations.optuna._board._UNSEEN", 3600.0)
    monkeypatch.setattr(samplers[2], "_choose", None)
    boards = [Board(study, trial) for trial in (first, second)]
    for board in boards:
        board.write(Note())
    boards[0]._write_turn(over=False)
    threads, chosen = wait_beside(study, samplers[1:], [second, third])
    note = Note({"x": 0.5, "n": 3.0}, turn="first", upto=first.number)
    study._storage.set_trial_system_attr(third._trial_id, f"{OFFER}{first.number}", note.as_json())
    boards[1]._write_turn(over=True)  # nothing was granted, and the end of the first not seen
    threads[0].join(timeout=20)
    assert chosen == {third.number: {"x": 0.5, "n": 3}}


def test_a_granted_point_of_another_space_is_not_taken():
    study, (_, two), (first, second) = begun(2)
    Turn(first.number, time.time(), over=True, granted={"9": {"z": 0.5}}).write(study)
    assert second.number == 9
    assert set(two.sample_relative(study, second, SPACE)) == set(SPACE)


def test_there_is_room_for_the_last_granted_points():
    study = optuna.create_study()
    few = {str(n): {"x": 0.5} for n in range(100)}
    Turn(0, 0.0, over=True, granted=few).write(study)
    assert list(Turn.read(study).granted) == [str(n) for n in range(68, 100)]
    long = {str(n): {f"parameter {i}": i / 7 for i in range(200)} for n in range(10)}
    Turn(0, 0.0, over=True, granted=long).write(study)
    kept = Turn.read(study).granted
    assert list(kept) == ["8", "9"]
    assert kept == {n: long[n] for n in kept}


def test_an_offer_that_clashes_with_news_is_not_granted():
    study, (one, two, _), (first, second, third) = begun(3)
    board = Board(study, first)
    board.write(Note())
    Board(study, second).write(Note(settings=two.mirrors.settings(SPACE)))
    choice = one._choose(study, board, SPACE, board.look().others)
    board.offer(second, choice.offer, choice.clashing)
    board.grant()
    assert board._granted == {str(second.number): choice.note.numbers}
    # Somebody proposes the very point, unknown to the one who offers it.
    Board(study, third).write(Note(choice.note.numbers))
    board.offer(second, choice.offer, choice.clashing)
    board._granted.clear()
    board.grant()
    assert board._granted == {}
    assert second.number in board._served


@pytest.mark.parametrize("state", [TrialState.RUNNING, TrialState.COMPLETE])
def test_who_took_a_granted_point_has_settled_though_no_note_says_so(state):
    study, (one, *_), (first, second) = begun(2)
    board, later = Board(study, first), Board(study, second)
    later.write(Note())
    choice = one._choose(study, board, SPACE, [])
    numbers = choice.note.numbers
    offer = Note(numbers, price=7.0, turn="another").as_json()
    study._storage.set_trial_system_attr(second._trial_id, f"{OFFER}5", offer)
    for name, distribution in SPACE.items():
        study._storage.set_trial_param(second._trial_id, name, numbers[name], distribution)
    if state == TrialState.COMPLETE:
        study._storage.set_trial_state_values(second._trial_id, state, [1.0])
    begin = time.monotonic()
    assert not board.stands(choice.clashing)  # it steps aside at once, though it is earlier
    assert time.monotonic() - begin < 0.5 * _waiting.PATIENCE
    assert Note.taken(stored(study, second)).price == 7.0


def test_of_two_offers_the_price_is_of_the_one_that_was_taken():
    study, _, (first, second) = begun(2)
    Board(study, second).write(Note())
    for number, x in ((3, 0.25), (5, 0.75)):
        offer = Note({"x": x, "n": 2.0}, price=float(number)).as_json()
        study._storage.set_trial_system_attr(second._trial_id, f"{OFFER}{number}", offer)
    assert Note.taken(stored(study, second)) is None
    for name, value in (("x", 0.75), ("n", 2.0)):
        study._storage.set_trial_param(second._trial_id, name, value, SPACE[name])
    assert Note.taken(stored(study, second)).price == 5.0
    assert Note.taken(stored(study, first)) is None


def test_the_first_to_see_that_a_turn_is_over_takes_the_next():
    study, (_, two), (first, second) = begun(2)
    Board(study, first).write(Note())  # earlier, and asleep
    Turn(3, time.time(), over=True).write(study)
    begin = time.monotonic()
    two.sample_relative(study, second, SPACE)
    assert time.monotonic() - begin < 0.5 * _waiting.PATIENCE
    turn = Turn.read(study)
    assert (turn.of, turn.over, turn.served) == (second.number, True, [])


def test_who_takes_the_turn_beside_one_that_wrote_later_leaves_it_to_that_one(monkeypatch):
    study, _, (first, second) = begun(2)
    board, take = Board(study, second), Board._take_turn

    def raced(board, before):
        take(board, before)
        Turn(first.number, time.time(), over=False).write(study)

    monkeypatch.setattr(Board, "_take_turn", raced)
    assert not board._claims(Turn(3, time.time(), over=True))
    board.end_turn()
    assert Turn.read(study)[:3:2] == (first.number, False)


def test_a_turn_that_was_not_needed_is_over(monkeypatch):
    study, (_, two), (first, second) = begun(2)
    monkeypatch.setattr(two, "_choose", None)
    note = Note({"x": 0.5, "n": 3.0}, turn="first", upto=first.number).as_json()
    study._storage.set_trial_system_attr(second._trial_id, f"{OFFER}{first.number}", note)
    Turn(first.number, time.time(), over=True).write(study)
    assert two.sample_relative(study, second, SPACE) == {"x": 0.5, "n": 3}
    assert Turn.read(study)[:3:2] == (second.number, True)


def test_offers_are_checked_seldom_where_a_look_takes_long(monkeypatch):
    study, _, trials = begun(3)
    board, look, looks = Board(study, trials[0]), Board.look, []
    slowly = lambda board: looks.append(time.sleep(0.05)) or look(board)  # noqa: E731
    monkeypatch.setattr(Board, "look", slowly)
    board._told -= 0.2
    board.offer(trials[1], Note({"x": 0.5, "n": 2.0}), no_clash)
    board._told -= 0.2
    board.offer(trials[2], Note({"x": 0.6, "n": 2.0}), no_clash)
    assert len(looks) == 1
    assert list(board._granted) == [str(trials[1].number)]
    board.grant()
    assert list(board._granted) == [str(trial.number) for trial in trials[1:]]


def test_an_offer_is_only_for_a_worker_of_the_same_settings():
    study, samplers, trials = begun(2)
    samplers[1] = StopwiseSampler(1e-3, space=SPACE, surrogate="plain", seed=0)
    first = Board(study, trials[0])
    first.write(Note())
    threads, chosen = wait_beside(study, samplers, trials)
    mine = samplers[0].sample_relative(study, trials[0], SPACE)
    for thread in threads:
        thread.join()
    assert chosen[trials[1].number] != mine
    assert not any(key.startswith(OFFER) for key in stored(study, trials[1]).system_attrs)


def test_an_offer_that_clashes_with_news_is_not_taken():
    study, (one, two, _), (first, second, third) = begun(3)
    board = Board(study, first)
    board.write(Note())
    Board(study, second).write(Note(settings=two.mirrors.settings(SPACE)))
    choice = one._choose(study, board, SPACE, board.look().others)
    # Somebody has settled on the very point meanwhile, unknown to the one who offers it.
    Board(study, third).write(Note(choice.note.numbers, settled=True))
    board.offer(second, choice.offer, choice.clashing)
    board.leave()
    taken = two.sample_relative(study, second, SPACE)
    assert taken != choice.params
    assert Note.of(stored(study, second)).turn != choice.knew.turn


def test_an_offer_that_was_not_taken_does_not_stay_pending():
    study, (one, *_), (first, second) = begun(2)
    board = Board(study, first)
    proposal = one._choose(study, board, SPACE, board.look().others)
    one._offer(board, proposal, [second])  # a thread of the same worker: they share a mirror
    own = one._choose(study, Board(study, second), SPACE, board.look().others)
    assert len(own.mirror.study.pending) == 2


def test_all_offers_to_a_trial_are_seen_until_it_has_settled():
    study, (_, two, _), (first, second, third) = begun(3)
    waiting = Board(study, third)
    waiting.write(Note())
    offers = [Note({"x": x, "n": 3.0}, turn=f"turn {x}", upto=0) for x in (0.25, 0.75)]
    Board(study, second).offer(third, offers[1], no_clash)
    Board(study, first).offer(third, offers[0], no_clash)
    assert [n.turn for n in Note.all_of(stored(study, third))] == ["turn 0.25", "turn 0.75"]
    # A choice near either of them clashes.
    board = Board(study, second)
    choice = two._choose(study, board, SPACE, [])
    for offer in offers:
        near = choice._replace(params={"x": offer.numbers["x"] + 0.005, "n": 3})
        assert [t.number for t in near.clashing(board.look().others)] == [third.number]
    waiting.write(Note(offers[1].numbers, settled=True))
    near = choice._replace(params={"x": 0.25, "n": 3})
    assert not near.clashing(board.look().others)


def test_whichever_of_two_offers_a_trial_takes_nobody_else_does():
    study, (_, two, _), (first, second, third) = begun(3)
    Board(study, third).write(Note())
    for offerer, x in ((first, 0.25), (second, 0.75)):
        note = Note({"x": x, "n": 3.0}, turn=f"turn {x}", upto=0)
        Board(study, offerer).offer(third, note, no_clash)
    board = Board(study, second)
    choice = two._choose(study, board, SPACE, board.look().others)  # it has seen both offers
    for x in (0.25, 0.75):
        near = choice._replace(params={"x": x + 0.005, "n": 3})
        assert [t.number for t in near.clashing(board.look().others)] == [third.number]


def test_the_same_point_clashes_though_its_worker_knew_other_points_of_the_turn():
    study, (one, *_), (first, _, third) = begun(3)
    board = Board(study, first)
    choice = one._choose(study, board, SPACE, board.look().others)
    numbers, knew = choice.note.numbers, [choice.knew.turn]
    for apart, clashes in ((0.0, [third.number]), (0.005, [])):
        x = numbers["x"] + (apart if numbers["x"] < 0.5 else -apart)
        Board(study, third).write(Note({**numbers, "x": x}, turn="another", aware=knew))
        assert [t.number for t in choice.clashing(board.look().others)] == clashes


def test_the_offers_of_a_turn_share_what_the_budget_leaves():
    study, samplers, trials = begun(4, finished=6, lam=None, cost=price, budget=34.0, n_initial=4)
    first = Board(study, trials[0])
    first.write(Note())
    threads, chosen = [], {}
    pruned = []

    def choose(sampler, trial):
        try:
            chosen[trial.number] = sampler.sample_relative(study, trial, SPACE)
        except optuna.TrialPruned:
            pruned.append(trial.number)

    for each in zip(samplers, trials, strict=True):
        threads.append(threading.Thread(target=choose, args=each))
        threads[-1].start()
    for thread in threads:
        thread.join()
    spent = sum(range(1, 7)) + sum(price(params) for params in chosen.values())
    assert spent <= 34.0
    assert chosen
    assert len(chosen) + len(pruned) == 4


def test_a_worker_that_takes_long_to_choose_is_waited_for(monkeypatch):
    monkeypatch.setattr(_waiting, "PATIENCE", 0.3)
    study, samplers, trials = begun(2)
    choose = samplers[0]._choose

    def slowly(*arguments):
        time.sleep(1.0)  # more than the patience, with signs of life
        return choose(*arguments)

    monkeypatch.setattr(samplers[0], "_choose", slowly)
    monkeypatch.setattr(samplers[1], "_choose", None)
    Board(study, trials[0]).write(Note())
    threads, chosen = wait_beside(study, samplers, trials)
    mine = samplers[0].sample_relative(study, trials[0], SPACE)
    threads[0].join()
    assert chosen[trials[1].number] != mine


def test_nobody_waits_for_a_choice_that_failed():
    study, (one, two), (first, second) = begun(2)
    one.mirrors.mirror = lambda *_: 1 / 0
    with pytest.raises(ZeroDivisionError):
        one.sample_relative(study, first, SPACE)
    begin = time.monotonic()
    two.sample_relative(study, second, SPACE)
    assert time.monotonic() - begin < 0.5 * _waiting.PATIENCE


def test_looks_become_rare():
    begin, looks = time.monotonic(), 0
    for _ in _waiting.until(0.5):
        looks += 1
    assert time.monotonic() - begin >= 0.5
    assert 2 <= looks <= 20


# ---------------------------------------------------------------------------- the lookout


def told(study, callback, state=TrialState.COMPLETE):
    """One more trial, after which the callback is called."""
    trial = study.ask(SPACE)
    study.tell(trial, loss(trial.params) if state == TrialState.COMPLETE else None, state)
    callback(study, study.trials[-1])


def counting(callback):
    """Count how often the rules are asked."""
    asked, ask = [], callback._asked
    callback._asked = lambda *arguments: asked.append(1) or ask(*arguments)
    return asked


def test_one_worker_asks_after_every_trial_and_writes_nothing():
    study = optuna.create_study()
    callback = StopwiseCallback(1e-9, surrogate="plain")
    asked = counting(callback)
    for _ in range(5):
        told(study, callback)
    assert len(asked) == 5
    assert LOOKOUT not in study._storage.get_study_system_attrs(study._study_id)


def test_of_two_workers_one_asks_for_both():
    study = optuna.create_study()
    one, two = (StopwiseCallback(1e-9, surrogate="plain") for _ in range(2))
    for callback in (one, two, one, two):
        told(study, callback)  # now both know that there are others
    asked = counting(two)
    one._lookout._write(study, took=60.0)  # it has just asked
    told(study, two)
    assert not asked
    told(study, two, state=TrialState.PRUNED)  # perhaps because nothing is left: asks in any case
    assert len(asked) == 1
    one._lookout._write(study, took=0.0)
    told(study, two)
    assert len(asked) == 2
    other = StopwiseCallback(1e-3, surrogate="plain")
    other._lookout._write(study, took=60.0)  # its rules are not ours
    told(study, two)
    assert len(asked) == 3


def test_a_lookout_whose_clock_is_ahead_is_not_believed(monkeypatch):
    study = optuna.create_study()
    one, two = (StopwiseCallback(1e-9, surrogate="plain") for _ in range(2))
    for callback in (one, two, one, two):
        told(study, callback)
    now = time.time()
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: now + 3600.0)
        one._lookout._write(study, took=60.0)
    asked = counting(two)
    told(study, two)
    assert asked


def test_the_verdict_of_the_one_that_asked_stops_the_other():
    study = optuna.create_study()
    rule = sw.stopping.FixedTrials(3)
    one, two = (
        StopwiseCallback(1e-9, stopping=rule, surrogate="plain", n_initial=2) for _ in "ab"
    )
    for callback in (one, two, one, two, one, two):
        told(study, callback)
    assert VERDICT in study.user_attrs
    asked = counting(two)
    assert two.should_terminate(study)
    assert not asked


def test_signals_are_recorded_when_rules_are_asked_unless_they_read_earlier_ones():
    study = optuna.create_study()
    mirror = Mirror(SPACE, direction="minimize", lam=1e-6, surrogate="plain", n_initial=2)
    now, median = sw.stopping.PBGI(1e-6), sw.stopping.LogEIPCMedian()
    mirror.record([now])
    for i in range(4):
        study.add_trial(done(i))
        mirror.update(study.trials)
    assert now.key not in mirror.study.traces
    mirror.study.verdict_of([now])
    assert len(mirror.study.traces[now.key]) == 1
    other = Mirror(SPACE, direction="minimize", lam=1e-6, surrogate="plain", n_initial=2)
    other.record([now, median])
    for i in range(4, 6):
        study.add_trial(done(i))
    other.update(study.trials)
    assert len(other.study.traces[median.key]) > 1


def done(i):
    params = {"x": (0.37 * i) % 1.0, "n": 1 + i}
    return create_trial(value=loss(params), params=params, distributions=SPACE)


def test_those_who_wait_are_told_of_offers_at_times_and_at_the_end(monkeypatch):
    study, _, trials = begun(4)
    board, turns = Board(study, trials[0]), []
    board._told = time.monotonic()
    monkeypatch.setattr(board, "_write_turn", lambda *, over: turns.append(over))
    for trial in trials[1:3]:
        board.offer(trial, Note({"x": 0.5, "n": 2.0}), no_clash)
    assert turns == []
    board._told -= 1.0
    board.offer(trials[3], Note({"x": 0.6, "n": 2.0}), no_clash)
    assert turns == [False]
    assert board._served == [trial.number for trial in trials[1:]]
