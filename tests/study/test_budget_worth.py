# SPDX-License-Identifier: Apache-2.0
"""Where a budget alone decides, the lam that it has set says whether going on is worth it."""

import math
import re
from dataclasses import replace

import pytest

import stopwise as sw
from stopwise.study.budget_worth import budget_worth, lams_of_budget
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._signal_picture import signal_picture

TABLE = sw.Candidates([{"x": i / 30} for i in range(31)], {"x": sw.Real(0.0, 1.0)})
KEY = "sup_log_ei_per_cost"


def run(until, **options):
    study = sw.Study(TABLE, budget=14, surrogate="plain", n_initial=4, **options)
    return go_on(study, until)


def go_on(study, until):
    while len(study.history) < until and not study.should_stop().stop:
        told(study)
    study.should_stop()
    return study


def told(study):
    trial = study.ask()
    study.tell(trial, math.sin(9.0 * trial.params["x"]) + trial.params["x"])


@pytest.fixture(scope="module")
def study():
    return run(100)


def worth(study):
    return budget_worth(study.options, study.acquisition, study.traces, study.snapshot())


def test_the_lam_is_halved_as_a_loop_says(study):
    lam = lam0 = study.acquisition.lam0
    lams = []
    for signal in study.traces[KEY]:
        lams.append(lam)
        lam = lam / 2 if signal.value <= math.log(lam) else lam
    assert list(lams_of_budget(study.acquisition, study.traces[KEY]).values()) == lams
    assert lams[-1] < lam0  # it was halved at all
    found = worth(study)
    assert (found.lam0, found.lam) == (lam0, lams[-1])


def test_the_signal_of_every_moment_is_recorded_and_the_answer_can_be_replayed(study):
    """Also of the last one, at which nothing is affordable: it is about more money."""
    verdict, found = study.should_stop(), worth(study)
    assert verdict.rule == "budget"
    assert [signal.n for signal in study.traces[KEY]] == list(range(4, 15))
    [replayed] = sw.replay(study.traces, sw.stopping.PBGI(found.lam))
    assert found.verdict == replayed.verdicts[max(replayed.verdicts)]
    last = study.traces[KEY].current
    assert last.facts["cost"] == pytest.approx(1.0)  # not -inf: something does remain
    with_money = replace(study.snapshot(), left=math.inf)
    assert last.value == with_money.sup(sw.acquisition.LogEIPC()).value
    would = "would not" if found.verdict.stop else "would"
    assert f"going on {would} be worth its price: stop" in verdict.reason
    assert f"at the lam of {found.lam:.4g} (that of the budget was halved)" in verdict.reason
    said = study.explain()
    assert "Nothing that remains is affordable. With more money: the best remaining" in said


def test_a_study_that_is_interrupted_anywhere_is_the_same(tmp_path):
    """The budget's lam and its signals come from the journal, to the last bit."""
    whole = run(100, journal=tmp_path / "whole.jsonl")
    resumed = run(7, journal=tmp_path / "parts.jsonl")
    for told in (9, 100):
        resumed.close()
        resumed = go_on(sw.Study.resume(tmp_path / "parts.jsonl"), told)
    assert resumed.history == whole.history
    assert resumed.traces == whole.traces
    assert resumed.acquisition == whole.acquisition
    assert resumed.verdict == whole.verdict
    loaded = sw.Study.load(tmp_path / "whole.jsonl")
    assert (loaded.explain(), worth(loaded)) == (whole.explain(), worth(whole))


def test_the_lam_is_set_by_the_first_verdict_or_the_first_choice_alike():
    asked_first, judged_first = run(4), run(4)
    judged_first.should_stop()
    assert judged_first.ask().params == asked_first.ask().params
    assert judged_first.acquisition == asked_first.acquisition
    never_judged = sw.Study(TABLE, budget=14, surrogate="plain", n_initial=4)
    for _ in range(4):
        told(never_judged)
    assert never_judged.ask().params == asked_first.pending[0].params
    assert never_judged.acquisition == asked_first.acquisition


def test_explain_and_the_report_name_the_lam_and_the_answer():
    study = run(8)
    found = worth(study)
    assert not study.should_stop().stop
    [line] = [line for line in study.explain().splitlines() if line.startswith("The budget")]
    assert line == found.words
    assert f"has set lam = {found.lam0:.4g}" in line
    assert re.search(r"At this price the best remaining .*: (stop|go on)\.$", line)
    assert f"  lam = {found.lam0:.4g} (set by the budget): " in study.explain()
    picture = signal_picture(Facts(study))
    assert "The threshold is the lam that the budget has set" in picture.words
    answer = "is not" if found.verdict.stop else "is"
    assert f"at which going on {answer} worth it." in picture.words
    left = "nothing that remains is" if found.verdict.stop else "the next evaluation is"
    assert f"{left} worth its price" in study.should_stop().reason
    assert picture.rows[-1].threshold == pytest.approx(found.lam)
    assert len(picture.rows) == 8 - 4 + 1  # the present one too


def test_before_the_budget_has_set_a_lam_and_where_a_rule_decides_there_is_no_answer():
    study = run(3)
    assert study.acquisition is None
    assert worth(study) is None
    assert "The budget has set" not in study.explain()
    assert "The threshold is" not in signal_picture(Facts(study)).words
    by_rule = run(4, lam=0.1)
    assert worth(by_rule) is None
    with_limits = run(0, limits={"harm": (None, 0.0)})
    for i in range(4):
        with_limits.tell({"x": i / 30}, 1.0, outcomes={"harm": 1.0})
    assert worth(with_limits) is None
