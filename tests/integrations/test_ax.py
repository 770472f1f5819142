# SPDX-License-Identifier: Apache-2.0
"""The Ax stopping strategy, generation node and reader, on Ax itself."""

import json
import logging
import runpy

import pytest
from ax.api import configs
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig
from ax.core.arm import Arm
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.global_stopping.strategies.improvement import ImprovementGlobalStoppingStrategy

import stopwise as sw
from stopwise.errors import InputError, InputTypeError
from stopwise.integrations.ax import (
    StopwiseNode,
    StopwiseStrategy,
    generation_strategy,
    read_client,
    read_history,
    read_space,
    save,
    should_stop,
)
from stopwise.tools.cli.audit import audit
from tests.support.repository import ROOT

logging.getLogger("ax").setLevel(logging.ERROR)
X = RangeParameterConfig(name="x", bounds=(0.0, 1.0), parameter_type="float")
N = RangeParameterConfig(name="n", bounds=(1, 5), parameter_type="int")


def loss(params):
    return (params["x"] - 0.3) ** 2 + 0.05 * (params["n"] - 3) ** 2


def client(parameters=(X, N), objective="-loss", node=None, tracking=("price",)):
    made = Client(random_seed=0)
    made.configure_experiment(parameters=list(parameters))
    made.configure_optimization(objective=objective)
    made.configure_tracking_metrics(list(tracking))
    if node is not None:
        made.set_generation_strategy(node)
    return made


def step(made, sign=1.0):
    for index, params in made.get_next_trials(max_trials=1).items():
        data = {"loss": sign * loss(params), "price": 1 + params["x"]}
        made.complete_trial(index, raw_data=data)
    return params


def run(made, strategy, most=40, sign=1.0):
    for trials in range(most):
        stop, reason = should_stop(made, strategy)
        if stop:
            return trials, reason
        step(made, sign)
    return most, reason


# ------------------------------------------------------------------------------------ both halves


def test_the_node_chooses_and_the_strategy_stops_with_a_reason():
    made = client(node=generation_strategy(0.001, cost="price", n_initial=4))
    strategy = StopwiseStrategy(0.001, cost="price", n_initial=4)
    trials, reason = run(made, strategy)
    assert 4 < trials < 40
    assert "the best remaining candidate is expected to gain" in reason
    assert strategy.verdict.rule == "pbgi"
    best, *_ = made.get_best_parameterization(use_model_predictions=False)
    assert best["n"] == 3
    assert abs(best["x"] - 0.3) < 0.15


def test_it_chooses_as_a_study_does():
    made = client(node=generation_strategy(0.01, cost=lambda p: 1 + p["x"], n_initial=4))
    study = sw.Study(
        {"x": sw.Real(0, 1), "n": sw.Integer(1, 5)},
        lam=0.01,
        cost=lambda p: 1 + p["x"],
        n_initial=4,
    )
    for _ in range(7):
        trial = study.ask()
        assert step(made) == pytest.approx(dict(trial.params))
        study.tell(trial, loss(trial.params))


def test_maximising_is_the_mirror_image():
    paths = []
    for objective, sign in (("-loss", 1.0), ("loss", -1.0)):
        node = generation_strategy(0.01, n_initial=4, surrogate="plain")
        made = client(objective=objective, node=node)
        paths.append([step(made, sign) for _ in range(6)])
    assert paths[0] == paths[1]


def test_trials_that_run_beside_each_other_differ_and_failures_are_told():
    node = generation_strategy(0.01, n_initial=4)
    made = client(node=node)
    batch = made.get_next_trials(max_trials=3)
    assert len({params["x"] for params in batch.values()}) == 3
    made.mark_trial_failed(0)
    for index in (1, 2):
        made.complete_trial(index, raw_data={"loss": loss(batch[index]), "price": 1.0})
    made.get_next_trials(max_trials=1)
    study = node._curr._mirror.study
    assert [o.failed for o in study.history] == [True, False, False]
    assert len(study.pending) == 1


def test_the_strategy_judges_a_search_by_ax_itself():
    made = client()
    strategy = StopwiseStrategy(0.05, n_initial=4, stopping=sw.stopping.FixedTrials(2))
    trials, _ = run(made, strategy, most=8)
    assert trials == 6


