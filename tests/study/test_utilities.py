# SPDX-License-Identifier: Apache-2.0
"""Studies with a utility: gains, prices and verdicts are in its currency, values stay values."""

import json
import math
import re

import numpy as np
import pytest

import stopwise as sw
from stopwise.acquisition import PBGI, LogEIPC
from stopwise.errors import InputError, InputTypeError
from stopwise.record.journal import ResumeWarning
from stopwise.stopping import make_rule
from stopwise.study.budget import expected_range

TABLE = sw.Candidates([{"x": i / 24, "z": (11 * i % 25) / 24} for i in range(25)])
BOX = {"x": sw.Real(0.0, 1.0)}
PLAIN = {"surrogate": "plain", "n_initial": 5}
LOW = 1e-3  # a lam at which it goes on after the design
NEVER = sw.stopping.FixedTrials(99)
SIGMOID = sw.utility.sigmoid(at=0.4, width=0.1, height=12.0, unit="dollars")


def error(params):
    return 1.0 + math.sin(7.0 * params["x"]) - 0.5 * params.get("z", 0.0)


def run(study, most=14, objective=error):
    while len(study.history) < most and not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, objective(trial.params))
    return study


# ---------------------------------------------------------------------- the exchange rate


def test_a_utility_shares_the_currency_of_costs_unless_lam_says_otherwise():
    assert sw.Study(BOX, utility=SIGMOID).options.lam == 1.0
    assert sw.Study(BOX, utility=SIGMOID, lam=0.5).options.lam == 0.5
    budgeted = sw.Study(BOX, utility=SIGMOID, budget=100.0)
    assert (budgeted.options.lam, budgeted.rules) == (1.0, [make_rule("pbgi", 1.0)])


@pytest.mark.parametrize(
    ("worth", "costs"),
    [
        ("dollars", {"cost_unit": "hours", "cost": lambda _: 1.0}),
        ("dollars", {"cost": "seconds"}),
        ("hours", {"cost": "seconds"}),
        ("dollars", {"cost_unit": "$", "cost": "reported"}),
    ],
)
def test_of_two_units_somebody_says_what_the_one_is_worth_in_the_other(worth, costs):
    utility = sw.utility.linear(1.0, unit=worth)
    unit = costs.get("cost_unit", "s")
    both = rf"is in '{worth}' and costs are in '{re.escape(unit)}': .*Give lam=.*exchange_rate"
    with pytest.raises(InputError, match=both):
        sw.Study(BOX, utility=utility, **costs)
    assert sw.Study(BOX, utility=utility, lam=40.0, **costs).options.lam == 40.0


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_utility_that_is_flat_within_the_bounds_is_refused(direction):
    points = [(90, 0), (95, 1000)] if direction == "maximize" else [(90, 1000), (95, 0)]
    utility = sw.utility.piecewise(points, unit="dollars")
    options = {"direction": direction, "utility": utility}
    with pytest.raises(InputError, match=r"within bounds=\(0.0, 1.0\) every value is worth"):
        sw.Study(BOX, bounds=(0, 1), **options)
    for bounds in ((0, 100), (0, None), None):
        sw.Study(BOX, bounds=bounds, **options)


def test_the_result_says_what_the_best_value_is_worth():
    utility = sw.utility.piecewise([(0.1, 40), (0.9, 0)], unit="dollars")
    result = run(sw.Study(BOX, utility=utility), 6).result()
    worth = f"{sw.Study(BOX, utility=utility).worth(result.best.value):.4g}"
    assert f", worth {worth} dollars: x = " in str(result)


@pytest.mark.filterwarnings("error")
def test_the_lam_of_a_utility_is_no_change_where_it_is_left_out_again(tmp_path):
    journal = tmp_path / "run.jsonl"
    run(sw.Study(BOX, utility=SIGMOID, journal=journal), 3).close()
    resumed = sw.Study.resume(journal, lam=None, utility=SIGMOID)
    assert resumed.options.lam == 1.0
    resumed.close()
    with pytest.warns(ResumeWarning, match=r"lam is now 2\.0; it was 1\.0"):
        sw.Study.resume(journal, lam=2.0, utility=SIGMOID).close()
    with pytest.warns(ResumeWarning, match=r"lam is now 1\.0; it was 2\.0"):
        sw.Study.resume(journal, lam=None, utility=SIGMOID).close()


