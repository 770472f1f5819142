# SPDX-License-Identifier: Apache-2.0
"""Known constraints and declared spaces in Optuna: what sampler and callback share, and say."""

import re
import warnings

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import RandomSampler
from optuna.trial import create_trial

import stopwise as sw
from stopwise.errors import InputError
from stopwise.integrations.optuna import StopwiseCallback, StopwiseSampler
from stopwise.integrations.optuna._board import Note
from stopwise.integrations.optuna._declared import contradictions
from stopwise.integrations.optuna._learning import learned
from stopwise.integrations.optuna._tree import Tree, as_tree

SPACE = {
    "k": sw.Categorical(["a", "b"]),
    "x": sw.Real(0, 1),
    "y": sw.Real(0, 1, when={"k": ["a"]}),
}
SUM = ["x + y <= 1"]
PLAIN = {"surrogate": "plain", "n_initial": 3}


def objective(trial):
    k = trial.suggest_categorical("k", ["a", "b"])
    x = trial.suggest_float("x", 0, 1)
    return x + (trial.suggest_float("y", 0, 1) if k == "a" else 0.0)


def run(sampler, callback, n_trials=8, first="b", function=objective):
    """A study that is maximised, whose first trial has a given kind."""
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.enqueue_trial({"k": first})
    study.optimize(function, n_trials=n_trials, callbacks=[callback])
    return study


def sampler_of(**options):
    return StopwiseSampler(0.01, seed=0, **PLAIN, **options)


def callback_of(**options):
    return StopwiseCallback(0.01, **{**PLAIN, **options})


def broken(study):
    return [t.number for t in study.trials if t.params["x"] + t.params.get("y", 0.0) > 1.0]


# ---------------------------------------------------- what sampler and callback share


@pytest.mark.parametrize("constraints", [SUM, [lambda p: p["x"] + p["y"] <= 1.0]])
@pytest.mark.parametrize("repeated", [True, False])
def test_a_callback_shares_the_constraints_and_the_space_of_the_sampler(constraints, repeated):
    sampler = sampler_of(space=SPACE, constraints=constraints)
    callback = callback_of(**({"constraints": constraints} if repeated else {}))
    study = run(sampler, callback)
    assert broken(study) == []
    assert callback._mirrors(study) is sampler.mirrors
    assert callback.verdict(study).rule == "pbgi"


def test_a_callback_with_a_model_of_its_own_has_them_too():
    callback = callback_of(noise="learn")
    study = run(sampler_of(space=SPACE, constraints=SUM), callback)
    used = callback._mirrors(study)
    assert used is not study.sampler.mirrors
    assert used is callback._mirrors(study)
    assert used.distributions(list) == study.sampler.mirrors.distributions(list)
    axes = used.mirror(study, used.distributions(list), []).axes
    inside, outside = ({"k": "a", "x": 0.5, "y": y} for y in (0.4, 0.6))
    assert [c.test(inside) for c in axes.constraints] == [True]
    assert [c.test(outside) for c in axes.constraints] == [False]


def test_constraints_of_the_sampler_alone_stop_as_those_of_both():
    """The callback promised itself gains that no trial could have, and went on."""
    verdicts = []
    for constraints in ({}, {"constraints": SUM}):
        callback = callback_of(**constraints)
        study = run(sampler_of(space=SPACE, constraints=SUM), callback, n_trials=25)
        verdicts.append((len(study.trials), callback.verdict(study)))
    assert verdicts[0] == verdicts[1]
    assert verdicts[0][1].stop


def test_without_constraints_a_model_of_its_own_learns_the_space_as_ever():
    callback = callback_of(noise="learn")
    study = run(sampler_of(space=SPACE), callback, n_trials=2)
    assert callback._mirrors(study) is callback._own_mirrors
    assert set(callback._own_mirrors.distributions(lambda: study.trials[:1])) == {"k", "x"}


def test_the_space_of_a_callback_beside_another_sampler():
    callback = callback_of(space=SPACE, constraints=SUM)
    study = run(RandomSampler(0), callback)
    mirror = callback._own_mirrors._mirror
    assert set(mirror.axes.tree) == {"k", "x", "y"}
    assert len(mirror.study.history) == len(study.trials) - len(broken(study))


