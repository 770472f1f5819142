# SPDX-License-Identifier: Apache-2.0
"""Conditional spaces through the doors of other packages."""

import json

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.space import Mixed
from stopwise.errors import InputError

optuna = pytest.importorskip("optuna")

from stopwise.integrations.optuna import (  # noqa: E402
    StopwiseCallback,
    StopwiseSampler,
    read_history,
)
from stopwise.integrations.optuna._learning import learned  # noqa: E402

TREE = {
    "model": sw.Categorical(["svm", "tree", "net"]),
    "rate": sw.Real(0, 1),
    "kernel": sw.Categorical(["rbf", "linear"], when={"model": ["svm"]}),
    "gamma": sw.Real(0, 1, when={"kernel": ["rbf"]}),
    "depth": sw.Integer(1, 9, when={"model": ["tree"]}),
    "layers": sw.Integer(1, 3, when={"model": ["net"]}),
    "u2": sw.Real(0, 1, when={"layers": [2, 3]}),
    "u3": sw.Real(0, 1, when={"layers": [3]}),
}


def objective(trial):
    model = trial.suggest_categorical("model", ["svm", "tree", "net"])
    value = (trial.suggest_float("rate", 0, 1) - 0.4) ** 2
    if model == "svm":
        if trial.suggest_categorical("kernel", ["rbf", "linear"]) == "rbf":
            return value + (trial.suggest_float("gamma", 0, 1) - 0.7) ** 2
        return value + 0.2
    if model == "tree":
        return value + 0.1 + 0.01 * trial.suggest_int("depth", 1, 9)
    for i in range(2, trial.suggest_int("layers", 1, 3) + 1):
        value += 0.1 * trial.suggest_float(f"u{i}", 0, 1)
    return value + 0.15


def told(draws, seed=0):
    """Complete trials of the objective, drawn at random."""
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed))
    study.optimize(objective, n_trials=draws)
    return study


# ------------------------------------------------------------------------------- Optuna


def test_the_tree_is_learned_from_trials():
    tree = learned(told(80).trials)
    assert set(tree) == set(TREE)
    assert {name: {p: set(v) for p, v in when.items()} for name, when in tree.when.items()} == {
        name: {p: set(v) for p, v in parameter.when.items()}
        for name, parameter in TREE.items()
        if parameter.when
    }


@pytest.mark.parametrize("n", [2, 3, 5, 9, 20])
def test_what_is_learned_explains_every_trial(n):
    trials = told(n, seed=n).trials
    tree = learned(trials)
    for trial in trials:
        assert tree.active(trial.params) == set(trial.params) & set(tree)


def test_what_nothing_explains_is_modelled_as_if_it_always_existed():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(0))

    def by_chance(trial):
        x = trial.suggest_float("x", 0, 1)
        kind = trial.suggest_categorical("kind", ["a", "b"])
        # Depends on a real number, which no list of values explains.
        return x + (trial.suggest_float("y", 0, 1) if x > 0.5 else 0.0) + (kind == "a")

    study.optimize(by_chance, n_trials=30)
    tree = learned(study.trials)
    assert set(tree) == {"x", "kind", "y"}
    assert tree.unexplained == {"y"}
    assert not tree.when


def test_two_parameters_may_explain_one_together():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(0))

    def both(trial):
        a = trial.suggest_categorical("a", [True, False])
        b = trial.suggest_categorical("b", [True, False])
        return trial.suggest_float("y", 0, 1) if a and b else 1.0

    study.optimize(both, n_trials=30)
    assert learned(study.trials).when == {"y": {"b": (True,), "a": (True,)}}


@pytest.mark.parametrize("space", [TREE, None])
def test_conditional_parameters_are_modelled(space):
    sampler = StopwiseSampler(lam=1e-6, seed=0, space=space, surrogate="plain")
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=30)
    mirror = sampler.mirrors.mirror(study, sampler.mirrors.distributions(lambda: study.trials), [])
    mirror.update(study.trials)
    assert len(mirror.study.history) == 30
    for trial, ours in zip(study.trials, mirror.study.history, strict=True):
        assert mirror.axes.outward(ours.params) == pytest.approx(trial.params)
    assert not sampler.mirrors._partial  # nothing is taken for noise
    assert study.best_value < 0.1