def test_what_is_worth_nothing_is_worth_0_and_not_minus_0():
    study = sw.Study(BOX, utility=sw.utility.piecewise([(0.1, 40), (0.9, 0)]))
    assert str(study.worth(2.0)) == "0.0"


def test_a_study_refuses_a_derivative_that_is_not_the_functions():
    cube = sw.utility.custom(lambda v: (v / 100) ** 3 * 1e4, lambda v: np.full_like(v, 1e-3))
    with pytest.raises(InputError, match="finite differences"):
        sw.Study(BOX, direction="maximize", utility=cube)


@pytest.mark.parametrize(
    ("worth", "costs"),
    [
        ("dollars", {"cost_unit": " Dollar ", "cost": "reported"}),
        ("seconds", {"cost": "seconds"}),
        ("", {"cost": "seconds"}),
        ("dollars", {"cost": lambda _: 2.0}),
        ("GPU hours", {"cost_unit": "gpu hour"}),
    ],
)
def test_one_unit_under_one_name_and_units_that_nobody_named_are_worth_one(worth, costs):
    utility = sw.utility.linear(1.0, unit=worth)
    assert sw.Study(BOX, utility=utility, **costs).options.lam == 1.0


def test_a_journal_that_was_begun_with_two_units_goes_on_with_the_lam_that_it_wrote(tmp_path):
    path = tmp_path / "old.jsonl"
    with sw.Study(BOX, utility=SIGMOID, lam=1.0, cost="seconds", journal=path):
        pass
    with sw.Study.resume(path) as study:
        assert study.options.lam == 1.0


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("surrogate", ["plain", "default"])
def test_a_straight_line_makes_the_plain_decisions_at_a_scaled_lam(surrogate, direction):
    """Two thousand dollars a unit, against a lam of one in two thousand."""
    sign = 1.0 if direction == "minimize" else -1.0
    same = {"direction": direction, "surrogate": surrogate, "seed": 3, "max_trials": 12}
    studies = [
        run(sw.Study(TABLE, **same, **told), 12, lambda params: sign * error(params))
        for told in ({"lam": 1 / 2000}, {"utility": sw.utility.linear(2000.0)})
    ]
    plain, valued = studies
    assert [o.params for o in valued.history] == [o.params for o in plain.history]
    assert valued.should_stop().stop == plain.should_stop().stop
    assert valued.promises.promised == pytest.approx(2000.0 * plain.promises.promised, rel=1e-6)
    assert valued.promises.promised > 0.0
    assert valued.promises.delivered == pytest.approx(2000.0 * plain.promises.delivered)
    assert valued.best == plain.best


# ------------------------------------------------------------------------------- deciding


@pytest.mark.parametrize("domain", [TABLE, BOX])
@pytest.mark.parametrize(
    "utility",
    [
        SIGMOID,
        sw.utility.threshold(at=-0.4, slope=30.0),
        sw.utility.piecewise([(-0.5, 40.0), (0.1, 40.0 / 3), (0.9, 0.0)]),
    ],
)
def test_whenever_the_rule_goes_on_the_choice_is_worth_its_price(domain, utility):
    """The paper's Lemma, under the belief that both share."""
    costs = {"lam": LOW, "cost": lambda p: 0.05 + p["x"]}
    study = sw.Study(domain, utility=utility, seed=1, **costs, **PLAIN)
    checked = 0
    while len(study.history) < 12 and not study.should_stop().stop:
        snapshot = study.snapshot() if len(study.history) >= 5 else None
        trial = study.ask()
        if snapshot is not None:
            x = study.domain.encode(trial.params)
            law = snapshot.law(x, from_incumbent=True, valued=True)
            gain = math.exp(law.log_ei(snapshot.level).value[0])
            assert gain >= LOW * (0.05 + trial.params["x"]) * (1 - 1e-6)
            assert gain == pytest.approx(study.promises[-1].promised, rel=1e-9)
            checked += 1
        study.tell(trial, error(trial.params))
    assert checked


