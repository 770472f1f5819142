# SPDX-License-Identifier: Apache-2.0
"""The Optuna integration, on a real Optuna."""

import json
import math
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

import stopwise as sw
from stopwise.errors import InputError
from stopwise.integrations import optuna as integration
from stopwise.integrations.optuna import (
    StopwiseCallback,
    StopwiseSampler,
    read_history,
    timed,
    timing,
)
from stopwise.integrations.optuna._board import NOTE, Board, Note
from stopwise.integrations.optuna._callback import VERDICT
from stopwise.integrations.optuna._space import Axes
from stopwise.integrations.optuna._tree import learned
from tests.support.audits import audit_command

SPACE = {
    "layers": IntDistribution(1, 6),
    "act": CategoricalDistribution(["relu", "tanh", None]),
}
EVERY_KIND = {
    "x": FloatDistribution(-1.0, 1.0),
    "lr": FloatDistribution(1e-4, 1e-1, log=True),
    "dropout": FloatDistribution(0.0, 0.5, step=0.1),
    "n": IntDistribution(1, 1000, log=True),
    "units": IntDistribution(16, 128, step=16),
    "act": CategoricalDistribution(["relu", True, 1.5, None]),
}


@pytest.fixture(autouse=True)
def _quiet():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def loss(params):
    return 0.1 * (params["layers"] - 3) ** 2 + 0.5 * (params["act"] != "tanh")


def price(params):
    return float(params["layers"])


def objective(trial):
    layers = trial.suggest_int("layers", 1, 6)
    act = trial.suggest_categorical("act", ["relu", "tanh", None])
    return loss({"layers": layers, "act": act})


def storage_of(kind, folder):
    if kind == "sqlite":
        return f"sqlite:///{folder / 'study.db'}"
    if kind == "journal":
        backend = optuna.storages.journal.JournalFileBackend(str(folder / "study.log"))
        return optuna.storages.JournalStorage(backend)
    return None


def points(study):
    return [tuple(sorted(t.params.items(), key=str)) for t in study.trials if t.params]


# --------------------------------------------------------------------------- spaces


def test_values_go_both_ways():
    axes = Axes(EVERY_KIND)
    domain = sw.Study(axes.space, lam=1.0).domain
    rows = domain.decode(np.random.default_rng(0).random((64, domain.width)))
    for row in rows:
        theirs = axes.outward(row)
        for name, found in EVERY_KIND.items():
            assert found._contains(found.to_internal_repr(theirs[name])), name
        assert axes.inward(theirs) == pytest.approx(row, nan_ok=True)
        stored = json.loads(json.dumps(axes.internal(theirs)))
        assert axes.external(stored) == theirs


def test_every_kind_of_parameter_is_suggested():
    study = optuna.create_study(
        sampler=StopwiseSampler(0.01, space=EVERY_KIND, n_initial=3, seed=0, surrogate="plain")
    )
    for _ in range(5):
        trial = study.ask(EVERY_KIND)
        study.tell(trial, trial.params["x"] ** 2 + trial.params["dropout"])
    assert all(trial.params.keys() == EVERY_KIND.keys() for trial in study.trials)
    assert len(set(points(study))) == 5


@pytest.mark.parametrize("name", sw.acquisition.ACQUISITIONS)
def test_any_acquisition_of_ours_chooses(name):
    sampler = StopwiseSampler(0.01, acquisition=name, space=SPACE, n_initial=3, seed=1)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=6)
    assert len(set(points(study))) == 6


def test_the_first_trial_teaches_the_space_and_the_rest_is_chosen():
    study = optuna.create_study(sampler=StopwiseSampler(0.01, seed=0))
    study.optimize(objective, n_trials=5)
    noted = [NOTE in trial.system_attrs for trial in study.trials]
    assert noted == [False, True, True, True, True]


