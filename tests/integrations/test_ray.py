# SPDX-License-Identifier: Apache-2.0
"""The Ray Tune searcher and stopper: by hand, and on a real Ray on this machine."""

import json
import runpy

import pytest
from ray import tune
from ray.tune.search import Searcher

import stopwise as sw
from stopwise.errors import InputError, InputTypeError
from stopwise.integrations.ray import (
    StopwiseSearcher,
    StopwiseStopper,
    read_results,
    read_space,
)
from stopwise.tools.cli.audit import audit
from tests.support.repository import ROOT

SPACE = {"x": tune.uniform(0, 1), "opt": {"n": tune.randint(1, 6), "k": 7}}
OPTIONS = {"cost": "price", "n_initial": 4}


def loss(config):
    return (config["x"] - 0.3) ** 2 + 0.05 * (config["opt"]["n"] - 3) ** 2


def searcher(lam=0.01, space=SPACE, mode="min", **options):
    made = StopwiseSearcher(lam, **({**OPTIONS, "surrogate": "plain"} | options))
    assert made.set_search_properties("loss", mode, space)
    return made


def run(made, until=10**6, sign=1.0):
    """Play Tune, one trial at a time."""
    trials = 0
    while trials < until:
        trial_id = f"t{len(made._events)}"
        config = made.suggest(trial_id)
        if config == Searcher.FINISHED:
            break
        made.on_trial_complete(trial_id, {"loss": sign * loss(config), "price": 1 + config["x"]})
        trials += 1
    return made


# ---------------------------------------------------------------------------------------- spaces


def test_spaces_of_every_kind():
    space = read_space(
        {
            "a": tune.uniform(-1, 2),
            "b": tune.loguniform(1e-4, 1),
            "c": tune.randint(2, 9),
            "d": tune.lograndint(1, 65),
            "e": tune.choice(["x", "y"]),
            "f": tune.choice([16, 32, 64]),
            "g": tune.quniform(0.1, 1.0, 0.1),
            "h": tune.qrandint(4, 16, 4),
            "i": tune.qloguniform(0.1, 10, 0.1),
            "j": tune.qlograndint(8, 64, 8),
            "k": {"deep": tune.choice([[1, 2], [3]])},
            "l": sw.Real(0, 1),
            "constant": 3,
            "m": tune.randint(5, 6),
        }
    )
    assert space.space == {
        "a": sw.Real(-1, 2),
        "b": sw.Real(1e-4, 1, log=True),
        "c": sw.Integer(2, 8),
        "d": sw.Integer(1, 64, log=True),
        "e": sw.Categorical(["x", "y"]),
        "f": sw.Integer(0, 2),
        "g": sw.Integer(1, 10),
        "h": sw.Integer(1, 4),
        "i": sw.Integer(1, 100, log=True),
        "j": sw.Integer(1, 8, log=True),
        "k/deep": sw.Categorical([0, 1]),
        "l": sw.Real(0, 1),
    }
    ours = dict.fromkeys(space.space, 1) | {"e": "y", "l": 0.5}
    theirs = space.outward(ours)
    assert theirs["g"] == 0.1
    assert theirs["h"] == 4
    assert theirs["f"] == 32
    assert theirs["k/deep"] == [3]
    assert theirs["m"] == 5
    assert space.inward(theirs) == ours


@pytest.mark.parametrize("name", ["quniform", "qloguniform", "qrandint", "qlograndint", "randint"])
def test_what_ray_itself_would_sample_is_in_the_space(name):
    bounds = (5, 40, 5) if name.startswith("q") else (3, 40)
    domain = getattr(tune, name)(*bounds)
    space = read_space({"x": domain})
    drawn = set(domain.sample(size=400))
    assert {space.outward(space.inward({"x": v}))["x"] for v in drawn} == drawn
    kind = space.space["x"]
    reachable = {space.outward({"x": k})["x"] for k in range(kind.low, kind.high + 1)}
    assert reachable == drawn


@pytest.mark.parametrize(
    "bad",
    [tune.sample_from(lambda _spec: 1), tune.randn(0, 1), tune.qrandn(0, 1, 0.1)],
    ids=["sample_from", "randn", "qrandn"],
)
def test_what_cannot_be_modelled_is_named(bad):
    with pytest.raises(InputTypeError, match=r"'x' .* cannot model. Allowed are tune\.uniform"):
        read_space({"x": bad, "y": tune.uniform(0, 1)})