@pytest.mark.parametrize("same", [True, False])
def test_spaces_of_both_are_compared(same):
    sampler = sampler_of(space=SPACE)
    callback = callback_of(space=SPACE if same else {**SPACE, "x": sw.Real(0, 0.5)})
    study = optuna.create_study(sampler=sampler)
    if same:
        assert callback._mirrors(study) is sampler.mirrors
        return
    with pytest.warns(UserWarning, match=r"space=.*high=1.* and space=.*high=0\.5"):
        assert callback._mirrors(study) is callback._own_mirrors


@pytest.mark.parametrize(
    ("ours", "theirs", "says"),
    [
        ({"constraints": SUM}, {"constraints": ["x <= y"]}, r"\['x \+ y <= 1'\] and .*x <= y"),
        ({}, {"constraints": SUM}, r"constraints=None and constraints=\['x \+ y <= 1'\]"),
        ({"limits": {"z": (None, 1.0)}}, {}, r"limits=\{'z'.* and limits=None"),
    ],
)
def test_other_constraints_and_limits_warn(ours, theirs, says):
    study = optuna.create_study(sampler=sampler_of(space=SPACE, **ours))
    callback = callback_of(**theirs)
    with pytest.warns(UserWarning, match=says):
        callback._mirrors(study)
    callback._mirrors(study)  # once: a warning would fail the test


# ------------------------------------------- constraints about a space that is learned


@pytest.mark.parametrize(
    "constraint", ["x + y <= 1", lambda p: p["x"] + p["y"] <= 1.0], ids=["text", "function"]
)
@pytest.mark.parametrize("sampler", [sampler_of, lambda **_: RandomSampler(0)])
def test_a_name_that_was_not_seen_yet_warns_once_and_applies_later(constraint, sampler):
    callback = callback_of(constraints=[constraint])
    with pytest.warns(UserWarning, match=r"names 'y', and the .* are 'k', 'x'.*Give space=") as w:
        study = run(sampler(constraints=[constraint]), callback, n_trials=10)
    assert len(w) == 1
    mirror = callback._mirrors(study)._mirror
    assert set(mirror.axes.tree) == {"k", "x", "y"}
    assert [c.test({"k": "a", "x": 0.7, "y": 0.6}) for c in mirror.axes.constraints] == [False]


def test_once_all_are_seen_the_sampler_keeps_the_constraint():
    sampler = sampler_of(constraints=SUM)
    study = run(sampler, callback_of(), first="a", n_trials=12)
    assert set(broken(study)) <= {0}  # drawn before anything was known
    assert {t.params["k"] for t in study.trials} == {"a", "b"}


def test_a_name_that_cannot_come_any_more_is_an_error():
    study = optuna.create_study(sampler=RandomSampler(0))
    study.optimize(lambda t: t.suggest_float("x", 0, 1) + t.suggest_float("y", 0, 1), n_trials=2)
    said = r"names 'yy', which the space does not have; it has 'x', 'y'.*give space= with all"
    with pytest.raises(InputError, match=said):
        callback_of(constraints=["x + yy <= 1"]).verdict(study)
    with pytest.raises(InputError, match=r"the constraint '<lambda>' raised KeyError: 'yy'"):
        callback_of(constraints=[lambda p: p["yy"] <= 1]).verdict(study)
    with pytest.raises(InputError, match="names 'z', which the space does not have") as caught:
        callback_of(constraints=["x + z <= 1"], space=SPACE).verdict(study)
    assert "give space=" not in str(caught.value)


def test_a_constraint_that_fails_is_named_as_ever_in_a_learned_space():
    study = optuna.create_study(sampler=RandomSampler(0))
    study.optimize(objective, n_trials=2)

    def divides(_):
        return 1 / 0 > 0

    with pytest.raises(InputError, match="the constraint 'divides' raised ZeroDivisionError"):
        callback_of(constraints=[divides]).verdict(study)


