# SPDX-License-Identifier: Apache-2.0
"""Studies of conditional and constrained spaces: asked, told, resumed, replayed and reported."""

import json

import numpy as np
import pytest

import stopwise as sw
from stopwise.errors import InputError

SPACE = {
    "kind": sw.Categorical(["plain", "tree", "deep"]),
    "rate": sw.Real(0.01, 1, log=True),
    "depth": sw.Integer(1, 6, when={"kind": ["tree", "deep"]}),
    "batch": sw.Ordinal([16, 32, 64], when={"kind": ["deep"]}),
    "drop": sw.Real(0, 1, when={"batch": [32, 64]}),
}


def loss(params):
    value = (params["rate"] - 0.2) ** 2 + 0.02 * abs(params.get("depth", 6) - 3)
    if params["kind"] != "deep":
        return value + 0.3
    return value + 0.1 * (params["batch"] == 16) + (params.get("drop", 0.5) - 0.4) ** 2


def active(params):
    names = {"kind", "rate"}
    names |= {"depth"} if params["kind"] != "plain" else set()
    names |= {"batch"} if params["kind"] == "deep" else set()
    return names | ({"drop"} if params.get("batch") in (32, 64) else set())


def run(study, n):
    for _ in range(n):
        trial = study.ask()
        study.tell(trial, loss(trial.params))
        study.should_stop()
    return [(o.params, o.value) for o in study.history]


def test_params_contain_what_is_active_and_the_best_branch_is_found():
    study = sw.Study(SPACE, lam=1e-6, surrogate="plain")
    history = run(study, 25)
    assert all(params.keys() == active(params) for params, _ in history)
    assert len({tuple(sorted(params.items())) for params, _ in history}) == 25
    assert study.best.params["kind"] == "deep"
    assert study.best.value < 0.05


@pytest.mark.parametrize("acquisition", ["pbgi", "logeipc", "ts", "lcb"])
def test_constraints_are_never_violated(acquisition):
    checked = []

    def narrow(params):
        checked.append(params)
        return params["rate"] * params["depth"] <= 0.5

    study = sw.Study(
        SPACE,
        lam=1e-6,
        surrogate="plain",
        acquisition=acquisition,
        constraints=[narrow, "kind != 'tree' or depth != 3", "rate >= 0.02"],
        watch=["srgap-med", "ucb-lcb"],
    )
    for params, _ in run(study, 16):
        assert params["rate"] >= 0.02
        assert params["rate"] * params.get("depth", 0) <= 0.5
        assert (params["kind"], params.get("depth")) != ("tree", 3)
    assert checked


def test_rules_that_draw_paths_know_conditions_and_constraints():
    study = sw.Study(SPACE, lam=1e-6, surrogate="plain", constraints="rate <= 0.1", stopping="prb")
    run(study, 13)
    assert study.should_stop().rule == "prb"
    recorded = [signal.value for signal in study.traces[study.rules[0].key]]
    assert recorded
    assert all(0.0 <= chance <= 1.0 for chance in recorded)


def test_a_journal_holds_conditions_orders_and_expressions(tmp_path):
    path = tmp_path / "run.jsonl"
    options = {"lam": 1e-6, "surrogate": "plain", "constraints": ["rate <= 0.5"]}
    straight = run(sw.Study(SPACE, **options), 16)
    study = sw.Study(SPACE, journal=path, **options)
    run(study, 13)
    study.close()
    resumed = sw.Study.resume(path)
    assert run(resumed, 3) == straight
    resumed.close()
    header = json.loads(path.read_text().splitlines()[0])
    assert header["space"]["parameters"]["drop"]["when"] == {"batch": [32, 64]}
    assert header["options"]["constraints"] == ["rate <= 0.5"]
    looked = sw.Study.load(path)
    assert [(o.params, o.value) for o in looked.history] == straight
    assert list(looked.space) == list(SPACE)
    for name, parameter in SPACE.items():
        assert looked.space[name] == parameter
    with pytest.raises(InputError, match="constraints was"):
        sw.Study.resume(path, constraints=["rate <= 0.4"])
    [replayed] = sw.replay(looked, sw.stopping.PBGI(1e-6))
    assert replayed.verdicts[max(replayed.verdicts)] == looked.should_stop()


def test_a_function_is_handed_in_again(tmp_path):
    path = tmp_path / "run.jsonl"

    def small(params):
        return params["rate"] <= 0.5

    with_function = {"constraints": [small, "rate >= 0.02"]}
    study = sw.Study(SPACE, lam=0.01, surrogate="plain", journal=path, **with_function)
    run(study, 2)
    study.close()
    with pytest.raises(InputError, match=r"constraints .*small.*hand it in again"):
        sw.Study.resume(path)
    sw.Study.resume(path, **with_function).close()
    looked = sw.Study.load(path)
    assert any("constraints are not at hand" in note for note in looked.notes)
    assert [c.source for c in looked.options.constraints] == ["rate >= 0.02"]


