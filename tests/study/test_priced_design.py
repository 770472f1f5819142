# SPDX-License-Identifier: Apache-2.0
"""The priced design: it costs less than the spread one, and is asked point by point."""

import dataclasses
import json
import math

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.beliefs.models import WeighedModel
from stopwise.core.beliefs.prices import KnownCost, LearnedCost, UnitCost
from stopwise.core.space import as_domain
from stopwise.errors import InputError, InputTypeError
from stopwise.study.designs import DESIGNS, DesignSoFar, PricedDesign, SpreadDesign
from stopwise.study.external import ExternalStudy
from stopwise.study.options import StudyOptions
from tests.support.sealing import sealed_again

BOX = {f"x{i}": sw.Real(0.0, 1.0) for i in range(4)}
MIXED = {
    "x0": sw.Real(0.0, 1.0),
    "n": sw.Integer(1, 9),
    "act": sw.Categorical(["relu", "tanh", None]),
}
_ROWS = np.random.default_rng(0).random((300, 3))
TABLE = sw.Candidates([{f"x{i}": float(v) for i, v in enumerate(row)} for row in _ROWS])
SPACES = {"box": BOX, "mixed": MIXED, "table": TABLE}


def steep(params):
    """Costs that differ by a factor of 10,000 along the first parameter."""
    return 10_000.0 ** params["x0"]


def bowl(params):
    return sum((float(v) - 0.7) ** 2 for v in params.values() if isinstance(v, float))


def study_of(space, *, cost="reported", **options):
    return sw.Study(SPACES[space], lam=1e-6, cost=cost, **{"surrogate": "default", **options})


def run_design(study, price=steep, objective=bowl):
    """Ask and tell until the design is done; the params that were asked for."""
    asked = []
    while study.should_stop().rule == "initial":
        trial = study.ask()
        asked.append(trial.params)
        study.tell(trial, objective(trial.params), price(trial.params))
    return asked


def so_far(space, cost, taken=(), paid=(), seed=0):
    domain = as_domain(SPACES[space])
    X = domain.encode(list(taken)) if taken else np.empty((0, domain.width))
    return DesignSoFar(domain, cost, seed, X, X[: len(paid)], np.array(paid, dtype=np.float64))


# ---------------------------------------------------------------------------------- the points


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("price", [lambda _: 1.0, lambda p: 3.0 + p["x0"]], ids=["equal", "alike"])
@pytest.mark.parametrize("known", [True, False])
def test_where_costs_hardly_differ_the_points_are_those_of_the_spread_design(space, price, known):
    if known:
        moment = so_far(space, KnownCost(price))
    else:
        first = SpreadDesign().points(3, so_far(space, UnitCost()))
        moment = so_far(space, LearnedCost(), first, list(map(price, first)))
    spread = SpreadDesign().points(5, moment)
    assert PricedDesign().points(5, moment) == spread


def test_a_unit_cost_leaves_the_sequence_as_it_is():
    moment = so_far("box", UnitCost())
    assert PricedDesign().points(7, moment) == SpreadDesign().points(7, moment)


@pytest.mark.parametrize("space", SPACES)
def test_known_costs_count_from_the_first_point_on(space):
    points = PricedDesign().points(6, so_far(space, KnownCost(steep)))
    costs = [steep(p) for p in points]
    assert costs == sorted(costs)
    share = max(0.3, 0.7 ** as_domain(SPACES[space]).d)
    assert all(p["x0"] < share + 0.05 for p in points)  # the cheap share; the pool is uneven
    others = np.array([[v for k, v in p.items() if k != "x0"] for p in points], dtype=object)
    assert len({str(row) for row in others}) == 6  # spread over everything else


@pytest.mark.parametrize(("d", "span"), [(1, 0.7), (2, 0.49), (6, 0.3)])
def test_in_few_dimensions_more_of_the_space_counts_as_cheap(d, span):
    """A third of a line tells nothing of the rest; a third of a cube spans most of each side."""
    space = as_domain({f"x{i}": sw.Real(0.0, 1.0) for i in range(d)})
    none = np.empty((0, d))

    def rising(params):
        return 1.0 + 9.0 * params["x0"]

    moment = DesignSoFar(space, KnownCost(rising), 0, none, none, none[:, 0])
    dearest = max(p["x0"] for p in PricedDesign().points(60, moment))
    assert dearest == pytest.approx(span, abs=0.03)