def test_grids_and_empty_spaces_are_refused():
    with pytest.raises(InputError, match="grid_search"):
        read_space({"x": tune.grid_search([1, 2])})
    with pytest.raises(InputError, match="nothing varies"):
        read_space({"x": 3})
    with pytest.raises(InputError, match="no multiple of 10"):
        read_space({"x": tune.qrandint(3, 8, 10)})


# ------------------------------------------------------------------------------------- searching


def test_it_finishes_and_says_why():
    made = run(searcher(lam=0.001, surrogate="default"))
    assert made.verdict.stop
    assert made.verdict.rule == "pbgi"
    assert 4 < len(made.history) < 60
    best = min(made.history.succeeded, key=lambda o: o.value)
    assert best.params["opt/n"] == 3
    assert abs(best.params["x"] - 0.3) < 0.15


def test_maximising_finds_the_same():
    low, high = run(searcher()), run(searcher(mode="max"), sign=-1.0)
    assert [o.params for o in low.history] == [o.params for o in high.history]


def test_a_number_is_what_each_trial_costs():
    made = run(searcher(cost=4), until=5)
    assert {o.cost for o in made.history} == {4.0}


def test_a_known_cost_sees_the_whole_config():
    made = run(searcher(cost=lambda config: config["opt"]["k"] + config["x"]), until=5)
    assert [o.cost for o in made.history] == [7 + o.params["x"] for o in made.history]


def test_running_trials_are_pending_and_hold_up_the_end():
    made = searcher(max_trials=3)
    configs = [made.suggest(str(i)) for i in range(3)]
    assert len({config["x"] for config in configs}) == 3
    assert made.suggest("3") is None  # they may still change the answer
    for i, config in enumerate(configs):
        made.on_trial_complete(str(i), {"loss": loss(config), "price": 1.0})
    assert made.suggest("3") == Searcher.FINISHED
    assert made.stop_all()
    assert made("0", {}) is False


def test_a_trial_that_dies_has_failed_and_cost_what_it_last_reported():
    made = searcher()
    made.suggest("a")
    made.on_trial_result("a", {"loss": 0.5, "price": 2.5})
    made.on_trial_complete("a", error=True)
    [failed] = made.history
    assert failed.failed
    assert failed.cost == 2.5
    made.suggest("b")
    made.on_trial_complete("b", {"loss": float("nan"), "price": 1.0})
    assert made.history[1].failed
    made.on_trial_complete("unheard of", {"loss": 1.0})
    assert len(made.history) == 2


def test_points_from_elsewhere():
    made = searcher()
    made.add_evaluated_point({"x": 0.5, "opt": {"n": 2}}, 0.3, cost=1.5)
    assert made.history[0].params == {"x": 0.5, "opt/n": 2}
    with pytest.raises(InputError, match="cost is missing"):
        made.add_evaluated_point({"x": 0.6, "opt": {"n": 2}}, 0.3)


def test_errors_teach():
    with pytest.raises(InputError, match=r"'direction'.*Ray's mode"):
        StopwiseSearcher(0.1, direction="maximize")
    with pytest.raises(InputError, match="name of the metric"):
        StopwiseSearcher(0.1).set_search_properties(None, None, SPACE)
    with pytest.raises(InputError, match="param_space"):
        StopwiseSearcher(0.1).suggest("a")
    made = searcher(cost="dollars")
    config = made.suggest("a")
    with pytest.raises(InputError, match=r"'dollars', its cost; reported are \['loss'\]"):
        made.on_trial_complete("a", {"loss": loss(config)})


# ------------------------------------------------------------------------------- save and restore


@pytest.mark.parametrize(("space_given", "surrogate"), [(True, "default"), (False, "plain")])
def test_a_restored_search_goes_on_as_if_nothing_had_happened(tmp_path, space_given, surrogate):
    space = SPACE | {
        "act": tune.choice(["relu", "tanh"]),
        "q": tune.quniform(0, 1, 0.25),
        "list": tune.choice([[1], [2]]),
        "size": tune.choice([1, 10, 100]),
    }
    options = {"max_trials": 9, "surrogate": surrogate}
    whole = run(searcher(1e-4, space, **options))
    half = run(searcher(1e-4, space, **options), until=6)
    running = half.suggest("runs")
    half.save(tmp_path / "state")
    assert "events" in json.loads((tmp_path / "state").read_text())
    again = StopwiseSearcher(1e-4, **OPTIONS, **options)
    if space_given:
        again.set_search_properties("loss", "min", space)
    again.restore(tmp_path / "state")
    assert again.history == half.history
    again.on_trial_complete("runs", {"loss": loss(running), "price": 1 + running["x"]})
    run(again)
    assert [o.params for o in again.history] == [o.params for o in whole.history]
    assert again.verdict == whole.verdict


