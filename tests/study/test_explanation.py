# SPDX-License-Identifier: Apache-2.0
"""Reasons and explanations: their numbers are those of an independent calculation."""

import math
import re

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.quantity import quantity
from stopwise.core.units import settings
from stopwise.math import log_ei
from stopwise.stopping import PBGI, UCBLCB, After, ProbabilisticRegretBound, Smoothed

REASON = re.compile(
    r"the best remaining candidate is expected to gain (\S+) and costs (\S+), worth (\S+) at"
    r" lam = (\S+?)(?:;.*)?(?: \(.*\))?: (stop|go on)"
)
REMAINING = re.compile(
    r"The best remaining candidate is (.*): it is expected to gain (\S+) and costs (\S+)\.\n"
    r"One would go on for any lam below (\S+) \(objective units per unit of cost\)\."
)

TABLE = sw.Candidates(
    [{"x": i % 8, "act": act} for i in range(8) for act in ("relu", "tanh")],
)
BOX = {"x": sw.Real(0.0, 10.0)}


def objective(params):
    return math.sin(params["x"]) + 0.1 * params["x"] + (params.get("act") == "tanh") * 0.2


def price(params):
    return 0.3 + 0.1 * params["x"]


def study_after(steps, space=TABLE, **options):
    settings = {"lam": 0.01, "cost": price, "surrogate": "plain", **options}
    study = sw.Study(space, **settings)
    sign = -1 if settings.get("direction") == "maximize" else 1
    for _ in range(steps):
        trial = study.ask()
        study.tell(trial, sign * objective(trial.params))
    return study


def by_hand(study, candidates):
    """The candidate with the most expected improvement per cost, from the posterior itself."""
    sign = -1.0 if study.direction == "maximize" else 1.0
    best = min(sign * o.value for o in study.history)
    taken = [o.params for o in study.history] + [t.params for t in study.pending]
    left = [params for params in candidates if params not in taken]
    mean, std = study.snapshot().belief.objective(study.domain.encode(left))
    gains = np.exp(log_ei(mean, std, best))
    costs = np.array([price(params) for params in left])
    at = int(np.argmax(gains / costs))
    return left[at], gains[at], costs[at]


def four_digits(value):
    return pytest.approx(value, rel=6e-4)


# ------------------------------------------------------------------------------ the numbers


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("lam", [1e-3, 0.03, 0.9])
def test_the_reason_names_the_best_remaining_candidates_gain_cost_and_worth(lam, direction):
    study = study_after(7, lam=lam, direction=direction)
    verdict = study.should_stop()
    _, gain, cost = by_hand(study, TABLE.domain.decode(TABLE.domain.points))
    said = REASON.fullmatch(verdict.reason)
    assert [float(s) for s in said.groups()[:4]] == [
        four_digits(gain),
        four_digits(cost),
        four_digits(lam * cost),
        four_digits(lam),
    ]
    assert said[5] == ("stop" if gain <= lam * cost else "go on")
    assert verdict.stop is bool(gain <= lam * cost)
    assert verdict.value == pytest.approx(math.log(gain / cost))
    assert verdict.threshold == pytest.approx(math.log(lam))
    assert str(verdict) == verdict.reason


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_explanation_names_the_candidate_and_the_lambda_at_which_one_goes_on(direction):
    study = study_after(7, direction=direction)
    params, gain, cost = by_hand(study, TABLE.domain.decode(TABLE.domain.points))
    text = study.explain()
    said = REMAINING.search(text)
    assert said[1] == settings(params)
    turning = float(said[4])
    assert (float(said[2]), float(said[3]), turning) == (
        four_digits(gain),
        four_digits(cost),
        four_digits(gain / cost),
    )
    dear, cheap = sw.replay(study.traces, [PBGI(1.01 * turning), PBGI(0.99 * turning)])
    assert list(dear.verdicts.values())[-1].stop
    assert not list(cheap.verdicts.values())[-1].stop
    verdict = study.should_stop()
    assert text.startswith(f"pbgi: {verdict.reason}.\n")


