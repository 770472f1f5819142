# SPDX-License-Identifier: Apache-2.0
"""value_name and cost_unit: what people read is in their words, and nothing else changes."""

import json
import time

import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError
from stopwise.stopping import RULES
from stopwise.stopping.defaults import default_rules
from stopwise.tools.report import page

LINE = {"x": sw.Real(0.0, 1.0)}
NAMED = {"value_name": "misread %", "cost_unit": "$"}


def bowl(params):
    return 3.0 + (params["x"] - 0.3) ** 2


def run(trials=7, **options):
    options = {"lam": 1e-4, "n_initial": 3, "cost": lambda p: 2.0 + p["x"], **options}
    study = sw.Study(LINE, **options)
    for _ in range(trials):
        study.should_stop()
        trial = study.ask()
        study.tell(trial, bowl(trial.params))
    study.should_stop()
    return study


def test_names_change_no_decision():
    plain, named = run(), run(**NAMED)
    assert [o.params for o in plain.history] == [o.params for o in named.history]
    assert plain.traces == named.traces
    assert plain.verdict.value == named.verdict.value


def test_verdict_explanation_ladder_and_guarantee_use_the_names():
    study = run(**NAMED)
    assert "expected to lower misread % by " in study.verdict.reason
    assert " and costs $2." in study.verdict.reason
    said = study.explain()
    assert "(misread % per $)" in said
    assert "$" in str(sw.lam_ladder(study))
    assert "best misread 3" in str(sw.lam_ladder(study))
    assert "in misread %" in str(study.guarantee())
    assert "best misread 3" in repr(study)


def test_replay_says_what_was_said_live():
    study = run(**NAMED)
    [replayed] = sw.replay(study, study.rules)
    assert replayed.verdict.reason == study.verdict.reason


def test_maximising_raises():
    study = run(**NAMED, direction="maximize")
    assert "expected to raise misread % by " in study.verdict.reason


def test_no_reason_of_any_rule_has_a_place_without_its_name():
    rules = list(default_rules(RULES, 1e-4).values())
    study = run(trials=9, **NAMED, watch=rules)
    reasons = {r.rule.name: r.verdict.reason for r in sw.replay(study, rules)}
    assert set(reasons) == set(RULES) - {"fixed"}
    assert not any("{" in reason for reason in reasons.values())
    spoken = {name for name, reason in reasons.items() if "misread %" in reason}
    assert {"pbgi", "ucb-lcb", "prb"} <= spoken


def test_seconds_have_their_unit():
    study = run(cost="seconds", trials=0)
    assert study.options.units.cost(4320.0) == "1 h 12 min"
    assert run(cost="seconds", trials=0, cost_unit="CPU s").options.cost_unit == "CPU s"


@pytest.mark.parametrize("unit", ["min", "$", "GPU hours"])
def test_seconds_have_no_other_unit(unit):
    with pytest.raises(InputError, match=f"counts seconds, which would be called '[{unit[0]}]"):
        sw.Study(LINE, lam=0.1, cost="seconds", cost_unit=unit)


def test_one_of_a_unit_and_what_lam_is_per():
    units = run(cost_unit="runs", value_name="yield %", direction="maximize").options.units
    assert (units.cost(1.0), units.cost(2.0), units.lam) == ("1 run", "2 runs", "yield % per run")


def test_a_journal_holds_the_names_and_a_resume_may_change_them(tmp_path):
    path = tmp_path / "run.jsonl"
    study = sw.Study(LINE, lam=0.1, journal=path, **NAMED)
    header = json.loads(path.read_text().splitlines()[0])
    assert header["options"]["value_name"] == "misread %"
    study.close()
    with pytest.warns(UserWarning, match="value_name is now 'errors'"):
        study = sw.Study.resume(path, value_name="errors")
    assert (study.options.value_name, study.options.cost_unit) == ("errors", "$")


def test_a_report_names_every_axis():
    text = page(run(**NAMED))
    for part in (
        "the best misread is 3",
        "misread % to be minimised",
        ">misread %</text>",
        ">spent ($)</text>",
        ">cost ($)</text>",
        "expected gain, misread % per $",
        "gain in misread %, added up",
    ):
        assert part in text


