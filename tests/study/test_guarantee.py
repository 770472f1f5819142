# SPDX-License-Identifier: Apache-2.0
"""What the paper proves for a study: the bounds, and each assumption that does not hold."""

import math
from dataclasses import replace

import pytest

import stopwise as sw
from stopwise.acquisition import EIC, LCB, PBGI, PBGID, LogEIPC, ThompsonSampling
from stopwise.errors import InputError, StopwiseError
from stopwise.stopping import RULES, After, Convergence, Smoothed
from stopwise.study.budget import expected_range

TABLE = sw.Candidates([{"x": i / 30} for i in range(31)], {"x": sw.Real(0.0, 1.0)})
LINE = {"x": sw.Real(0.0, 1.0)}
Rule = RULES["pbgi"]
LEARNED = "hyper-parameters are learned from the data, not given"


def wavy(params):
    return math.sin(9.0 * params["x"]) + params["x"]


def price(params):
    return 0.5 + params["x"]


def started(steps=6, space=TABLE, **options):
    study = sw.Study(space, **{"lam": 0.02, "cost": price, "surrogate": "plain", **options})
    for _ in range(steps):
        trial = study.ask()
        study.tell(trial, wavy(trial.params))
    return study


@pytest.fixture(scope="module")
def found():
    """The guarantee of an ordinary study."""
    return started().guarantee()


# -------------------------------------------------------------------------------- the bounds


def test_the_bounds_are_the_papers():
    study = started()
    U = expected_range(study.snapshot().prefix(4))
    C = sum(price(o.params) for o in study.history[:4])
    lowest = min(price(TABLE.domain.params(i)) for i in range(31))
    for delta in (0.05, 0.2, 0.5):
        found = study.guarantee(delta)
        assert (found.lam, found.delta) == (0.02, delta)
        assert found.evaluations == pytest.approx(found.spend / (delta * lowest), rel=1e-12)
    assert (found.gain, found.gain_error) == U
    assert 0.0 < found.gain_error < 0.2 * found.gain
    assert found.initial_cost == pytest.approx(C, rel=1e-12)
    assert found.regret == pytest.approx(U.value + 0.02 * C, rel=1e-12)  # Theorem: U + lam C
    assert found.spend == pytest.approx(U.value / 0.02 + C, rel=1e-12)  # its first corollary


def test_five_percent_is_the_default_risk():
    study = started()
    assert study.guarantee() == study.guarantee(0.05) == study.guarantee(delta=0.05)


def test_the_lowest_price_is_that_of_any_evaluation_made_or_not():
    """The design takes cheap points first, and the bound counts its evaluations too."""
    study = sw.Study(TABLE, lam=0.02, cost=lambda p: 0.1 if p["x"] < 0.1 else 7.0, n_initial=3)
    for i in range(3):
        study.tell({"x": i / 30}, 1.0 * i)
    study.tell({"x": 0.5}, None)
    study.ask()
    assert study.guarantee().cheapest == pytest.approx(0.1, rel=1e-12)


def test_on_a_box_the_lowest_price_is_found():
    study = started(space=LINE, cost=lambda p: 1.0 + (p["x"] - 0.4) ** 2)
    assert study.guarantee().cheapest == pytest.approx(1.0, rel=1e-6)


def test_without_a_known_price_the_number_of_evaluations_is_not_bounded():
    study = sw.Study(TABLE, lam=0.02, cost="reported")
    for _ in range(5):
        trial = study.ask()
        study.tell(trial, wavy(trial.params), cost=price(trial.params))
    found = study.guarantee()
    assert found.cheapest is None
    assert found.evaluations is None
    assert found.spend > 0
    assert "Evaluations" not in str(found)


def test_the_bounds_are_those_after_the_design_however_far_the_study_is():
    study = started(steps=4)
    design_cost = study.guarantee().initial_cost
    for _ in range(4):
        trial = study.ask()
        study.tell(trial, wavy(trial.params))
    assert study.guarantee().initial_cost == design_cost
    assert study.spent > design_cost


def test_what_failed_in_the_design_was_paid_and_data_from_elsewhere_were_not():
    study = sw.Study(TABLE, lam=0.02, n_initial=3)
    study.tell({"x": 0.0}, 1.0)
    for value in (None, 2.0, 3.0, 4.0):
        study.tell(study.ask(), value)
    assert study.guarantee().initial_cost == 3.0  # one failed, two succeeded


def test_dearer_evaluations_promise_less():
    cheap, dear = (started(lam=lam).guarantee() for lam in (0.02, 0.2))
    assert dear.spend < cheap.spend
    assert dear.evaluations < cheap.evaluations
    assert dear.regret > cheap.regret


def test_it_reads_as_sentences(found):
    found = replace(found, size=None)
    U, C = f"{found.gain:.4g} ± {found.gain_error:.4g}", f"{found.initial_cost:.4g}"
    assert str(found).splitlines() == [
        f"Not proved here: {LEARNED}.",
        "What follows is proved only where none of this is so; take it as a guide.",
        (
            f"Expected regret plus lam times spend: at most {found.regret:.4g} (= U + lam C), in"
            " objective units."
        ),
        f"Expected spend: at most {found.spend:.4g} (= U/lam + C), in units of cost.",
        (
            f"Evaluations: at most {math.floor(found.evaluations):,}, the initial design included,"
            " with probability 0.95."
        ),
        (
            f"U = {U} is how far the best value of the initial design is expected to lie from the"
            " optimum."
        ),
        f"C = {C} is what the initial design cost.",
        "lam = 0.02 is what a unit of cost is worth.",
    ]