def test_on_a_box_nothing_better_is_found_by_brute_force():
    study = study_after(7, space=BOX)
    said = REMAINING.search(study.explain())
    grid = [{"x": x} for x in np.linspace(0.0, 10.0, 20_001)]
    params, gain, cost = by_hand(study, grid)
    assert float(said[4]) >= 0.9995 * gain / cost
    assert float(said[4]) == pytest.approx(gain / cost, rel=1e-3)
    x = float(re.search(r"x = (\S+)", said[1])[1])
    assert x == pytest.approx(params["x"], abs=0.02)
    assert float(said[3]) == pytest.approx(price({"x": x}), rel=1e-3)


def test_a_smoothed_answer_says_that_an_average_decided():
    study = study_after(9, space=BOX, lam=1e-3, stopping=Smoothed(PBGI(1e-3), 5))
    study.should_stop()
    verdict = study.should_stop()
    said = re.search(
        r"averaged over recent steps the gain per cost is (\S+), (above|at most) lam = (\S+):",
        verdict.reason,
    )
    average = float(said[1])
    assert (said[2] == "at most", said[3]) == (verdict.stop, "0.001")
    trace = study.traces["sup_log_ei_per_cost"]
    assert len(trace) > 1
    assert average == four_digits(math.exp(np.mean([s.value for s in trace][-5:])))
    assert verdict.value == pytest.approx(np.mean([s.value for s in trace][-5:]))


def test_an_uncertain_price_is_named_with_its_factor():
    study = sw.Study(BOX, lam=0.01, cost="reported")
    rng = np.random.default_rng(3)
    for i in range(8):
        study.tell({"x": 1.25 * i}, math.sin(i), cost=math.exp(2.5 * rng.standard_normal()))
    verdict = study.should_stop()
    factor = float(re.search(r"\(the cost is uncertain by a factor of (\S+)\)", verdict.reason)[1])
    snapshot = study.snapshot()
    at = snapshot.sup(sw.acquisition.LogEIPC()).x
    _, std = snapshot.belief.price.log_cost(at[None, :])
    assert factor == four_digits(math.exp(std[0]))
    assert factor > math.e
    sure = study_after(8, space=BOX).should_stop()
    assert "uncertain" not in sure.reason


def test_the_expected_cost_is_the_one_that_is_named():
    """E[c] = exp(mean + variance/2), not the median exp(mean)."""
    study = sw.Study(BOX, lam=0.01, cost="reported")
    rng = np.random.default_rng(3)
    for i in range(8):
        study.tell({"x": 1.25 * i}, math.sin(i), cost=math.exp(0.8 * rng.standard_normal()))
    said = REMAINING.search(study.explain())
    at = study.domain.encode({"x": float(re.search(r"x = (\S+)", said[1])[1])})
    mean, std = study.snapshot().belief.price.log_cost(at)
    assert float(said[3]) == pytest.approx(math.exp(mean[0] + 0.5 * std[0] ** 2), rel=1e-3)
    assert std[0] > 0.1


# -------------------------------------------------------------------- what there is no answer to


def test_before_the_design_is_done_it_says_so_and_fits_nothing():
    study = study_after(3)
    assert study.explain() == "initial: initial design, 3 of 6."
    assert study._context.model._latest is None
    assert sw.Study(BOX, lam=0.01).explain() == "initial: initial design, 0 of 4."


def test_an_exhausted_space_has_nothing_left():
    study = study_after(16)
    assert study.explain().splitlines() == [
        "exhausted: all 16 configurations have been asked for: stop.",
        "Nothing remains to be evaluated.",
        "Promised 0.1439 in 10 choices, 0.2 came.",
    ]


def bounded_hints(study):
    return [line for line in study.explain().splitlines() if "bounds=" in line]


def told(values, **options):
    study = sw.Study(BOX, lam=1e-3, n_initial=len(values), **options)
    for i, value in enumerate(values):
        study.tell({"x": i / 2}, value)
    return study