def test_a_space_that_json_cannot_hold_is_given_again(tmp_path):
    space = {"x": tune.uniform(0, 1), "f": tune.choice([min, max])}
    made = searcher(space=space)
    made.suggest("a")
    made.save(tmp_path / "state")
    again = StopwiseSearcher(0.01, **OPTIONS, surrogate="plain")
    again.restore(tmp_path / "state")
    with pytest.raises(InputError, match=r"Tuner\.restore"):
        again.suggest("b")
    assert again.set_search_properties("loss", "min", space)
    assert again._live["a"] == made._live["a"]


def test_where_another_machine_would_choose_differently_the_recorded_values_count(tmp_path):
    half = run(searcher(1e-4), until=7)
    assert isinstance(half.suggest("runs"), dict)
    half.save(tmp_path / "state")
    state = json.loads((tmp_path / "state").read_text())
    asked = [event for event in state["events"] if event[0] == "ask"]
    asked[5][2]["x"] = 0.123
    (tmp_path / "state").write_text(json.dumps(state))
    again = searcher(1e-4)
    again.restore(tmp_path / "state")
    assert [o.value for o in again.history] == [o.value for o in half.history]
    assert again.history[5].params["x"] == 0.123
    again.on_trial_complete("runs", {"loss": 0.2, "price": 1.0})
    assert len(again.history) == 8
    assert again.history.spent == pytest.approx(half.history.spent + 1.0)
    assert len(run(again, until=2).history) == 10


def test_what_ran_at_the_end_of_a_lost_session_does_not_hold_up_the_next(tmp_path):
    half = searcher(max_trials=3)
    for i in range(3):
        config = half.suggest(str(i))
        if i < 2:
            half.on_trial_complete(str(i), {"loss": loss(config), "price": 1.0})
    half.save(tmp_path / "state")
    again = searcher(max_trials=3)
    again.restore(tmp_path / "state")
    assert half.suggest("3") is None
    assert again.suggest("3") == Searcher.FINISHED


def test_a_failed_trial_that_ray_starts_again_counts():
    made = searcher()
    config = made.suggest("a")
    made.on_trial_complete("a", error=True)
    made.on_trial_complete("a", {"loss": loss(config), "price": 1.0})
    assert [o.failed for o in made.history] == [True, False]
    assert made.history[0].params == made.history[1].params


# ------------------------------------------------------------------------------------- a real Ray


def train(config):
    if config["x"] > 0.85:
        message = "this one dies"
        raise RuntimeError(message)
    tune.report({"loss": loss(config), "price": 1 + config["x"]})


def tuned(tmp_path, trainable, search, name="e", concurrent=2, **run_options):
    return tune.Tuner(
        trainable,
        param_space=SPACE,
        tune_config=tune.TuneConfig(
            metric="loss",
            mode="min",
            num_samples=-1 if search else 40,
            search_alg=search,
            max_concurrent_trials=concurrent,
            reuse_actors=True,
        ),
        run_config=tune.RunConfig(storage_path=str(tmp_path), name=name, verbose=0, **run_options),
    )


def test_concurrent_trials_one_of_which_dies(cluster, tmp_path, capsys):
    first = [{"x": 0.9, "opt": {"n": 3}}]
    made = StopwiseSearcher(0.05, **OPTIONS, start_from=first, surrogate="plain")
    results = tuned(tmp_path, train, made).fit()
    assert made.verdict.stop
    assert len(results) == len(made.history)
    died = [o for o in made.history if o.failed]
    assert died
    assert all(o.params["x"] > 0.85 for o in died)
    assert results.num_errors == len(died)
    best = results.get_best_result()
    assert best.metrics["loss"] == min(o.value for o in made.history.succeeded)
    assert best.config["opt"]["k"] == 7

    told = read_results(tmp_path / "e", metric="loss", cost="price", space=read_space(SPACE))
    assert told.direction == "minimize"
    assert {o.value for o in told.history} == {o.value for o in made.history}
    assert told.history.spent == pytest.approx(made.history.spent)
    assert [o.message for o in told.history if o.failed] == ["RuntimeError: this one dies"] * len(
        died
    )
    audit(str(tmp_path / "e"), lam=0.05, value="loss", cost="price", n_initial=4)
    said = capsys.readouterr().out
    without = f"{len(died)} of them without a value"
    assert f"{len(told.history)} evaluations, {without} (the first 4 with a value are" in said

    guessed = read_results(tmp_path / "e", metric="loss", mode="max", cost=None)
    assert guessed.direction == "maximize"
    assert set(guessed.space) == {"x", "opt/n"}
    assert guessed.history.spent == len(made.history)
    assert len(guessed.notes) == 3


