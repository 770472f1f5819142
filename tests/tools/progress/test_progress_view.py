# SPDX-License-Identifier: Apache-2.0
"""The view of a study: what is recorded, and how far it is from its stop."""

import io
import re

import stopwise as sw
from stopwise.core.units import SECONDS, AnswerUnits
from stopwise.record.history import Observation
from stopwise.record.outcomes import Completed
from stopwise.stopping import PBGI, Convergence, FixedTrials
from stopwise.tools.progress.painters import Clock, painter_for, rows
from stopwise.tools.progress.view import told, view_of
from stopwise.tools.progress.words import times
from tests.support.progress_studies import LINE, TABLE, bowl, run_by_hand, valley


def test_what_choices_promised_and_what_came_is_shown_once_one_is_told():
    study = run_by_hand(sw.Study(LINE, lam=1e-4, n_initial=4), bowl, 4)
    assert view_of(study).gains == ""
    study.ask()
    assert view_of(study).gains == ""
    [trial] = study.pending
    study.tell(trial, bowl(trial.params))
    [promise] = study.promises
    words = f"promised {promise.promised:.4g} in 1 choice, {promise.delivered:.4g} came"
    assert view_of(study).gains == words
    assert ("gains", words) in [(label, gauge.text) for label, gauge in rows(view_of(study), [])]
    out = io.StringIO()
    painter_for(out, "").paint(view_of(study), ["trial 4: 1 for 1"])
    assert f" | {words} | " in out.getvalue()


def test_the_distance_is_gain_over_price():
    study = run_by_hand(sw.Study(TABLE, lam=0.05), valley, 12)
    [trace] = study.traces.values()
    facts = trace.current.facts
    expected = facts["gain"] / (0.05 * facts["cost"])
    view = view_of(study, "euros")
    [stop] = view.stops
    assert stop.text == f"the best candidate left is worth {times(expected)} its price"
    gain = f"expected to gain {facts['gain']:.4g} for 1 euro"
    assert view.next == f"the best candidate left is {gain}"
    assert view.spent.text.startswith("12 euros; stopwise itself took ")
    assert view.trials == "12"
    best = study.best
    assert view.best.startswith(f"{best.value:.4g} (trial {best.number}) x={best.params['x']} ")


def test_the_bar_is_full_only_at_the_stop():
    study = sw.Study(TABLE, lam=0.05)
    shares = []
    while not study.should_stop():
        shares += [view_of(study).stops[0].share]
        trial = study.ask()
        study.tell(trial, valley(trial.params))
    assert study.should_stop().rule == "pbgi"
    assert view_of(study).stops[0].share == 1.0
    assert all(share is None or 0.0 <= share < 1.0 for share in shares)
    assert any(share is not None and share > 0 for share in shares)


def test_an_average_is_called_one():
    rule = sw.stopping.Smoothed(sw.stopping.PBGI(1e-4), 5)
    study = run_by_hand(sw.Study(LINE, lam=1e-4, stopping=rule), bowl, 8)
    assert view_of(study).stops[0].text.endswith("its price (recent average)")


def test_the_initial_design_comes_first():
    study = run_by_hand(sw.Study(TABLE, lam=0.05, max_trials=9), valley, 2)
    view = view_of(study)
    assert view.stops[0].text == "not before the initial design is done, 2 of 3"
    assert view.next == ""
    assert view.trials == "2 of at most 9"


def test_a_budget_without_lam():
    study = run_by_hand(sw.Study(TABLE, budget=20), valley, 10)
    view = view_of(study)
    assert view.spent.text.startswith("10 of 20; stopwise itself took ")
    assert view.spent.share == 0.5
    assert view.stops[0].text == study.verdict.reason
    assert re.match(r"10 of 20 are left(;|, and) at the lam of [0-9.]+ ", view.stops[0].text)
    begun = view_of(sw.Study(TABLE, budget=20, n_initial=1))
    assert begun.stops[0].text == "not before the initial design is done, 0 of 1"
    assert view.next.startswith("the best candidate left is expected to gain ")


def test_each_rule_that_is_obeyed_has_its_line():
    rules = [PBGI(0.05), Convergence(50), FixedTrials(30)]
    study = run_by_hand(sw.Study(TABLE, lam=0.05, stopping=rules, watch="gss"), valley, 9)
    first, second, third = view_of(study).stops
    assert first.text.startswith("the best candidate left is worth ")
    assert second.text.startswith("convergence: ")
    assert third.text.startswith("fixed: ")


def test_nothing_told_failures_and_what_runs():
    study = sw.Study(TABLE, lam=0.05)
    assert view_of(study).best == "none yet"
    trial = study.ask()
    assert [t.number for t in view_of(study).running] == [0]
    study.tell(trial, None, message="out of memory\n" + "x" * 200)
    assert view_of(study).trials == "1, 1 failed"
    line = told(study.history[0])
    assert line.startswith("trial 0 failed after 1: out of memory xxx")
    assert len(line) < 100
    assert (
        told(Observation(3, {}, Completed(0.5), 2.5), AnswerUnits("", SECONDS))
        == "trial 3: 0.5 for 2.5 s"
    )


def test_running_trials_say_since_when():
    study = sw.Study(TABLE, lam=0.05)
    for _ in range(8):
        study.ask()
    now = [100.0]
    clock = Clock("euros", now=lambda: now[0])
    clock.look(view_of(study))
    now[0] = 175.0
    lines = clock.running(view_of(study))
    assert re.fullmatch(
        r"trial 0 \(1 min 15 s, expected to cost about 1 euro\) x=\d+ y=\d", lines[0]
    )
    assert lines[-1] == "and 2 more"


def test_what_is_out_of_date_is_not_shown():
    """Between the end of an evaluation and the next verdict the last signal says nothing."""
    study = sw.Study(TABLE, lam=1e-9)
    while not study.traces:
        study.should_stop()
        trial = study.ask()
        study.tell(trial, valley(trial.params))
    assert view_of(study).next == "being computed"
    assert [gauge.text for gauge in view_of(study).stops] == ["being computed"]
    ended = view_of(study).at_the_end
    assert (ended.next, ended.stops, ended.running) == ("", (), ())
    study.should_stop()
    assert view_of(study).next.startswith("the best candidate left is expected to gain")
    assert "times its price" in view_of(study).stops[0].text
