# SPDX-License-Identifier: Apache-2.0
"""Limits of measured outcomes: modelled, kept by the best, and looked for until one keeps them."""

import json
import math

import numpy as np
import pytest

import stopwise as sw
from stopwise.acquisition.chance_per_cost import ChancePerCost
from stopwise.core.beliefs.lowest_mean import expected_fall
from stopwise.errors import InputError, InputTypeError
from stopwise.record.outcomes import Completed, Infeasible
from tests.support.gradients import check_gradient

SPACE = {"dose": sw.Real(0.0, 1.0), "heat": sw.Real(0.0, 1.0)}
TABLE = sw.Candidates([{"dose": i / 19, "heat": (7 * i % 20) / 19} for i in range(20)])
LIMITS = {"toxicity": (None, 2.0)}
OPTIONS = {"lam": 1e-3, "limits": LIMITS, "surrogate": "plain"}


def toxicity(params):
    return 4.0 * params["dose"] ** 2 + params["heat"]


def harm(params):
    return -0.9 * params["dose"] - 0.3 * math.sin(5 * params["heat"])


def chemist(params):
    return sw.Evaluation(harm(params), outcomes={"toxicity": toxicity(params)})


def told(study, params):
    study.tell(params, harm(params), outcomes={"toxicity": toxicity(params)})


def run(study, most):
    while len(study.history) < most and not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, harm(trial.params), outcomes={"toxicity": toxicity(trial.params)})
    return study


# ----------------------------------------------------------------------------------- telling


def test_what_breaks_a_limit_is_paid_and_informative_and_never_the_best():
    study = sw.Study(SPACE, **OPTIONS)
    good, bad = {"dose": 0.5, "heat": 0.3}, {"dose": 0.9, "heat": 0.3}
    told(study, good)
    study.tell(bad, harm(bad), outcomes={"toxicity": toxicity(bad)}, charge=True)
    first, second = study.history
    assert first.outcome == Completed(harm(good))
    assert second.outcome == Infeasible(harm(bad), "beyond its limits: toxicity is 3.54")
    assert (second.failed, second.infeasible, study.spent) == (False, True, 1.0)
    assert second.outcomes == {"toxicity": toxicity(bad)}
    assert study.best.params == good
    assert study.history.feasible == (first,)
    assert study.history.succeeded == (first, second)
    assert repr(study).endswith(f"best {harm(good):.4g}>")
    now = study.snapshot()
    assert (now.n, now.incumbent, now.best) == (2, 0, harm(good))
    assert study.history.to_frame()["toxicity"].tolist() == [toxicity(good), toxicity(bad)]


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        (None, r"the outcome 'toxicity' is missing.*outcomes=\{'toxicity': \.\.\.\}"),
        ({}, "the outcome 'toxicity' is missing"),
        ({"smell": 2.0}, r"'toxicity' is missing \(given were smell\)"),
        ({"toxicity": math.nan}, "the outcome 'toxicity' is nan"),
        ({"toxicity": math.inf}, "the outcome 'toxicity' is inf"),
    ],
)
def test_outcomes_that_are_missing_or_wrong_are_refused(outcomes, message):
    study = sw.Study(SPACE, **OPTIONS)
    with pytest.raises(InputError, match=message):
        study.tell({"dose": 0.5, "heat": 0.5}, 1.0, outcomes=outcomes)
    assert not len(study.history)
    with pytest.raises(InputTypeError, match="real number"):
        study.tell({"dose": 0.5, "heat": 0.5}, 1.0, outcomes={"toxicity": "much"})
    with pytest.raises(InputTypeError, match="give a dict"):
        study.tell({"dose": 0.5, "heat": 0.5}, 1.0, outcomes=[1.0])


def test_a_failure_needs_no_outcomes():
    study = sw.Study(SPACE, **OPTIONS)
    study.tell({"dose": 0.5, "heat": 0.5}, None)
    assert study.history[0].failed
    plain = sw.Study(SPACE, lam=1e-3)
    with pytest.raises(InputError, match="infeasible outcome without limits"):
        plain.tell({"dose": 0.5, "heat": 0.5}, Infeasible(1.0))


