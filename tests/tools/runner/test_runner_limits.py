# SPDX-License-Identifier: Apache-2.0
"""Limits in the file of a run: the program prints what it measured, the best one keeps them."""

import pytest

from stopwise.errors import InputError
from stopwise.tools.runner import changes, description, keep_copy, load, new_study, run_trials
from tests.support.commands import stopwise

PROGRAM = """
import json, sys
[x] = [float(argument.split("=")[1]) for argument in sys.argv[1:]]
measured = {"harm": 4.0 * x * x}
if MISSING:
    measured = {}
print(json.dumps({"value": -x, **({"outcomes": measured} if NESTED else measured)}))
"""
TUNE = """
command = ["{python}", "react.py"]
max_trials = 6
[parameters]
x = { type = "real", low = 0.0, high = 1.0 }
[worth]
lam = 1e-6
[cost]
kind = "none"
[limits]
harm = LIMITS
[failures]
stop_after = 2
[search]
surrogate = "plain"
FURTHER
"""


@pytest.fixture
def configured(tmp_path):
    def make(limits="[-inf, 1.0]", further="", *, nested=False, missing=False):
        program = PROGRAM.replace("NESTED", str(nested)).replace("MISSING", str(missing))
        (tmp_path / "react.py").write_text(program)
        path = tmp_path / "tune.toml"
        path.write_text(TUNE.replace("LIMITS", limits).replace("FURTHER", further))
        return load(path)

    return make


@pytest.mark.parametrize("nested", [False, True])
def test_a_program_reports_its_outcomes(configured, nested):
    config = configured(further="fallback = 0.5", nested=nested)
    assert config.limits == {"harm": (None, 1.0)}
    study, lines = new_study(config), []
    assert study.options.fallback == 0.5
    run_trials(config, study, lambda _, line: lines.append(line))
    assert study.best.params["x"] <= 0.5
    assert any(o.infeasible for o in study.history)
    assert all(
        o.outcomes["harm"] == pytest.approx(4.0 * o.params["x"] ** 2) for o in study.history
    )
    said = [line for line in lines if line and "; infeasible, beyond its limits: harm is" in line]
    assert len(said) == sum(o.infeasible for o in study.history)


def test_a_trial_without_its_outcome_has_failed(configured):
    config = configured(missing=True)
    study = new_study(config)
    run_trials(config, study, lambda *_: None)
    assert {o.message for o in study.history} == {"the JSON has no key 'harm'; it has 'value'"}


def test_a_failed_program_is_charged_what_it_reports_and_its_outcomes_count(tmp_path):
    (tmp_path / "react.py").write_text(
        "import json, sys, time\n"
        "[x] = [float(argument.split('=')[1]) for argument in sys.argv[1:]]\n"
        "said = {'value': -x, 'cost': 20 if x > 0.5 else 5, 'harm': 4 * x * x}\n"
        "print(json.dumps({**said, 'value': None} if x > 0.8 else said))\n"
        "sys.exit(3 if 0.5 < x <= 0.8 else 0)\n"
    )
    text = TUNE.replace("LIMITS", "[-inf, 3.0]").replace("FURTHER", "n_initial = 6")
    text = text.replace('"none"', '"reported"').replace("stop_after = 2", "stop_after = 6")
    (tmp_path / "tune.toml").write_text(text)
    config = load(tmp_path / "tune.toml")
    study, lines = new_study(config), []
    run_trials(config, study, lambda _, line: lines.append(line))
    exited = [o for o in study.history if o.message == "exit code 3"]
    assert exited
    assert any(o.params["x"] > 0.8 for o in study.history)
    for o in study.history:
        dear = o.params["x"] > 0.5
        assert (o.failed, o.cost) == (dear, 20.0 if dear else 5.0)
        assert o.outcomes["harm"] == pytest.approx(4 * o.params["x"] ** 2)
    assert study.spent == sum(o.cost for o in study.history)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ("3.0", r"line 11.*limits of 'harm' are 3.0"),
        ("[-inf, inf]", r"line 11.*which is no limit"),
    ],
)
def test_wrong_limits_name_their_line(configured, limits, message):
    with pytest.raises(InputError, match=message):
        configured(limits)


def test_a_fallback_needs_limits(tmp_path):
    text = TUNE.replace("[limits]\nharm = LIMITS\n", "").replace("FURTHER", "fallback = 1.0")
    (tmp_path / "tune.toml").write_text(text)
    with pytest.raises(InputError, match=r"line 14.*without limits="):
        load(tmp_path / "tune.toml")


def test_check_lists_limits_and_what_search_says(configured):
    text = description(configured(further="fallback = 0.5\nbounds = [-1.0, inf]"))
    assert "The best trial keeps harm at most 1, which is read beside the value." in text
    for said in ('surrogate = "plain"', "bounds = [-1.0, inf]", "fallback = 0.5"):
        assert f"[search] {said}." in text


def test_check_says_what_noise_means_beside_limits(configured):
    text = description(configured(further='noise = "learn"'))
    assert '[search] noise = "learn".' in text
    assert "The best trial is believed to keep harm at most 1," in text
    assert "it may have been measured beyond one" in text
    assert "measured beyond" not in description(configured())


def test_check_says_what_changes_nothing(configured):
    noisy = "noise = 0.1\nreplicates = true"
    assert "[search] replicates = true." in description(configured(further=noisy))
    beside = description(configured(further=f"{noisy}\nfallback = 1.0"))
    assert "[search] replicates = true, which changes nothing: beside a fallback" in beside
    utility = '[utility]\nkind = "linear"\nslope = 3.0\n'
    by_worth = description(configured(further=f"{noisy}\n{utility}"))
    assert "[search] replicates = true, which changes nothing: beside [utility]" in by_worth


@pytest.mark.parametrize(
    ("top", "further", "said"),
    [
        ("", "", True),
        ("", 'stopping = ["pbgi", "convergence"]', True),
        ("max_trials = 6", "", False),
        ("budget = 6", "", False),
        ("", "fallback = 0.5", False),
        ("", 'stopping = ["pbgi", { rule = "fixed", n = 9 }]', False),
    ],
)
def test_check_says_where_cost_has_no_bound(configured, top, further, said):
    path = configured(further=further).path
    path.write_text(path.read_text().replace("max_trials = 6", top))
    text = description(load(path))
    assert ("all limits pbgi" in text) == said
    assert ("the cost of the run has no bound: give a budget or max_trials" in text) == said
    endless = path.read_text().replace("harm = [-inf, 1.0]", "").replace("fallback = 0.5", "")
    path.write_text(endless)
    assert "the cost of the run has no bound" not in description(load(path))


def test_limits_must_not_change_and_the_error_says_so(configured):
    config = configured()
    new_study(config, journal=config.journal).close()
    keep_copy(config)
    with pytest.raises(InputError, match=r"limits\.harm was \[-inf, 1\.0\] and is") as refused:
        changes(configured("[-inf, 2.0]"))
    assert "limits," not in str(refused.value).partition("afresh")[2]  # of what may change


def test_a_run_in_which_all_break_a_limit_says_so(configured):
    said = stopwise("run", configured("[-inf, -1.0]").path).out
    assert "No trial has kept all limits." in said
    assert "No trial has succeeded" not in said
