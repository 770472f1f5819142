# SPDX-License-Identifier: Apache-2.0
"""Where a budget alone decides, the lam that it has set says whether going on is worth it."""

import math
import re

import pytest

import stopwise as sw
from stopwise.study.budget_worth import budget_worth, lams_of_budget
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._signal_picture import signal_picture

TABLE = sw.Candidates([{"x": i / 30} for i in range(31)], {"x": sw.Real(0.0, 1.0)})
KEY = "sup_log_ei_per_cost"


def run(told, **options):
    study = sw.Study(TABLE, budget=14, surrogate="plain", n_initial=4, **options)
    while len(study.history) < told and not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, math.sin(9.0 * trial.params["x"]) + trial.params["x"])
    study.should_stop()
    return study


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
    assert lam < lam0  # it was halved at all
    found = worth(study)
    assert (found.lam0, found.lam) == (lam0, lam)


def test_the_answer_is_that_of_the_pbgi_rule_now(study):
    """Nothing affordable remains, and the present signal was computed, not recorded."""
    assert study.should_stop().rule == "budget"
    found, before = worth(study), study.traces
    study.record(sw.stopping.PBGI(found.lam))
    [replayed] = sw.replay(study.traces, sw.stopping.PBGI(found.lam))
    assert found.verdict == replayed.verdicts[max(replayed.verdicts)]
    assert len(before[KEY]) + 1 == len(study.traces[KEY])


def test_explain_and_the_report_name_the_lam_and_the_answer():
    study = run(8)
    found = worth(study)
    assert not study.should_stop().stop
    [line] = [line for line in study.explain().splitlines() if line.startswith("The budget")]
    assert line == found.words
    assert f"has set lam = {found.lam0:.4g}" in line
    assert re.search(r"At this price the best remaining .*: (stop|go on)\.$", line)
    assert f"  lam = {found.lam0:.4g} (given): " in study.explain()
    picture = signal_picture(Facts(study))
    assert "The threshold is the lam that the budget has set" in picture.words
    answer = "would not be" if found.verdict.stop else "would be"
    assert f"at which going on {answer} worth it." in picture.words
    assert picture.rows[-1].threshold == pytest.approx(found.lam)
    assert len(picture.rows) == 8 - 4 + 1  # the present one too


def test_before_the_budget_has_set_a_lam_and_where_a_rule_decides_there_is_no_answer():
    study = run(4)
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
