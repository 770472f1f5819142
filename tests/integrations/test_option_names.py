# SPDX-License-Identifier: Apache-2.0
"""An unknown option says which one may be meant, at every door; two prices are noticed."""

import warnings

import pytest

import stopwise as sw
from stopwise.errors import InputError
from stopwise.tools.runner import load
from stopwise.tools.runner.study_file import load_study

SPACE = {"x": sw.Real(0, 1)}


def through_study(**options):
    sw.Study(SPACE, lam=1.0, **options)


def through_minimize(**options):
    sw.minimize(lambda p: p["x"], SPACE, lam=1.0, **options)


def through_sklearn(**options):
    from sklearn.dummy import DummyClassifier

    from stopwise.integrations.sklearn import StopwiseSearchCV

    StopwiseSearchCV(DummyClassifier(), {"strategy": ["prior", "uniform"]}, lam=1.0, **options)


def through_optuna_sampler(**options):
    from stopwise.integrations.optuna import StopwiseSampler

    StopwiseSampler(1.0, **options)


def through_optuna_callback(**options):
    from stopwise.integrations.optuna import StopwiseCallback

    StopwiseCallback(1.0, **options)


def through_ray(**options):
    from stopwise.integrations.ray import StopwiseSearcher

    StopwiseSearcher(1.0, metric="loss", mode="min", **options)


def through_ax(**options):
    from stopwise.integrations.ax import StopwiseStrategy

    StopwiseStrategy(1.0, **options)


DOORS = [
    through_study,
    through_minimize,
    through_sklearn,
    through_optuna_sampler,
    through_optuna_callback,
    through_ray,
    through_ax,
]


@pytest.mark.parametrize("door", DOORS)
def test_names_of_other_packages_are_understood(door):
    with pytest.raises(TypeError, match=r"did you mean 'budget', with cost='seconds'\?"):
        door(timeout=60)
    trials = r"did you mean 'max_trials'\?|'max_trials' is not set here but in the loop around it"
    with pytest.raises(TypeError, match=trials):
        door(n_trials=50)
    with pytest.raises(TypeError, match=r"did you mean 'noise'\?"):
        door(nose=0.1)


def test_what_others_set_is_said_where_they_set_it():
    with pytest.raises(TypeError, match="'direction' is not set here but in the loop around it"):
        through_optuna_sampler(direction="maximize")
    with pytest.raises(TypeError, match=r"did you mean 'max_trials'\?"):
        through_study(n_trials=3)


TOML = 'command = ["true"]\n{}\n[parameters]\nx = {{ type = "real", low = 0, high = 1 }}\n{}\n'


@pytest.mark.parametrize(
    ("top", "below", "says"),
    [
        ("n_trials = 5", "", r"unknown key 'n_trials' in the file; did you mean 'max_trials'\?"),
        ("lam = 1", "", r"unknown key 'lam' in the file.*'lam' belongs in \[worth\]"),
        ("", "[search]\nrandom_state = 1", r"did you mean 'seed'\?"),
        ("", "[worth]\nlam = 1\nseed = 3", r"'seed' belongs in \[search\]"),
        ("", "[search]\nbudget = 3", r"'budget' belongs at the top"),
    ],
)
def test_a_toml_file_says_which_key_may_be_meant(tmp_path, top, below, says):
    path = tmp_path / "tune.toml"
    path.write_text(TOML.format(top, below))
    for read in (load, load_study):
        with pytest.raises(InputError, match=says):
            read(path)


# ------------------------------------------------------------------- one price, not two


def verdict(sampler, callback):
    import optuna

    study = optuna.create_study(sampler=sampler)
    for _ in range(2):
        callback.verdict(study)


def price(params):
    return 1.0 + params["x"]


@pytest.mark.parametrize(
    ("ours", "theirs", "says"),
    [
        ({"lam": 0.1}, {"lam": 0.2}, r"lam=0\.1 and lam=0\.2"),
        ({"lam": 0.1, "cost": "seconds"}, {"lam": 0.1}, r"have cost='seconds' and cost=None"),
        ({"lam": 0.1, "cost": price}, {"lam": 0.1, "cost": "seconds"}, r"and cost='seconds'"),
    ],
)
def test_a_sampler_and_a_callback_with_different_prices_warn_once(ours, theirs, says):
    from stopwise.integrations.optuna import StopwiseCallback, StopwiseSampler

    with pytest.warns(UserWarning, match=says) as caught:
        verdict(StopwiseSampler(**ours), StopwiseCallback(**theirs))
    assert sum("Give both the same" in str(each.message) for each in caught) == 1


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"lam": 0.1}, {"lam": 0.1}),
        ({"lam": 0.1, "cost": price}, {"lam": 0.1, "cost": price}),
        ({"lam": 0.1, "cost": "seconds"}, {"lam": 0.1, "cost": "reported"}),
        ({"lam": 0.1}, {"stopping": "gss"}),
    ],
)
def test_a_sampler_and_a_callback_with_equal_prices_do_not_warn(ours, theirs):
    from stopwise.integrations.optuna import StopwiseCallback, StopwiseSampler

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        verdict(StopwiseSampler(seed=0, **ours), StopwiseCallback(**theirs))


def test_an_audit_and_the_tables_of_rules_say_the_nearest_name():
    rows = [{"x": 1.0, "value": 2.0}, {"x": 2.0, "value": 1.0}]
    with pytest.raises(TypeError, match=r"'dirction' .* of audit\(\) \(did you mean 'direction'"):
        sw.audit(rows, dirction="maximize")
    with pytest.raises(
        TypeError, match=r"'n_trials' is no option of audit\(\); it has lam, value"
    ):
        sw.audit(rows, n_trials=3)
    with pytest.raises(InputError, match=r"no stopping rule 'pgbi' \(did you mean 'pbgi'\?\)"):
        sw.Study(SPACE, lam=1.0, stopping="pgbi")
    with pytest.raises(InputError, match=r"no acquisition 'ei' \(did you mean 'eic'\?\)"):
        sw.Study(SPACE, lam=1.0, acquisition="ei")