def test_what_was_measured_of_a_failure_is_kept_and_teaches_the_limit(tmp_path):
    path = tmp_path / "run.jsonl"
    limits = {**LIMITS, "smell": (None, 1.0)}
    with sw.Study(SPACE, **{**OPTIONS, "limits": limits}, journal=path) as study:
        for dose in (0.1, 0.3, 0.5):
            study.tell({"dose": dose, "heat": 0.3}, -dose, outcomes={"toxicity": 1.0, "smell": 0})
        before = study.snapshot().belief.success
        study.tell({"dose": 0.9, "heat": 0.3}, None, outcomes={"toxicity": 9.0, "smell": None})
        study.tell({"dose": 0.9, "heat": 0.8}, None, outcomes={"toxicity": 9.0})
        told = [dict(o.outcomes) for o in study.history[3:]]
        assert told == [{"toxicity": 9.0}, {"toxicity": 9.0}]
        assert all(o.failed for o in study.history[3:])
        after = study.snapshot().belief.success
        x = study.domain.encode([{"dose": 0.88, "heat": 0.4}])
        [_, toxic, smelly] = after.parts
        assert toxic.log_chance(x) < before.parts[0].log_chance(x) - 1.0
        np.testing.assert_array_equal(smelly.log_chance(x), before.parts[1].log_chance(x))
        study.amend(1, value=None, message="it boiled over")
        assert (study.history[1].failed, study.history[1].outcomes["toxicity"]) == (True, 1.0)
        ahead = study.ask().params
    with sw.Study.resume(path) as again:
        assert list(again.history) == list(study.history)
        chance = again.snapshot().belief.success.log_chance(x)
        np.testing.assert_array_equal(chance, study.snapshot().belief.success.log_chance(x))
        assert again.ask().params == ahead


def test_an_objective_that_fails_may_say_what_was_measured():
    def objective(params):
        value = None if params["dose"] > 0.5 else harm(params)
        return sw.Evaluation(value, outcomes={"toxicity": toxicity(params)})

    result = sw.minimize(objective, SPACE, **OPTIONS, max_trials=8)
    assert any(o.failed for o in result.history)
    assert all(o.outcomes["toxicity"] == toxicity(o.params) for o in result.history)


@pytest.mark.parametrize(
    ("limits", "error", "message"),
    [
        ([("toxicity", (None, 3.0))], InputTypeError, "not limits by name"),
        ({"toxicity": 3.0}, InputTypeError, "limits of 'toxicity' are 3.0"),
        ({"toxicity": (None, None)}, InputError, "which is no limit"),
        ({"toxicity": (3.0, 1.0)}, InputError, r"limits of 'toxicity'.*lower"),
    ],
)
def test_limits_that_are_none_are_refused(limits, error, message):
    with pytest.raises(error, match=message):
        sw.Study(SPACE, lam=1.0, limits=limits)
    assert sw.Study(SPACE, lam=1.0, limits={}).options.limits is None


def test_a_fallback_is_a_value_beside_limits():
    with pytest.raises(InputError, match="without limits="):
        sw.Study(SPACE, lam=1.0, fallback=1.0)
    with pytest.raises(InputError, match="no value that can be compared"):
        sw.Study(SPACE, lam=1.0, limits=LIMITS, fallback=math.inf)


def test_telling_twice_is_harmless_and_otherwise_is_refused():
    study = sw.Study(SPACE, **OPTIONS)
    trial = study.ask()
    for _ in range(2):
        study.tell(trial, 1.0, outcomes={"toxicity": 1.0})
    with pytest.raises(InputError, match="told already"):
        study.tell(trial, 1.0, outcomes={"toxicity": 1.5})


# --------------------------------------------------------------------------------- the choices


def test_the_chemist_stays_within_the_limit():
    result = sw.minimize(chemist, SPACE, **OPTIONS, max_trials=30)
    assert result.verdict.rule == "pbgi"
    assert toxicity(result.best.params) <= 2.0
    grid = [{"dose": a, "heat": b} for a in np.linspace(0, 1, 60) for b in np.linspace(0, 1, 60)]
    lowest = min(harm(p) for p in grid if toxicity(p) <= 2.0)
    assert result.best.value <= lowest + 0.01
    assert sum(o.infeasible for o in result.history) <= 8