def test_where_all_holds_nothing_is_taken_back(found):
    proved = replace(found, broken=())
    assert str(proved).startswith("Expected regret")
    assert "guide" not in str(proved)


def test_thousands_are_set_apart(found):
    found = replace(found, size=None, gain=1.0, initial_cost=0.0)
    found = replace(found, lam=0.01, cheapest=0.5)
    assert "at most 4,000, the initial design included" in str(found)  # 1/0.01/(0.05 0.5)


def test_an_enormous_bound_is_told_by_its_magnitude(found):
    found = replace(found, cheapest=1e-9, size=None)
    assert f"at most {found.evaluations:.1e}, the initial" in str(found)


def test_no_more_evaluations_are_promised_than_a_table_has_rows():
    found = started(lam=1e-6).guarantee()
    assert found.evaluations > 31  # the theorem's own bound
    assert "at most 31, which is all there are" in str(found)


def test_asking_for_it_changes_nothing():
    def history(*, curious):
        study = sw.Study(TABLE, lam=0.02, cost=price)
        while not study.should_stop().stop:
            trial = study.ask()
            study.tell(trial, wavy(trial.params))
            if curious and len(study.history) >= 4:
                study.guarantee()
        return study.history, study.traces

    assert history(curious=True) == history(curious=False)


# ---------------------------------------------------------------------------- the assumptions


@pytest.mark.parametrize("acquisition", ["pbgi", "logeipc", "eic", PBGI(0.02), EIC(0.02)])
def test_a_matched_pair_on_a_table_breaks_only_one_assumption(acquisition):
    assert started(acquisition=acquisition).guarantee().broken == (LEARNED,)


BREAKS = {
    "smoothing": (
        {"stopping": Smoothed(Rule(0.02), 7)},
        "the signal is averaged over 7 evaluations (smoothing)",
    ),
    "stabilisation": (
        {"stopping": After(Rule(0.02), 9)},
        "no stop within the first 9 evaluations (stabilisation)",
    ),
    "stabilisation of one": (
        {"stopping": After(Rule(0.02), 1)},
        "no stop within the first evaluation (stabilisation)",
    ),
    "before the update": (
        {"stopping": Rule(0.02, update="before")},
        "the rule uses the posterior before the last observation",
    ),
    "another rule too": (
        {"stopping": ["pbgi", Convergence(9)]},
        "the stopping rule is not PBGI's alone",
    ),
    "noise": ({"noise": 0.1}, "observations are noisy"),
    "learned noise": ({"noise": "learn"}, "observations are noisy"),
    **{
        f"unmatched {acquisition}": (
            {"acquisition": acquisition},
            "the acquisition does not match the rule (PBGI or EIC at its lam, or LogEIPC)",
        )
        for acquisition in (
            PBGI(0.03), EIC(0.03), PBGID(0.02), LogEIPC("inv"), LCB(), ThompsonSampling(),
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("case", BREAKS)
def test_an_assumption_that_does_not_hold_is_named(case):
    options, named = BREAKS[case]
    found = started(**options).guarantee()
    assert found.broken == (LEARNED, named)
    assert f"Not proved here: {named}." in str(found)


def test_failures_are_named():
    study = started()
    study.tell(study.ask(), None)
    study.tell(study.ask(), None)
    assert study.guarantee().broken == (LEARNED, "2 evaluations failed")


def test_pending_trials_are_named():
    study = started()
    study.ask()
    study.ask()
    study.ask()
    assert study.guarantee().broken == (LEARNED, "3 trials are pending")


def test_several_are_all_named():
    study = started(
        stopping=After(Smoothed(Rule(0.02), 5), 3), noise="learn", acquisition="lcb", space=LINE
    )
    study.ask()
    study.tell(study.ask(), None)
    assert study.guarantee().broken == (
        LEARNED,
        "no stop within the first 3 evaluations (stabilisation)",
        "the signal is averaged over 5 evaluations (smoothing)",
        "the acquisition does not match the rule (PBGI or EIC at its lam, or LogEIPC)",
        "observations are noisy",
        "1 evaluation failed",
        "1 trial is pending",
    )


def test_smoothing_is_said_and_the_default_has_none():
    named = "the signal is averaged over 5 evaluations (smoothing)"
    smoothed = started(space=LINE, stopping=Smoothed(Rule(0.02), 5))
    assert smoothed.guarantee().broken == (LEARNED, named)
    assert started(space=LINE).guarantee().broken == (LEARNED,)


def test_a_window_of_one_breaks_nothing():
    assert started(stopping=Smoothed(Rule(0.02), 1)).guarantee().broken == (LEARNED,)


# ----------------------------------------------------------------------------- where there is none


@pytest.mark.parametrize("rule", ["convergence", "ucb-lcb", "immediate"])
def test_without_a_pbgi_rule_there_is_none(rule):
    with pytest.raises(InputError, match=rf"needs a PBGI stopping rule .* has \['{rule}'\] and 6"):
        started(stopping=rule).guarantee()


def test_before_the_design_is_done_there_is_none():
    with pytest.raises(InputError, match=r"a finished initial design; .* and 3 of 4 observations"):
        started(steps=3).guarantee()


def test_a_risk_is_between_zero_and_one():
    study = started()
    for delta in (0.0, 1.0, -0.1, 5, math.nan, "0.05", None):
        with pytest.raises(StopwiseError, match=r"delta.*0\.05"):
            study.guarantee(delta)