def test_values_of_one_sign_over_a_decade_bring_bounds_to_mind_once():
    values = [8.0, 0.2, 3.0, 0.9]
    hint = "All values are positive and the largest is 40 times the smallest"
    assert bounded_hints(told(values)) == [
        f"{hint}: if they cannot fall below 0, bounds=(0, None) says so."
    ]
    hint = "All values are negative and the lowest is 40 times the highest"
    assert bounded_hints(told([-v for v in values], direction="maximize")) == [
        f"{hint}: if they cannot rise above 0, bounds=(None, 0) says so."
    ]


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([8.0, 0.2, 3.0], {"bounds": (0, None)}),
        ([8.0, 0.2, 3.0], {"bounds": (None, 9)}),
        ([8.0, 0.2, 3.0], {"direction": "maximize"}),
        ([-8.0, -0.2, -3.0], {}),
        ([8.0, 0.9, 3.0], {}),
        ([8.0, 0.0, 3.0], {}),
        ([8.0, -0.1, 3.0], {}),
    ],
)
def test_where_bounds_would_be_nonsense_or_are_given_nothing_is_said(values, options):
    assert bounded_hints(told(values, **options)) == []


def test_what_came_of_earlier_choices_is_said():
    study = study_after(9)
    assert f"\n{str(study.promises).capitalize()}.\n" in f"{study.explain()}\n"
    assert "romised" not in study_after(6).explain()


def test_trials_that_run_are_named_and_left_out():
    study = study_after(7, lam=1e-9)
    first = study.ask()
    text = study.explain()
    assert "(for new trials; 1 still running)." in text
    assert REMAINING.search(text)[1] != settings(first.params)
    before = study_after(7, lam=1e-9)  # where nothing runs it is that very one
    assert REMAINING.search(before.explain())[1] == settings(before.ask().params)


# ---------------------------------------------------------------------------------- warnings


def spread_of(study):
    return np.std([o.value for o in study.history], ddof=1)


def warnings_of(study):
    return [line for line in study.explain().splitlines() if line.startswith("Warning")]


def rescaled(rules, factor, *, noise=None, n=10):
    """A study whose values spread by ``factor``, at a cost of 1, watching a rule or several."""
    options = {"stopping": "immediate", "watch": rules, "noise": noise, "surrogate": "plain"}
    study = sw.Study(BOX, lam=factor, **options)
    for i in range(n):
        study.tell({"x": i * 10 / n}, factor * (math.sin(1.7 * i) + 0.1 * math.cos(40 * i)))
    return study


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("noise", [None, "learn"])
def test_ordinary_thresholds_are_not_warned_of(factor, noise):
    spread = spread_of(rescaled(UCBLCB(), factor))
    rules = [
        rule
        for part in (1e-5, 1e-3, 0.1, 1.0, 50.0)
        for rule in (
            PBGI(part * spread),
            UCBLCB(theta=part * spread),
            ProbabilisticRegretBound(epsilon=part * spread),
        )
    ]
    assert warnings_of(rescaled(rules, factor, noise=noise)) == []


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("rule", ["lam", "theta", "epsilon"])
def test_thresholds_a_hundred_times_the_spread_are(factor, rule):
    spread = spread_of(rescaled(UCBLCB(), factor))
    made, name = {
        "lam": (Smoothed(PBGI(150 * spread), 5), r"lam = \S+ times the cost of 1"),
        "theta": (After(UCBLCB(theta=150 * spread), 3), "theta"),
        "epsilon": (ProbabilisticRegretBound(epsilon=150 * spread), "epsilon"),
    }[rule]
    [line] = warnings_of(rescaled(made, factor))
    said = re.fullmatch(
        rf"Warning: {name} amounts to (\S+) where observed values spread by (\S+)\. It is in"
        r" objective units: accuracy in \[0, 1\] needs values 100 times smaller than accuracy in"
        r" percent\.",
        line,
    )
    assert (said[1], said[2]) == (quantity(150 * spread), quantity(spread))