@pytest.mark.parametrize("space", ["box", "table"])
def test_the_first_points_are_near_the_centre_while_nothing_is_known_of_costs(space):
    moment = so_far(space, LearnedCost())
    X = moment.domain.encode(PricedDesign().points(4, moment))
    far = np.square(moment.fresh(512) - 0.5).sum(axis=1)
    near = np.square(X - 0.5).sum(axis=1)
    assert near[0] == far.min()
    assert near.max() <= np.quantile(far, max(0.3, 0.7**moment.domain.d))
    assert not np.allclose(X[1], X[0])


@pytest.mark.parametrize("space", ["box", "table"])
def test_learned_costs_count_once_they_say_something(space):
    """Costs along the first parameter are understood from three bills."""
    told = [{**p, "x0": x} for p, x in zip(_spread(space, 3), (0.2, 0.5, 0.8), strict=True)]
    if space == "table":
        told = [_nearest_row(p) for p in told]
    moment = so_far(space, LearnedCost(), told, [steep(p) for p in told])
    points = PricedDesign().points(8, moment)
    assert np.median([p["x0"] for p in points]) < 0.4
    assert np.median([p["x0"] for p in SpreadDesign().points(8, moment)]) > 0.4


def _spread(space, count):
    return SpreadDesign().points(count, so_far(space, UnitCost()))


def _nearest_row(params):
    domain = TABLE.domain
    return domain.decode(domain.snap(domain.codec.encode(params)))[0]


# ----------------------------------------------------------------------------------- its cost


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("cost", ["reported", steep], ids=["learned", "known"])
def test_it_costs_a_fraction_of_the_spread_design(space, cost):
    def spent(surrogate):
        studies = [study_of(space, cost=cost, seed=s, surrogate=surrogate) for s in range(8)]
        for study in studies:
            run_design(study)
        return np.mean([study.spent for study in studies])

    assert spent("default") < 0.25 * spent("plain")


# ------------------------------------------------------------------------------- how it counts


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(
    ("cost", "times"),
    [("reported", 1), (steep, 2), (None, 2), (lambda _: 5.0, 2), (lambda p: 3 + p["x0"], 2)],
    ids=["learned", "known", "unit", "equal", "alike"],
)
def test_it_has_d_plus_one_points_and_twice_as_many_where_costs_are_known(space, cost, times):
    study = study_of(space, cost=cost)
    d = as_domain(SPACES[space]).d
    assert study.n_initial == times * (d + 1)
    asked = run_design(study)
    assert len(asked) == times * (d + 1)
    if times == 2:
        plain = run_design(study_of(space, cost=cost, surrogate="plain"))
        assert (asked == plain) == (cost is not steep)
    study.should_stop()
    assert study.traces["sup_log_ei_per_cost"].current.t == 0


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ({"max_trials": 1}, 5),
        ({"max_trials": 17}, 5),
        ({"max_trials": 18}, 6),
        ({"max_trials": 29}, 9),
        ({"max_trials": 1000}, 10),
        ({"max_trials": 18, "cost": "reported"}, 5),
        ({"budget": 18.9}, 6),
        ({"budget": 27.0, "max_trials": 21}, 7),
        ({"budget": 1e300}, 10),
        ({"budget": 18.9, "cost": lambda _: 0.5}, 10),
        ({"max_trials": 12, "n_initial": 7}, 7),
        ({"max_trials": 12, "surrogate": "plain"}, 10),
    ],
)
def test_of_few_trials_a_third_is_design(given, size):
    study = study_of("box", **{"cost": None, **given})
    assert study.n_initial == size
    assert len(run_design(study, price=lambda _: 1.0)) == min(size, given.get("max_trials", size))


