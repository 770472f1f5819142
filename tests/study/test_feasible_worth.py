# SPDX-License-Identifier: Apache-2.0
"""Stopping while nothing keeps the limits: by what a value could be worth at most."""

import math

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.traces import Trace
from stopwise.errors import InputError
from stopwise.stopping.signals import GAIN_PER_COST
from stopwise.study.feasible_worth import most_worth
from stopwise.tools.progress.view import view_of

BOX = {"T": sw.Real(0.0, 1.0)}
UTILITY = sw.utility.piecewise([(70, 0), (95, 1000)], unit="$")
OPTIONS = {"direction": "maximize", "cost": 25, "limits": {"tox": (None, 0.3)}, "n_initial": 3}


def never(params):
    """The limit cannot be kept."""
    return 80.0, 1.0 + params["T"]


def rarely(params):
    """The limit is kept in a corner of which the model of three points thinks it is not."""
    return 80.0, 0.9 - 0.9 * params["T"] ** 3


def three_in_vain(**options):
    study = sw.Study(BOX, **{**OPTIONS, "utility": UTILITY, **options})
    for T in (0.1, 0.4, 0.6):
        study.tell({"T": T}, 80.0, outcomes={"tox": rarely({"T": T})[1]}, charge=True)
    return study


def run(objective=never, most=25, **options):
    study = sw.Study(BOX, **{**OPTIONS, **options})
    while len(study.history) < most and not study.should_stop().stop:
        trial = study.ask()
        value, tox = objective(trial.params)
        study.tell(trial, value, outcomes={"tox": tox})
    return study


# ----------------------------------------------------------- what a value is worth at most


@pytest.mark.parametrize(
    ("utility", "bounds", "direction", "most"),
    [
        (UTILITY, None, "maximize", 1000.0),
        (UTILITY, (0, 80), "maximize", 400.0),
        (UTILITY, (75, 80), "maximize", 400.0),  # nothing at all may be worth less than the worst
        (sw.utility.piecewise([(70, -100), (95, 1000)]), None, "maximize", 1100.0),
        (sw.utility.piecewise([(70, 300), (95, 1000)]), None, "maximize", 1000.0),
        (sw.utility.piecewise([(1, -10), (2, -50)]), None, "minimize", 40.0),
        (sw.utility.sigmoid(90, 2, height=12), None, "maximize", 12.0),
        (sw.utility.threshold(0.2, slope=10), (0, 0.9), "minimize", 7.0),
        (sw.utility.threshold(0.2, slope=10), (0, 1), "maximize", 8.0),
        (sw.utility.threshold(0.2, slope=10), None, "minimize", None),
        (sw.utility.threshold(0.2, slope=10), (0, None), "maximize", None),
        (sw.utility.linear(3.0), (0, 5), "maximize", 15.0),
        (sw.utility.linear(3.0), None, "maximize", None),
        (None, (0, 5), "maximize", None),
    ],
)
def test_it_is_the_best_worth_over_the_worst_or_over_nothing(utility, bounds, direction, most):
    study = sw.Study(BOX, utility=utility, bounds=bounds, direction=direction, lam=1)
    bound = most_worth(study.options)
    assert (bound and bound.most) == (None if most is None else pytest.approx(most))


def test_it_is_at_least_every_gain_over_a_fallback_of_no_worth():
    """The oracle: gains at all places, as they are where a fallback says what one has."""
    study, beside = three_in_vain(), three_in_vain(fallback=0.0)
    study.should_stop()
    beside.should_stop()
    bound = study.traces["most_worth_per_cost"].current
    gain = beside.traces[GAIN_PER_COST.key].current
    assert gain.value < bound.value
    belief, x = study.snapshot().belief, np.linspace(0.0, 1.0, 401)[:, None]
    rates = np.log(1000.0) + belief.log_chance(x) - belief.log_price(x)
    assert rates.max() <= bound.value + 1e-6


def test_after_n_trials_in_vain_a_chance_of_half_in_n_and_one_counts_at_least():
    """The mean of Beta(1/2, n + 1/2), by quadrature in the angle whose squared sine is p."""
    study = three_in_vain()
    study.should_stop()
    facts = study.traces["most_worth_per_cost"].current.facts
    angle = (np.arange(2000) + 0.5) * np.pi / 4000
    share, weight = np.sin(angle) ** 2, np.cos(angle) ** 6  # three in vain
    assert facts["counted"] == pytest.approx((share * weight).sum() / weight.sum(), rel=1e-6)
    assert facts["chance"] < facts["counted"]
    assert facts["gain"] == 1000.0 * facts["counted"]


# ------------------------------------------------------------------------------- verdicts


def test_a_limit_that_cannot_be_kept_stops_a_study_whose_worth_is_bounded():
    """At one price half of the most that a value can be worth is spent in vain."""
    study = run(utility=UTILITY)
    verdict = study.should_stop()
    assert (verdict.stop, verdict.rule) == (True, "pbgi")
    assert (len(study.history), study.spent) == (19, 475.0)
    assert verdict.reason.startswith("none of 19 evaluations has kept all limits; the likeliest")
    assert verdict.reason.endswith(
        "(0.025 is counted at least), so that it is worth 25 $ at most (no value is worth more"
        " than 1000 $), and costs 25: stop"
    )
    assert verdict.value <= verdict.threshold == 0.0
    assert f"pbgi: {verdict.reason}." in study.explain()


def test_a_dear_evaluation_is_given_up_sooner():
    assert len(run(utility=UTILITY, cost=100).history) == 4
    assert len(run(utility=UTILITY, cost=100, lam=0.5).history) == 9