def test_what_nothing_explains_is_drawn_independently():
    def conditional(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        now_and_then = trial.suggest_float("own", 0, 1) if trial.number % 3 else 0.5
        moving = trial.suggest_int("moving", 1, 3 + trial.number % 2)
        return now_and_then + (kind == "a") + 0.1 * moving

    study = optuna.create_study(sampler=StopwiseSampler(0.001, seed=0, surrogate="plain"))
    callback = StopwiseCallback(0.001, stopping=sw.stopping.FixedTrials(6), surrogate="plain")
    study.optimize(conditional, n_trials=12, callbacks=[callback])
    shared = study.sampler.infer_relative_search_space(study, study.trials[-1])
    assert list(shared) == ["kind"]
    # Two kinds are evaluated often, because what is not modelled differs: that is no exhaustion.
    assert callback.verdict(study).rule == "fixed"
    assert len(study.trials) == 2 + 6  # there are no more than two kinds to begin with


def test_a_maximised_study_is_maximised():
    study = optuna.create_study(
        direction="maximize", sampler=StopwiseSampler(0.001, space=SPACE, seed=0)
    )
    study.optimize(
        lambda trial: -objective(trial), n_trials=18, callbacks=[StopwiseCallback(0.001)]
    )
    assert study.best_params == {"layers": 3, "act": "tanh"}


def test_enqueued_trials_are_kept_and_known():
    study = optuna.create_study(sampler=StopwiseSampler(0.01, space=SPACE, seed=0))
    study.enqueue_trial({"layers": 3, "act": "tanh"})
    study.enqueue_trial({"layers": 2})
    study.optimize(objective, n_trials=6)
    assert study.trials[0].params == {"layers": 3, "act": "tanh"}
    assert study.trials[1].params["layers"] == 2
    assert len(set(points(study))) == 6


# -------------------------------------------------------------------------- stopping


@pytest.mark.parametrize("kind", ["memory", "sqlite", "journal"])
def test_the_verdict_is_written_for_every_worker(kind, tmp_path):
    storage = storage_of(kind, tmp_path)
    study = optuna.create_study(
        storage=storage,
        study_name="s",
        sampler=StopwiseSampler(0.02, space=SPACE, seed=0, surrogate="plain"),
    )
    plain = {"surrogate": "plain"}
    study.optimize(objective, n_trials=18, callbacks=[StopwiseCallback(0.02, **plain)])
    assert len(study.trials) < 18
    written = study.user_attrs[VERDICT]
    assert written["stop"] is True
    assert written["rule"] == "pbgi"
    assert written["reason"].endswith(": stop")
    # Another worker has its own objects; it reads the verdict and computes nothing.
    other = study if storage is None else optuna.load_study(study_name="s", storage=storage)
    again = StopwiseCallback(0.02, **plain)
    again._asked = None
    assert again.should_terminate(other)
    assert again.verdict(other).reason == written["reason"]
    # Whoever finds the next evaluation worth more is not bound by it.
    two_prices = pytest.warns(UserWarning, match=r"lam=0\.02 and lam=1e-09")
    with two_prices if storage is None else nullcontext():  # there the sampler is ours
        assert not StopwiseCallback(1e-9, **plain).should_terminate(other)
    # Dashboards get plain JSON of modest size.
    attributes = [study.user_attrs, *(t.system_attrs for t in study.trials)]
    assert all(len(json.dumps(found, allow_nan=False)) < 1000 for found in attributes)


def test_it_stops_beside_another_sampler_and_as_an_audit_says():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    callback = StopwiseCallback(0.05)
    verdicts = []
    study.optimize(
        objective, n_trials=18, callbacks=[lambda s, _: verdicts.append(callback.verdict(s))]
    )
    rows = [{**t.params, "value": t.value} for t in study.trials]
    space = Axes(dict(sorted(SPACE.items()))).space  # as Optuna orders them
    found = sw.audit(rows, lam=0.05, cost=None, space=space, rules=["pbgi"])
    assert found.n == 18
    first = next(n for n, verdict in enumerate(verdicts, start=1) if verdict.stop)
    assert found["pbgi"].stopped_at == first
    assert found["pbgi"].stopped_by.reason == verdicts[first - 1].reason


@pytest.mark.parametrize(
    "rule", ["pbgi", sw.stopping.Smoothed(sw.stopping.PBGI(0.05), 3), "logeipc-med", "convergence"]
)
def test_a_worker_that_joins_late_says_the_same(rule):
    """It records only what the rule reads, and comes to the same number."""
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=3))
    early = StopwiseCallback(1e-9, stopping=rule, n_initial=3)
    early._written = lambda _: None  # ask anew each time
    study.optimize(objective, n_trials=9, callbacks=[early])
    late = StopwiseCallback(1e-9, stopping=rule, n_initial=3)
    late._written = lambda _: None
    before, after = early.verdict(study), late.verdict(study)
    assert (before.stop, before.rule) == (after.stop, after.rule)
    assert before.value == pytest.approx(after.value, rel=1e-3, nan_ok=True)