def test_the_lowest_fair_value_is_above_the_incumbents_worth_when_the_rule_stops():
    study = run(sw.Study(TABLE, utility=SIGMOID, seed=2, **PLAIN), 25)
    assert study.should_stop().stop
    snapshot = study.snapshot()
    assert -snapshot.sup(PBGI(1.0)).value >= snapshot.level
    assert snapshot.sup(LogEIPC()).value <= 0.0


def test_the_verdict_speaks_the_currency():
    study = run(sw.Study(BOX, utility=SIGMOID, **PLAIN), 6)
    reason = study.should_stop().reason
    assert "the best remaining candidate is expected to be worth" in reason
    assert " dollars more and costs 1:" in reason
    assert "lam" not in reason
    priced = run(sw.Study(BOX, utility=SIGMOID, lam=2.0, **PLAIN), 6)
    assert "dollars more and costs 1, worth 2 dollars at lam = 2" in priced.should_stop().reason
    said = study.explain()
    worth = study.worth(study.best.value)
    assert f"The best value, {study.best.value:.4g}, is worth {worth:.4g} dollars." in said
    assert "(dollars per unit of cost)" in said
    nameless = run(sw.Study(BOX, utility=sw.utility.linear(3.0), **PLAIN), 6)
    assert "(units of worth per unit of cost)" in nameless.explain()
    assert sw.Study(BOX, lam=1.0).worth(3.0) is None


def test_good_enough_is_enough_and_ties_are_broken_by_the_value():
    """Below 0.5 nothing more is gained: the study stops, and the best is the lowest value."""
    study = sw.Study(TABLE, utility=sw.utility.threshold(at=0.5, slope=100.0), **PLAIN)
    for x, value in zip((0, 5, 10, 15, 20), (0.9, 0.4, 0.2, 0.3, 1.4), strict=True):
        study.tell({"x": x / 24, "z": (11 * x % 25) / 24}, value)
    verdict = study.should_stop()
    assert verdict.stop
    assert verdict.reason.startswith("no remaining candidate can gain anything")
    assert study.best.value == 0.2
    assert study.ask().params  # it can still be asked, and looks for lower values


def test_a_level_out_of_reach_stops_where_a_straight_line_would_go_on():
    far = sw.utility.piecewise([(-9.0, 1000.0), (-8.0, 0.0)])
    study = run(sw.Study(BOX, utility=far, **PLAIN), 12)
    line = run(sw.Study(BOX, utility=sw.utility.linear(1000.0), **PLAIN), 12)
    assert (len(study.history), study.should_stop().stop) == (5, True)
    assert len(line.history) > 5


@pytest.mark.parametrize("acquisition", ["pbgi", "eic", "logeipc", "lcb", "ts", "pbgi-d"])
def test_every_acquisition_can_choose(acquisition):
    study = sw.Study(BOX, utility=SIGMOID, acquisition=acquisition, stopping=NEVER, **PLAIN)
    assert len(run(study, 7).history) == 7
    assert len(study.promises) == 2


def test_tolerances_of_other_rules_stay_in_units_of_the_objective():
    rules = ["ucb-lcb", "gss", "srgap-med", "convergence", "logeipc-med"]
    signals = []
    for told in ({"utility": SIGMOID}, {"lam": 1.0}):
        study = sw.Study(
            TABLE, watch=rules, acquisition="lcb", stopping="convergence", **told, **PLAIN
        )
        run(study, 8)
        signals.append({k: repr(t.current.value) for k, t in study.traces.items()})
    valued, plain = signals
    assert [k for k in plain if valued[k] != plain[k]] == ["sup_log_ei_per_cost"]


# ---------------------------------------------------------------------- with everything else


def test_pending_trials_are_accounted_for():
    study = run(sw.Study(BOX, utility=SIGMOID, **PLAIN), 5)
    trials = [study.ask() for _ in range(3)]
    assert len({t.params["x"] for t in trials}) == 3
    for trial in trials:
        study.tell(trial, error(trial.params))
    assert len(study.promises.told) == 3


