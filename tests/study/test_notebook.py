# SPDX-License-Identifier: Apache-2.0
"""What notebooks show: the answer, the best configuration, the last evaluations; all escaped."""

import threading

import pytest

import stopwise as sw
from stopwise.errors import JournalError
from stopwise.record.history import History, Observation
from stopwise.record.outcomes import Completed, Failed
from stopwise.stopping import Verdict

SPACE = {"x": sw.Real(0, 1), "act": sw.Categorical(["<b>relu", "tanh"])}


def told(**options):
    study = sw.Study(SPACE, lam=0.01, **options)
    for _ in range(3):
        trial = study.ask()
        study.tell(trial, (trial.params["x"] - 0.3) ** 2)
    return study


def test_a_verdict_is_shown_with_its_rule():
    shown = Verdict.at_most("pbgi", 1.0, 2.0, "a < b")._repr_html_()
    assert shown == "<p><strong>Stop</strong> (pbgi): a &lt; b: stop.</p>"
    assert "Go on" in Verdict.not_yet("pbgi", "later")._repr_html_()


def test_a_study_and_its_result_are_shown_with_the_best():
    study = told(value_name="loss", cost_unit="$")
    assert "Nobody has asked yet" in study._repr_html_()
    study.should_stop()
    study.ask()
    for shown in (study._repr_html_(), study.result()._repr_html_()):
        assert "Best: <strong>loss 0." in shown
        assert "3 evaluations, 1 running, $3 spent" in shown
        assert "<b>relu" not in shown
    assert "Nothing is best yet" in sw.Study(SPACE, lam=0.01)._repr_html_()


def test_a_history_shows_its_last_evaluations():
    many = [Observation(i, {"x": 0.123456 * i}, Completed(1.0 * i), 1.0) for i in range(25)]
    shown = History(tuple(many))._repr_html_()
    assert shown.count("<tr>") == 21
    assert "25 evaluations, the last 20 of them:" in shown
    failed = History((Observation(0, {"x": 1}, Failed("out of <memory>"), 1.0),))._repr_html_()
    assert "<td>failed</td>" in failed
    assert "out of &lt;memory&gt;" in failed


def test_a_history_is_shown_in_the_names_that_were_given():
    study = told(value_name="misread %", cost_unit="$")
    assert "<th>misread %</th><th>cost ($)</th>" in study.history._repr_html_()
    assert "<th>misread %</th><th>cost ($)</th>" in study.result().history[1:]._repr_html_()
    assert "<th>value</th><th>cost</th>" in told().history._repr_html_()
    assert study.history == told().history  # names are no data


def test_a_ladder_promises_and_a_guarantee_are_shown():
    study = sw.Study({"n": sw.Integer(1, 40)}, lam=0.01, value_name="loss", cost_unit="$")
    assert "No signal is recorded yet" in sw.lam_ladder(study)._repr_html_()
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, abs(trial.params["n"] - 7.0))
    study.ask()
    ladder = sw.lam_ladder(study)
    shown = ladder._repr_html_()
    assert "<th>best loss by then</th>" in shown
    assert shown.count("<tr>") == 1 + len(ladder)
    assert "<td>0.01 (given)</td>" in shown
    assert "<p>Read off this trajectory; under PBGI another lam would have chosen" in shown
    assert "Nothing has been promised yet" in told().promises[:0]._repr_html_()
    promises = study.promises._repr_html_()
    assert promises.startswith(f"<p>Promised {study.promises.promised:.4g} in ")
    assert "<td>pending</td>" in promises
    assert "<p>lam = 0.01 is what a unit of cost is worth" in study.guarantee()._repr_html_()


@pytest.mark.parametrize("noise", [None, 0.01, "learn"])
def test_the_repr_agrees_with_the_best(noise):
    study = told(noise=noise)
    best = study.best
    assert study.options.units.value(best.value, best.std) in repr(study)


def test_the_cell_that_resumes_may_be_run_twice(tmp_path):
    path = tmp_path / "run.jsonl"
    first = told(journal=path)
    second = sw.Study.resume(path)
    third = sw.Study.resume(path)
    trial = third.ask()
    third.tell(trial, 0.5)
    assert len(third.history) == 4
    for earlier in (first, second):
        assert len(earlier.history) == 3
        with pytest.raises(JournalError, match=r"opened .*run\.jsonl again, .* use that one\."):
            earlier.ask()
    third.close()
    with pytest.raises(JournalError, match="is closed: go on with"):
        third.ask()
    assert [o.number for o in sw.Study.load(path).history] == [0, 1, 2, 3]


def test_another_thread_keeps_its_journal(tmp_path):
    path, caught = tmp_path / "run.jsonl", []
    study = told(journal=path)

    def resume():
        try:
            sw.Study.resume(path)
        except JournalError as error:
            caught.append(error)

    thread = threading.Thread(target=resume)
    thread.start()
    thread.join()
    assert "is being written by another study" in str(caught[0])
    study.tell(study.ask(), 0.1)
    study.close()