@pytest.mark.parametrize("noise", [None, "learn"])
@pytest.mark.parametrize("space", [SPACE, TABLE], ids=["box", "table"])
def test_whenever_it_goes_on_the_choice_is_worth_its_price(space, noise):
    study = sw.Study(space, **OPTIONS, noise=noise, acquisition="logeipc", n_initial=5)
    judged = 0
    while len(study.history) < 11 and not study.should_stop().stop:
        now = study.snapshot() if study.history.succeeded else None
        trial = study.ask()
        if len(study.promises) and study.promises[-1].trial == trial.number:
            law = now.law(study.domain.encode(trial.params), from_incumbent=True)
            assert law.log_ei(now.best).value[0] >= math.log(1e-3) - 1e-9
            judged += 1
        study.tell(trial, harm(trial.params), outcomes={"toxicity": toxicity(trial.params)})
    assert judged


def test_until_one_keeps_the_limits_it_looks_for_one_and_says_so():
    study = sw.Study(
        TABLE, limits={"toxicity": (None, 0.2)}, lam=1e-3, surrogate="plain", n_initial=4,
        cost=lambda p: 1.0 + p["heat"],
    )  # fmt: skip
    for i in (5, 8, 13, 18):
        told(study, {"dose": i / 19, "heat": (7 * i % 20) / 19})
    verdict = study.should_stop()
    assert (verdict.stop, verdict.rule) == (False, "limits")
    assert "none of 4 evaluations has kept all limits" in verdict.reason
    assert study.best is None
    assert not study.traces
    now = study.snapshot()
    assert now.best == math.inf
    X = study.domain.points
    score = now.belief.log_chance(X) - now.belief.log_price(X)
    score[now.taken(X)] = -np.inf
    trial = study.ask()
    [wanted] = study.domain.decode(X[[int(np.argmax(score))]])
    assert dict(trial.params) == wanted
    assert not len(study.promises)  # no gain can be promised
    assert "keeps all limits with probability" in study.explain()
    run(study, 12)
    assert study.best is not None
    assert study.should_stop().rule == "pbgi"
    assert len(study.promises)


def pocket(params):
    dose = params["dose"]
    return sw.Evaluation(dose, outcomes={"t": 2.0 + dose - 3.0 * (0.6 < dose < 0.7)})


def failing_beside_a_pocket(params):
    x, y = params["dose"], params["heat"]
    if x < 0.25:
        return None
    bump = math.exp(-((x - 0.75) ** 2 + (y - 0.25) ** 2) / 0.01)
    return sw.Evaluation(y, outcomes={"t": 2.0 + 2.0 * x + 0.3 * y - 6.0 * bump})


DEAR = {"dose": sw.Real(0, 1)}, {"cost": lambda p: 1.0 + 10.0 * p["dose"]}


@pytest.mark.parametrize(
    ("objective", "space", "options"), [(pocket, *DEAR), (failing_beside_a_pocket, SPACE, {})]
)
def test_a_pocket_is_found_of_which_no_outcome_tells(objective, space, options):
    """The model of the outcome is certain that there is none; points must not crowd for that."""
    limits = {"t": (None, 1.0)}
    study = sw.Study(space, lam=1e-3, limits=limits, surrogate="plain", seed=0, **options)
    while study.best is None and len(study.history) < 40 and not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, objective(trial.params))
    assert study.best is not None
    X = np.vstack([study.domain.encode(o.params) for o in study.history])
    apart = np.abs(X[:, None] - X[None]).max(axis=2)[np.triu_indices(len(X), 1)]
    assert apart.min() > 1e-3
    [part] = [p for p in study.snapshot().belief.success.parts if hasattr(p, "second")]
    assert part.second is None  # what is found is found: the model is taken at its word again