def test_a_threshold_below_what_the_model_resolves_is_warned_of():
    spread = spread_of(rescaled(UCBLCB(), 1.0))
    study = rescaled(PBGI(1e-7 * spread), 1.0)
    [line] = warnings_of(study)
    said = re.fullmatch(
        r"Warning: lam = (\S+) times the cost of 1 amounts to (\S+), below what the model resolves"
        r" \((\S+)\): the rule may not stop\. All of these are in objective units; is it 100 times"
        r" too small\?",
        line,
    )
    assert float(said[2]) == four_digits(1e-7 * spread)
    resolution = float(said[3])
    assert resolution == four_digits(spread * math.sqrt(study.snapshot().belief.objective.nugget))
    assert warnings_of(rescaled(PBGI(0.5 * resolution), 1.0))
    assert not warnings_of(rescaled(PBGI(2.0 * resolution), 1.0))


def test_with_noise_far_too_small_a_threshold_is_off_the_scale():
    spread = spread_of(rescaled(UCBLCB(), 1.0))
    [line] = warnings_of(rescaled(UCBLCB(theta=1e-7 * spread), 1.0, noise="learn"))
    assert "where observed values spread by" in line


def test_rules_that_share_a_threshold_are_warned_of_once():
    study = sw.Study(BOX, lam=1e6, watch=[PBGI(1e6), After(PBGI(1e6), 3), UCBLCB(theta=1e9)])
    for i in range(6):
        study.tell({"x": i}, math.sin(i))
    assert [line.split(" amounts")[0] for line in warnings_of(study)] == [
        "Warning: lam = 1,000,000 times the cost of 1",
        "Warning: theta",
    ]


def test_the_cost_of_the_candidate_counts_not_lambda_alone():
    study = sw.Study(BOX, lam=1e-3, cost=lambda _: 1e6)
    for i in range(6):
        study.tell({"x": i}, math.sin(i))
    [line] = warnings_of(study)
    assert "lam = 0.001 times the cost of 1,000,000 amounts to 1000 where" in line


def test_values_without_spread_are_called_equal():
    study = sw.Study(BOX, lam=1e-6)
    for i in range(6):
        study.tell({"x": i}, 3.0)
    assert study.explain().splitlines()[-1] == (
        "All 6 values are equal, so nothing is expected to vary."
    )
    assert study.should_stop().stop


def test_one_value_is_no_scale_to_warn_by():
    study = sw.Study(BOX, lam=1e-9, n_initial=1)
    study.tell({"x": 1.0}, 3.0)
    assert warnings_of(study) == []


def test_without_a_lam_it_says_whose_lam_is_meant():
    study = study_after(7, stopping=sw.stopping.UCBLCB(0.1))
    text = study.explain()
    assert "No rule here has a lam; the PBGI rule would go on for any lam below" in text
    assert "One would go on" not in text
    assert "One would go on" in study_after(7).explain()


def test_a_stop_before_any_choice_says_so():
    """A stop right after the design rests on no choice of the model, and says it."""
    said = "No choice of the model was tried yet: this verdict rests on"
    study = study_after(4, lam=100.0, n_initial=4)
    assert study.should_stop().stop
    assert f"\n{said} 4 evaluations that it did not choose, the initial design." in study.explain()
    pending = study.ask()
    assert said in study.explain()  # it was asked for, and nobody knows what it gives
    study.tell(pending, objective(pending.params))
    assert study.should_stop().stop
    assert said not in study.explain()
    assert said not in study_after(4, lam=1e-6, n_initial=4).explain()  # which goes on


def test_a_stop_when_all_is_evaluated_says_nothing_of_choices():
    study = study_after(2, sw.Candidates([{"x": 1}, {"x": 2}]), n_initial=2)
    assert study.should_stop().rule == "exhausted"
    assert "No choice" not in study.explain()
