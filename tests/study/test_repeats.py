# SPDX-License-Identifier: Apache-2.0
"""Repeats: an evaluated configuration is evaluated again where knowing it better is worth more."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stopwise as sw
from stopwise.acquisition.one_observation import (
    best_observation,
    best_repeat,
    observation_worth,
    values_one_observation,
)
from stopwise.errors import InputError
from stopwise.record.events import TrialTold
from stopwise.record.replay import replay
from stopwise.stopping import PBGI, FixedTrials
from stopwise.tools.progress.painters import Clock
from stopwise.tools.progress.view import view_of

BOX = {"x": sw.Real(0.0, 1.0), "y": sw.Real(0.0, 1.0)}
ROWS = sw.Candidates([{"k": k} for k in range(8)])
LAM = 0.002


def bowl(p):
    return (p["x"] - 0.6) ** 2 + 0.5 * (p["y"] - 0.3) ** 2


def wobble(number, size=0.05):
    """Noise that is the same every time."""
    return size * math.sin(12.9898 * (number + 1) * 78.233)


def begun(n=10, space=BOX, surrogate="plain", **options):
    """A study with n noisy observations around the minimum."""
    settings = {"lam": LAM, "noise": 0.0025, "replicates": True, "n_initial": 4, **options}
    study = sw.Study(space, surrogate=surrogate, **settings)
    for i in range(n):
        if space is BOX:
            params = {"x": 0.2 + 0.6 * (i * 0.618 % 1.0), "y": 0.1 + 0.5 * (i * 0.37 % 1.0)}
            study.tell(params, bowl(params) + wobble(i), 1.0)
        else:
            study.tell({"k": i % 8}, 0.02 * (i % 8) + wobble(i), 1.0)
    return study


# --------------------------------------------------------------------------- what it is worth


@pytest.mark.parametrize("surrogate", ["plain", "default"])
def test_the_worth_of_an_observation_is_its_average_fall(surrogate):
    """By simulation: draw y from the mixture of the components, and see how far each falls."""
    snapshot = begun(8, surrogate=surrogate).snapshot()
    x, parts = snapshot.X[snapshot.incumbent], snapshot.belief.own.weighted
    rng, expected = np.random.default_rng(0), 0.0
    error = 0.0
    for weight, posterior in parts:
        normal = posterior(x[None, :])
        noise = posterior.nugget * posterior.standardiser.scale**2
        z = rng.standard_normal(150)
        warped = normal.mean[0] + math.sqrt(normal.std[0] ** 2 + noise) * np.append(z, -z)
        lows = [
            posterior.append(x, float(posterior.hyper.warp.inverse(v))).law(snapshot.X).mean.min()
            for v in warped
        ]
        fall = posterior.law(snapshot.X).mean.min() - np.array(lows)
        expected += weight * fall.mean()
        error += weight * fall.std() / math.sqrt(len(fall))
    worth = observation_worth(snapshot, x)
    trust = snapshot.belief.trust
    assert worth.gain == pytest.approx(trust * expected, abs=4.0 * error)
    assert worth.price == 1.0


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000))
def test_no_repeat_is_worth_more_than_the_one_that_is_chosen(seed):
    rng = np.random.default_rng(seed)
    study = sw.Study(BOX, lam=LAM, noise=0.01, replicates=True, surrogate="plain", n_initial=2)
    for x, y in rng.random((6, 2)):
        study.tell({"x": x, "y": y}, bowl({"x": x, "y": y}) + 0.1 * rng.standard_normal())
    snapshot = study.snapshot()
    best = best_repeat(snapshot)
    others = [observation_worth(snapshot, x).log_gain_per_cost for x in snapshot.X]
    assert best.log_gain_per_cost == pytest.approx(max(others), abs=1e-6)
    assert best_observation(snapshot).log_gain_per_cost >= best.log_gain_per_cost


def test_a_dear_repeat_must_be_worth_its_price():
    cheap = best_repeat(begun(12, ROWS).snapshot())
    price = {cheap.row: 1e9}
    dear = best_repeat(begun(12, ROWS, cost=lambda p: price.get(p["k"], 1.0)).snapshot())
    assert (cheap.price, dear.price) == (1.0, 1.0)
    assert dear.row != cheap.row
    assert dear.gain < cheap.gain


def test_what_is_pending_failed_or_too_dear_is_not_repeated():
    study = begun(8, ROWS, budget=3.5, lam=None)
    first = best_repeat(study.snapshot())
    assert first.row is not None
    only = np.arange(8) == 3
    assert best_repeat(study.snapshot(), only).row == 3
    assert best_repeat(study.snapshot(), np.zeros(8, dtype=bool)) is None
    trial = study.ask(fixed={"k": int(study.history[first.row].params["k"])})
    again = best_repeat(study.snapshot())
    assert again.row != first.row
    study.tell(trial, None, 3.0)  # what is left pays for nothing
    assert best_repeat(study.snapshot()) is None


# -------------------------------------------------------------------------------- choosing


def test_a_repeat_is_chosen_where_it_is_worth_more_and_says_so():
    study = begun(12)
    trial = next(t for t in iter_trials(study, 12) if t.repeats is not None)
    first = next(o for o in study.history if o.number == trial.repeats)
    assert trial.params == first.params
    assert trial.worth > 0.0


def iter_trials(study, most):
    for i in range(most):
        trial = study.ask()
        study.tell(trial, bowl(trial.params) + wobble(i))
        yield trial


@pytest.mark.parametrize("n", [6, 10, 14])
def test_where_the_rule_goes_on_the_choice_is_worth_its_price(n):
    """By one observation, as the rule reads it; whatever the acquisition would take."""
    study = begun(n)
    goes_on = not study.should_stop().stop
    trial, snapshot = study.ask(), study.snapshot()
    at = study.domain.encode(trial.params)[0]
    worth = observation_worth(replace(snapshot, pending=snapshot.pending[:0]), at)
    assert goes_on
    assert worth.gain >= LAM * worth.price


def test_without_replicates_nothing_is_repeated():
    study = begun(12, replicates=False)
    assert all(t.repeats is None for t in iter_trials(study, 4))


@pytest.mark.parametrize(
    "options",
    [
        {"utility": sw.utility.linear(100.0), "lam": 100 * LAM},
        {"limits": {"t": (None, 10.0)}, "fallback": 2.0},
    ],
    ids=["utility", "fallback"],
)
def test_where_the_worth_of_a_repeat_cannot_be_told_nothing_is_repeated(options):
    ends = []
    for replicates in (True, False):
        options = {"lam": LAM, "noise": 0.0025, "max_trials": 30, **options}
        study = sw.Study(ROWS, replicates=replicates, **options)
        while not (verdict := study.should_stop()).stop:
            trial = study.ask()
            outcomes = {"t": 1.0} if "limits" in options else None
            study.tell(trial, wobble(trial.params["k"]), outcomes=outcomes)
        ends.append(([o.params for o in study.history], verdict))
    assert ends[0] == ends[1]
    assert len({o["k"] for o in ends[0][0]}) == len(ends[0][0])


def test_when_a_table_is_evaluated_repeats_remain():
    study = begun(8, ROWS, stopping=FixedTrials(30))
    trial = study.ask()
    assert trial.repeats is not None
    assert [trial.params] == [o.params for o in study.history if o.number == trial.repeats]
    held = study.ask(fixed={"k": 5})
    assert (held.params, held.repeats) == ({"k": 5}, 5)
    several = study.ask(3)
    assert len({t.params["k"] for t in [trial, held, *several]}) == 5


def test_the_rule_stops_long_before_the_cap():
    """By what could be gained if f were known, which one noisy observation cannot tell, this study
    would not stop within its 45 trials.
    """
    result = sw.minimize(
        lambda p: math.sin(6 * p["x"]) + 2.0 * (p["y"] - 0.6) ** 2 + wobble(round(1e6 * p["x"])),
        BOX, lam=LAM, noise=0.0025, replicates=True, surrogate="plain", seed=11, max_trials=45,
    )  # fmt: skip
    assert result.verdict.rule == "pbgi"
    assert len(result.history) < 35
    assert result.best.params["x"] == pytest.approx(0.785, abs=0.08)


def test_the_signal_is_what_the_best_observation_is_worth_per_cost():
    study = begun(10)
    study.should_stop()
    signal = study.traces["sup_log_ei_per_cost"].current
    best = best_observation(study.snapshot())
    assert signal.value == best.log_gain_per_cost
    assert signal.facts["gain"] == best.gain
    alone = sw.Study(sw.Candidates([{"k": 1}]), lam=LAM, noise=1.0, replicates=True)
    alone.tell({"k": 1}, 0.5)  # whatever is learned, it stays the best
    verdict = alone.should_stop()
    assert verdict.stop
    assert "no remaining candidate can gain anything" in verdict.reason
    assert "No observation is expected to change which" in alone.explain()


def test_explain_says_what_a_repeat_is_worth_and_costs():
    study = begun(8, ROWS)
    said = study.explain()
    assert "The best remaining action is a repeat of trial" in said
    assert "knowing it better is worth" in said
    assert "would go on for any lam below" in said
    trial = study.ask()
    assert f"Trial {trial.number} is a repeat of trial {trial.repeats}: knowing" in study.explain()
    assert "The best remaining action evaluates x = " in begun(4).explain()


def test_looking_changes_nothing_and_a_resumed_study_goes_on_as_the_live_one(tmp_path):
    live = begun(12, journal=tmp_path / "live.jsonl")
    trial = live.ask()
    lines = (tmp_path / "live.jsonl").read_text().splitlines()
    assert json.loads(lines[-1]).get("repeats") == trial.repeats
    (tmp_path / "copy.jsonl").write_text("\n".join(lines) + "\n")
    resumed = sw.Study.resume(tmp_path / "copy.jsonl")
    resumed.explain()
    again = resumed.ask()
    assert (again, again.repeats, again.worth) == (trial, trial.repeats, trial.worth)
    for study in (live, resumed):
        study.tell(trial, 0.05)
        study.should_stop()
    assert live.traces == resumed.traces
    [replayed] = replay(live.traces, PBGI(LAM))
    assert replayed.verdicts[max(replayed.verdicts)] == live.should_stop()
    assert live.ask().params == resumed.ask().params


def test_with_a_fallback_gains_are_those_over_it():
    """It is known exactly and is no evaluated point, so that no repeat is judged by it."""
    study = begun(0, ROWS, limits={"a": (0, 1)}, fallback=0.5)
    for k in range(8):
        study.tell({"k": k}, 0.1 * k + wobble(k), outcomes={"a": 2.0 if k < 7 else 0.5})
    assert not values_one_observation(study.snapshot())
    without = begun(8, ROWS)
    assert values_one_observation(without.snapshot())


# --------------------------------------------------------------------------------- telling


def test_a_list_tells_repeats_each_of_which_is_paid_for():
    study = begun(0, n_initial=2)
    trial = study.ask()
    study.tell(trial, [0.31, 0.33, 0.30])
    assert [o.value for o in study.history] == [0.31, 0.33, 0.30]
    assert [o.number for o in study.history] == [0, 1, 2]
    assert {tuple(o.params.items()) for o in study.history} == {tuple(trial.params.items())}
    assert study.spent == 3.0
    study.tell(trial, [0.31, 0.33, 0.30])  # again is harmless
    assert len(study.history) == 3
    with pytest.raises(InputError, match="was told already"):
        study.tell(trial, [0.31, 0.33, 0.29])
    assert not study.should_stop().stop  # one configuration is not a design of two
    study.tell(study.ask(), np.array([0.2, 0.4]))
    assert study.snapshot().t == 0
    assert study.snapshot().n == 5


@pytest.mark.parametrize(("cost", "paid"), [(6.0, [3.0, 3.0]), ([1.0, 4.0], [1.0, 4.0])])
def test_costs_of_repeats_are_a_list_or_the_total(cost, paid):
    study = begun(0, cost="reported")
    trial = study.ask()
    study.tell(trial, [1.0, 2.0], cost)
    assert [o.cost for o in study.history] == paid
    study.tell(trial, [1.0, 2.0], cost)
    assert len(study.history) == 2
    study.tell({"x": 0.5, "y": 0.5}, [1.5], [2.0])
    assert (study.history[-1].cost, study.history[-1].charged) == (2.0, False)


def test_repeats_survive_a_resume_and_take_free_numbers(tmp_path):
    live = begun(0, journal=tmp_path / "a.jsonl", cost="reported")
    first, second = live.ask(2)
    live.tell(first, [0.5, None, 0.4], [1.0, 2.0, 3.0])
    live.tell(second, 0.7, 1.0)
    live.close()
    loaded = sw.Study.load(tmp_path / "a.jsonl")
    assert loaded.history == live.history
    assert [o.number for o in live.history] == [0, 2, 3, 1]
    assert [o.failed for o in live.history] == [False, True, False, False]


@pytest.mark.parametrize(
    ("value", "cost", "options", "words"),
    [
        ([], None, {}, "a list of no repeats"),
        ([1.0, 2.0], [1.0], {}, "1 costs for 2 values"),
        ([1.0, 2.0], None, {"limits": {"a": (0, 1)}}, "2 repeats at once, in a study with limits"),
        ([1.0, -2.0], None, {"bounds": (0, None)}, "no value is below 0"),
    ],
)
def test_repeats_that_cannot_be_are_refused(value, cost, options, words):
    study = begun(0, **options)
    trial = study.ask()
    with pytest.raises(InputError, match=words):
        study.tell(trial, value, cost, outcomes={"a": 0.5} if "limits" in options else None)
    assert len(study.history) == 0


def test_an_objective_may_return_repeats():
    result = sw.minimize(
        lambda p: ([bowl(p), bowl(p) + 0.01], 2.0),
        BOX, lam=LAM, noise="learn", cost="reported", stopping=FixedTrials(2), n_initial=2,
    )  # fmt: skip
    assert len(result.history) % 2 == 0
    assert result.spent == len(result.history)


def test_repeats_under_the_numbers_of_other_trials_are_refused():
    study = begun(0)
    study.tell(study.ask(), [0.5, 0.4])
    state = study._context.state
    first, second = study.history
    with pytest.raises(ValueError, match="have the numbers of other trials"):
        state.after(TrialTold(replace(first, number=2), further=(replace(second, number=1),)))


def test_the_progress_display_says_that_a_trial_is_a_repeat():
    study = begun(8, ROWS)
    trial = study.ask()
    [line] = Clock("").running(view_of(study))
    assert line.startswith(f"trial {trial.number}, a repeat of trial {trial.repeats} (")