def test_fixed_params_of_another_branch_are_completed():
    sampler = StopwiseSampler(lam=1e-6, seed=0, space=TREE, surrogate="plain")
    study = optuna.create_study(sampler=sampler)
    for model in ("svm", "tree", "net"):
        study.enqueue_trial({"model": model})
    study.optimize(objective, n_trials=3)
    assert [t.params["model"] for t in study.trials] == ["svm", "tree", "net"]


def test_constraints_are_about_params_of_optuna():
    def stepped(trial):
        n = trial.suggest_int("n", 10, 50, step=10)
        return n + trial.suggest_float("x", 0, 1)

    sampler = StopwiseSampler(
        lam=1e-6,
        seed=0,
        surrogate="plain",
        constraints=["n >= 30 or x > 0.5", lambda p: p["n"] < 50],
    )
    study = optuna.create_study(sampler=sampler)
    study.enqueue_trial({"n": 50, "x": 0.1})  # what others decide may violate them
    study.optimize(stepped, n_trials=14)
    chosen = [t.params for t in study.trials[1:]]
    assert all(p["n"] < 50 and (p["n"] >= 30 or p["x"] > 0.5) for p in chosen)
    assert min(p["n"] for p in chosen) == 10


def test_a_callback_and_an_audit_see_the_tree():
    study = told(25)
    verdict = StopwiseCallback(lam=10.0, surrogate="plain").verdict(study)
    assert verdict.stop
    history = read_history(study._storage, study.study_name, cost=None)
    assert len(history.history) == 25
    assert history.space["gamma"].when == {"kernel": ("rbf",)}
    assert not any("noise" in note for note in history.notes)


# ------------------------------------------------------------------------- scikit-learn


def test_a_list_of_dicts_is_a_choice_between_them():
    pytest.importorskip("sklearn")
    from scipy.stats import loguniform
    from sklearn.datasets import load_iris
    from sklearn.pipeline import Pipeline
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    from stopwise.integrations.sklearn import StopwiseSearchCV

    X, y = load_iris(return_X_y=True)
    svm, tree = SVC(), DecisionTreeClassifier(random_state=0)
    groups = [
        {"model": [svm], "model__C": loguniform(1e-2, 1e2), "model__kernel": ["rbf", "linear"]},
        {"model": [tree], "model__max_depth": [1, 2, 3, 4, 5]},
    ]
    search = StopwiseSearchCV(
        Pipeline([("model", svm)]),
        groups,
        lam=1e-5,
        cost=None,
        cv=2,
        surrogate="plain",
        max_trials=12,
        start_from=[{"model": tree, "model__max_depth": 3}],
        constraints=["model__max_depth != 4", lambda p: p["model__C"] < 50],
    )
    search.fit(X, y)
    assert search.history_[0].params == {"model": tree, "model__max_depth": 3}
    kinds = {frozenset(o.params) for o in search.history_}
    assert kinds == {frozenset(group) for group in groups}
    for o in search.history_:
        assert o.params.get("model__max_depth") != 4
        assert o.params.get("model__C", 0) < 50
    assert search.best_score_ > 0.9
    with pytest.raises(InputError, match="fit none of the alternatives"):
        StopwiseSearchCV(
            Pipeline([("model", svm)]),
            groups,
            lam=1,
            start_from=[{"model": tree, "model__C": 1.0}],
        ).fit(X, y)


# ------------------------------------------------------------------------------ Ray Tune