def test_a_running_trial_counts_as_pending_or_silences():
    made = client()
    for _ in range(4):
        step(made)
    made.get_next_trials(max_trials=1)
    loud = StopwiseStrategy(10.0, n_initial=4)
    stop, reason = should_stop(made, loud)
    assert stop
    assert "1 still running" in reason
    silent = StopwiseStrategy(10.0, n_initial=4, inactive_when_pending_trials=True)
    assert should_stop(made, silent)[0] is False
    later = StopwiseStrategy(10.0, n_initial=4, min_trials=9)
    assert "minimum of 9" in should_stop(made, later)[1]


def test_the_helper_asks_any_strategy_of_ax():
    made = client()
    step(made)
    stop, reason = should_stop(made, ImprovementGlobalStoppingStrategy(min_trials=5))
    assert not stop
    assert "5" in reason


# --------------------------------------------------------------------------------------- spaces


def test_spaces_of_every_kind():
    made = client(
        [
            X,
            N,
            RangeParameterConfig(
                name="lr", bounds=(1e-4, 1.0), parameter_type="float", scaling="log"
            ),
            RangeParameterConfig(
                name="s", bounds=(0.0, 1.0), parameter_type="float", step_size=0.25
            ),
            ChoiceParameterConfig(name="size", values=[16, 32, 64], parameter_type="int"),
            ChoiceParameterConfig(name="act", values=["relu", "tanh"], parameter_type="str"),
            ChoiceParameterConfig(name="flag", values=[True, False], parameter_type="bool"),
            ChoiceParameterConfig(name="one", values=["same"], parameter_type="str"),
        ]
    )
    foreign = read_space(made._experiment.search_space)
    space = dict(foreign.space)
    assert set(space.pop("flag").choices) == {True, False}  # Ax may order them
    assert space == {
        "x": sw.Real(0, 1),
        "n": sw.Integer(1, 5),
        "lr": sw.Real(1e-4, 1, log=True),
        "s": sw.Integer(0, 4),
        "size": sw.Integer(0, 2),
        "act": sw.Categorical(["relu", "tanh"]),
    }
    params = step(made)
    assert foreign.outward(foreign.inward(params)) == params


@pytest.mark.skipif(
    not hasattr(configs, "DerivedParameterConfig"), reason="this Ax has no derived parameters"
)
def test_a_parameter_that_cannot_be_modelled_is_named():
    derived = configs.DerivedParameterConfig(
        name="d", expression_str="2 * x", parameter_type="float"
    )
    with pytest.raises(InputTypeError, match=r"'d' is .*cannot model"):
        read_space(client([X, N, derived])._experiment.search_space)


def test_constraints_of_ax_are_refused():
    made = Client()
    two = RangeParameterConfig(name="y", bounds=(0.0, 1.0), parameter_type="float")
    made.configure_experiment(parameters=[X, two], parameter_constraints=["x + y <= 1"])
    with pytest.raises(InputError, match="constraints"):
        read_space(made._experiment.search_space)


def test_several_objectives_and_missing_costs_are_refused():
    made = client(objective="-loss, price", tracking=())
    with pytest.raises(InputError, match="one metric"):
        should_stop(made, StopwiseStrategy(0.1))
    made = client()
    step(made)
    strategy = StopwiseStrategy(0.1, cost="dollars")
    for _ in range(2):  # the second question is no wiser than the first
        with pytest.raises(InputError, match="does not report its cost, 'dollars'"):
            should_stop(made, strategy)


def test_batches_are_refused():
    made = client()
    batch = made._experiment.new_batch_trial()
    batch.add_arms_and_weights([Arm({"x": 0.1, "n": 1}), Arm({"x": 0.2, "n": 1})])
    batch.mark_running(no_runner_required=True)
    with pytest.raises(InputError, match="trial 0 is a batch of 2"):
        should_stop(made, StopwiseStrategy(0.1))


# -------------------------------------------------------------------------------------- reading


