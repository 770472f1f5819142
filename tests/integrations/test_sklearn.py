# SPDX-License-Identifier: Apache-2.0
"""StopwiseSearchCV, on scikit-learn itself."""

import pickle
import runpy
import warnings

import numpy as np
import pytest
from scipy.stats import loguniform, norm, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import LeaveOneOut, RandomizedSearchCV, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import stopwise as sw
from stopwise.errors import InputError, InputTypeError
from stopwise.integrations.sklearn import StopwiseSearchCV, _folds_of, _translated
from tests.support.repository import ROOT

X, y = load_iris(return_X_y=True)


class Moody(ClassifierMixin, BaseEstimator):
    """Scores by its parameter and refuses some of its values."""

    def __init__(self, a=0.0, refuse=2.0):
        self.a = a
        self.refuse = refuse

    def fit(self, X, y):  # noqa: ARG002
        if self.a > self.refuse:
            msg = "a is too large"
            raise RuntimeError(msg)
        self.classes_ = np.unique(y)
        return self

    def score(self, X, y):  # noqa: ARG002
        return 1.0 - (self.a - 0.3) ** 2


def searched(space, estimator=None, **options):
    defaults = {"lam": 1e-3, "cost": None, "cv": 3, "surrogate": "plain"}
    return StopwiseSearchCV(estimator or Moody(), space, **(defaults | options)).fit(X, y)


def test_it_stops_by_itself_and_keeps_why():
    search = searched({"a": uniform(0, 1)}, surrogate="default")
    assert search.verdict_.stop
    assert search.verdict_.rule == "pbgi"
    assert abs(search.best_params_["a"] - 0.3) < 0.1
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    n = len(search.cv_results_["params"])
    assert 4 <= n < 60
    assert len(search.history_) == n
    assert search.spent_ == n
    assert [o.params for o in search.history_] == search.cv_results_["params"]


def test_cost_is_the_fit_time_of_all_folds():
    search = searched({"max_depth": [1, 2, 3]}, DecisionTreeClassifier(), cost="seconds")
    results = search.cv_results_
    assert results["cost"] == pytest.approx(results["mean_fit_time"] * 3)
    assert search.spent_ == pytest.approx(results["cost"].sum())


@pytest.mark.parametrize(
    ("cv", "folds"),
    [
        (None, 5),
        (3, 3),
        (ShuffleSplit(4), 4),
        ([((), ())] * 2, 2),
        (iter(()), 1),
        (LeaveOneOut(), 1),
    ],
)
def test_folds_are_counted_before_the_search_where_that_is_possible(cv, folds):
    assert _folds_of(cv) == folds


def test_a_known_cost_is_given_the_params_as_scikit_learn_knows_them():
    search = searched({"a": [0.1, 0.2, 0.4], "refuse": [2.0]}, cost=lambda p: p["a"] * p["refuse"])
    expected = [p["a"] * p["refuse"] for p in search.cv_results_["params"]]
    assert search.cv_results_["cost"] == pytest.approx(expected)


def test_the_refit_may_choose_by_cost():
    def cheapest(results):
        return int(np.argmin(results["cost"]))

    search = searched({"a": [0.1, 0.2, 0.4]}, cost=lambda p: p["a"], refit=cheapest)
    assert search.best_params_ == {"a": 0.1}


def test_spaces_of_every_kind():
    space = {
        "a": uniform(2, 3),
        "b": loguniform(1e-3, 10),
        "c": randint(3, 9),
        "d": np.logspace(0, 2, 3),
        "e": ["x", None],
        "f": sw.Integer(1, 4),
    }
    assert _translated(space).space == {
        "a": sw.Real(2, 5),
        "b": sw.Real(1e-3, 10, log=True),
        "c": sw.Integer(3, 8),
        "d": sw.Integer(0, 2),
        "e": sw.Categorical(["x", None]),
        "f": sw.Integer(1, 4),
    }


def test_what_cannot_be_modelled_is_named():
    with pytest.raises(InputTypeError, match=r"'a' is .*scipy\.stats\.uniform, loguniform"):
        searched({"a": norm()})
    with pytest.raises(InputError, match="loc"):
        searched({"a": loguniform(1e-3, 1, loc=1)})
    with pytest.raises(InputTypeError, match="dict of parameters"):
        searched([["a", [1, 2]]])
    with pytest.raises(InputError, match="reported"):
        searched({"a": [1, 2]}, cost="reported")
    with pytest.raises(InputError, match="lam"):
        searched({"a": [1, 2]}, lam=None)


def test_a_table_of_candidates():
    rows = [{"a": a, "refuse": r} for a in (0.1, 0.3, 0.5) for r in (1.0, 2.0)]
    search = searched(sw.Candidates(rows))
    assert search.best_params_["a"] == 0.3


def test_start_from_is_evaluated_first():
    search = searched(
        {"a": [0.1, 0.2, 0.3], "refuse": [2.0, 3.0]}, start_from={"a": 0.2, "refuse": 3.0}
    )
    assert search.cv_results_["params"][0] == {"a": 0.2, "refuse": 3.0}