def test_beside_a_fallback_the_models_of_outcomes_are_taken_at_their_word():
    options = {**OPTIONS, "limits": {"toxicity": (None, -1.0)}, "n_initial": 3}
    studies = [sw.Study(TABLE, **options, **more) for more in ({}, {"fallback": 0.0})]
    for study in studies:
        for i in (3, 8, 13):
            told(study, {"dose": i / 19, "heat": (7 * i % 20) / 19})
    doubted, plain = (study.snapshot().belief.success.parts[0] for study in studies)
    assert doubted.second is not None
    assert plain.second is None


@pytest.mark.parametrize("noise", [None, "learn"])
def test_several_at_once_look_for_a_success_in_several_places(noise):
    """What is pending is expected to break the limits, or nobody would need another."""
    options = {**OPTIONS, "limits": {"toxicity": (0.1, 0.3)}, "n_initial": 4}
    study = sw.Study(SPACE, **options, noise=noise)
    for dose, heat in ((0.4, 0.5), (0.9, 0.2), (0.7, 0.9), (0.5, 0.8)):
        told(study, {"dose": dose, "heat": heat})
    assert study.best is None
    X = np.array([[t.params["dose"], t.params["heat"]] for t in study.ask(4)])
    apart = np.abs(X[:, None] - X[None]).max(axis=2)[np.triu_indices(4, 1)]
    assert apart.min() > 0.02
    assert study.should_stop().rule == "limits"


def test_the_search_for_a_success_has_its_gradient():
    study = sw.Study(SPACE, **OPTIONS, n_initial=4, cost=lambda p: 1.0 + p["heat"])
    for dose in (0.8, 0.9, 0.95, 1.0):
        told(study, {"dose": dose, "heat": dose / 2})
    score = ChancePerCost().bind(study.snapshot())
    X = np.random.default_rng(0).random((6, 2))
    check_gradient(score, X)
    nothing = sw.Study(SPACE, lam=1e-3, n_initial=2, surrogate="plain")
    for x in (0.1, 0.8):
        nothing.tell({"dose": x, "heat": x}, x)
    np.testing.assert_array_equal(
        ChancePerCost().bind(nothing.snapshot()).with_gradient(X)[1], 0.0
    )


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_with_a_fallback_the_price_decides_before_anything_keeps_the_limits(direction):
    sign = 1.0 if direction == "minimize" else -1.0
    for fallback, stops in ((-5.0, True), (5.0, False)):
        study = sw.Study(
            TABLE, lam=0.01, limits={"toxicity": (None, 0.01)}, surrogate="plain", n_initial=4,
            fallback=sign * fallback, direction=direction, stopping=["pbgi", "convergence"],
        )  # fmt: skip
        for i in (3, 8, 13, 18):
            p = {"dose": i / 19, "heat": (7 * i % 20) / 19}
            study.tell(p, sign * harm(p), outcomes={"toxicity": toxicity(p)})
        verdict = study.should_stop()
        assert verdict.stop == stops
        assert verdict.rule == "pbgi"
        assert study.best is None
        trial = study.ask()  # a gain on the fallback is promised
        promised = study.promises[-1].promised
        assert (promised > 0.01) == (not stops)
        study.tell(trial, sign * -1.0, outcomes={"toxicity": 0.0})
        assert study.promises[-1].delivered == pytest.approx(max(fallback + 1.0, 0.0))
        assert study.best.value == sign * -1.0
        assert study.snapshot().best == min(fallback, -1.0)


def test_with_noise_a_point_counts_that_is_likelier_than_not_within_the_limits():
    study = sw.Study(TABLE, **OPTIONS, noise="learn", n_initial=6)
    rng = np.random.default_rng(1)
    for i in range(0, 20, 2):
        p = {"dose": i / 19, "heat": (7 * i % 20) / 19}
        wobble = 0.3 * rng.standard_normal()
        study.tell(p, harm(p), outcomes={"toxicity": toxicity(p) + wobble})
    now = study.snapshot()
    chance = np.exp(now.belief.log_chance(now.X))
    np.testing.assert_array_equal(now.feasible, chance >= 0.5)
    assert now.feasible[now.incumbent]
    best = study.best
    [row] = study.domain.encode([best.params])
    assert np.exp(now.belief.log_chance(row[None, :]))[0] >= 0.5
    trial = study.ask()
    study.tell(trial, -2.0, outcomes={"toxicity": 9.0})
    assert study.promises[-1].delivered == 0.0
    trial = study.ask()
    study.tell(trial, -2.0, outcomes={"toxicity": 0.0})
    assert study.promises[-1].delivered > 0.0