def test_failures_count_with_their_chance():
    def fails(params):
        return None if params["x"] > 0.8 else error(params)

    study = run(sw.Study(BOX, utility=SIGMOID, seed=4, **PLAIN), 10, fails)
    assert any(o.failed for o in study.history)
    snapshot, x = study.snapshot(), np.array([[0.9]])
    certain = study.snapshot().law(
        x, sw.beliefs.Belief(snapshot.belief.objective, snapshot.belief.price),
        from_incumbent=True, valued=True,
    )  # fmt: skip
    chance = math.exp(snapshot.belief.log_chance(x)[0])
    with_chance = snapshot.law(x, from_incumbent=True, valued=True)
    gains = [math.exp(law.log_ei(snapshot.level).value[0]) for law in (certain, with_chance)]
    assert gains[1] == pytest.approx(chance * gains[0], rel=1e-9)
    assert chance < 1.0


def test_gains_are_counted_from_what_the_fallback_is_worth():
    study = sw.Study(
        BOX, utility=SIGMOID, limits={"harm": (None, 1.0)}, fallback=0.6, surrogate="plain"
    )
    while len(study.history) < 8 and not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, error(trial.params), outcomes={"harm": 2.0 * trial.params["x"]})
    assert study.snapshot().level <= -study.worth(0.6) + 1e-12


@pytest.mark.parametrize("noise", [0.01, "learn"])
def test_with_noise_no_promise_and_no_gain_is_negative(noise):
    rng = np.random.default_rng(0)
    study = sw.Study(BOX, utility=SIGMOID, noise=noise, stopping=NEVER, **PLAIN)
    run(study, 8, lambda params: error(params) + 0.1 * rng.standard_normal())
    assert len(study.promises.told) == 3
    assert all(p.promised >= 0.0 and p.delivered >= 0.0 for p in study.promises.told)
    assert study.best.std > 0.0


def test_a_budget_caps_what_is_spent():
    study = run(sw.Study(BOX, utility=sw.utility.linear(1e4), budget=8.0, **PLAIN), 20)
    assert study.spent <= 8.0
    assert study.should_stop().rule == "budget"


@pytest.mark.parametrize("domain", [TABLE, BOX])
def test_what_can_be_gained_in_all_is_in_its_currency(domain):
    line = run(sw.Study(domain, utility=sw.utility.linear(20.0), **PLAIN), 6)
    plain = run(sw.Study(domain, lam=1 / 20, **PLAIN), 6)
    ranges = [expected_range(study.snapshot()).value for study in (line, plain)]
    assert ranges[0] == pytest.approx(20.0 * ranges[1], rel=1e-9)
    guarantee = run(sw.Study(domain, utility=SIGMOID, **PLAIN), 6).guarantee()
    assert "by what values are worth" in str(guarantee)
    assert "in dollars." in str(guarantee)
    assert guarantee.gain <= 12.0


def test_delivered_gains_are_differences_of_worth():
    study = run(sw.Study(BOX, utility=SIGMOID, **PLAIN), 5)
    before = study.worth(study.best.value)
    trial = study.ask()
    study.tell(trial, study.best.value - 0.05)
    assert study.promises[-1].delivered == pytest.approx(study.worth(study.best.value) - before)


# ------------------------------------------------------------------- looking, replay, resume


def test_replay_is_live_and_looking_changes_nothing():
    paths = []
    for looked_at in (False, True):
        study = sw.Study(BOX, utility=SIGMOID, seed=5, **PLAIN)
        verdicts = {}
        while len(study.history) < 9:
            verdict = study.should_stop()
            if len(study.history) >= 5:
                verdicts[len(study.history) - 5] = verdict
            if looked_at:
                study.explain(), study.best, study.worth(0.3), study.readings()
            trial = study.ask()
            study.tell(trial, error(trial.params))
        paths.append([o.params for o in study.history])
        [replayed] = sw.replay(study, study.rules)
        assert {t: v for t, v in replayed.verdicts.items() if t in verdicts} == verdicts
    assert paths[0] == paths[1]


