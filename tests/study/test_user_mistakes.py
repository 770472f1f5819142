# SPDX-License-Identifier: Apache-2.0
"""Mistakes around conditions, constraints, failures and limits: each error says what to do."""

import math
import warnings

import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError, StopwiseError
from stopwise.record.journal import ResumeWarning

LINE = {"x": sw.Real(0.0, 1.0)}
TREE = {
    "kind": sw.Categorical(["a", "b"]),
    "x": sw.Real(0.0, 1.0),
    "depth": sw.Integer(1, 5, when={"kind": "a"}),  # one value stands for a list
}
LIMITED = {"lam": 1e-3, "limits": {"toxicity": (None, 3.0)}, "surrogate": "plain"}


def price(params):
    return 1.0 * params["depth"]


def broken(params):
    return 1.0 / (params["x"] - params["x"])


# ------------------------------------------------------------------- functions of the user


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": price}, r"the cost function 'price' asks for 'depth', which does not exist in"),
        ({"cost": price}, r"params\.get\('depth'\), which is then None"),
        ({"cost": broken}, r"the cost function 'broken' raised ZeroDivisionError: .* for \{"),
        ({"cost": lambda p: p["dept"]}, r"raised KeyError: 'dept'.*did you mean 'depth'\?"),
        ({"constraints": broken}, r"the constraint 'broken' raised ZeroDivisionError"),
        ({"constraints": lambda p: p.get("depth") < 3}, r"raised TypeError.*as None: 'depth'"),
        ({"constraints": lambda: True}, r"raised TypeError.*It takes the params, one dict"),
        ({"constraints": {"x": "< 1"}}, "constraints are of type dict; give a list"),
        ({"constraints": "x =< 1"}, r"invalid syntax: write <= for at most"),
        ({"constraints": "x = 1"}, r"write == for equal"),
        ({"constraints": "x < 1 && x > 0"}, r"invalid syntax: write and\)"),
        ({"constraints": "x < 1 | x > 0"}, r"'1 \| x', which is not allowed: write or;"),
        ({"constraints": "x ^ 2 < 1"}, r"write \*\* for a power"),
        ({"constraints": "kind == 'a' => x > 0"}, r"'not A or B' for B wherever A"),
        ({"constraints": " "}, "it is empty"),
        ({"constraints": "kind == a"}, r"names 'a', .*Text is written in quotes: 'a'"),
        ({"constraints": "knd == 'a'"}, r"did you mean 'kind'\? Text is written"),
    ],
)
def test_what_goes_wrong_in_costs_and_constraints_names_the_function_and_the_way_out(
    options, message
):
    with pytest.raises(StopwiseError, match=message) as refused:
        sw.Study(TREE, lam=0.1, **options).ask()
    assert "<unknown>" not in str(refused.value)


def test_a_failure_that_cost_nothing_is_told_without_a_cost():
    study = sw.Study(TREE, lam=0.1, cost="reported")
    trial = study.ask()
    with pytest.raises(StopwiseError, match="of a failure that cost nothing leave the cost out"):
        study.tell(trial, None, 0.0)
    study.tell(trial, None)
    assert study.history[0].cost == 0.0


def test_a_cost_that_asks_with_get_may_depend_on_what_does_not_always_exist():
    study = sw.Study(TREE, lam=0.1, cost=lambda p: 1.0 + p.get("depth", 0))
    assert study.ask().expected_cost >= 1.0


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ({"kind": "c"}, r"'kind' is one of 'c', but .*allowed: 'a', 'b'"),
        (
            {"n": ">3"},
            r"'x' exists only when 'n' is one of '>3'.*List the values of 'n'",
        ),
        ({"n": 12}, r"outside its bounds; allowed is 1\.0 to 9\.0|allowed is 1 to 9"),
    ],
)
def test_conditions_that_cannot_hold_say_whose_they_are(when, message):
    space = {
        "kind": sw.Categorical(["a", "b"]),
        "n": sw.Integer(1, 9),
        "x": sw.Real(0, 1, when=when),
    }
    with pytest.raises(InputError, match=message):
        sw.Study(space, lam=0.1)