def test_the_command_audits_a_saved_client(tmp_path, capsys):
    made = client()
    for _ in range(8):
        step(made)
    made.save_to_json_file(str(tmp_path / "ax.json"))
    audit(str(tmp_path / "ax.json"), lam=0.01, cost="price", n_initial=4)
    said = capsys.readouterr().out
    assert "8 evaluations (the first 4 are the initial design)" in said
    assert "pbgi" in said


def test_a_saved_client_is_read_for_audit(tmp_path):
    made = client()
    values = [loss(step(made)) for _ in range(3)]
    [failed] = made.get_next_trials(max_trials=1)
    made.mark_trial_failed(failed)
    made.save_to_json_file(str(tmp_path / "ax.json"))
    assert json.loads((tmp_path / "ax.json").read_text())
    told = read_history(tmp_path / "ax.json", cost="price")
    assert told.direction == "minimize"
    assert told.space == {"x": sw.Real(0, 1), "n": sw.Integer(1, 5)}
    assert [o.value for o in told.history.succeeded] == pytest.approx(values)  # Ax rounds
    assert told.history[3].failed
    assert [o.cost for o in told.history.succeeded] == pytest.approx(
        [1 + o.params["x"] for o in told.history.succeeded]
    )
    assert {o.cost for o in read_client(made, cost=2.5).history} == {2.5}
    assert (
        read_client(made, cost=lambda p: 2 * p["n"]).history[0].cost
        == 2 * (told.history[0].params["n"])
    )
    assert read_client(made).history.spent == 4
    assert read_client(made).notes == (
        "1 trials without a value count as failed",
        "each trial is taken to cost 1",
    )
    assert all(o.cost > 0 for o in read_client(made, cost="seconds").history.succeeded)


def test_a_client_with_our_node_is_saved_and_goes_on_after_loading(tmp_path):
    options = {"cost": lambda p: 1 + p["x"], "n_initial": 4, "surrogate": "plain"}
    whole = client(node=generation_strategy(0.01, **options))
    expected = [step(whole) for _ in range(8)]
    half = client(node=generation_strategy(0.01, **options))
    first = [step(half) for _ in range(5)]
    save(half, tmp_path / "ax.json")
    assert step(half) == expected[5]  # the one that was saved goes on too
    again = Client.load_from_json_file(str(tmp_path / "ax.json"))
    again.set_generation_strategy(generation_strategy(0.01, **options))
    assert first == expected[:5]
    assert step(again) == pytest.approx(expected[5], abs=1e-4)  # the fit begins elsewhere
    assert len(read_history(tmp_path / "ax.json").history) == 5


def test_the_example_runs(capsys):
    runpy.run_path(str(ROOT / "examples" / "ax_search.py"), run_name="__main__")
    assert ": stop" in capsys.readouterr().out


# ------------------------------------------------------------------------- bounds and promises


def test_a_value_beyond_the_bounds_is_refused_whoever_looks():
    made = client()
    index = made.attach_trial({"x": 0.5, "n": 2})
    made.complete_trial(index, raw_data={"loss": -1.0, "price": 1.0})
    strategy = StopwiseStrategy(0.01, cost="price", bounds=(0, None))
    made.set_generation_strategy(generation_strategy(0.01, cost="price", bounds=(0, None)))
    for _ in range(2):
        with pytest.raises(InputError, match=r"the value -1.0, but bounds=\(0.0, None\)"):
            should_stop(made, strategy)
    with pytest.raises(InputError, match="no value is below 0"):
        made.get_next_trials(max_trials=1)


def test_the_nodes_choices_promise_and_those_of_others_do_not():
    node = StopwiseNode(1e-5, cost="price", n_initial=4, surrogate="plain")
    made = client(node=GenerationStrategy(name="ours", nodes=[node]))
    for _ in range(6):
        step(made)
    made.attach_trial({"x": 0.9, "n": 5})
    step(made)
    step(made)
    [node] = made._generation_strategy._nodes
    study = node._mirror.study
    promised = [p.trial for p in study.promises.told]
    params = [dict(o.params) for o in study.history if o.number in promised]
    assert len(promised) >= 2
    assert {"x": 0.9, "n": 5} not in params
    strategy = StopwiseStrategy(1e-5, cost="price", n_initial=4, surrogate="plain")
    should_stop(made, strategy)
    assert len(strategy._mirror.study.promises) == 0
