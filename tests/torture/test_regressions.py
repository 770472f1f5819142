# SPDX-License-Identifier: Apache-2.0
"""Studies that once ended with an error of Python or a warning of numpy, by what was wrong."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import pytest

import stopwise as sw
from stopwise.core.beliefs.models import SURROGATES
from stopwise.errors import InputError, InputTypeError, shown
from tests.torture.drawn import SPACES, Drawn
from tests.torture.in_stages import DrawnInStages, check_in_stages
from tests.torture.running import REFUSED, check

LINE = {"x": sw.Real(0.0, 1.0)}
ORDINARY = Drawn(
    space="interval",
    options={
        "surrogate": "plain",
        "acquisition": "pbgi",
        "stopping": "pbgi",
        "watch": (),
        "cost": None,
        "lam": 1e-3,
        "budget": None,
        "noise": None,
        "replicates": False,
        "bounds": None,
        "n_initial": 3,
        "max_trials": 6,
    },
    shape="wave",
    scale=1.0,
    offset=0.0,
    costs=(0.0, 0.5),
    fails=(False,),
    told=0,
    at_once=1,
    resumes=None,
)


def ordinary(options=None, **changes):
    """The ordinary study, but for some options and what its evaluations give."""
    return replace(ORDINARY, options={**ORDINARY.options, **(options or {})}, **changes)


HARD = {
    "no noise to speak of": ordinary({"noise": 1e-320}),
    "no noise to speak of, and replicates": ordinary(
        {"noise": 1e-40, "replicates": True}, space="few"
    ),
    "noise that hides everything": ordinary({"noise": 1e300, "watch": ("srgap-med", "prb")}),
    "noise far above values around 1e-200": ordinary({"noise": 1.0}, scale=1e-200),
    "noise far above values around 1e-80": ordinary({"noise": 1e200}, scale=1e-80),
    "noise far above constant values": ordinary({"noise": 1.0}, shape="constant", offset=1e-99),
    "values around 1e90": ordinary({"noise": "learn"}, scale=1e90),
    "values around 1e300": ordinary({"noise": "learn"}, scale=1e300),
    "values around 1e-90": ordinary({"noise": "learn"}, scale=1e-90),
    "values around 1e-300": ordinary({"noise": "learn"}, scale=1e-300),
    "values over 40 orders of magnitude": ordinary({"lam": 1e-30}, shape="powers", scale=1e70),
    "zero everywhere": ordinary({"noise": "learn"}, shape="constant"),
    "a constant far from zero": ordinary(shape="constant", offset=1e99),
    "known costs over 120 orders": ordinary({"cost": "known"}, costs=(-60, 60)),
    "learned costs over 120 orders": ordinary({"cost": "reported"}, costs=(-60, 60)),
    "known costs over 120 orders, and a budget": ordinary(
        {"cost": "known", "budget": 1e61, "lam": None}, costs=(-60, 60)
    ),
    "learned costs over 120 orders, and a budget": ordinary(
        {"cost": "reported", "budget": 1e61, "lam": None}, costs=(-60, 60)
    ),
    "the smallest costs": ordinary({"cost": "known"}, costs=(-300, -299)),
    "a budget far below the values": ordinary(
        {"cost": "known", "budget": 1e-280, "lam": None}, scale=1e90, costs=(-290, -289)
    ),
    "the largest costs": ordinary({"cost": "reported", "lam": 1e300}, costs=(299, 300)),
    "the smallest lam": ordinary({"lam": 1e-300}),
    "the largest lam": ordinary({"lam": 1e300, "acquisition": "eic"}),
    "bounds far below": ordinary({"bounds": (-1e99, None)}),
    "bounds far apart": ordinary({"bounds": (-1e300, 1e300), "noise": "learn"}),
    "values at their bound": ordinary({"bounds": (0.0, 1e-90)}, shape="constant"),
    "bounds closer than what is modelled": ordinary({"bounds": (1e-300, 1.0)}, scale=1e-300),
}


def check_hard(name, surrogate):
    hard = HARD[name]
    assert check(replace(hard, options={**hard.options, "surrogate": surrogate})) != REFUSED


OTHERS = [surrogate for surrogate in SURROGATES if surrogate != "default"]
IN_TURNS = list(zip(HARD, itertools.cycle(OTHERS)))  # each hard study under one of the others


@pytest.mark.parametrize(("name", "surrogate"), [(name, "default") for name in HARD] + IN_TURNS)
def test_a_hard_study_ends_with_a_verdict(name, surrogate):
    check_hard(name, surrogate)


@pytest.mark.slow
@pytest.mark.parametrize("surrogate", OTHERS)
@pytest.mark.parametrize("name", HARD)
def test_a_hard_study_ends_with_a_verdict_under_all_surrogates(name, surrogate):
    check_hard(name, surrogate)


FOUND = {
    # Where nothing is uncertain, infinite slopes met gradients of zero.
    "slopes without a deviation": ordinary(
        {
            "surrogate": "default",
            "acquisition": "lcb",
            "stopping": "prb",
            "lam": 0.017,
            "noise": "learn",
            "direction": "maximize",
            "prior": "gamma",
            "n_initial": 1,
            "max_trials": 8,
        },
        space="far",
        shape="constant",
        scale=0.1,
        at_once=3,
    ),
    # The slopes of a price are too steep to be squared.
    "steep slopes": ordinary(
        {
            "surrogate": "default",
            "acquisition": "eic",
            "stopping": "gss",
            "cost": "reported",
            "lam": 1e-91,
            "noise": "learn",
            "prior": "gamma",
            "n_initial": None,
            "seed": 1,
            "max_trials": 8,
        },
        space="far",
        shape="constant",
        scale=0.1,
        offset=-1e-235,
        costs=(-60.0, 60.0),
    ),
    # Lambda times the cost is zero in floats: every fair value was -inf.
    "a price that underflows": ordinary(
        {"surrogate": "default", "cost": "known", "lam": 1e-56, "n_initial": None},
        shape="constant",
        costs=(-268, -268),
    ),
    "a price that overflows": ordinary(
        {"acquisition": "eic", "cost": "known", "lam": 1e56}, costs=(268, 268)
    ),
    # Paths were nan where the mean is beyond a bound.
    "means beyond a bound": ordinary(
        {
            "surrogate": "paper",
            "acquisition": "logeipc-inv",
            "stopping": "prb",
            "watch": ("srgap-med",),
            "lam": 1.7,
            "noise": "learn",
            "prior": "gamma",
            "bounds": (-17.000000000000018, None),
            "n_initial": 1,
            "start_from": [{"x": 0.0, "z": 1.0}],
            "max_trials": 7,
        },
        space="box",
        shape="step",
        scale=17.0,
        offset=-17.0,
        resumes=5,
    ),
    # All that was told had failed, at costs that the budget does not pay.
    "nothing is affordable before the first ask": ordinary(
        {
            "cost": "reported",
            "lam": None,
            "budget": 1e-59,
            "stopping": "logeipc-med",
            "acquisition": "lcb",
        },
        space="mixed",
        fails=(True,),
        costs=(-60.0, 60.0),
        told=2,
    ),
    # Fair values at such prices, in units of the objective, are beyond all floats.
    "scores beyond all floats": ordinary(
        {
            "surrogate": "default",
            "acquisition": "pbgi-d",
            "stopping": "gss",
            "cost": "reported",
            "lam": 1.0,
            "failures": "median",
            "direction": "maximize",
            "prior": None,
            "limits": {"harm": (-1.2e48, -6e47)},
            "n_initial": 2,
            "seed": 2,
        },
        shape="spike",
        scale=1e-31,
        costs=(-60.0, 60.0),
        fails=(False, True),
        measured=("spike", 1e48, -1e48),
    ),
    # A chance to improve that is certain has an infinite quantile wherever a search ends.
    "an improvement that is certain everywhere": ordinary(
        {
            "surrogate": "default",
            "acquisition": "ts",
            "stopping": "logeipc-med",
            "watch": ("prb",),
            "cost": "known",
            "lam": 1e270,
            "noise": 0.017,
            "direction": "maximize",
            "prior": None,
            "limits": {"harm": (None, 1e51)},
            "n_initial": 2,
            "seed": 3,
        },
        scale=1.7e-255,
        offset=1e65,
        measured=("constant", 1e34, 1e48),
    ),
    "a believed value further beyond a knee than its unit can say": ordinary(
        {
            "surrogate": "default",
            "acquisition": "pbgi-d",
            "stopping": "ucb-lcb",
            "cost": "reported",
            "lam": 1.0,
            "noise": 1.7e-80,
            "replicates": True,
            "direction": "maximize",
            "failures": "median",
            "limits": {"harm": (1000.0, None)},
            "fallback": 0.0,
            "n_initial": 1,
        },
        space="constrained",
        shape="powers",
        scale=0.01,
        costs=(-3.0, 3.0),
        fails=(False, True),
        at_once=3,
        measured=("powers", 1.0, 1.7e-80),
        also=frozenset({"drop"}),
    ),
    "a first best among noisy values, and a rule that compares it with the one before": ordinary(
        {
            "stopping": "srgap-med",
            "watch": ("gss",),
            "lam": 1e113,
            "noise": 1e113,
            "replicates": True,
            "direction": "maximize",
            "limits": {"harm": (-1.99, 4.01)},
            "n_initial": 1,
            "start_from": [{"x": 3 / 17, "n": 1}],
        },
        space="table",
        scale=1e-256,
        resumes=5,
        measured=("wave", 10.0, 0.01),
        also=frozenset({"fixed", "drop", "amend"}),
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_study_that_was_found_ends_with_a_verdict(name):
    assert check(FOUND[name]) != REFUSED


def test_a_start_that_is_left_early_may_be_cheaper_than_any_price():
    """The part of lam that counts for a start of evaluations in stages is below 1e-300."""
    options = {
        **ORDINARY.options,
        "stages": sw.Stages((1, 10, 100, 10**9), usable=False),
        "stopping": sw.stopping.FixedTrials(3),
        "lam": 1e-293,
        "n_initial": 2,
        "start_from": [{"x": 0.3, "n": 2, "c": "a"}],
        "cost": "known",
    }
    del options["surrogate"], options["acquisition"], options["watch"], options["noise"]
    del options["bounds"]
    hard = DrawnInStages("mixed", options, "step", 1.0, 0.0, (-0.5, 0.5), (False,), 2, 1, None)
    hard = replace(hard, also=frozenset({"amend"}), way=1e6)
    assert check_in_stages(hard) != REFUSED


# ------------------------------------------------------------------------- what is said about it


def told(values, **options):
    study = sw.Study(LINE, **{"lam": 1e-3, "n_initial": 2, **options})
    for i, value in enumerate(values):
        study.tell({"x": i / len(values)}, value)
    return study


@pytest.mark.parametrize("value", [1.001e100, -1e300, 1.7e308])
def test_a_value_beyond_what_is_modelled_is_a_failure_that_says_so(value):
    study = told([1.0, value, 2.0])
    assert [o.failed for o in study.history] == [False, True, False]
    assert study.history[1].message == (
        f"the value was {value!r}, and values are modelled up to 1e+100: if it is right, give the"
        " objective in a larger unit"
    )
    assert not told([1.0, 1e100, 2.0]).history[1].failed


def test_values_next_to_zero_are_kept_and_said_to_be_modelled_as_zero():
    study = told([1e-300, -2e-300, 3e-101])
    assert study.best.value == -2e-300
    assert study.snapshot().y.tolist() == [0.0, 0.0, 0.0]
    assert "Warning: 3 values are closer to 0 than 1e-100 and modelled as 0" in study.explain()
    assert "Warning: a value is closer to 0" in told([1.0, 1e-200, 2.0]).explain()
    assert "closer to 0" not in told([1.0, 0.0, 2.0]).explain()


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        (1e-40, "the model takes it for none"),
        (1e-6, None),
        (1.0, None),
        (1e40, "they say little"),
    ],
)
def test_noise_that_is_off_the_scale_of_the_values_is_said_to_be(noise, said):
    explained = told([1.0, 3.0, 2.0], noise=noise).explain()
    assert ("Warning: noise" in explained) == (said is not None)
    assert said is None or said in explained


def test_tiny_noise_is_the_same_as_a_nugget_and_huge_noise_hides_all_differences():
    sharp = told([1.0, 3.0, 2.0], noise=1e-300, surrogate="plain").snapshot()
    blurred = told([1.0, 3.0, 2.0], noise=1e300, surrogate="plain").snapshot()
    assert sharp.judged == pytest.approx([1.0, 3.0, 2.0], rel=1e-9)
    assert blurred.judged == pytest.approx([2.0, 2.0, 2.0], rel=1e-9)


# ----------------------------------------------------------------------------- what is refused

NO_AMOUNTS = [10**400, 10**5000, Fraction(10**400), Fraction(1, 10**400), 1e-310, 1e308]


@pytest.mark.parametrize("given", NO_AMOUNTS, ids=shown)
@pytest.mark.parametrize("option", ["lam", "budget"])
def test_an_amount_that_is_out_of_range_is_refused(option, given):
    with pytest.raises(InputError, match=r"(?s)1e-300 to 1e\+300|a positive number"):
        sw.Study(LINE, **{option: given})


@pytest.mark.parametrize("given", NO_AMOUNTS, ids=shown)
def test_a_cost_that_is_out_of_range_is_refused(given):
    study = sw.Study(LINE, lam=1.0, cost="reported")
    with pytest.raises(InputError, match="a cost must be positive and finite"):
        study.tell({"x": 0.5}, 1.0, given)
    with pytest.raises(InputError, match="a cost must be positive and finite"):
        sw.Study(LINE, lam=1.0, cost=lambda _: given).ask()


def test_a_table_of_costs_that_no_float_holds_is_refused():
    with pytest.raises(InputTypeError, match="not an array of floats"):
        sw.Study(SPACES["few"], lam=1.0, cost=[1.0, 10**400, 1.0, 1.0])


@pytest.mark.parametrize(
    ("improvement", "cost"), [(1e-200, 1e200), (1e200, 1e-200), (10**400, 1), (1, 10**400)]
)
def test_an_exchange_rate_that_no_float_holds_is_refused(improvement, cost):
    with pytest.raises(InputError, match=r"Numbers from 1e-300 to 1e\+300 are allowed"):
        sw.exchange_rate(improvement=improvement, cost=cost)


def test_an_exchange_rate_may_be_a_fraction():
    assert sw.exchange_rate(improvement=Fraction(1, 2), cost=10**20) == 5e-21
    assert sw.stopping.PBGI(Fraction(1, 4)).lam == 0.25
    assert sw.Study(LINE, lam=10**200).options.lam == 1e200


@pytest.mark.parametrize(
    "option", [{"n_initial": 10**18}, {"max_trials": 10**400}, {"seed": 10**5000}], ids=list
)
def test_a_whole_number_beyond_reason_is_refused(option):
    with pytest.raises(InputError, match="give a whole number of at most"):
        sw.Study(LINE, lam=1.0, **option)


@pytest.mark.parametrize(
    "make",
    [
        sw.stopping.FixedTrials,
        lambda n: sw.stopping.UCBLCB(theta=n),
        lambda n: sw.stopping.LogEIPCMedian(eta=n),
        lambda n: sw.stopping.PBGI(1.0, update=n),
        lambda n: sw.stopping.ProbabilisticRegretBound(estimate=n),
        lambda n: sw.Real(0, n),
        lambda n: sw.Integer(0, n),
        lambda n: sw.Study(LINE, lam=1.0, bounds=(0, n), n_initial=n),
        lambda n: sw.budget.lam_for_budget(n, 1, 0),
    ],
)
@pytest.mark.parametrize("given", [10**400, 10**5000], ids=shown)
def test_a_number_that_python_itself_cannot_write_is_refused_in_words(make, given):
    with pytest.raises((InputError, InputTypeError)):
        make(given)


def test_the_lambda_of_a_budget_is_an_exchange_rate():
    with pytest.raises(InputError, match=r"exchange rates are from 1e-300 to 1e\+300"):
        sw.budget.lam_for_budget(1e200, 1e-200, 0.0)
    assert sw.budget.lam_for_budget(Fraction(1, 2), 1, 0) == 0.5


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ((1e200, None), "values are from -1e\\+100 to 1e\\+100"),
        ((None, -1e200), "values are from -1e\\+100 to 1e\\+100"),
        ((0.0, 1e-200), "differ by less than 1e-100"),
    ],
)
def test_bounds_that_no_modelled_value_is_within_are_refused(bounds, said):
    with pytest.raises(InputError, match=said):
        sw.Study(LINE, lam=1.0, bounds=bounds)


def test_bounds_beyond_all_values_are_none():
    assert sw.Study(LINE, lam=1.0, bounds=(-1e200, 1e200)).options.bounds is None
    assert sw.Study(LINE, lam=1.0, bounds=(-math.inf, 3.0)).options.bounds == (None, 3.0)