@pytest.mark.parametrize(
    ("values", "by", "message"),
    [
        (1, "rank", r"Integer\(low, high\)"),
        (["s", "m"], "value", "must be finite numbers in ascending order"),
    ],
)
def test_orders_that_are_none(values, by, message):
    with pytest.raises(StopwiseError, match=message):
        sw.Ordinal(values, by=by)


# ------------------------------------------------------------------------- limits, outcomes


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"toxicity": 3.0}, r"At most 3\.0 is \(None, 3\.0\), at least 3\.0 is \(3\.0, None\)"),
        ({"toxicity": (1, 1)}, "the lower one first and below the other"),
        ({"toxicity": "< 3"}, r"Give limits=\{'toxicity': \(None, 3\.0\)\}"),
    ],
)
def test_limits_that_are_none_say_what_to_give(limits, message):
    with pytest.raises(StopwiseError, match=message):
        sw.Study(LINE, lam=0.1, limits=limits)


@pytest.mark.parametrize(
    ("returned", "options", "message"),
    [
        (1.0, {}, r"the objective returned 1\.0 without the outcome 'toxicity'.*sw\.Evaluation"),
        ((1.0, {"toxicity": 1.0}), {}, r"given by name: sw\.Evaluation\(value, outcomes="),
        (sw.Evaluation(1.0, {"toxicity": 1.0}), {}, r"given by name: sw\.Evaluation"),
        (sw.Evaluation(1.0, outcomes=[1.0]), {}, "outcomes are a dict of what was measured"),
        ({"value": 1.0, "outcomes": 3.0}, {}, "outcomes are a dict of what was measured"),
        ({"value": 1.0, "toxicity": 1.0}, {}, r"'outcomes' \(a dict of what was measured"),
        ("1.0", {}, r"the objective returned '1\.0' \(str\)\. Return a real number"),
        (sw.Evaluation(1.0, 2.0), {}, "the cost 2.0, but with cost=None each evaluation costs 1"),
        (sw.Evaluation(1.0, 2.0), {"cost": "seconds"}, "with cost='seconds' it is timed"),
        (-1.0, {"bounds": (0, None), "limits": None}, "went wrong, its value is None"),
    ],
)
def test_what_an_objective_must_not_return_is_refused_in_words_about_returning(
    returned, options, message
):
    with pytest.raises(StopwiseError, match=message) as refused:
        sw.minimize(lambda _: returned, LINE, **{**LIMITED, "max_trials": 2, **options})
    assert "tell" not in str(refused.value).lower()


def test_outcomes_without_limits_are_kept_on_record(tmp_path):
    path = tmp_path / "run.jsonl"
    study = sw.Study(LINE, journal=path, **LIMITED)
    study.tell({"x": 0.2}, 1.0, outcomes={"toxicity": 1.0, "smell": 2.5, "colour": None})
    study.tell({"x": 0.4}, 2.0, outcomes={"toxicity": 3.0, "smell": math.nan})
    assert study.history[0].outcomes == {"toxicity": 1.0, "smell": 2.5}
    assert study.history[1].outcomes == {"toxicity": 3.0}  # what is nan was not measured
    assert not study.history[1].infeasible  # on the limit is within
    assert study.best.outcomes == study.history[0].outcomes
    study.close()
    assert sw.Study.resume(path).history == study.history
    plain = sw.Study(LINE, lam=0.1)
    plain.tell({"x": 0.2}, 1.0, outcomes={"smell": 2.5})
    assert plain.best.outcomes == {"smell": 2.5}
    for wrong, message in (({1: 2.0}, "1 is no name"), ({"smell": "bad"}, "real number")):
        with pytest.raises(StopwiseError, match=message):
            plain.tell({"x": 0.3}, 1.0, outcomes=wrong)


