# SPDX-License-Identifier: Apache-2.0
"""ask(fixed=...): some parameters are held at given values, and the others are chosen."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stopwise as sw
from stopwise.acquisition import LogEIPC
from stopwise.core.space import as_domain
from stopwise.core.space.held import Holding
from stopwise.errors import InputError, InputTypeError
from stopwise.study.asking import FewerTrialsWarning
from stopwise.study.choosing import with_pending_believed

BOX = {"x": sw.Real(0.0, 1.0), "rate": sw.Real(1e-3, 1.0, log=True)}
MIXED = {**BOX, "layers": sw.Integer(1, 5), "act": sw.Categorical(["relu", "tanh", "elu"])}
TREE = {
    "kind": sw.Categorical(["a", "b"]),
    "depth": sw.Integer(1, 9, when={"kind": ["a"]}),
    "drop": sw.Real(0.0, 1.0, when={"kind": ["b"]}),
    "x": sw.Real(0.0, 1.0),
}
TABLE = sw.Candidates([{"k": k, "act": a} for k in range(6) for a in ("relu", "tanh")])


def value(params):
    numbers = [v for v in params.values() if not isinstance(v, str)]
    return float(sum((v - 0.3) ** 2 for v in numbers)) + 0.1 * (params.get("act") == "tanh")


def begun(space, n=7, **options):
    """A study with n observations spread over the space, the first of which are its design."""
    study = sw.Study(space, **{"lam": 1e-3, "surrogate": "plain", "n_initial": 4, **options})
    points = as_domain(space).design(n, np.random.default_rng(5)) if space is TABLE else None
    points = as_domain(space).sobol(n, np.random.default_rng(5)) if points is None else points
    for params in as_domain(space).decode(points):
        study.tell(params, value(params), 1.0)
    return study


SPACES = [
    (BOX, {"rate": 0.01}),
    (BOX, {"x": 0.123456789, "rate": 0.01}),
    (MIXED, {"act": "tanh"}),
    (MIXED, {"x": 0.1, "rate": 0.3}),  # what is left can be listed
    (MIXED, {"layers": 2, "x": 1 / 3}),
    (TREE, {"kind": "b", "drop": 0.7}),
    (TABLE, {"act": "tanh"}),
]


@pytest.mark.parametrize(("space", "fixed"), SPACES)
@pytest.mark.parametrize("n", [0, 3, 7])
def test_the_values_are_kept_exactly_in_the_design_and_after_it(space, fixed, n):
    study = begun(space, n)
    trial = study.ask(fixed=fixed)
    assert {name: trial.params[name] for name in fixed} == fixed
    study.tell(trial, value(trial.params))
    assert study.history[-1].params == trial.params
    assert len(study.promises) == (n == 7)


@pytest.mark.parametrize("space", [BOX, MIXED, TREE])
def test_no_point_with_these_values_scores_higher(space):
    fixed = {"x": 0.8}
    study = begun(space, 9, acquisition="logeipc")
    snapshot = study.snapshot()
    x = study.domain.encode(study.ask(fixed=fixed).params)
    held = Holding.of(study.domain, fixed).domain
    score = LogEIPC().bind(with_pending_believed(snapshot))
    others = held.sobol(1000, np.random.default_rng(1))
    np.testing.assert_array_equal(study.domain.snap(others), others)  # points of the space
    assert score(x)[0] >= score(others).max() - 1e-6
    assert score(x)[0] <= snapshot.sup(LogEIPC()).value + 1e-6


def test_the_best_matching_row_of_a_table_is_chosen():
    study = begun(TABLE, 6, acquisition="logeipc")
    snapshot, domain = study.snapshot(), study.domain
    scores = LogEIPC().bind(snapshot)(domain.points)
    rows = [domain.params(i) for i in range(len(domain))]
    matching = [i for i, row in enumerate(rows) if row["act"] == "tanh"]
    best = rows[max(matching, key=lambda i: scores[i])]
    assert study.ask(fixed={"act": "tanh"}).params == best


def test_costs_by_row_are_those_of_the_whole_table():
    study = begun(TABLE, 0, cost=np.arange(1.0, 13.0))
    assert study.ask(fixed={"k": 4, "act": "tanh"}).expected_cost == 10.0


@pytest.mark.parametrize("n", [0, 7])
def test_constraints_hold_for_what_is_not_fixed(n):
    study = sw.Study(BOX, lam=1e-3, surrogate="plain", constraints=["x + rate <= 0.6"])
    for i in range(n):
        study.tell({"x": 0.05 * i, "rate": 0.03 * (i + 1)}, 0.1 * i)
    trial = study.ask(fixed={"x": 0.5})
    assert trial.params["x"] == 0.5
    assert trial.params["rate"] <= 0.1


def test_the_design_keeps_its_size():
    study = begun(MIXED, 0)
    for i in range(4):
        trial = study.ask(fixed={"act": "relu"}) if i % 2 else study.ask()
        study.tell(trial, value(trial.params))
    assert study.snapshot().t == 0


COSTS = [None, "reported", lambda params: 1.0 + params["x"]]


@pytest.mark.parametrize("surrogate", ["default", "plain", "paper"])
@pytest.mark.parametrize("cost", COSTS, ids=["same", "reported", "known"])
def test_the_design_goes_on_whatever_values_are_held(surrogate, cost):
    """As if nothing were held: the other parameters of each trial are those of another point."""
    space = {"temp": sw.Real(0, 40), **BOX}
    study = sw.Study(space, lam=1e-9, surrogate=surrogate, cost=cost)
    for temp in (21.5, 18.0, 30.2, 25.1):
        trial = study.ask(fixed={"temp": temp})
        study.tell(trial, value(trial.params), 1.0 if cost == "reported" else None)
    xs = [o.params["x"] for o in study.history]
    assert len(set(xs)) == 4
    assert max(xs) - min(xs) > 0.3


@pytest.mark.parametrize("surrogate", ["default", "plain"])
def test_held_and_free_trials_share_one_design(surrogate):
    """Its points in their order, each once, with what is held in place of their own."""
    options = {"lam": 1e-9, "surrogate": surrogate, "n_initial": 6}
    planned, study = (sw.Study({"temp": sw.Real(0, 40), **MIXED}, **options) for _ in range(2))
    points = [trial.params for trial in planned.ask(6)]
    for k, point in enumerate(points):
        fixed = {"temp": 11.0 + k} if k % 3 else None
        assert study.ask(fixed=fixed).params == point | (fixed or {})


@given(st.lists(st.sampled_from(["relu", "tanh"]), min_size=6, max_size=6), st.integers(0, 20))
def test_on_a_table_no_other_values_are_tried_again_before_all_were(held, seed):
    study = sw.Study(TABLE, lam=1e-9, n_initial=9, seed=seed, cost="reported")
    trials = [study.ask(fixed={"act": act}) for act in held]
    assert {t.params["k"] for t in trials} == set(range(6))


def test_where_conditions_and_constraints_rule_points_differ_too():
    tree = sw.Study(TREE, lam=1e-9, n_initial=8)
    values = [0.7 + 0.01 * i for i in range(4)]
    trials = [tree.ask(fixed={"kind": "b", "drop": drop}) for drop in values]
    assert len({t.params["x"] for t in trials}) == 4
    study = sw.Study(BOX, lam=1e-9, n_initial=8, constraints=["x + rate <= 0.6"])
    trials = [study.ask(fixed={"x": 0.5 + 0.001 * i}) for i in range(4)]
    assert len({t.params["rate"] for t in trials}) == 4
    assert max(t.params["rate"] for t in trials) <= 0.1


def test_once_all_other_values_were_tried_they_are_tried_again():
    space = {"x": sw.Real(0, 1), "act": sw.Categorical(["a", "b", "c"])}
    study = sw.Study(space, lam=1e-9, n_initial=9, surrogate="plain")
    acts = [study.ask(fixed={"x": 0.1 + 0.05 * i}).params["act"] for i in range(9)]
    assert [acts.count(act) for act in "abc"] == [3, 3, 3]


def test_a_point_of_the_design_that_has_the_values_comes_first():
    first = {"x": 0.25, "rate": 0.5, "layers": 3, "act": "elu"}
    other = {**first, "act": "relu"}
    study = sw.Study(MIXED, lam=1e-3, start_from=[other, first])
    assert study.ask(fixed={"act": "elu"}).params == first
    assert study.ask().params == other


@pytest.mark.parametrize(
    ("space", "fixed", "words"),
    [
        (BOX, {"y": 1}, "fixed names 'y', which the space does not have; it has 'x', 'rate'"),
        (BOX, {"x": 2.0}, "outside its bounds; allowed is 0.0 to 1.0"),
        (MIXED, {"act": "gelu"}, "not one of its choices; allowed: 'relu', 'tanh', 'elu'"),
        (TREE, {"drop": 0.5}, "exists only when kind is 'b', and 'kind' is not fixed"),
        (TREE, {"drop": 0.5, "kind": "a"}, "'kind' is fixed at 'a'"),
        (TABLE, {"k": 2.5}, "no row of the table has exactly these values; of 'k' it has 0, 1"),
        (BOX, {}, "fixed names no parameter"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(space, fixed, words):
    study = begun(space, 0)
    with pytest.raises(InputError) as refused:
        study.ask(fixed=fixed)
    assert words in str(refused.value)
    assert not study.pending


def test_fixed_must_be_a_dict():
    with pytest.raises(InputTypeError, match="give a dict of parameters and values"):
        begun(BOX, 0).ask(fixed="x")


@pytest.mark.parametrize("space", [BOX, {"a": sw.Integer(0, 5), "x": sw.Integer(0, 5)}])
def test_values_that_no_allowed_configuration_has_are_refused(space):
    study = sw.Study(space, lam=1e-3, constraints=["x < 0.5"])
    with pytest.raises(InputError, match=r"fixed=.*1.*these values.*'x < 0.5'.*fix fewer"):
        study.ask(fixed={"x": 1})


def test_two_values_that_no_row_has_together_are_refused():
    table = sw.Candidates([{"a": 0, "b": 1}, {"a": 1, "b": 0}])
    with pytest.raises(InputError, match=r"no row of the table has all of these values.*fewer"):
        sw.Study(table, lam=1e-3).ask(fixed={"a": 0, "b": 0})


def test_when_all_such_rows_are_evaluated_there_is_nothing_left():
    study = begun(TABLE, 0)
    words = r"ask\(9\) gives 6 of 9 trials: there is nothing left to ask with fixed=.*6 pending\.$"
    with pytest.warns(FewerTrialsWarning, match=words) as warned:
        trials = study.ask(9, fixed={"act": "relu"})
    assert warned[0].filename == __file__
    for trial in trials:
        study.tell(trial, value(trial.params))
    assert len(study.history) == 6  # as many as there are
    with pytest.raises(InputError, match="nothing left to ask with fixed="):
        study.ask(fixed={"act": "relu"})
    assert study.ask().params["act"] == "tanh"


def test_where_warnings_are_errors_no_trial_is_lost():
    study = begun(TABLE, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewerTrialsWarning)
        with pytest.raises(FewerTrialsWarning):
            study.ask(9, fixed={"act": "relu"})
    handed = study.ask(6, fixed={"act": "relu"})
    assert list(study.pending) == handed


@pytest.mark.parametrize("count", [0, -1, 1.5, "2"])
def test_a_number_of_trials_is_a_whole_number(count):
    with pytest.raises(InputError, match=f"n={count!r}: give a whole number of at least 1"):
        begun(BOX, 0).ask(count)


@pytest.mark.parametrize("n", [0, 6])
def test_several_trials_are_different(n):
    study = begun(MIXED, n)
    trials = study.ask(3, fixed={"act": "relu", "layers": 2})
    assert len(set(study.domain.key(study.domain.encode([t.params for t in trials])))) == 3
    assert all(t.params["act"] == "relu" and t.params["layers"] == 2 for t in trials)
    assert list(study.pending) == trials


def test_asking_for_several_is_asking_one_after_the_other():
    together, in_turn = begun(MIXED, 6), begun(MIXED, 6)
    assert together.ask(3) == [in_turn.ask() for _ in range(3)]


def test_a_resumed_study_goes_on_as_the_live_one(tmp_path):
    live = begun(MIXED, 6, journal=tmp_path / "live.jsonl", noise="learn")
    asked = live.ask(fixed={"act": "relu"})
    written = (tmp_path / "live.jsonl").read_bytes()
    (tmp_path / "copy.jsonl").write_bytes(written)
    assert json.loads(written.splitlines()[-1])["fixed"] == {"act": "relu"}
    resumed = sw.Study.resume(tmp_path / "copy.jsonl")
    assert resumed.ask() == asked
    for study in (live, resumed):
        study.tell(asked, 0.125)
        study.should_stop()
        trial = study.ask(fixed={"layers": 3, "x": 0.1})
        study.tell(trial, value(trial.params))
    assert live.history == resumed.history
    assert live.ask() == resumed.ask()


def test_a_resumed_study_hands_out_again_what_has_the_values(tmp_path):
    live = begun(MIXED, 6, journal=tmp_path / "a.jsonl")
    relu, tanh = live.ask(fixed={"act": "relu"}), live.ask(fixed={"act": "tanh"})
    live.close()
    resumed = sw.Study.resume(tmp_path / "a.jsonl")
    assert resumed.ask(fixed={"act": "tanh"}) == tanh
    assert resumed.ask(fixed={"act": "tanh"}) not in (relu, tanh)
    assert resumed.ask() == relu


@given(st.data())
def test_a_held_domain_is_the_part_of_the_domain_with_these_values(data):
    domain = as_domain(MIXED)
    [drawn] = domain.decode(domain.sobol(1, np.random.default_rng(data.draw(st.integers(0, 99)))))
    names = data.draw(st.lists(st.sampled_from(list(MIXED)), min_size=1, unique=True))
    fixed = {name: drawn[name] for name in names}
    holding = Holding.of(domain, fixed)
    X = holding.domain.sobol(16, np.random.default_rng(0))
    X = np.vstack([X, holding.domain.snap(np.random.default_rng(1).random(X.shape))])
    assert holding.matches(np.vstack([X, holding.domain.neighbours(X[0])])).all()
    for params in holding.domain.decode(X):
        assert {name: params[name] for name in names} == fixed
        assert holding.agrees(params)
    np.testing.assert_array_equal(domain.snap(X), X)
    free = domain.real & ~np.isin(domain.groups, [domain.names.index(n) for n in names])
    np.testing.assert_array_equal(holding.domain.real, free)


def test_trials_of_an_interrupted_ask_come_first(monkeypatch):
    study = begun(MIXED, 6)
    choose, calls = type(study._choosing).choose, []

    def interrupted(self, holding=None, search=None):
        calls.append(holding)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return choose(self, holding, search)

    monkeypatch.setattr(type(study._choosing), "choose", interrupted)
    with pytest.raises(KeyboardInterrupt):
        study.ask(2)
    [waiting] = study.pending
    other = next(act for act in ("relu", "tanh", "elu") if act != waiting.params["act"])
    again = study.ask(2)
    assert again[0] == waiting
    assert len(study.pending) == 2
    assert study.ask(fixed={"act": other}).params["act"] == other