def test_which_parameters_may_still_come():
    assert not as_tree(SPACE).may_get("z")
    trial = create_trial(
        value=1.0,
        params={"x": 0.5, "fixed": 1},
        distributions={"x": FloatDistribution(0, 1), "fixed": IntDistribution(1, 1)},
    )
    floats = learned([trial])
    assert set(floats) == {"x"}
    assert floats.may_get("fixed")  # a trial has it, though it is not modelled
    assert not floats.may_get("z")
    assert Tree({"k": CategoricalDistribution(["a", "b"])}, seen=["k"]).may_get("z")


# ------------------------------------------------- spaces that the objective contradicts

WIDER = {**SPACE, "x": sw.Real(0, 2)}
ELSEWHERE = {**SPACE, "y": sw.Real(0, 1, when={"k": ["b"]})}


@pytest.mark.parametrize(
    ("space", "first", "says"),
    [
        (WIDER, "a", "'x' is declared as a float from 0.0 to 2.0, and suggested as a float from"),
        (ELSEWHERE, "a", "'y' is declared to exist when k is 'b', and suggested with k = 'a'"),
        (ELSEWHERE, "b", "'y' is declared to exist when k is 'b', and not suggested with k = 'b'"),
    ],
)
@pytest.mark.parametrize("by", ["sampler", "callback"])
def test_a_space_that_the_objective_contradicts_warns_once(space, first, says, by):
    ours = by == "sampler"
    sampler = sampler_of(space=space) if ours else RandomSampler(0)
    callback = callback_of(**({} if ours else {"space": space}))
    with pytest.warns(UserWarning, match="trial 0 contradicts") as caught:
        run(sampler, callback, first=first, n_trials=6)
    [message] = [str(each.message) for each in caught]
    owner = "StopwiseSampler" if ours else "StopwiseCallback"
    assert message.startswith(f"trial 0 contradicts the space= of {owner}: {says}")
    assert "Make space= and the objective agree" in message


def test_it_warns_at_the_first_trial_in_which_it_is_seen():
    said = []

    def noted(study, trial):
        said.append(len(caught))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sampler = sampler_of(space={**SPACE, "y": sw.Real(0, 3, when={"k": ["a"]})})
        study = optuna.create_study(sampler=sampler)
        for k in ("b", "b", "a", "a"):
            study.enqueue_trial({"k": k})
        study.optimize(objective, n_trials=4, callbacks=[noted])
    assert said == [0, 0, 1, 1]
    assert "'y' is declared as a float from 0.0 to 3.0" in str(caught[0].message)


def trial_of(params, distributions):
    return create_trial(value=0.0, params=params, distributions=distributions)


@pytest.mark.parametrize(
    ("declared", "suggested", "says"),
    [
        (sw.Real(1, 8), FloatDistribution(1, 8), None),
        (sw.Real(1, 8, log=True), FloatDistribution(1, 8), None),  # a scale is no range
        (FloatDistribution(1, 8), FloatDistribution(1, 8, step=1), "8.0, .* in steps of 1.0"),
        (FloatDistribution(1, 8), FloatDistribution(1, 8, step=0.5), "in steps of 0.5"),
        (sw.Integer(1, 8), IntDistribution(1, 8), None),
        (sw.Integer(1, 8), IntDistribution(2, 8, step=2), "from 2 to 8 in steps of 2"),
        (sw.Integer(1, 8), FloatDistribution(1, 8), "an integer .* suggested as a float"),
        (sw.Ordinal([1, 4, 8]), CategoricalDistribution([1, 4, 8]), None),
        (sw.Categorical([1, 4]), CategoricalDistribution([4, 1]), None),
        (sw.Categorical([1, 4]), CategoricalDistribution([1, 4, 8]), "one of 1, 4, 8"),
    ],
)
def test_what_contradicts_a_declared_parameter(declared, suggested, says):
    tree = as_tree({"p": declared, "x": sw.Real(0, 1)})
    trial = trial_of({"p": 4, "x": 0.5}, {"p": suggested, "x": FloatDistribution(0, 1)})
    how = contradictions(tree, trial, complete=True)
    assert set(how) == ({"p"} if says else set())
    assert re.search(says or "", how.get("p", ""))