@pytest.mark.parametrize(("measured", "delivers"), [(2.001, True), (9.0, False)])
def test_with_noise_what_becomes_the_best_has_delivered_wherever_it_was_measured(
    measured, delivers
):
    """A little beyond the limit it is believed to keep it, and so ``best`` may be that trial."""
    study = sw.Study(TABLE, **OPTIONS, noise="learn", n_initial=6)
    rng = np.random.default_rng(1)
    for i in range(0, 20, 2):
        p = {"dose": i / 19, "heat": (7 * i % 20) / 19}
        measured_there = 0.4 + p["dose"] + 0.3 * rng.standard_normal()
        study.tell(p, harm(p), outcomes={"toxicity": measured_there})
    trial = study.ask()
    study.tell(trial, -3.0, outcomes={"toxicity": measured})
    assert isinstance(study.history[-1].outcome, Infeasible)
    assert (study.best.number == trial.number) == study.snapshot().feasible[-1] == delivers
    assert (study.promises[-1].delivered > 0.0) == delivers


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_with_noise_too_gains_are_promised_and_delivered_from_the_fallback(direction):
    sign = 1.0 if direction == "minimize" else -1.0
    study = sw.Study(
        TABLE, lam=1e-9, limits={"toxicity": (None, 3.0)}, surrogate="plain", n_initial=6,
        noise=0.01, fallback=sign * -1.0, direction=direction,
    )  # fmt: skip
    for _ in range(10):
        snapshot = study.snapshot() if len(study.history) >= 6 else None
        trial = study.ask()
        value = -1.2 if trial.number == 9 else harm(trial.params)
        study.tell(trial, sign * value, outcomes={"toxicity": 1.0})
        if snapshot is None:
            continue
        [x], before = study.domain.encode([trial.params]), snapshot.belief.posterior
        promise = study.promises[-1]
        chance = np.exp(snapshot.belief.log_chance(x[None, :])[0])
        fall = expected_fall(before, snapshot.X, x, fallback=-1.0)
        assert promise.promised == pytest.approx(chance * fall, rel=1e-9)
        after = before.append(x, value).law(np.vstack([snapshot.X, x])).mean.min()
        wanted = max(min(before.law(snapshot.X).mean.min(), -1.0) - after, 0.0)
        assert promise.delivered == pytest.approx(wanted, abs=1e-9)
    assert study.promises[-1].delivered > 0.0


@pytest.mark.parametrize("acquisition", ["lcb", "ts", "pbgi"])
def test_acquisitions_and_rules_of_every_kind_go_with_limits(acquisition):
    study = sw.Study(
        TABLE, **OPTIONS, acquisition=acquisition, n_initial=4, seed=1,
        watch=["gss", "convergence", "ucb-lcb", "srgap-med", "prb"],
    )  # fmt: skip
    for _ in range(9):
        trial = study.ask()
        study.tell(trial, harm(trial.params), outcomes={"toxicity": toxicity(trial.params)})
        assert study.should_stop().reason
    assert toxicity(study.best.params) <= 2.0
    assert study.best.value == min(o.value for o in study.history.feasible)
    for rule in study.watched:
        assert len(study.traces[rule.key]) > 0


def test_budget_and_guarantee_beside_limits():
    study = sw.Study(TABLE, limits=LIMITS, surrogate="plain", n_initial=3, budget=9.0)
    with pytest.raises(InputError, match="a guarantee needs a PBGI"):
        study.guarantee()
    while not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, harm(trial.params), outcomes={"toxicity": toxicity(trial.params)})
    assert study.spent <= 9.0
    priced = sw.Study(TABLE, **OPTIONS, n_initial=2)
    for dose in (1.0, 17 / 19):
        i = round(19 * dose)
        told(priced, {"dose": i / 19, "heat": (7 * i % 20) / 19})
    with pytest.raises(InputError, match="keeps all limits, or a fallback"):
        priced.guarantee()
    told(priced, {"dose": 2 / 19, "heat": 14 / 19})
    assert "whether limits are kept is learned" in str(priced.guarantee())


