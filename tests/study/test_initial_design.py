# SPDX-License-Identifier: Apache-2.0
"""The initial design: what is tried first, how it is spread, and how it is counted."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

import stopwise as sw
from stopwise.core.beliefs.prices import KnownCost, LearnedCost, UnitCost
from stopwise.core.space import as_domain
from stopwise.errors import InputError, InputTypeError
from stopwise.study.designs import DESIGNS, DesignSoFar, SpreadDesign
from stopwise.study.initial_design import distinct
from tests.support.strategies_space import small_spaces, spaces_and_configurations

BOX = {"x": sw.Real(0.0, 1.0), "y": sw.Real(-5.0, 5.0)}
MIXED = {
    "lr": sw.Real(1e-4, 1e-1, log=True),
    "n": sw.Integer(1, 3),
    "a": sw.Categorical(["u", "v"]),
}
COARSE = {"a": sw.Integer(0, 1), "b": sw.Integer(0, 1), "c": sw.Real(0.0, 1.0)}


SPREAD = SpreadDesign()


def design_of(space, size, *, start_from=(), known=(), cost=None, seed=0, design=SPREAD):
    domain = as_domain(space)
    nowhere = np.empty((0, domain.width))
    encoded = domain.encode(list(known)) if known else nowhere
    first = distinct(domain, start_from, encoded)
    taken = np.vstack([encoded, domain.encode(first) if first else nowhere])
    so_far = DesignSoFar(domain, cost or UnitCost(), seed, taken, nowhere, np.empty(0))
    return first + design.points(max(size - len(first), 0), so_far)


def keys(space, params):
    domain = as_domain(space)
    return domain.key(domain.encode(list(params)))


def evaluate_design(study, objective=lambda _: 0.0):
    """Ask and tell until the design is done; the params asked for, and the verdicts before."""
    asked, verdicts = [], []
    while (verdict := study.should_stop()).rule == "initial":
        verdicts.append(verdict)
        trial = study.ask()
        asked.append(trial.params)
        study.tell(trial, objective(trial.params))
    return asked, verdicts


# -------------------------------------------------------------------------------- the points


COSTS = st.sampled_from([UnitCost(), KnownCost(lambda _: 2.0), LearnedCost()])
EVERY_DESIGN = st.sampled_from([DESIGNS["plain"], DESIGNS["default"]])


@given(spaces_and_configurations(), st.integers(0, 9), st.integers(0, 99), COSTS, EVERY_DESIGN)
def test_the_users_own_come_first_and_nothing_comes_twice(drawn, size, seed, cost, which):
    space, own = drawn
    design = design_of(space, size, start_from=own, seed=seed, cost=cost, design=which)
    distinct = list(dict.fromkeys(keys(space, own)))
    assert keys(space, design[: len(distinct)]) == distinct
    assert len(set(keys(space, design))) == len(design)
    domain = as_domain(space)
    available = len(domain) if hasattr(domain, "points") else math.inf
    assert len(design) == max(len(distinct), min(size, available))


@given(spaces_and_configurations(), st.integers(1, 9), COSTS, EVERY_DESIGN)
def test_nothing_that_is_known_is_tried_again(drawn, size, cost, which):
    space, told = drawn
    design = design_of(space, size, start_from=told, known=told, cost=cost, design=which)
    assert not set(keys(space, told)) & set(keys(space, design) if design else [])


@given(small_spaces(), st.integers(0, 9), COSTS, EVERY_DESIGN)
def test_a_small_space_is_drawn_without_repetition_until_it_is_used_up(space, seed, cost, which):
    everything = design_of(space, 10**6, seed=seed, cost=cost, design=which)
    assert len(everything) == len(as_domain(space)) == len(set(keys(space, everything)))


def test_a_box_gets_the_beginning_of_one_sobol_block():
    for seed in range(5):
        design = design_of(BOX, 6, seed=seed)
        X = as_domain(BOX).encode(design)
        # Of the first 4 of a Sobol sequence one lies in each quarter of each parameter.
        for column in X[:4].T:
            assert sorted(np.floor(4 * column)) == [0, 1, 2, 3]
        assert qmc.discrepancy(X) < 0.5 * np.mean(
            [qmc.discrepancy(np.random.default_rng(i).random((6, 2))) for i in range(50)]
        )
        longer = design_of(BOX, 60, seed=seed)
        assert longer[:6] == design


def test_another_seed_is_another_design_and_the_same_is_the_same():
    assert design_of(MIXED, 8, seed=3) == design_of(MIXED, 8, seed=3)
    assert design_of(MIXED, 8, seed=3) != design_of(MIXED, 8, seed=4)


def test_points_that_round_to_the_same_are_one():
    space = {"a": sw.Integer(0, 400), "b": sw.Integer(0, 400)}  # too many to list, few to hit
    design = design_of(space, 300)
    assert len(set(keys(space, design))) == 300
    ratios = {"n": sw.Integer(1, 10**6, log=True)}  # half of it is below 1000
    assert len(set(keys(ratios, design_of(ratios, 100)))) == 100
    coarse = {"n": sw.Integer(1, 2), "a": sw.Categorical(["u", "v"]), "x": sw.Real(0, 1)}
    assert len(set(keys(coarse, design_of(coarse, 40)))) == 40


def test_rows_of_a_table_are_drawn_at_random_and_come_back_as_given():
    rows = [{"x": i, "name": f"row {i}"} for i in range(50)]
    table = sw.Candidates(rows)
    designs = [design_of(table, 6, seed=seed) for seed in range(40)]
    assert all(row in rows for design in designs for row in design)
    drawn = [row["x"] for design in designs for row in design]
    assert len(set(drawn)) > 45  # everywhere in the table
    assert all(len({row["x"] for row in design}) == 6 for design in designs)


def test_with_known_costs_the_cheap_points_of_the_same_design_come_first():
    dear = KnownCost(lambda params: 1.0 + params["x"])
    plain, sorted_by_cost = design_of(BOX, 8), design_of(BOX, 8, cost=dear)
    assert sorted_by_cost == sorted(plain, key=lambda params: params["x"])
    assert plain != sorted_by_cost
    own = [{"x": 1.0, "y": 0.0}]
    assert design_of(BOX, 8, start_from=own, cost=dear)[0] == own[0]


# ----------------------------------------------------------------------------- how it counts


@pytest.mark.parametrize("space", [BOX, MIXED, COARSE], ids=["box", "mixed", "coarse"])
def test_the_default_is_two_more_than_twice_the_parameters(space):
    study = sw.Study(space, lam=0.1)
    asked, verdicts = evaluate_design(study)
    size = 2 * (len(space) + 1)
    assert len(set(keys(space, asked))) == len(asked) == size
    assert [v.reason for v in verdicts] == [f"initial design, {i} of {size}" for i in range(size)]
    assert not any(v.stop for v in verdicts)
    assert study.should_stop().rule == "pbgi"


def test_its_size_can_be_chosen():
    asked, verdicts = evaluate_design(sw.Study(BOX, lam=0.1, n_initial=3))
    assert len(asked) == 3
    assert verdicts[-1].reason == "initial design, 2 of 3"


def test_repeats_are_named_apart_from_the_points_of_the_design():
    study = sw.Study(BOX, lam=0.1, noise=0.1)
    study.tell(study.ask(), [1.0, 1.1, 0.9])
    assert study.should_stop().reason == "initial design, 1 of 6 points (3 evaluations)"
    for points in range(2, 6):
        study.tell(study.ask(), 1.0)
        said = f"initial design, {points} of 6 points ({points + 2} evaluations)"
        assert study.should_stop().reason == said
    study.tell(study.ask(), 1.0)
    assert study.should_stop().rule != "initial"


def test_what_the_user_runs_today_is_tried_first():
    today = [{"x": 0.5, "y": 2.0}, {"x": 0.25, "y": 0.0}]
    asked, _ = evaluate_design(sw.Study(BOX, lam=0.1, start_from=today))
    assert asked[:2] == today
    assert len(asked) == 6


def test_one_configuration_to_start_from_needs_no_list():
    today = {"x": 0.5, "y": 2.0}
    assert sw.Study(BOX, lam=0.1, start_from=today).ask().params == today


def test_all_of_start_from_is_tried_even_if_it_is_longer_than_the_design():
    own = [{"x": i / 10, "y": 0.0} for i in range(9)]
    study = sw.Study(BOX, lam=0.1, start_from=iter(own))
    asked, verdicts = evaluate_design(study)
    assert asked == own
    assert verdicts[3].reason == "initial design, 3 of 9"
    study.should_stop()
    assert study.traces["sup_log_ei_per_cost"].current.t == 0


@pytest.mark.parametrize(
    ("bad", "kind", "message"),
    [
        ([{"x": 2.0, "y": 0.0}], InputError, r"parameter 'x' is 2.0, outside its bounds"),
        ([{"x": 0.5}], InputError, r"params lack 'y'"),
        ([{"x": 0.5, "y": 0.0, "z": 1}], InputError, r"params have 'z', which the space does not"),
        ([0.5], InputTypeError, r"params 0 are 0.5, of type float; give a dict"),
        ("xy", InputTypeError, r"params 0 are 'x', of type str; give a dict"),
    ],
    ids=["outside", "missing", "unknown", "number", "string"],
)
def test_a_start_outside_the_space_is_refused_at_once(bad, kind, message):
    with pytest.raises(kind, match=message):
        sw.Study(BOX, lam=0.1, start_from=bad)


def test_data_told_before_the_first_ask_count():
    study = sw.Study(BOX, lam=1e-9)
    for i in range(4):
        study.tell({"x": i / 4, "y": 1.0 * i}, 1.0 * i)
    assert study.should_stop().reason == "initial design, 4 of 6"
    asked, _ = evaluate_design(study, lambda params: params["x"])
    assert len(asked) == 2
    assert study.traces["sup_log_ei_per_cost"].current.t == 0


def test_more_data_than_the_design_replace_it_and_t_counts_from_them():
    study = sw.Study(BOX, lam=1e-9)
    for i in range(9):
        study.tell({"x": i / 9, "y": math.sin(i)}, math.cos(i))
    verdict = study.should_stop()
    assert verdict.rule == "pbgi"  # nothing has to be evaluated before the first decision
    assert study.traces["sup_log_ei_per_cost"].current.t == 0
    trial = study.ask()
    study.tell(trial, 0.0)
    study.should_stop()
    assert [(s.t, s.n) for s in study.traces["sup_log_ei_per_cost"]] == [(0, 9), (1, 10)]


def test_what_is_wanted_first_is_asked_before_any_decision_on_data_from_elsewhere():
    wanted = {"x": 0.5, "y": -4.0}
    study = sw.Study(BOX, lam=1e9, start_from=[wanted, {"x": 0.0, "y": 0.0}])
    for i in range(9):
        study.tell({"x": i / 9, "y": math.sin(i)}, math.cos(i))  # one of the two is among them
    assert study.should_stop().reason == "initial design, 9 of 10"
    asked, _ = evaluate_design(study)
    assert asked == [wanted]
    assert study.should_stop().stop


def test_a_domain_smaller_than_the_design_is_counted_as_it_is():
    study = sw.Study({"n": sw.Integer(1, 3)}, lam=0.1)
    assert study.should_stop().reason == "initial design, 0 of 3"
    asked, _ = evaluate_design(study)
    assert sorted(params["n"] for params in asked) == [1, 2, 3]


def test_a_failed_evaluation_is_replaced_in_the_design():
    study = sw.Study(BOX, lam=0.1)
    first = study.ask()
    study.tell(first, None)
    assert study.should_stop().reason.startswith("initial design, 0 of 6; 1 failed")
    asked, _ = evaluate_design(study)
    assert len(asked) == 6
    assert first.params not in asked
    assert asked == design_of(BOX, 7)[1:]  # the same sequence, continued


def test_while_nothing_was_told_more_trials_come_from_the_design():
    study = sw.Study(BOX, lam=0.1)
    asked = [study.ask().params for _ in range(9)]
    assert asked == design_of(BOX, 9)


@pytest.mark.parametrize("seed", [1, 4, 5])
@pytest.mark.parametrize("surrogate", ["default", "plain"])
def test_no_point_is_handed_out_twice_whatever_its_logarithm_does(seed, surrogate):
    """Between 0.5 and 12 one in twenty logarithms does not come back to the same bit."""
    space = {"hours": sw.Real(0.5, 12, log=True), "loading": sw.Real(0.5, 10, log=True)}
    study = sw.Study(space, lam=0.01, seed=seed, surrogate=surrogate)
    asked = [tuple(trial.params.values()) for trial in study.ask(12)]
    assert len(set(asked)) == 12


def test_a_failed_point_is_replaced_by_another_whatever_its_logarithm_does():
    space = {"hours": sw.Real(0.5, 12, log=True), "loading": sw.Real(0.5, 10, log=True)}
    for seed in (0, 3, 4):
        study = sw.Study(space, lam=0.01, seed=seed)
        asked = []
        for _ in range(7):
            trial = study.ask()
            asked.append(tuple(trial.params.values()))
            study.tell(trial, None)
        assert len(set(asked)) == 7