class Interrupt(tune.Callback):
    """The driver dies at its third trial, until something is mended."""

    def __init__(self, mended):
        self.mended = mended

    def on_trial_start(self, iteration, trials, trial, **info):  # noqa: ARG002
        if len(trials) == 3 and not self.mended.exists():
            message = "the driver is gone"
            raise RuntimeError(message)


def calm(config):
    tune.report({"loss": loss(config), "price": 1 + config["x"]})


def test_an_interrupted_search_is_restored_by_ray(cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("TUNE_GLOBAL_CHECKPOINT_S", "0")
    mended = tmp_path / "mended"
    made = StopwiseSearcher(0.05, **OPTIONS, surrogate="plain")
    tuner = tuned(tmp_path, calm, made, concurrent=1, callbacks=[Interrupt(mended)])
    with pytest.raises(tune.TuneError, match="the driver is gone"):
        tuner.fit()
    assert len(made.history) == 2
    mended.touch()
    restored = tune.Tuner.restore(str(tmp_path / "e"), calm)
    results = restored.fit()
    search = restored._local_tuner._tune_config.search_alg
    assert search is not made
    assert search.history[:2] == made.history
    assert search.verdict.stop
    assert len(search.history) >= 4
    assert sorted(o.value for o in search.history) == pytest.approx(
        sorted(result.metrics["loss"] for result in results)
    )


def test_the_stopper_ends_a_search_by_somebody_else(cluster, tmp_path):
    stopper = StopwiseStopper(
        SPACE, 0.05, metric="loss", mode="min", cost=lambda config: config["opt"]["k"], n_initial=4
    )

    results = tuned(tmp_path, calm, None, stop=stopper).fit()
    study, _ = stopper._bridge.opened
    assert stopper.verdict.stop
    assert 4 <= len(study.history) < 40  # Ray shows a function's last result twice
    assert len(study.history) <= len(results)
    assert len({o.params["x"] for o in study.history}) == len(study.history)
    assert set(study.history[0].params) == {"x", "opt/n"}


def test_the_example_runs(cluster, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / "ray_search.py"), run_name="__main__")
    assert ": stop" in capsys.readouterr().out


def test_a_folder_without_trials_is_refused(tmp_path):
    with pytest.raises(InputError, match="no trials of Ray Tune"):
        read_results(tmp_path, metric="loss")


# ------------------------------------------------------------------------- bounds and promises


def test_a_value_beyond_the_bounds_is_refused_and_the_trial_stays_open():
    made = run(searcher(bounds=(0, None)), until=3)
    config = made.suggest("last")
    for _ in range(2):
        with pytest.raises(InputError, match="no value is below 0"):
            made.on_trial_complete("last", {"loss": -1.0, "price": 1.0})
    assert len(made.history) == 3
    made.on_trial_complete("last", {"loss": loss(config), "price": 1.0})
    assert len(made.history) == 4
    with pytest.raises(InputError, match="no value is below 0"):
        made.add_evaluated_point({"x": 0.1, "opt": {"n": 2, "k": 7}}, -1.0, cost=1.0)


def test_the_stopper_refuses_a_value_beyond_the_bounds():
    stopper = StopwiseStopper(SPACE, 0.01, metric="loss", mode="max", cost=None, bounds=(None, 1))
    result = {"done": True, "loss": 2.0, "config": {"x": 0.5, "opt": {"n": 2, "k": 7}}}
    for _ in range(2):
        with pytest.raises(InputError, match="no value is above 1"):
            stopper("a", result)
    stopper("a", {**result, "loss": 1.0})
    study, _ = stopper._bridge.opened
    assert len(study.history) == 1
    assert len(study.promises) == 0


def test_the_searchers_choices_promise_and_so_do_they_after_a_restore(tmp_path):
    made = run(searcher(lam=1e-5), until=7)
    study, _ = made._bridge.opened
    assert [p.trial for p in study.promises.told] == [4, 5, 6]
    made.save(str(tmp_path / "state.json"))
    again = searcher(lam=1e-5)
    again.restore(str(tmp_path / "state.json"))
    restored, _ = again._bridge.opened
    assert restored.promises == study.promises