def test_a_budget_that_does_not_pay_for_the_design_is_refused():
    study = optuna.create_study(
        sampler=StopwiseSampler(cost=price, budget=5.0, space=SPACE, n_initial=6)
    )
    with pytest.raises(InputError, match="does not exceed the"):
        study.optimize(objective, n_trials=1)


def test_ask_and_tell_has_should_terminate():
    study = optuna.create_study(sampler=StopwiseSampler(0.02, space=SPACE, seed=0))
    callback = StopwiseCallback(0.02)
    while not callback.should_terminate(study):
        trial = study.ask()
        study.tell(trial, objective(trial))
        callback(study, study.trials[-1])  # outside of a loop there is nothing to stop
    assert len(set(points(study))) == len(study.trials) < 18


def test_running_trials_are_pending():
    study = optuna.create_study(
        sampler=StopwiseSampler(0.02, space=SPACE, seed=0, surrogate="plain")
    )
    for _ in range(6):
        trial = study.ask(SPACE)
        study.tell(trial, loss(trial.params))
    for _ in range(12):  # all that is left, at once
        study.ask(SPACE)
    assert len(set(points(study))) == 18
    assert StopwiseCallback(0.02, surrogate="plain").verdict(study).rule == "exhausted"


def test_pruned_trials_are_no_failures_and_failed_ones_are():
    study = optuna.create_study()
    for state, count in ((TrialState.COMPLETE, 8), (TrialState.PRUNED, 10), (TrialState.FAIL, 10)):
        for i in range(count):
            params = {"layers": 1 + i % 6, "act": ["relu", "tanh", None][(i + count) % 3]}
            value = loss(params) if state == TrialState.COMPLETE else None
            study.add_trial(
                create_trial(state=state, value=value, params=params, distributions=SPACE)
            )
        rule = StopwiseCallback(1e-6, noise="learn").verdict(study).rule
        assert rule == ("failures" if state == TrialState.FAIL else "pbgi")


def test_a_trial_that_is_pruned_early_does_not_shrink_the_space():
    study = optuna.create_study()
    study.optimize(objective, n_trials=1)
    for params in ({}, {"layers": 2}):
        found = {name: SPACE[name] for name in params}
        study.add_trial(create_trial(state=TrialState.PRUNED, params=params, distributions=found))
    assert learned(study.trials) == SPACE
    assert learned(study.trials[1:]) == {"layers": SPACE["layers"]}


def test_what_pruned_and_dead_trials_cost_is_spent():
    study = optuna.create_study()
    params = {"layers": 2, "act": None}
    note = Note({"layers": 2.0, "act": 2.0}, 7.0, settled=True).as_json()
    for state, attributes, system in (
        (TrialState.COMPLETE, {"cost": 1.0}, {}),
        (TrialState.PRUNED, {"cost": 2.0}, {}),
        (TrialState.FAIL, {}, {NOTE: note}),  # killed: what was reserved for it counts
        (TrialState.FAIL, {}, {}),
    ):
        value = 1.0 if state == TrialState.COMPLETE else None
        study.add_trial(
            create_trial(
                state=state, value=value, params=params, distributions=SPACE,
                user_attrs=attributes, system_attrs=system,
            )
        )  # fmt: skip
    callback = StopwiseCallback(0.1, cost="reported")
    callback.verdict(study)
    assert callback._own_mirrors._mirror.study.spent == 10.0