def test_an_evaluation_can_be_told():
    study = sw.Study(LINE, cost="reported", **LIMITED)
    trial = study.ask()
    told = sw.Evaluation(1.0, 2.0, {"toxicity": 1.0})
    study.tell(trial, told)
    study.tell(trial, told)  # again, which is harmless
    study.tell({"x": 0.9}, {"value": 2.0, "outcomes": {"toxicity": 9.0}}, 3.0)
    first, second = study.history
    assert (first.value, first.cost, first.outcomes) == (1.0, 2.0, {"toxicity": 1.0})
    assert (second.infeasible, second.cost) == (True, 3.0)
    with pytest.raises(StopwiseError, match="others are told beside it: tell one"):
        study.tell({"x": 0.8}, told, 3.0)


def test_a_noisy_best_has_its_outcomes_too():
    study = sw.Study(LINE, noise=0.01, **LIMITED)
    for x in (0.1, 0.5, 0.9):
        study.tell({"x": x}, x, outcomes={"toxicity": x})
    assert study.best.outcomes == {"toxicity": study.best.params["x"]}


# ------------------------------------------------------------- looking for what keeps limits


def infeasible(params):
    return sw.Evaluation(params["x"], outcomes={"toxicity": 9.0 + params["x"]})


def test_rules_that_count_end_the_search_for_what_keeps_the_limits():
    with pytest.warns(UserWarning, match="no evaluation has kept all limits"):
        result = sw.minimize(
            infeasible, LINE, n_initial=3, stopping=[sw.stopping.FixedTrials(2), "pbgi"], **LIMITED
        )
    assert (result.verdict.rule, len(result.history)) == ("fixed", 5)
    study = sw.Study(LINE, n_initial=2, **LIMITED)
    for x in (0.2, 0.7):
        study.tell({"x": x}, infeasible({"x": x}))
    verdict = study.should_stop()
    assert verdict.rule == "limits"
    assert "Nothing will end that: give fallback=" in verdict.reason


def test_the_verdict_names_the_fallback_while_nothing_is_better():
    study = sw.Study(LINE, n_initial=2, fallback=0.1, **LIMITED)
    for x in (0.2, 0.7):
        study.tell({"x": x}, infeasible({"x": x}))
    named = "counted from the fallback of 0.1: nothing better keeps all limits"
    assert named in study.should_stop().reason
    assert named in study.explain()
    study.tell({"x": 0.4}, 0.05, outcomes={"toxicity": 1.0})
    assert "fallback" not in study.should_stop().reason


# ------------------------------------------------------------------------ the initial design


def test_a_design_of_which_most_fails_ends_with_the_values_that_it_has():
    study = sw.Study(LINE, lam=1e-9, n_initial=4, surrogate="plain")
    for i in range(8):
        assert not study.should_stop().stop
        trial = study.ask()
        study.tell(trial, trial.params["x"] if i in (2, 5) else None)
    assert study.should_stop().rule == "pbgi"  # 8 were tried for 4 values, and there are 2
    assert study.traces["sup_log_ei_per_cost"].current.t == 0
    assert study.snapshot().n == 2


@pytest.mark.parametrize(("failures", "values"), [("median", 2), ("chance", 0)])
def test_a_design_goes_on_without_a_value_and_where_failures_teach_nothing(failures, values):
    study = sw.Study(LINE, lam=1e-9, n_initial=3, surrogate="plain", failures=failures)
    for i in range(7):
        trial = study.ask()
        study.tell(trial, 1.0 * i if i < values else None)
    failed = f"; {7 - values} failed, and others are tried instead"
    said = f"initial design, {values} of 3{failed if failures == 'chance' else ''}"
    assert study.should_stop().reason == said