@pytest.mark.parametrize(
    "utility",
    [
        SIGMOID,
        sw.utility.threshold(at=0.3, slope=3, counts="below"),
        sw.utility.piecewise([(0.1, 40), (0.9, 0)], unit="marks"),
        sw.utility.linear(7),
    ],
)
def test_named_utilities_are_in_the_journal_and_go_on_as_they_were(utility, tmp_path):
    whole = run(sw.Study(BOX, utility=utility, stopping=NEVER, **PLAIN), 8)
    path = tmp_path / "run.jsonl"
    first = run(sw.Study(BOX, utility=utility, stopping=NEVER, journal=path, **PLAIN), 6)
    first.close()
    sw.Study.resume(path, utility=utility).close()  # the same one may be handed in
    resumed = sw.Study.resume(path)
    assert resumed.options.utility == utility
    run(resumed, 8)
    assert [o.params for o in resumed.history] == [o.params for o in whole.history]
    assert resumed.promises == whole.promises
    assert len(whole.promises) == 3
    resumed.close()
    with pytest.raises(InputError, match=r"utility was .* and is now"):
        sw.Study.resume(path, utility=sw.utility.linear(8))


def test_a_function_is_handed_in_again_and_may_be_left_out_to_look(tmp_path):
    path = tmp_path / "run.jsonl"
    own = sw.utility.custom(lambda v: -5.0 * v, lambda v: np.full_like(v, -5.0))
    run(sw.Study(BOX, utility=own, journal=path, **PLAIN), 6).close()
    header = json.loads(path.read_text().splitlines()[0])
    assert list(header["options"]["utility"]) == ["own"]
    with pytest.raises(InputError, match=r"begun with utility .* hand it in again"):
        sw.Study.resume(path)
    looked_at = sw.Study.load(path)
    assert any("values stand in for their worth" in note for note in looked_at.notes)
    resumed = sw.Study.resume(path, utility=own)
    assert resumed.worth(2.0) == -10.0
    resumed.close()


def test_an_object_that_is_a_utility_of_its_own_is_named_in_the_journal(tmp_path):
    class Halved:
        unit = "marks"

        def loss(self, sign):
            return sw.utility.linear(0.5).loss(sign)

    path = tmp_path / "run.jsonl"
    study = sw.Study(BOX, utility=Halved(), journal=path, **PLAIN)
    assert study.worth(3.0) == -1.5
    study.close()
    assert "Halved" in path.read_text().splitlines()[0]


# ---------------------------------------------------------------------------------- refusals


def test_one_that_goes_the_wrong_way_is_refused_by_the_study():
    bonus = sw.utility.piecewise([(0.9, 0), (0.95, 1000)])
    with pytest.raises(InputError, match='direction="minimize" a lower value is better'):
        sw.Study(BOX, utility=bonus)
    sw.Study(BOX, utility=bonus, direction="maximize")
    with pytest.raises(InputTypeError, match="is no utility"):
        sw.Study(BOX, utility=3.0)


def test_minimize_and_maximize_take_a_utility():
    """A sigmoid in the value, and the same one in its negative."""
    same = {"max_trials": 7, "stopping": NEVER, **PLAIN}
    low = sw.minimize(error, BOX, utility=SIGMOID, **same)
    mirrored = sw.utility.sigmoid(at=-0.4, width=0.1, height=12.0, unit="dollars")
    high = sw.maximize(lambda p: -error(p), BOX, utility=mirrored, **same)
    assert len(low.history) == 7
    assert [o.params for o in high.history] == [o.params for o in low.history]
    assert high.worth == pytest.approx(low.worth, rel=1e-12)
    assert high.verdict.reason == low.verdict.reason


def test_a_value_that_does_not_count_is_worth_0_without_a_sign():
    utility = sw.utility.threshold(at=5.0, slope=10.0, unit="$")
    study = sw.Study(BOX, lam=0.01, direction="maximize", utility=utility, **PLAIN)
    run(study, 5)
    assert ", is worth 0 $.\n" in study.explain()