def test_a_budget_speaks_of_money():
    study = sw.Study(LINE, budget=5.0, n_initial=2, **NAMED)
    for _ in range(3):
        trial = study.ask()
        study.tell(trial, bowl(trial.params))
    assert study.should_stop().reason.startswith("$2 of $5 are left")


def test_own_time_is_no_more_than_the_time_that_passed():
    """A call within a call, a verdict within a result for instance, is not counted twice."""
    began = time.perf_counter()
    study = run(trials=5)
    study.result()
    study.explain()
    assert 0.0 < study.own_seconds <= time.perf_counter() - began


def test_a_ladder_is_read_off_a_study_or_its_result_and_nothing_else():
    result = run(**NAMED).result()
    assert len(sw.lam_ladder(result)) == 7
    assert result.explain() == result._study.explain()
    with pytest.raises(InputTypeError, match="a ladder is read off a study"):
        sw.lam_ladder(3)


def test_a_cap_is_a_verdict_once_it_is_reached_and_none_before():
    study = run(trials=3, max_trials=3)
    assert study.cap_reached().stop
    assert run(trials=2, max_trials=3).cap_reached() is None


@pytest.mark.parametrize("name", ["accuracy", "test AUC", "reward (points)"])
def test_a_name_of_which_more_is_better_asks_for_the_direction(name):
    with pytest.warns(UserWarning, match="more is mostly better, .*direction='maximize'") as seen:
        sw.Study(LINE, lam=0.1, value_name=name)
    with pytest.warns(UserWarning, match=r"more is mostly better: call sw\.maximize\(\)") as more:
        sw.minimize(bowl, LINE, lam=1.0, max_trials=1, value_name=name)
    assert {warning.filename for warning in (*seen, *more)} == {__file__}


@pytest.mark.filterwarnings("error")
def test_nobody_is_asked_who_has_said_the_direction():
    sw.Study(LINE, lam=0.1, value_name="accuracy", direction="minimize")
    sw.Study(LINE, lam=0.1, value_name="accuracy", direction="maximize")
    sw.Study(LINE, lam=0.1, value_name="misread %")
    sw.maximize(bowl, LINE, lam=1.0, max_trials=1, value_name="accuracy")
    sw.minimize(bowl, LINE, lam=1.0, max_trials=1, value_name="1 - accuracy")


def test_a_result_says_itself_in_a_few_lines():
    result = sw.minimize(bowl, LINE, lam=1e-3, cost=lambda p: 2.0 + p["x"], **NAMED)
    best, paid, why = str(result).splitlines()
    assert best.startswith(f"best misread 3 % (trial {result.best.number}): x = 0.29")
    spent = result.options.units.cost(result.spent)
    assert paid == f"{len(result.history)} evaluations, {spent} spent"
    assert why == result.verdict.reason
    assert str(sw.minimize(bowl, LINE, lam=1e-3)).splitlines()[1].endswith("evaluations")


def test_a_result_counts_what_failed_and_what_broke_a_limit_and_says_why():
    space = {"x": sw.Real(0, 1), "kind": sw.Categorical(["a", "b"])}
    study = sw.Study({**space, "d": sw.Integer(1, 5, when={"kind": "a"})}, lam=0.1)
    for kind, d in (("a", {"d": 2}), ("b", {})):
        params = {"x": 0.5, "kind": kind, **d}
        study.tell(params, 2.0 if d else None, message="" if d else "KeyError: 'd'\nat line 7")
    paid = str(study.result()).splitlines()[1]
    assert paid == "2 evaluations, 1 failed (the first: KeyError: 'd')"
    limited = sw.Study(LINE, lam=0.1, limits={"tox": (None, 1.0)})
    for x, tox in ((0.1, 0.5), (0.2, 3.0)):
        limited.tell({"x": x}, x, outcomes={"tox": tox})
    limited.tell({"x": 0.9}, None, message="y" * 200)
    paid = str(limited.result()).splitlines()[1]
    assert paid == f"3 evaluations, 1 failed (the first: {'y' * 80}...), 1 infeasible"


def test_a_result_without_a_value_says_so():
    result = sw.Study(LINE, lam=1e-3).result()
    assert str(result).startswith("no evaluation has a value that counts\n0 evaluations\n")