def test_a_resumed_study_has_ended_its_design_too(tmp_path):
    path = tmp_path / "run.jsonl"
    made = []
    for resumed in (False, True):
        study = sw.Study(
            LINE, lam=1e-9, n_initial=3, surrogate="plain", journal=path if resumed else None
        )
        for i in range(9):
            if resumed and i == 6:
                study.close()
                study = sw.Study.resume(path)
            trial = study.ask()
            study.tell(trial, trial.params["x"] if i in (1, 7) else None)
        made.append([o.params for o in study.history])
        assert study.should_stop().rule == "pbgi"
    assert made[0] == made[1]


# ---------------------------------------------------------------------- interrupts, warnings


@pytest.mark.parametrize("saved", [True, False])
def test_an_interrupt_says_what_was_saved_and_how_to_go_on(saved, tmp_path):
    path = tmp_path / "run.jsonl"

    def objective(params, calls=[0]):  # noqa: B006  counts its calls
        calls[0] += 1
        if calls[0] == 3:
            raise KeyboardInterrupt
        return params["x"]

    with pytest.raises(KeyboardInterrupt) as interrupt:
        sw.minimize(objective, LINE, lam=0.1, journal=path if saved else None)
    [note] = interrupt.value.__notes__
    if saved:
        assert f"Nothing that was told is lost: 2 evaluations are in {path}" in note
        assert len(sw.Study.load(path).history) == 2
    else:
        assert "2 evaluations were told, and none was saved: with journal='run.jsonl'" in note


def test_a_warning_of_a_resume_points_at_the_line_of_the_caller(tmp_path):
    path = tmp_path / "run.jsonl"
    options = {"journal": path, "max_trials": 2}
    sw.minimize(lambda p: p["x"], LINE, lam=0.1, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sw.minimize(lambda p: p["x"], LINE, lam=0.2, **options)
    [warning] = [w for w in caught if w.category is ResumeWarning]
    assert warning.filename == __file__
    assert "lam is now 0.2" in str(warning.message)


class Unfinished:
    """A rule whose author forgot under which name its signal is recorded."""

    name = "unfinished"
    signal_scale = "linear"

    def signal(self, snapshot):
        return sw.stopping.Signal(snapshot.n, 0.0)

    def verdict(self, trace):
        return sw.stopping.Verdict.at_most(self.name, trace[-1].value, 1.0, "always")


@pytest.mark.parametrize("option", ["stopping", "watch"])
def test_a_rule_that_lacks_a_property_is_refused_with_its_name(option):
    options = {"stopping": "gss", option: Unfinished()}
    with pytest.raises(
        InputTypeError,
        match=r"Unfinished.* is no stopping rule yet: it lacks key\. One has name, key,"
        r" signal_scale, and the methods signal and verdict; stopwise\.testing\.templates has one",
    ):
        sw.Study({"x": sw.Real(0, 1)}, lam=0.1, **options)
    Unfinished.key = "unfinished"  # that was all
    try:
        sw.Study({"x": sw.Real(0, 1)}, lam=0.1, **options)
    finally:
        del Unfinished.key


# ------------------------------------------------------------------------- numbers in no order


def test_numbers_in_no_order_are_asked_about(tmp_path):
    space = {"batch": sw.Ordinal([64, 16, 32])}
    said = r"'batch' are in no order, Ordinal\(\[64, 16, 32\]\).*Ordinal\(\[16, 32, 64\]\)"
    with pytest.warns(UserWarning, match=said) as warned:
        study = sw.Study(space, lam=0.1, journal=tmp_path / "study.jsonl")
    assert {warning.filename for warning in warned} == {__file__}
    study.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.Study.load(tmp_path / "study.jsonl")  # it was asked when the study began
        sw.Study({"batch": sw.Ordinal([64, 32, 16])}, lam=0.1)
        sw.Study({"size": sw.Ordinal(["m", "s", "l"])}, lam=0.1)