def test_a_design_keeps_its_size_when_a_resumed_study_may_have_more_trials(tmp_path):
    file = tmp_path / "run.jsonl"
    study = study_of("box", cost=None, max_trials=18, journal=file)
    trial = study.ask()
    study.tell(trial, bowl(trial.params))
    study.close()
    with pytest.warns(UserWarning, match="max_trials is now 100"):
        resumed = sw.Study.resume(file, max_trials=100)
    assert resumed.design_size == 6
    assert len(run_design(resumed, price=lambda _: 1.0)) == 5
    resumed.close()


def test_a_size_that_is_given_is_its_size():
    assert len(run_design(study_of("box", n_initial=9))) == 9


def test_start_from_comes_first_and_its_costs_are_learned_from():
    own = [{f"x{i}": v for i in range(4)} for v in (0.1, 0.9, 0.5)]
    asked = run_design(study_of("box", start_from=own))
    assert asked[:3] == own
    assert len(asked) == 5
    assert all(p["x0"] < 0.6 for p in asked[3:])


def test_data_told_before_count_and_their_costs_are_learned_from():
    study = study_of("box")
    for v in (0.1, 0.5, 0.9):
        params = {f"x{i}": v for i in range(4)}
        study.tell(params, bowl(params), steep(params))
    assert study.should_stop().reason == "initial design, 3 of 5"
    asked = run_design(study)
    assert len(asked) == 2
    assert all(p["x0"] < 0.6 for p in asked)


def test_a_failure_is_replaced_and_its_cost_is_learned_from():
    study = study_of("box")
    for _ in range(3):
        trial = study.ask()
        study.tell(trial, None, steep(trial.params))
    assert study.should_stop().reason.startswith("initial design, 0 of 5; 3 failed")
    asked = run_design(study)
    assert len(asked) == 5
    everything = [tuple(o.params.values()) for o in study.history]
    assert len(set(everything)) == 8


@pytest.mark.parametrize("space", SPACES)
def test_several_trials_at_once_are_different_points(space):
    study = study_of(space, n_initial=8)
    trials = [study.ask() for _ in range(5)]
    for trial in trials[:3]:
        study.tell(trial, bowl(trial.params), steep(trial.params))
    trials += [study.ask() for _ in range(3)]
    assert len({str(t.params) for t in trials}) == 8
    for trial in trials[3:]:
        study.tell(trial, bowl(trial.params), steep(trial.params))
    assert study.should_stop().rule == "pbgi"


def test_a_trial_that_is_dropped_is_made_up_for():
    study = study_of("box")
    study.drop(study.ask())
    assert len(run_design(study)) == 5


def test_points_that_others_choose_count_and_leave_start_from_alone():
    wanted = {f"x{i}": 0.25 for i in range(4)}
    study = ExternalStudy(BOX, lam=1e-6, cost="reported", surrogate="default", start_from=[wanted])
    for v in (0.1, 0.9):
        trial = study.begin({f"x{i}": v for i in range(4)})
        study.tell(trial, bowl(trial.params), steep(trial.params))
    assert study.ask().params == wanted
    assert study.design_size == 5
    # The last free place is taken: a further choice of others replaces what was wanted.
    full = ExternalStudy(BOX, lam=1e-6, cost="reported", surrogate="default", start_from=[wanted])
    for i in range(5):
        trial = full.begin({f"x{j}": i / 5 for j in range(4)})
        full.tell(trial, bowl(trial.params), steep(trial.params))
    assert full.should_stop().rule == "pbgi"


# ------------------------------------------------------------------------------------- budgets


def test_a_budget_is_checked_against_the_cheap_points_where_costs_are_known():
    points = PricedDesign().points(10, so_far("box", KnownCost(steep)))
    enough = 1.01 * sum(map(steep, points))
    study = sw.Study(BOX, budget=enough, cost=steep, surrogate="default")
    assert len(run_design(study)) == 10
    with pytest.raises(InputError, match=r"does not exceed the .* that the initial design costs"):
        sw.Study(BOX, budget=0.9 * enough, cost=steep, surrogate="default").ask()
    with pytest.raises(InputError, match="does not exceed"):
        sw.Study(BOX, budget=enough, cost=steep, surrogate="plain").ask()