def test_data_that_violate_a_constraint_are_refused():
    study = sw.Study(SPACE, lam=0.01, constraints="rate <= 0.5")
    with pytest.raises(InputError, match=r"violates the constraint 'rate <= 0\.5'"):
        study.tell({"kind": "plain", "rate": 0.7}, 1.0)
    with pytest.raises(InputError, match="violates"):
        sw.Study(
            SPACE, lam=0.01, constraints="rate <= 0.5", start_from=[{"kind": "plain", "rate": 1.0}]
        )
    with pytest.raises(InputError, match="have 'batch', which exists only when kind is 'deep'"):
        study.tell({"kind": "plain", "rate": 0.3, "batch": 16}, 1.0)


def test_a_priced_design_does_not_prefer_branches_with_few_parameters():
    space = {
        "kind": sw.Categorical(["short", "long"]),
        "y": sw.Real(0, 1, when={"kind": "short"}),
        **{f"x{i}": sw.Real(0, 1, when={"kind": "long"}) for i in range(6)},
    }
    kinds = []
    for seed in range(20):
        study = sw.Study(space, lam=0.01, cost="reported", seed=seed)
        for _ in range(2):  # until costs are known points near the centre are preferred
            trial = study.ask()
            kinds.append(trial.params["kind"])
            study.tell(trial, 1.0, cost=1.0)
    assert 10 <= kinds.count("long") <= 30


def test_finite_conditional_spaces_are_exhausted_after_their_configurations():
    space = {
        "kind": sw.Categorical(["a", "b"]),
        "n": sw.Integer(1, 3, when={"kind": "b"}),
    }
    study = sw.Study(space, lam=1e-9, surrogate="plain", stopping=sw.stopping.FixedTrials(99))
    tried = []
    while not study.should_stop():
        trial = study.ask()
        tried.append(trial.params)
        study.tell(trial, float(len(trial.params)))
    assert len(tried) == 4
    assert study.should_stop().rule == "exhausted"


def test_branches_are_not_told_apart_by_the_middle_of_their_parameters():
    """What does not exist is at its middle; a branch whose parameters are there is another."""
    space = {
        "rate": sw.Real(0.01, 1, log=True),
        "kind": sw.Categorical(["svm", "forest"]),
        "C": sw.Real(0, 1, when={"kind": "svm"}),
        "kernel": sw.Categorical(["rbf", "linear"], when={"kind": "svm"}),
        "gamma": sw.Real(0, 1, when={"kernel": "rbf"}),
        "depth": sw.Integer(1, 4, when={"kind": "forest"}),
    }
    study = sw.Study(space, lam=1e-3)
    for rate, C, gamma, value in (
        (0.265, 0.492, 0.731, 0.843),
        (0.034, 0.249, 0.284, 0.663),
        (0.708, 0.938, None, 1.096),
        (0.016, 0.694, None, 0.628),
        (0.168, 0.665, 0.187, 0.453),
    ):
        kernel = {"kernel": "linear"} if gamma is None else {"kernel": "rbf", "gamma": gamma}
        study.tell({"rate": rate, "kind": "svm", "C": C, **kernel}, value)
    for rate, depth, value in (
        (0.018, 4, 0.233),
        (0.469, 2, 0.172),
        (0.090, 4, 0.212),
        (0.131, 2, 0.105),
        (0.012, 3, 0.185),
    ):
        study.tell({"rate": rate, "kind": "forest", "depth": depth}, value)
    middle = {"rate": 0.1, "kind": "svm", "C": 0.5, "kernel": "rbf", "gamma": 0.5}
    law = study.snapshot().belief.objective.law(study.domain.encode(middle))
    assert np.exp(law.log_cdf(np.array(0.25))) < 0.05  # every forest is below, and no svm


def test_the_report_shows_what_is_active(tmp_path):
    study = sw.Study(SPACE, lam=1e-6, surrogate="plain")
    run(study, 13)
    page = tmp_path / "run.html"
    study.result().report(page)
    text = page.read_text()
    best = study.best.params
    assert all(f"The model along {name}." in text for name in best)
    assert not any(f"The model along {name}." in text for name in SPACE if name not in best)


def test_what_is_on_a_wall_but_for_rounding_can_be_told():
    study = sw.Study(
        {name: sw.Real(0, 1) for name in "abc"}, lam=0.01, constraints=["a + b + c <= 1"]
    )
    study.tell({"a": 0.33, "b": 0.56, "c": 0.11}, 0.5)  # 1.0000000000000002 in floats
    with pytest.raises(InputError, match=r"violates the constraint 'a \+ b \+ c <= 1'"):
        study.tell({"a": 0.33, "b": 0.56, "c": 0.12}, 0.5)