@pytest.mark.parametrize("lam", [None, 1e-30])
def test_a_budget_holds_for_all_threads_together(lam):
    budget = 24.0
    options = {"cost": price, "budget": budget, "n_initial": 3, "surrogate": "plain"}
    study = optuna.create_study(sampler=StopwiseSampler(lam, space=SPACE, seed=0, **options))
    callback = StopwiseCallback(lam, **options)

    def slow(trial):
        value = objective(trial)
        time.sleep(0.02)
        return value

    study.optimize(slow, n_trials=40, n_jobs=6, callbacks=[callback])
    complete = [t for t in study.trials if t.state == TrialState.COMPLETE]
    assert sum(price(t.params) for t in complete) <= budget
    assert len(set(points(study))) == len(complete)
    assert study.user_attrs[VERDICT]["rule"] == "budget"
    assert len(study.trials) < 40


# ------------------------------------------------------------------------------ cost


class SlowSampler(optuna.samplers.RandomSampler):
    def infer_relative_search_space(self, *_):
        return {"layers": SPACE["layers"]}

    def sample_relative(self, *_):
        time.sleep(0.5)
        return {"layers": 3}


def test_the_body_is_timed_and_the_sampler_is_not():
    study = optuna.create_study(sampler=SlowSampler())

    @timed
    def body(trial):
        trial.suggest_int("layers", 1, 6)
        if trial.number == 1:
            raise optuna.TrialPruned
        if trial.number == 2:
            trial.set_user_attr("cost", 12.5)
        return 1.0

    study.optimize(body, n_trials=3)
    first, pruned, reported = study.trials
    assert first.duration.total_seconds() > 0.5
    assert 0 < first.user_attrs["cost"] < 0.4
    assert 0 < pruned.user_attrs["cost"] < 0.4
    assert reported.user_attrs["cost"] == 12.5
    trial = study.ask()
    with timing(trial):
        time.sleep(0.01)
    assert trial.user_attrs["cost"] >= 0.01


def test_costs_are_learned_from_what_trials_say():
    study = optuna.create_study(
        sampler=StopwiseSampler(0.01, cost="reported", space=SPACE, n_initial=4, seed=0)
    )

    def reporting(trial):
        value = objective(trial)
        trial.set_user_attr("cost", 10.0 * trial.params["layers"])
        return value

    study.optimize(reporting, n_trials=8)
    reserved = [Note.of(t).price for t in study.trials]
    assert reserved[:1] == [0.0]  # nobody knew
    paid = [t.user_attrs["cost"] for t in study.trials]
    off = [abs(math.log(r / p)) for r, p in zip(reserved[5:], paid[5:], strict=True)]
    assert max(off) < math.log(5)


def test_a_trial_that_does_not_say_its_cost_is_refused_in_words():
    study = optuna.create_study()
    study.optimize(objective, n_trials=1)
    with pytest.raises(InputError, match=r"trial 0 does not say what it cost.*timed.*leave out"):
        StopwiseCallback(0.1, cost="seconds").verdict(study)
    odd = optuna.create_study()
    params = {"layers": 1, "act": None}
    odd.add_trial(
        create_trial(value=1.0, params=params, distributions=SPACE, user_attrs={"cost": -1})
    )
    with pytest.raises(InputError, match="says that it cost -1"):
        StopwiseCallback(0.1, cost="seconds").verdict(odd)


# -------------------------------------------------------------------- two at a time


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


# ------------------------------------------------------------------------- at the door


def test_bad_options_are_refused_when_they_are_given():
    with pytest.raises(InputError, match="needs lam"):
        StopwiseSampler()
    with pytest.raises(InputError, match="there is no acquisition 'ei'"):
        StopwiseSampler(0.1, acquisition="ei")
    with pytest.raises(InputError, match="there is no stopping rule 'never'"):
        StopwiseCallback(0.1, stopping="never")
    with pytest.raises(InputError, match="cost='money' is not known"):
        StopwiseCallback(0.1, cost="money")
    StopwiseCallback(stopping="convergence")  # needs no lam


def test_several_objectives_are_refused():
    study = optuna.create_study(directions=["minimize", "minimize"])
    with pytest.raises(InputError, match=r"this study has 2 directions.*a weighted sum"):
        StopwiseCallback(0.1).should_terminate(study)