def test_a_choice_between_dicts_of_ray_is_read_and_written():
    tune = pytest.importorskip("ray.tune")
    from ray.tune.utils.util import flatten_dict

    from stopwise.integrations._ray_space import (
        outward,
        read_space,
        space_as_json,
        space_from_json,
    )

    inner = tune.choice([{"name": "rbf", "gamma": tune.uniform(0, 1)}, "linear"])
    space = {
        "rate": tune.loguniform(1e-3, 1),
        "constant": 3,
        "model": tune.choice(
            [
                {"kind": "svm", "C": tune.uniform(0, 1), "kernel": inner},
                {"kind": "forest", "C": tune.uniform(0, 2), "depth": tune.randint(1, 5)},
                "none",
            ]
        ),
    }
    foreign = read_space(space)
    domain = Mixed.of(foreign.space)
    shapes = set()
    for params in domain.decode(domain.sobol(64, np.random.default_rng(0))):
        config = outward(foreign, params)
        assert foreign.inward(flatten_dict(config)) == params
        shapes.add(tuple(sorted(flatten_dict(config))))
        if config["model"] != "none" and config["model"]["kind"] == "forest":
            assert set(config["model"]) == {"kind", "C", "depth"}
    assert shapes == {
        ("model", "rate"),
        ("model/C", "model/depth", "model/kind", "rate"),
        ("model/C", "model/kernel", "model/kind", "rate"),
        ("model/C", "model/kernel/gamma", "model/kernel/name", "model/kind", "rate"),
    }
    text = json.dumps(space_as_json(foreign, {"constant": 3}))
    assert space_from_json(json.loads(text)) == (foreign, {"constant": 3})


def test_the_searcher_of_ray_hands_out_whole_branches():
    tune = pytest.importorskip("ray.tune")
    from stopwise.integrations.ray import StopwiseSearcher

    space = {"model": tune.choice([{"a": tune.uniform(0, 1)}, {"b": tune.uniform(0, 1)}])}
    searcher = StopwiseSearcher(1e-6, metric="loss", mode="min", cost=None, surrogate="plain")
    searcher.set_search_properties("loss", "min", space)
    seen = []
    for i in range(9):
        config = searcher.suggest(str(i))
        if config == StopwiseSearcher.FINISHED:
            break
        seen.append(config)
        [(name, value)] = config["model"].items()
        searcher.on_trial_complete(str(i), {"loss": value + (name == "a")})
    assert {next(iter(config["model"])) for config in seen} == {"a", "b"}


def ray_choices():
    tune = pytest.importorskip("ray.tune")
    return {
        "samplers": tune.choice([tune.choice([1, 2]), tune.uniform(10, 20), "off"]),
        "empty": tune.choice([{}, {"x": tune.uniform(0, 1)}]),
        "inside": tune.choice(
            [{"kw": {}}, {"kw": {}, "y": tune.choice([{}, tune.uniform(0, 1)])}]
        ),
        "deep": tune.choice([tune.choice([{"z": tune.uniform(0, 1)}, tune.uniform(1, 2)]), 0]),
    }


@pytest.mark.parametrize("name", ["samplers", "empty", "inside", "deep"])
def test_what_ray_draws_within_a_choice_is_in_its_space_and_the_reverse(name):
    """Nothing that varies is handed out as it is, and dicts without entries stay."""
    from ray.tune.search.variant_generator import generate_variants

    from stopwise.integrations._ray_space import flattened, outward, read_space

    space = {"a": ray_choices()[name], "rate": ray_choices()["samplers"].categories[1]}
    foreign = read_space(space)
    domain = Mixed.of(foreign.space)
    handed_out = [
        outward(foreign, params)
        for params in domain.decode(domain.sobol(64, np.random.default_rng(0)))
    ]
    drawn = [next(iter(generate_variants(space)))[1] for _ in range(64)]

    def shape(config):
        plain = ((k, "a float" if isinstance(v, float) else v) for k, v in config.items())
        return repr(sorted(plain))

    shapes = {shape(flattened(config)) for config in handed_out}
    assert shapes == {shape(flattened(config)) for config in drawn}
    for config in drawn:
        assert outward(foreign, foreign.inward(flattened(config))) == config


def test_what_ray_draws_within_lists_and_grids_are_refused_by_name():
    tune = pytest.importorskip("ray.tune")
    from stopwise.integrations._ray_space import read_space

    x = tune.uniform(0, 1)
    grid = tune.choice([{"b": tune.grid_search([1, 2])}, {"x": x}])
    with pytest.raises(InputError, match="'a/b' is a grid_search"):
        read_space({"a": grid})
    for hidden in ([x, 3], (3, {"c": x}), tune.choice([[x], 1]), tune.choice([{"c": [x]}, 1])):
        with pytest.raises(InputError, match=r"'a(/c)?' holds .* within a (list|tuple)"):
            read_space({"a": hidden, "x": x})
    assert set(read_space({"use_grid_search": True, "x": x}).space) == {"x"}