def test_what_is_missing_counts_in_complete_trials_only_and_others_are_noise():
    tree = as_tree(SPACE)
    begun = trial_of({"k": "a"}, {"k": CategoricalDistribution(["a", "b"])})
    assert contradictions(tree, begun, complete=False) == {}
    assert contradictions(tree, begun, complete=True) == {
        "x": "'x' is declared without a condition, and not suggested",
        "y": "'y' is declared to exist when k is 'a', and not suggested with k = 'a'",
    }
    other = trial_of({"z": 0.5}, {"z": FloatDistribution(0, 1)})
    assert contradictions(tree, other, complete=False) == {}


def test_a_study_that_is_taken_up_with_another_space_is_not_warned_of_what_it_was():
    sampler = sampler_of(space=SPACE)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.add_trial(
        trial_of(
            {"k": "b", "x": 0.5},
            {"k": CategoricalDistribution(["a", "b"]), "x": FloatDistribution(0, 2)},
        )
    )
    callback = callback_of()
    assert not callback.should_terminate(study)
    study.optimize(objective, n_trials=3, callbacks=[callback])


def test_pruned_trials_need_not_suggest_everything():
    def pruned(trial):
        trial.suggest_categorical("k", ["a", "b"])
        raise optuna.TrialPruned

    run(sampler_of(space=SPACE), callback_of(), n_trials=3, function=pruned)


def stepped(trial):
    return (trial.suggest_int("n", 16, 64, step=16) - 32) ** 2 + trial.suggest_float("x", 0, 1)


@pytest.mark.parametrize(
    ("declared", "warns"),
    [
        (sw.Ordinal([16, 32, 48, 64]), False),  # the same values, of another kind
        (sw.Categorical([64, 48, 16, 32]), False),
        (sw.Ordinal([16, 32]), True),
        (sw.Ordinal([10, 20]), True),
        (sw.Integer(16, 64), True),
        (sw.Integer(16, 64, log=True), True),
        (sw.Integer(1, 100), True),
        (sw.Real(16, 64), True),
        (sw.Real(1, 100, log=True), True),
        (IntDistribution(16, 64, step=16), False),
        (FloatDistribution(16, 64, step=16), True),
    ],
)
def test_another_kind_step_range_or_scale_is_no_error_of_optuna(declared, warns):
    space = {"n": declared, "x": sw.Real(0, 1)}
    study = optuna.create_study(sampler=sampler_of(space=space))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study.optimize(stepped, n_trials=6)
    assert ["contradicts the space=" in str(w.message) for w in caught] == [True] * warns
    assert [trial.value for trial in study.trials] == [stepped(trial) for trial in study.trials]


@pytest.mark.parametrize(
    "declared", [sw.Ordinal([16, 32, 48, 64]), FloatDistribution(16, 64, step=16)]
)
def test_values_that_fit_are_taken_though_declared_as_another_kind(declared):
    sampler = sampler_of(space={"n": declared, "x": sw.Real(0, 1)})
    study = optuna.create_study(sampler=sampler)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.optimize(stepped, n_trials=6)
    mirror = sampler.mirrors._mirror
    mirror.update(study.trials)
    assert [mirror.axes.outward(o.params) for o in mirror.study.history] == [
        trial.params for trial in study.trials
    ]
    chosen = [mirror.axes.external(Note.own(trial).numbers) for trial in study.trials]
    assert chosen == [trial.params for trial in study.trials]
    assert not sampler._chosen  # nothing is kept of trials that have ended


@pytest.mark.parametrize("declared", [sw.Real(1e-4, 0.1), sw.Real(1e-3, 0.1, log=True)])
def test_another_scale_or_range_of_a_float_is_no_error_of_optuna(declared):
    def log(trial):
        return trial.suggest_float("lr", 1e-4, 0.1, log=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(sampler=sampler_of(space={"lr": declared}))
        study.optimize(log, n_trials=6)
    assert len(study.trials) == 6