def test_a_missing_extra_is_named_with_the_command():
    code = "import sys; sys.modules['optuna'] = None; import stopwise.integrations.optuna"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "pip install 'stopwise[optuna]'" in done.stderr


def test_nothing_comes_from_the_terminator():
    files = Path(integration.__file__).parent.glob("*.py")
    assert not [file.name for file in files if "optuna.terminator" in file.read_text("utf-8")]


# ----------------------------------------------------------------------------- reading


def test_a_storage_is_read_and_audited(tmp_path):
    url = storage_of("sqlite", tmp_path)
    study = optuna.create_study(storage=url, study_name="old", direction="maximize")

    def body(trial):
        value = objective(trial)
        trial.set_user_attr("cost", float(trial.params["layers"]))
        if trial.number == 4:
            raise optuna.TrialPruned
        return -value

    study.optimize(body, n_trials=14)
    told = read_history(url)
    assert told.direction == "maximize"
    assert told.space == Axes(SPACE).space | {}
    assert [o.value for o in told.history if not o.failed] == [
        t.value for t in study.trials if t.state == TrialState.COMPLETE
    ]
    assert told.history.spent == sum(t.params["layers"] for t in study.trials)
    assert told.notes == ("1 pruned trials count as evaluations without a value",)
    assert read_history(url, cost="duration").notes[-1].startswith("costs are durations")
    assert read_history(url, cost=None).history.spent == 14

    done = audit_command(url, "--study", "old", "--lam", "0.01")
    assert (
        "13 evaluations and 1 without a value (the first 3 are the initial design)" in done.output
    )
    assert "1 pruned trials count" in done.output
    with pytest.raises(InputError, match="there is no study 'new': name one of 'old'"):
        read_history(url, "new")
    with pytest.raises(InputError, match=r"no user attribute 'price'.*\['cost'\].*'duration'"):
        read_history(url, cost="price")


# ------------------------------------------------------------------------- bounds and promises


def test_a_value_beyond_the_bounds_is_refused_again_and_again():
    study = optuna.create_study(sampler=StopwiseSampler(0.01, space=SPACE, seed=0, bounds=(0, 1)))
    callback = StopwiseCallback(0.01, bounds=(0, 1))
    study.add_trial(
        create_trial(params={"layers": 2, "act": "relu"}, distributions=SPACE, value=-0.25)
    )
    for _ in range(2):
        with pytest.raises(InputError, match=r"trial 0 has the value -0\.25, but bounds"):
            callback.verdict(study)
        with pytest.raises(InputError, match="no value is below 0"):
            study.ask(SPACE)


def test_bounds_are_part_of_what_sampler_and_callback_must_agree_in():
    study = optuna.create_study(sampler=StopwiseSampler(0.01, space=SPACE, seed=0, bounds=(0, 1)))
    same, other = (StopwiseCallback(0.01, bounds=b) for b in ((0.0, 1.0), (0, None)))
    assert same._mirrors(study) is study.sampler.mirrors
    assert other._mirrors(study) is other._own_mirrors


def test_the_samplers_choices_promise_and_those_of_others_do_not():
    sampler = StopwiseSampler(1e-4, space=SPACE, n_initial=3, seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=4)
    study.enqueue_trial({"layers": 6, "act": None})  # the user's
    study.optimize(objective, n_trials=3)
    study.ask(SPACE)
    mirror = sampler.mirrors.mirror(study, SPACE, [])
    numbers = [o.number for o in mirror.study.history]
    promised = [p.trial for p in mirror.study.promises.told]
    assert len(promised) == 3
    assert len(numbers) == 7
    assert promised[0] == numbers[3]
    enqueued = next(
        o for o in mirror.study.history if dict(o.params) == {"layers": 6, "act": None}
    )
    assert enqueued.number not in promised


def test_where_only_the_callback_is_ours_nothing_is_promised():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    callback = StopwiseCallback(1e-4, n_initial=3)
    study.optimize(objective, n_trials=8, callbacks=[callback])
    mirror = callback._own_mirrors._mirror
    assert len(mirror.study.history) == len(study.trials)
    assert len(mirror.study.promises) == 0