def test_what_the_model_was_wrongly_sure_of_is_found():
    study = run(rarely, most=12, utility=UTILITY)
    first = next(i for i, o in enumerate(study.history) if not o.infeasible)
    assert first >= 3
    bounds = study.traces["most_worth_per_cost"]
    assert bounds.signals[0].facts["chance"] * 1000.0 < 25.0
    assert [signal.n for signal in bounds] == list(range(3, first + 1))
    assert study.traces[GAIN_PER_COST.key].signals[0].n == first + 1


def test_the_verdict_says_what_it_weighs_while_it_goes_on():
    verdict = three_in_vain(lam=0.5).should_stop()
    assert (verdict.stop, verdict.rule) == (False, "limits")
    assert verdict.reason.startswith("none of 3 evaluations has kept all limits; the likeliest")
    assert verdict.reason.endswith("and costs 25, worth 12.5 $ at lam = 0.5: go on")
    study = sw.Study(BOX, **{**OPTIONS, "limits": {"tox": (None, 0.5)}}, utility=UTILITY)
    for T in (0.1, 0.4, 0.6):
        study.tell({"T": T}, 80.0, outcomes={"tox": 0.9 - 0.6 * T})
    assert "is counted" not in study.should_stop().reason  # the model is surer of it than that


@pytest.mark.parametrize(
    "options",
    [
        {"utility": sw.utility.linear(40.0)},  # what a value is worth has no bounds
        {"lam": 1.0},
        {"utility": UTILITY, "stopping": "logeipc-med"},  # compares no price with a worth
    ],
)
def test_without_a_bound_or_a_price_nothing_ends_it_and_the_verdict_says_so(options):
    study = run(most=8, **options)
    verdict = study.should_stop()
    assert (verdict.stop, verdict.rule, len(study.history)) == (False, "limits", 8)
    assert (
        "Nothing will end that: give fallback= (what you have if none does), max_trials= or"
        " budget=: go on"
    ) in verdict.reason


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ({"max_trials": 99}, "max_trials"),
        ({"budget": 1e4}, "the budget"),
        ({"budget": 1e4, "max_trials": 99}, "the budget or max_trials"),
        ({"stopping": ["pbgi", sw.stopping.FixedTrials(50)]}, "a rule that counts"),
    ],
)
def test_what_will_end_it_is_named(options, ends):
    reason = run(most=4, lam=1.0, **options).should_stop().reason
    assert f"until {ends} ends it (fallback= would say what it is worth): go on" in reason


def test_a_table_ends_with_its_last_configuration():
    table = sw.Candidates([{"T": i / 9} for i in range(10)])
    study = sw.Study(table, lam=1.0, **OPTIONS)
    for T in range(3):
        study.tell({"T": T / 9}, 80.0, outcomes={"tox": 1.0})
    assert "until the last configuration ends it" in study.should_stop().reason


def test_where_all_that_remains_is_pending_nothing_is_worth_anything():
    table = sw.Candidates([{"T": i / 3} for i in range(4)])
    study = sw.Study(table, **OPTIONS, utility=UTILITY)
    for T in range(3):
        study.tell({"T": T / 3}, 80.0, outcomes={"tox": 1.0})
    study.ask()
    bound = most_worth(study.options)
    signal = bound.signal(study.snapshot())
    assert signal.value == -math.inf
    trace = Trace.of((signal,))
    said = bound.reason(sw.stopping.PBGI(1.0), trace, "$")
    assert said == "no remaining candidate can keep them"
    assert not bound.verdict(trace).stop


def test_a_value_of_no_worth_is_worth_0_and_not_minus_0():
    study = three_in_vain(fallback=0.0)
    assert "The best value, 0, is worth 0 $." in study.explain()


# ---------------------------------------------------------------------------- the record


def test_rules_in_wrappers_read_it_in_their_own_way():
    waiting = run(most=6, utility=UTILITY, stopping=sw.stopping.After(sw.stopping.PBGI(1.0), 20))
    assert not waiting.should_stop().stop
    smoothed = run(utility=UTILITY, stopping=sw.stopping.Smoothed(sw.stopping.PBGI(1.0), 2))
    assert smoothed.should_stop().stop


def test_a_resumed_study_says_the_same(tmp_path):
    path = tmp_path / "run.jsonl"
    study = run(utility=UTILITY, journal=path)
    verdict, said = study.should_stop(), study.explain()
    study.close()
    with sw.Study.resume(path) as again:
        assert again.should_stop() == verdict
        assert again.explain() == said
    assert "most_worth_per_cost" in sw.Study.load(path).traces
    with pytest.raises(InputError, match="keeps all limits"):
        sw.Study.load(path).guarantee()


def test_progress_says_what_ends_the_search():
    study = three_in_vain()
    study.should_stop()
    [gauge] = view_of(study).stops
    within = "not before an evaluation keeps all limits, or none is likely enough for its price"
    assert gauge.text == within
    ended = run(utility=UTILITY, cost=100)
    [gauge] = view_of(ended).stops
    assert (gauge.text, gauge.share) == (f"pbgi: {ended.should_stop().reason}", 1.0)


def test_minimize_ends_and_the_report_is_made(tmp_path):
    with pytest.warns(UserWarning, match="no evaluation has kept all limits"):
        result = sw.maximize(
            lambda params: sw.Evaluation(80.0, outcomes={"tox": 1.0 + params["T"]}),
            BOX,
            **{k: v for k, v in OPTIONS.items() if k != "direction"},
            utility=UTILITY,
        )
    assert result.verdict.stop
    assert result.best is None
    result.report(tmp_path / "report.html")
    assert "no value is worth more than 1000 $" in (tmp_path / "report.html").read_text("utf-8")
