# SPDX-License-Identifier: Apache-2.0
"""scikit-learn: a search over hyper-parameters that stops by itself.

``StopwiseSearchCV`` is used as ``RandomizedSearchCV`` is, without an ``n_iter``. Guide:
docs/how-to/sklearn.md.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from stopwise.core.one_objective import INSTEAD
from stopwise.core.space import Candidates, Integer, Real
from stopwise.errors import InputError, MissingExtraError
from stopwise.integrations.foreign_alternatives import Group, alternatives
from stopwise.integrations.foreign_outcomes import outcomes_of
from stopwise.integrations.foreign_space import (
    CandidateTable,
    ForeignSpace,
    Kind,
    kinds_of,
    of_choices,
    translated,
)
from stopwise.record.history import Observation, Trial
from stopwise.study import Study, StudyOptions
from stopwise.study.options import defaults, names
from stopwise.study.signatures import spells_out_options

try:
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils import check_random_state
    from sklearn.utils.parallel import Parallel
except ImportError as error:
    raise MissingExtraError.of(
        "sklearn", extra="sklearn", purpose="stopwise.integrations.sklearn", cause=error
    ) from error

__all__ = ["StopwiseSearchCV"]

_ALLOWED = (
    "lists, scipy.stats.uniform, loguniform and randint, and sw.Real, sw.Integer, sw.Categorical"
    " and sw.Ordinal; or, instead of the dict, a list of such dicts or sw.Candidates"
)
_SET_HERE = ("direction", "seed", "stages")  # maximised, random_state, fits are whole
_TIMES = ("fit_time", "score_time")  # that scikit-learn measures beside the scores, in seconds
_CLOCK = time.get_clock_info("perf_counter").resolution
_ALL_FAILED = "\nAll the "  # how scikit-learn's error begins when no fit of a call succeeded


class StopwiseSearchCV(BaseSearchCV):
    """Search for good hyper-parameters, until the next candidate is not worth its fit time.

    It is used like scikit-learn's search classes: fit, predict, ``best_params_``,
    ``best_estimator_``, ``cv_results_``. The score is maximised. Candidates are evaluated one
    after the other, or several at once if ``n_jobs`` exceeds the number of folds.

    Args:
        estimator: The estimator that is tuned; it may be a pipeline.
        param_distributions: A dict of name to list, scipy distribution (uniform, loguniform,
            randint) or ``sw.Real``, ``sw.Integer``, ``sw.Categorical``, ``sw.Ordinal``; a list of
            such dicts, of which each candidate follows one; or ``sw.Candidates``.
        lam: What a second is worth, in units of the score: ``sw.exchange_rate(improvement=0.01,
            cost=600)`` if you would wait ten minutes for an improvement of 0.01.
        cost: ``"seconds"``, the fit time summed over the folds, learned; a function of the
            params; or None, each candidate costs 1.
        scoring: As in scikit-learn; with several scores, ``refit`` names the one to maximise.
        n_jobs: As in scikit-learn.
        refit: As in scikit-learn.
        cv: As in scikit-learn.
        verbose: As in scikit-learn.
        pre_dispatch: As in scikit-learn.
        random_state: Seed of the search. Times differ from run to run; with ``cost=None`` or a
            function the same seed gives the same candidates.
        error_score: As in scikit-learn; a candidate whose score is nan has failed.
        return_train_score: As in scikit-learn.
        **options: As for ``sw.Study``: ``budget`` (lam is then not needed; the refit is not
            counted), ``stopping``, ``noise``, ``start_from`` (what you use today), ...
            ``limits`` are of other scores, as ``scoring`` names them, or of ``"fit_time"`` and
            ``"score_time"``, the mean over the folds: ``limits={"precision": (0.8, None)}``.

    Attributes:
        verdict_: The verdict that stopped the search, with its reason.
        history_: Every candidate with its score and cost, failed ones included.
        spent_: The sum of the costs.
        cv_results_: As in scikit-learn, and a column ``cost``; with limits also a column
            ``feasible``, and the best candidate is the best that keeps all limits. A candidate
            that failed in every fold is only in ``history_``, unless others were evaluated at
            the same time.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = DecisionTreeClassifier(random_state=0)
        >>> search = StopwiseSearchCV(tree, {"max_depth": [1, 2, 3, 4]}, lam=0.001, cost=None)
        >>> search.fit(X, y).best_params_, search.verdict_.stop
        ({'max_depth': 4}, True)
    """

    @spells_out_options(_SET_HERE)
    def __init__(
        self,
        estimator: Any,  # noqa: ANN401
        param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]] | Candidates,
        *,
        lam: float | None = None,
        cost: str | Callable[[Mapping[str, Any]], float] | None = "seconds",
        scoring: Any = None,  # noqa: ANN401
        n_jobs: int | None = None,
        refit: Any = True,  # noqa: ANN401
        cv: Any = None,  # noqa: ANN401
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Any = 0,  # noqa: ANN401
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        **options: Any,  # noqa: ANN401  StudyOptions checks them at fit, as scikit-learn wants it
    ) -> None:
        self.param_distributions = param_distributions
        self.lam = lam
        self.cost = cost
        self.random_state = random_state
        for name in names(_SET_HERE):  # every option is an attribute: get_params reads them
            if name not in ("lam", "cost"):
                setattr(self, name, options.pop(name, defaults()[name]))
        StudyOptions.of(options, owner="StopwiseSearchCV", leave_out=_SET_HERE)  # none is left
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]]) -> None:
        """Ask, evaluate, tell, until the study says stop; scikit-learn calls this from fit."""
        foreign = _translated(self.param_distributions)
        study = self._study(foreign)
        workers = Parallel(n_jobs=self.n_jobs)._effective_n_jobs()  # noqa: SLF001  as fit does
        # scikit-learn before 1.9 says only after the search how many folds there were
        folds = getattr(self, "n_splits_", None) or _folds_of(self.cv)
        at_once = -(-workers // folds)  # candidates that keep all workers busy
        results: dict[str, Any] | None = None
        listed: list[Observation] = []  # those of results, which lack what failed in every fold
        failure: ValueError | None = None
        while not study.should_stop():  # ends as its stopping rules and hard limits say
            trials = _asked(study, at_once)
            begin = time.perf_counter()
            try:
                results = evaluate_candidates([foreign.outward(t.params) for t in trials])
            except ValueError as error:
                if self.error_score == "raise" or not str(error).startswith(_ALL_FAILED):
                    raise
                failure = error
                self._tell_failed(study, trials, time.perf_counter() - begin, str(error).strip())
            else:
                self._tell(study, trials, results)
                listed += study.history[-len(trials) :]
        if results is None:
            raise failure or _nothing_evaluated(study)
        results["cost"] = np.array([o.cost for o in listed])  # fit keeps this very dict
        if study.options.limits is not None:
            results["feasible"] = np.array([not (o.failed or o.infeasible) for o in listed])
        self.verdict_ = study.should_stop()
        self.history_ = foreign.history(study.history)
        self.spent_ = study.spent

    def _study(self, foreign: ForeignSpace | CandidateTable) -> Study:
        if isinstance(self.cost, str) and self.cost != "seconds":
            message = (
                f"cost={self.cost!r} is not known here: give 'seconds' (the fit time), a function"
                " of the params, a number (each costs that), or None (each candidate costs 1)."
            )
            raise InputError(message)
        first = [self.start_from] if isinstance(self.start_from, Mapping) else self.start_from
        options = {name: getattr(self, name) for name in names(_SET_HERE)}
        options["cost"] = foreign.cost(self.cost)
        options["constraints"] = foreign.constraints(self.constraints)
        if self.prior == defaults()["prior"]:
            del options["prior"]  # the surrogate brings its own
        options["start_from"] = [foreign.inward(params) for params in first]
        seed = int(check_random_state(self.random_state).randint(2**31))
        return Study(foreign.space, direction="maximize", seed=seed, **options)

    def _tell(self, study: Study, trials: Sequence[Trial], results: Mapping[str, Any]) -> None:
        """Tell the scores of the last candidates, and the time of their fits."""
        metric = self._metric(results)
        scores = results[f"mean_test_{metric}"]
        of_a_fold = re.compile(rf"split\d+_test_{re.escape(metric)}")
        folds = sum(of_a_fold.fullmatch(key) is not None for key in results)
        seconds = results["mean_fit_time"] * folds
        for i, trial in enumerate(trials, start=len(scores) - len(trials)):
            paid = max(float(seconds[i]), _CLOCK) if self.cost == "seconds" else None
            value, why = float(scores[i]), ""
            outcomes: dict[str, float] | None = None
            if math.isfinite(value):
                outcomes, why = self._outcomes(study, results, i)
            study.tell(trial, None if why else value, paid, message=why, outcomes=outcomes)

    def _outcomes(
        self, study: Study, results: Mapping[str, Any], i: int
    ) -> tuple[dict[str, float] | None, str]:
        """The scores and times of one candidate that have limits; see ``outcomes_of``."""
        reported = {
            key.removeprefix("mean_test_"): float(results[key][i])
            for key in results
            if key.startswith("mean_test_")
        }
        reported |= {name: float(results[f"mean_{name}"][i]) for name in _TIMES}
        how = "Name one of these, or add the score to scoring=."
        return outcomes_of(reported, study.options.limits, who="the search", how=how)

    def _select_best_index(self, refit: Any, refit_metric: str, results: Mapping[str, Any]) -> int:  # noqa: ANN401
        """The best candidate that keeps all limits; scikit-learn calls this from fit."""
        if "feasible" not in results or callable(refit):
            best = super()._select_best_index(refit, refit_metric, results)
            return int(best)
        if not results["feasible"].any():
            message = (
                f"none of {len(results['feasible'])} candidates keeps all limits,"
                f" {dict(self.limits)}, so there is none to refit. What was measured is in"
                " history_; relax the limits, or widen the space."
            )
            raise InputError(message)
        rank = np.where(results["feasible"], results[f"rank_test_{refit_metric}"], np.inf)
        return int(rank.argmin())

    def _tell_failed(
        self, study: Study, trials: Sequence[Trial], seconds: float, why: str
    ) -> None:
        paid = max(seconds / len(trials), _CLOCK) if self.cost == "seconds" else None
        for trial in trials:
            study.tell(trial, None, paid, message=why)

    def _metric(self, results: Mapping[str, Any]) -> str:
        """The name of the score that is maximised."""
        if "mean_test_score" in results:
            return "score"
        if isinstance(self.refit, str) and f"mean_test_{self.refit}" in results:
            return self.refit
        names = [key.removeprefix("mean_test_") for key in results if key.startswith("mean_test_")]
        message = (
            f"refit={self.refit!r}: with several scores, refit names the one of {names} that is"
            f" optimised; {INSTEAD}. A scorer of your own may compute it."
        )
        raise InputError(message)


def _folds_of(cv: Any) -> int:  # noqa: ANN401  whatever scikit-learn takes
    """How many folds there will be; 1 if that shows only when the data are split."""
    if cv is None or isinstance(cv, int):
        return cv or 5
    try:
        return int(cv.get_n_splits() if hasattr(cv, "get_n_splits") else len(cv))
    except (TypeError, ValueError):
        return 1


def _asked(study: Study, at_once: int) -> list[Trial]:
    """Up to ``at_once`` trials; fewer if the study would stop once the first ones run."""
    trials = [study.ask()]
    while len(trials) < at_once and not study.should_stop():
        trials.append(study.ask())
    return trials


def _nothing_evaluated(study: Study) -> InputError:
    return InputError(f"the search stopped before its first candidate: {study.should_stop()}.")


def _translated(given: object) -> ForeignSpace | CandidateTable:
    if isinstance(given, Candidates):
        return CandidateTable(given)
    if isinstance(given, Sequence) and not isinstance(given, str) and given:
        groups = [Group(kinds_of(group, _kind, _ALLOWED)) for group in given]
        return alternatives("alternative", groups)
    return translated(given, _kind, _ALLOWED)


def _kind(name: str, given: Any) -> Kind | None:  # noqa: ANN401
    """How one parameter is modelled; None if it cannot be."""
    distribution = getattr(getattr(given, "dist", None), "name", None)
    if distribution is not None:
        return _of_distribution(name, distribution, given)
    if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray):
        return None
    return of_choices(given)


def _of_distribution(name: str, distribution: str, given: Any) -> Kind | None:  # noqa: ANN401
    low, high = given.support()
    if distribution == "randint":
        return of_choices([low]) if low == high else Integer(int(low), int(high))
    if distribution == "uniform":
        return Real(float(low), float(high))
    if distribution in ("loguniform", "reciprocal"):
        _, loc, _ = given.dist._parse_args(*given.args, **given.kwds)  # noqa: SLF001
        if loc != 0:
            message = f"parameter {name!r}: loguniform(loc={loc}) is not log-uniform; leave loc 0."
            raise InputError(message)
        return Real(float(low), float(high), log=True)
    return None