# ------------------------------------------------------------------------------------ the doors


@pytest.mark.parametrize("noise", [None, "learn"])
def test_a_resumed_study_goes_on_as_one_that_was_not_interrupted(noise, tmp_path):
    path = tmp_path / "run.jsonl"
    options = {**OPTIONS, "n_initial": 4, "seed": 5, "noise": noise, "fallback": 0.5}
    run(sw.Study(TABLE, journal=path, **options), 7).close()
    again = sw.Study.resume(path)
    assert again.options.limits == LIMITS
    assert again.options.fallback == 0.5
    assert [o.outcomes for o in again.history] == [
        {"toxicity": toxicity(o.params)} for o in again.history
    ]
    whole = run(sw.Study(TABLE, **options), 10)
    run(again, 10)
    assert [(o.params, o.outcome) for o in whole.history] == [
        (o.params, o.outcome) for o in again.history
    ]
    assert whole.promises == again.promises
    assert whole.traces == again.traces
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    named = [line.get("outcome") for line in lines if line.get("event") == "tell"]
    assert set(named) <= {None, "infeasible"}


@pytest.mark.parametrize("kind", ["evaluation", "dict", "dict with a cost"])
def test_an_objective_returns_its_outcomes(kind):
    def objective(params):
        made = chemist(params)
        if kind == "evaluation":
            return made
        cost = {"cost": 2.0} if "cost" in kind else {}
        return {"value": made.value, "outcomes": dict(made.outcomes), **cost}

    cost = {"cost": "reported"} if "cost" in kind else {}
    result = sw.minimize(objective, TABLE, **OPTIONS, **cost, max_trials=6)
    assert all(o.outcomes["toxicity"] == toxicity(o.params) for o in result.history)
    assert result.spent == len(result.history) * (2.0 if cost else 1.0)


def test_an_objective_that_returns_something_else_is_refused():
    with pytest.raises(InputTypeError, match="a dict has 'value'"):
        sw.minimize(lambda _: {"loss": 1.0}, TABLE, **OPTIONS)


def test_where_nothing_keeps_the_limits_it_ends_with_a_warning():
    with pytest.warns(UserWarning, match="no evaluation has kept all limits"):
        result = sw.minimize(
            chemist, TABLE, lam=1e-3, limits={"toxicity": (None, -1.0)}, surrogate="plain",
            max_trials=8,
        )  # fmt: skip
    assert result.best is None
    assert result.verdict.rule == "max-trials"


def test_limits_and_failures_together():
    def objective(params):
        return None if params["dose"] > 0.85 else chemist(params)

    result = sw.minimize(objective, SPACE, **OPTIONS, max_trials=25)
    success = result._study.snapshot().belief.success
    assert len(success.parts) == 2
    assert toxicity(result.best.params) <= 2.0
    X = np.random.default_rng(0).random((5, 2))
    total = sum(part.log_chance(X) for part in success.parts)
    np.testing.assert_allclose(success.log_chance(X), total)


@pytest.mark.parametrize("measured", [math.nan, None])
def test_an_outcome_that_could_not_be_measured_is_a_failure(measured):
    def objective(params):
        return sw.Evaluation(params["x"], outcomes={"tox": measured if params["x"] > 0.6 else 0.1})

    space = {"x": sw.Real(0, 1)}
    options = {"lam": 0.01, "limits": {"tox": (None, 0.8)}, "max_trials": 8, "surrogate": "plain"}
    result = sw.maximize(objective, space, **options)
    failed = [o for o in result.history if o.failed]
    assert failed
    assert all(o.params["x"] > 0.6 and "the outcome 'tox' is" in o.message for o in failed)
    assert result.best.value <= 0.6
