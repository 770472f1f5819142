# SPDX-License-Identifier: Apache-2.0
"""The Optuna integration, on a real Optuna."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

import stopwise as sw
from stopwise.errors import InputError
from stopwise.integrations import optuna as integration
from stopwise.integrations.optuna import StopwiseCallback, StopwiseSampler
from stopwise.integrations.optuna._board import NOTE
from stopwise.integrations.optuna._callback import VERDICT
from stopwise.integrations.optuna._learning import learned
from stopwise.integrations.optuna._space import Axes
from tests.support.optuna_study import SPACE, loss, objective, points

EVERY_KIND = {
    "x": FloatDistribution(-1.0, 1.0),
    "lr": FloatDistribution(1e-4, 1e-1, log=True),
    "dropout": FloatDistribution(0.0, 0.5, step=0.1),
    "n": IntDistribution(1, 1000, log=True),
    "units": IntDistribution(16, 128, step=16),
    "act": CategoricalDistribution(["relu", True, 1.5, None]),
}


def storage_of(kind, folder):
    if kind == "sqlite":
        return f"sqlite:///{folder / 'study.db'}"
    if kind == "journal":
        backend = optuna.storages.journal.JournalFileBackend(str(folder / "study.log"))
        return optuna.storages.JournalStorage(backend)
    return None


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
    options = {"space": SPACE, "n_initial": 3, "seed": 1, "surrogate": "plain"}
    study = optuna.create_study(sampler=StopwiseSampler(0.01, acquisition=name, **options))
    study.optimize(objective, n_trials=6)
    assert len(set(points(study))) == 6


def test_the_first_trial_teaches_the_space_and_the_rest_is_chosen():
    study = optuna.create_study(sampler=StopwiseSampler(0.01, seed=0))
    study.optimize(objective, n_trials=5)
    noted = [NOTE in trial.system_attrs for trial in study.trials]
    assert noted == [False, True, True, True, True]


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


def test_a_sampler_refuses_several_objectives_before_one_is_evaluated():
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=StopwiseSampler(0.1))
    paid = []
    with pytest.raises(InputError, match=r"this study has 2 directions.*a weighted sum"):
        study.optimize(lambda t: paid.append(t.suggest_float("x", 0, 1)) or (1.0, 2.0), n_trials=3)
    assert not paid


def test_nothing_comes_from_the_terminator():
    files = Path(integration.__file__).parent.glob("*.py")
    assert not [file.name for file in files if "optuna.terminator" in file.read_text("utf-8")]


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
    with pytest.warns(UserWarning, match=r"bounds=\(0\.0, 1\.0\) and bounds=\(0\.0, None\)"):
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


@pytest.mark.parametrize(
    "options", [{"value_name": "err"}, {"bounds": (0.0, 100.0)}, {"utility": sw.utility.linear(1)}]
)
def test_a_callback_has_the_options_of_the_sampler_that_it_leaves_out(options):
    def trials(**of_callback):
        study = optuna.create_study(sampler=StopwiseSampler(0.05, seed=0, **options))
        callback = StopwiseCallback(0.05, **of_callback)
        study.optimize(
            lambda t: 4 * (t.suggest_float("x", 0, 1) - 0.3) ** 2, 30, callbacks=[callback]
        )
        return [trial.params for trial in study.trials], study.user_attrs["stopwise:verdict"]

    assert trials() == trials(**options)
