# SPDX-License-Identifier: Apache-2.0
"""The lam ladder says when other values of lam would have stopped."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stopwise as sw
from stopwise.core.traces import Signal, Trace
from stopwise.record.history import History, Observation
from stopwise.record.outcomes import outcome_of
from stopwise.stopping import PBGI, After, Smoothed
from stopwise.study.lam_ladder import LamLadder, Rung, ladder
from tests.support.repository import ROOT

SPACE = {"x": sw.Real(0, 1), "n": sw.Integer(1, 5)}
OPTIONS = {"acquisition": "logeipc", "surrogate": "plain", "cost": "reported", "n_initial": 3}


def evaluation(params, number):
    """A value, or none now and then, and what it cost."""
    value = (params["x"] - 0.3) ** 2 + 0.05 * params["n"]
    return None if number % 5 == 4 else value, 1.0 + params["n"]


def run(lam, rule=None, most=13, **options):
    """A study whose choices do not depend on lam."""
    study = sw.Study(SPACE, lam=lam, stopping=rule or "pbgi", **{**OPTIONS, **options})
    while len(study.history) < most and not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, *evaluation(trial.params, trial.number))
    study.should_stop()
    return study


@pytest.fixture(scope="module")
def long():
    study = run(1e-9)
    assert len(study.history) == 13
    return study


def test_each_rung_is_a_study_with_that_lam_where_choices_do_not_depend_on_it(long):
    ladder = sw.lam_ladder(long, [1e-9, 1e-5, 1e-4, 1e-3, 1.0])
    stops = [rung.stops_after for rung in ladder]
    assert stops[0] is None
    assert len({s for s in stops if s is not None}) >= 3  # several steps
    for rung in ladder:
        study = run(rung.lam)
        stopped = study.should_stop().stop
        assert rung.stops_after == (len(study.history) if stopped else None)
        assert rung.spent == pytest.approx(study.spent)
        assert rung.best == study.best.value


@pytest.mark.parametrize("wrap", [lambda r: After(r, 4), lambda r: Smoothed(r, 3)])
def test_a_wrapped_rule_is_replayed_with_other_lams(wrap):
    long = run(1e-9, wrap(PBGI(1e-9)), most=11)
    for rung in sw.lam_ladder(long, [3e-3, 0.1]):
        study = run(rung.lam, wrap(PBGI(rung.lam)), most=11)
        stopped = len(study.history) < 11 or study.should_stop().stop
        assert rung.stops_after == (len(study.history) if stopped else None)


def test_the_lam_at_which_it_would_stop_now_does_and_less_does_not(long):
    now = sw.lam_ladder(long).stops_now
    below, above = sw.lam_ladder(long, [now * (1 - 1e-9), now * (1 + 1e-9)])
    assert below.stops_after is None or below.stops_after < len(long.history)
    assert above.stops_after is not None
    assert now == pytest.approx(math.exp(long.traces[PBGI(1.0).key].current.value))


def test_larger_lams_never_stop_later(long):
    ladder = sw.lam_ladder(long, [10.0 ** (-e / 4) for e in range(30)])
    lams = [rung.lam for rung in ladder]
    stops = [rung.stops_after or math.inf for rung in ladder]
    assert lams == sorted(lams)
    assert stops == sorted(stops, reverse=True)


values = st.floats(-30.0, 30.0)


@given(
    st.lists(st.tuples(values, st.integers(0, 2), st.integers(-9, 9)), min_size=1, max_size=12),
    st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=5),
)
def test_the_ladder_of_any_record_is_what_a_loop_says(steps, lams):
    """Each step is a value, and failures after it that the signal knows of."""
    told, signals, stops = [], [], dict.fromkeys(lams)
    for n, (signal, failures, value) in enumerate(steps, start=1):
        for outcome in (float(value), *[None] * failures):
            told.append(Observation(len(told), {}, outcome_of(outcome), 1.0 + len(told)))
        signals.append(Signal(n - 1, n, signal))
        for lam in lams:
            if stops[lam] is None and signal <= math.log(lam):
                stops[lam] = len(told)
    traces = {PBGI(1.0).key: Trace.of(tuple(signals))}
    found = ladder(traces, None, History(tuple(told)), [], None, lams=lams)
    assert [rung.lam for rung in found] == sorted(lams)
    for rung in found:
        until = len(told) if stops[rung.lam] is None else stops[rung.lam]
        assert rung.stops_after == stops[rung.lam]
        assert rung.spent == sum(o.cost for o in told[:until])
        assert rung.best == min(o.value for o in told[:until] if o.value is not None)
    assert found.stops_now == pytest.approx(math.exp(signals[-1].value))


def test_it_is_around_the_given_lam_that_of_a_budget_or_that_of_now(long):
    ladder = sw.lam_ladder(long)
    [given] = [rung for rung in ladder if rung.is_given]
    assert given.lam == 1e-9
    assert (ladder[0].lam, ladder[-1].lam) == (pytest.approx(1e-11), pytest.approx(1e-7))
    by_gss = run(None, "gss", most=6)
    ladder = sw.lam_ladder(by_gss)
    assert not any(rung.is_given for rung in ladder)
    assert ladder[3].lam == pytest.approx(ladder.stops_now)


def test_looking_changes_nothing_and_needs_no_recorded_present():
    study = run(1e-9, most=6)
    trial = study.ask()
    study.tell(trial, *evaluation(trial.params, trial.number))
    before = study.traces
    n = len(study.history.succeeded)
    assert before[PBGI(1.0).key].current.n < n  # this moment is not recorded
    now = sw.lam_ladder(study).stops_now
    assert study.traces == before
    study.should_stop()
    assert now == math.exp(study.traces[PBGI(1.0).key].current.value)


def test_before_anything_is_recorded_there_are_no_rungs():
    study = sw.Study(SPACE, lam=0.1, **OPTIONS)
    assert list(sw.lam_ladder(study)) == []
    assert str(sw.lam_ladder(study)) == "No signal is recorded yet."
    assert sw.lam_ladder(study).as_json() == {"rungs": [], "stops_now": None}
    study.tell({"x": 0.5, "n": 1}, 1.0, 1.0)
    assert len(sw.lam_ladder(study)) == 0


def test_a_lam_that_is_none_is_refused(long):
    with pytest.raises(ValueError, match="lam must be a positive number"):
        sw.lam_ladder(long, [0.0])


def test_words_and_json():
    ladder = LamLadder(
        (Rung(0.1, None, 5.0, None), Rung(1.0, 1, 2.0, 0.5, is_given=True)), math.inf
    )
    title, first, second, now = str(ladder).splitlines()
    assert "under PBGI another lam would have chosen otherwise" in title
    assert first == "  lam = 0.1: not yet (5 spent, nothing found)"
    assert second == "  lam = 1 (given): after 1 trial (2 spent, best 0.5)"
    assert now == "It would stop now at lam = inf or more."
    assert ladder.as_json()["stops_now"] == "inf"
    assert ladder[1].is_given
    assert len(ladder[:1]) == 1


def test_maximising_shows_values_as_told():
    study = sw.Study({"n": sw.Integer(1, 9)}, lam=1e-3, direction="maximize", surrogate="plain")
    for n in (1, 5, 9, 3, 4, 2):
        study.tell({"n": n}, -abs(n - 6.0))
    study.should_stop()
    assert {rung.best for rung in sw.lam_ladder(study)} == {-1.0}


def test_explain_shows_the_ladder(long):
    assert "  lam = 1e-09 (given): not yet (" in long.explain()
    assert "read off this trajectory; its choices do not depend on lam" in long.explain()
    assert "When other lams" not in run(None, "gss", most=5).explain()


def test_the_code_of_the_page_about_lam_runs(capsys):
    page = (ROOT / "docs" / "how-to" / "lam.md").read_text("utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    exec(code, {})  # noqa: S102  the page's own
    assert "(given): after" in capsys.readouterr().out