@pytest.mark.parametrize("at_once", [1, 3])
def test_learned_costs_stop_a_design_that_is_beyond_the_budget(at_once):
    study = sw.Study(BOX, budget=10.0, cost="reported", n_initial=6, surrogate="default")
    while not study.should_stop().stop:
        trials = [study.ask()]
        while len(trials) < at_once and not study.should_stop().stop:
            trials.append(study.ask())
        for trial in trials:
            study.tell(trial, bowl(trial.params), 4.0)
    verdict = study.should_stop()
    assert verdict.rule == "budget"
    assert len(study.history) == (2 if at_once == 1 else 3)


# ---------------------------------------------------------------------------- journal and resume


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("cost", ["reported", steep], ids=["learned", "known"])
def test_a_resumed_design_asks_the_same_next_point(space, cost, tmp_path):
    d = as_domain(SPACES[space]).d
    whole = study_of(space, cost=cost, seed=3)
    path = run_design(whole)
    for stop in range(1, d + 1):
        file = tmp_path / f"{stop}.jsonl"
        study = study_of(space, cost=cost, seed=3, journal=file)
        for _ in range(stop):
            trial = study.ask()
            study.tell(trial, bowl(trial.params), steep(trial.params))
        study.close()
        handed = {} if cost == "reported" else {"cost": cost}
        resumed = sw.Study.resume(file, **handed)
        assert resumed.options.surrogate == "default"
        assert [o.params for o in resumed.history] + run_design(resumed) == path
        resumed.close()


def test_what_is_planned_is_in_the_journal(tmp_path):
    def queue(**options):
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"
        study = study_of("box", journal=file, **options)
        study.ask()
        study.close()
        events = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        [planned] = [e for e in events if e.get("event") == "design"]
        return planned["initial"], len(planned["queue"])

    wanted = {f"x{i}": 0.25 for i in range(4)}
    assert queue() == (5, 0)
    assert queue(start_from=[wanted]) == (5, 1)
    assert queue(cost=steep) == (10, 10)
    assert queue(cost=None) == (10, 10)
    assert queue(surrogate="plain") == (10, 10)


def test_a_journal_without_the_option_goes_on_as_plain(tmp_path):
    file = tmp_path / "run.jsonl"
    study = study_of("box", surrogate="plain", journal=file)
    before = [study.ask() for _ in range(2)]
    study.close()
    first, *rest = file.read_text("utf-8").splitlines()
    header = json.loads(first)
    assert header["options"].pop("surrogate") == "plain"
    file.write_bytes(sealed_again([header, *map(json.loads, rest)]))
    with pytest.raises(InputError, match="surrogate was 'plain' and is now 'default'"):
        sw.Study.resume(file, surrogate="default")
    resumed = sw.Study.resume(file)
    assert resumed.options.surrogate == "plain"
    assert [resumed.ask() for _ in range(2)] == before
    assert resumed.ask().params == _spread("box", 3)[2]
    resumed.close()


# ------------------------------------------------------------------------------------ the option


def test_a_surrogate_that_is_not_known_is_refused_with_those_that_are():
    with pytest.raises(InputError, match="no surrogate 'priced': give one of default, plain, pap"):
        StudyOptions(surrogate="priced")
    for bad in (None, 3, WeighedModel):
        with pytest.raises(InputTypeError, match=r"is no surrogate: give a name \(default, p"):
            StudyOptions(surrogate=bad)


def test_every_surrogate_has_a_design():
    assert isinstance(DESIGNS["default"], PricedDesign)
    assert DESIGNS["plain"] == DESIGNS["paper"] == SpreadDesign()


def test_a_cost_model_of_ones_own_is_learned_from():
    @dataclasses.dataclass(frozen=True)
    class Doubled:
        def price(self, domain, X, costs, start=None):
            return LearnedCost().price(domain, X, 2.0 * costs, start)

    asked = run_design(study_of("box", cost=Doubled(), n_initial=12))
    assert np.median([p["x0"] for p in asked[4:]]) < 0.4
    assert all(math.isfinite(steep(p)) for p in asked)