def test_one_that_fails_in_every_fold_does_not_end_the_search():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = searched({"a": uniform(0, 1), "refuse": [0.5]}, n_initial=8)
    failed = [o for o in search.history_ if o.failed]
    assert failed
    assert all(o.params["a"] > 0.5 and "a is too large" in o.message for o in failed)
    assert len(search.cv_results_["params"]) == len(search.history_.succeeded)
    assert len(search.cv_results_["cost"]) == len(search.cv_results_["params"])
    assert search.best_params_["a"] <= 0.5


def test_where_all_fail_scikit_learns_error_is_raised():
    with pytest.raises(ValueError, match="a is too large"):
        searched({"a": uniform(0, 1), "refuse": [-1.0]})
    with pytest.raises(RuntimeError, match="a is too large"):
        searched({"a": uniform(0, 1), "refuse": [-1.0]}, error_score="raise")


def test_several_scores():
    options = {"scoring": ["accuracy", "neg_log_loss"], "refit": "neg_log_loss"}
    search = searched({"C": loguniform(1e-3, 1e3)}, LogisticRegression(), max_trials=6, **options)
    scores = search.cv_results_["mean_test_neg_log_loss"]
    assert [o.value for o in search.history_] == pytest.approx(scores)
    with pytest.raises(InputError, match=r"the one of \['accuracy', 'neg_.*weighted sum"):
        searched({"C": [1.0, 2.0]}, LogisticRegression(), scoring=options["scoring"], refit=False)


def test_pipelines_and_jobs(capsys):
    pipeline = make_pipeline(StandardScaler(), KNeighborsClassifier())
    space = {"kneighborsclassifier__n_neighbors": randint(1, 30)}
    one = searched(space, pipeline, cv=2)
    assert one.predict(X).shape == y.shape
    split = ShuffleSplit(1, random_state=0)
    two = searched(space, pipeline, cv=split, n_jobs=2, n_initial=4, max_trials=6, verbose=1)
    assert capsys.readouterr().out.count("each of 2 candidates") == 3  # two workers, one fold
    assert two.verdict_.stop
    assert two.score(X, y) > 0.9


def test_the_same_seed_gives_the_same_candidates():
    first, second = (searched({"a": uniform(0, 1)}, random_state=3) for _ in range(2))
    assert first.cv_results_["params"] == second.cv_results_["params"]
    other = searched({"a": uniform(0, 1)}, random_state=4)
    assert first.cv_results_["params"] != other.cv_results_["params"]


def test_clone_and_pickle():
    search = searched({"a": uniform(0, 1)})
    again = clone(search)
    assert again.lam == search.lam
    assert not hasattr(again, "verdict_")
    copy = pickle.loads(pickle.dumps(search))  # noqa: S301  our own
    assert copy.verdict_ == search.verdict_
    assert copy.best_params_ == search.best_params_


@pytest.mark.parametrize(
    ("estimator", "name"),
    [(Ridge(), "alpha"), (LogisticRegression(), "C")],
    ids=["ridge", "logistic"],
)
def test_it_passes_the_checks_that_scikit_learns_own_search_passes(estimator, name):
    def outcome(search):
        found = check_estimator(search, on_fail=None, on_skip=None)
        return [(check["check_name"], check["status"]) for check in found]

    options = {"cv": 2, "error_score": "raise", "random_state": 0}
    space = {name: [0.1, 1.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = outcome(RandomizedSearchCV(estimator, space, n_iter=2, **options))
        ours = outcome(StopwiseSearchCV(estimator, space, lam=1e-3, cost=None, **options))
    assert ("check_fit2d_1sample", "passed") in ours
    assert ours == theirs


def test_the_example_runs(capsys):
    runpy.run_path(str(ROOT / "examples" / "sklearn_search.py"), run_name="__main__")
    assert ": stop" in capsys.readouterr().out


def test_a_score_beyond_the_bounds_is_refused():
    with pytest.raises(InputError, match=r"bounds=\(None, 0\.5\) say that no value is above"):
        searched({"a": uniform(0, 1)}, bounds=(None, 0.5))
    search = searched({"a": uniform(0, 1)}, bounds=(None, 1))
    assert clone(search).get_params()["bounds"] == (None, 1)
    with pytest.raises(InputError, match="the lower bound must be below the upper one"):
        searched({"a": uniform(0, 1)}, bounds=(1, 0))


def test_the_published_surrogate_brings_its_prior():
    def prior(**options):
        search = StopwiseSearchCV(Moody(), {"a": uniform(0, 1)}, lam=0.1, cost=None, **options)
        return search._study(_translated({"a": uniform(0, 1)})).options.prior

    assert prior(surrogate="paper") == "gamma"
    assert prior(surrogate="paper", prior=None) is None
    assert prior() == "lognormal"
