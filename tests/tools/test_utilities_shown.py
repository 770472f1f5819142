# SPDX-License-Identifier: Apache-2.0
"""Utilities where people look: report, progress, audit, and the file of a run."""

import re

import pytest

import stopwise as sw
from stopwise.errors import InputError
from stopwise.tools.progress.view import view_of
from stopwise.tools.runner import description, new_study
from stopwise.tools.runner.config_changes import changes, keep_copy

TABLE = sw.Candidates([{"x": i / 19} for i in range(20)])
BONUS = sw.utility.piecewise([(0.2, 50.0), (0.8, 0.0)], unit="dollars")
FILE = """\
command = ["true"]
[parameters]
x = { type = "real", low = 0, high = 1 }
[value]
direction = "maximize"
[cost]
kind = "none"
[utility]
kind = "piecewise"
points = [[0.90, 0], [0.95, 1000]]
unit = "dollars"
"""


def error(params):
    return abs(params["x"] - 0.34)


@pytest.fixture(scope="module")
def result():
    return sw.minimize(error, TABLE, utility=BONUS, surrogate="plain", n_initial=4, max_trials=6)


def test_the_report_counts_in_the_currency(result, tmp_path):
    text = result.report(tmp_path / "report.html").read_text()
    assert "Cost-adjusted worth over time" in text
    assert "What the best value so far is worth, less lam = 1 times what was spent." in text
    assert "dollars per unit of cost" in text
    assert "would be worth less, in dollars" in text
    assert ">Worth<" in text
    plain = sw.minimize(error, TABLE, lam=0.1, surrogate="plain", n_initial=4, max_trials=5)
    text = plain.report(tmp_path / "plain.html").read_text()
    assert "Cost-adjusted value over time" in text
    assert "the best value would have lost" in text
    assert (plain.worth, result.worth) == (None, result._study.worth(result.best.value))


def test_progress_shows_values_and_their_worth(result):
    view = view_of(result._study)
    assert f"{result.best.value:.4g}, worth {result.worth:.4g} dollars (trial" in view.best
    assert "nothing left" in view.next  # the whole bonus is earned


def test_progress_shows_what_the_next_trial_is_worth():
    study = sw.Study(TABLE, utility=BONUS, surrogate="plain", n_initial=3)
    for x in (0.0, 18 / 19, 1.0):
        study.tell({"x": x}, error({"x": x}))
    study.should_stop()
    assert "dollars more for" in view_of(study).next


def test_an_audit_counts_what_is_lost_by_the_utility(result):
    found = sw.audit(result, rules=["immediate", "pbgi"], n_initial=4)
    assert found.lam == 1.0
    first = min(o.value for o in result.history[:4])
    worth = result._study.worth
    assert found["immediate"].lost == pytest.approx(result.worth - worth(first))
    assert "units of the objective (best) and dollars;" in str(found)
    nameless = sw.minimize(
        error, TABLE, utility=sw.utility.linear(2), surrogate="plain", n_initial=4, max_trials=5
    )
    assert "(best) and of its worth;" in str(sw.audit(nameless, rules=["immediate"], n_initial=4))


def test_a_file_says_what_values_are_worth(loaded):
    config = loaded(FILE)
    assert config.utility == sw.utility.piecewise([(0.9, 0), (0.95, 1000)], unit="dollars")
    study = new_study(config)
    assert (study.options.lam, study.worth(0.91)) == (1.0, pytest.approx(200.0))
    said = description(config)
    assert "What a value is worth is by [utility], a piecewise: a trial" in said
    assert "must promise 1 dollar." in said
    assert "It stops by pbgi." in said
    assert "must promise 0.5 dollars" in description(loaded(FILE + "[worth]\nlam = 0.5\n"))


@pytest.mark.parametrize(
    ("cost", "unit"),
    [('kind = "reported"\nunit = "hours"', "hours"), ('kind = "seconds"', "s")],
)
def test_a_file_with_two_units_says_what_the_one_is_worth_in_the_other(loaded, cost, unit):
    two = FILE.replace('kind = "none"', cost)
    both = rf"line \d+: the utility is in 'dollars' and costs are in '{unit}': .*\[worth\]: lam"
    with pytest.raises(InputError, match=both):
        loaded(two)
    assert "must promise 40 dollars" in description(loaded(two + "[worth]\nlam = 40\n"))
    same = FILE.replace('kind = "none"', 'kind = "reported"\nunit = "Dollar"')
    assert loaded(same).cost.unit == "Dollar"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("piecewise", "step", r"line 8: .*give one of sigmoid.*kind = 'sigmoid'"),
        ("points", "pints", r"'pints' is no part of a piecewise; it has points, unit"),
        ("[[0.90, 0], [0.95, 1000]]", "[[0.90, 0]]", "not two or more points"),
    ],
)
def test_a_wrong_utility_in_a_file_is_refused_with_its_line(loaded, old, new, message):
    with pytest.raises(InputError, match=message):
        loaded(FILE.replace(old, new))


def test_one_that_goes_the_wrong_way_is_refused_by_the_run(loaded):
    with pytest.raises(InputError, match=r"tune.toml: piecewise: .*a lower value is better"):
        new_study(loaded(FILE.replace("maximize", "minimize")))


@pytest.mark.parametrize(
    "several", ['key = ["yield", "harm"]', 'direction = ["maximize", "minimize"]']
)
def test_a_file_with_several_objectives_says_what_to_do_instead(loaded, several):
    text = FILE.replace('direction = "maximize"', several)
    with pytest.raises(InputError, match=r"line 5: .* optimises one .*weighted sum.*\[limits\]"):
        loaded(text)


def test_gains_are_in_the_currency_wherever_they_are_named(tmp_path):
    """And lam in the currency per unit of cost; values keep their name."""
    bonus = sw.utility.piecewise([(0.01, 50.0), (0.8, 0.0)], unit="dollars")
    named = {"value_name": "misread %", "cost_unit": "$", "lam": 0.5}
    for utility, unit in ((bonus, "dollars"), (sw.utility.linear(40.0), "units of worth")):
        result = sw.minimize(
            error, TABLE, utility=utility, surrogate="plain", n_initial=4, max_trials=7, **named
        )
        promised = re.compile(rf"romised [\d.,e-]+ {unit} in \d choice")
        assert promised.search(result.explain())
        assert promised.search(sw.audit(result, rules=["pbgi"], n_initial=4).heading)
        assert promised.search(view_of(result._study).gains)
        text = result.report(tmp_path / "page.html").read_text()
        assert f"lam ({unit} per $)" in text
        assert re.search(rf"promised [\d.,e-]+ {unit} in all", text)
        assert "misread % per" not in text


def test_where_all_is_good_enough_something_remains_that_cannot_be_worth_more():
    enough = sw.utility.piecewise([(0.5, 50.0), (0.8, 0.0)], unit="dollars")
    study = sw.Study({"x": sw.Real(0.0, 1.0)}, utility=enough, surrogate="plain", n_initial=3)
    for x in (0.1, 0.3, 0.6):
        study.tell({"x": x}, error({"x": x}))
    assert study.should_stop().stop
    assert "Nothing that remains can be worth more." in study.explain()
    assert "Nothing remains to be evaluated." not in study.explain()


def test_it_must_not_change_between_runs(loaded):
    keep_copy(loaded(FILE))
    with pytest.raises(InputError, match=r"utility\.unit was"):
        changes(loaded(FILE.replace("dollars", "euros")))
