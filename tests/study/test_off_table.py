# SPDX-License-Identifier: Apache-2.0
"""Data off the table: observed, believed, and never proposed."""

import numpy as np
import pytest

import stopwise as sw
from stopwise.acquisition import ACQUISITIONS
from stopwise.errors import InputError, InputTypeError
from stopwise.record.journal import ResumeWarning
from stopwise.tools.report import page

ROWS = [{"x": x, "kind": kind} for x in (0.0, 1.0, 2.0, 4.0) for kind in ("a", "b")]
TABLE = sw.Candidates(ROWS)
ELSEWHERE = {"x": 3.0, "kind": "b"}  # within what the columns hold, and in no row
PLAIN = {"surrogate": "plain", "n_initial": 3, "lam": 1e-9}
NEVER = sw.stopping.FixedTrials(99)


def loss(params):
    return (params["x"] - 2.6) ** 2 + 0.3 * (params["kind"] == "a")


def run(study):
    while not study.should_stop().stop:
        trial = study.ask()
        assert trial.params in ROWS
        study.tell(trial, loss(trial.params))
    return study


def begun(**options):
    study = sw.Study(TABLE, **{**PLAIN, "off_table": True, **options})
    study.tell(ELSEWHERE, loss(ELSEWHERE))
    return study


def test_without_the_option_such_data_are_refused_and_it_is_named():
    study = sw.Study(TABLE, **PLAIN)
    with pytest.raises(InputError, match=r"not one of the 8 candidates.*off_table=True, given to"):
        study.tell(ELSEWHERE, 1.0)
    assert len(study.history) == 0


@pytest.mark.parametrize("row", [{"x": 0.25}, {"x": 7.0}])
def test_the_refusal_says_which_rows_there_are(row):
    study = sw.Study(sw.Candidates([{"x": 0.0}, {"x": 0.5}, {"x": 1.0}]), lam=0.1)
    with pytest.raises(InputError, match=r"is not one of the 3 candidates.*rows of Candidates"):
        study.tell(row, 1.0)


def test_data_off_the_table_count_as_found_and_all_candidates_are_still_tried():
    study = run(begun(stopping=NEVER))
    assert study.verdict.rule == "exhausted"
    assert len(study.history) == len(ROWS) + 1
    assert study.best.params == ELSEWHERE
    assert study.spent == len(ROWS)  # data from elsewhere are not charged


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_no_acquisition_proposes_what_is_off_the_table(acquisition):
    made = sw.acquisition.PBGID(1e-6) if acquisition == "pbgi-d" else acquisition
    run(begun(acquisition=made))


def test_noisy_studies_do_not_repeat_what_is_off_the_table():
    study = begun(noise=0.01, replicates=True, max_trials=12)
    study.tell(ELSEWHERE, loss(ELSEWHERE) + 0.1)
    run(study)
    assert sum(o.params == ELSEWHERE for o in study.history) == 2


def test_data_off_the_table_teach_the_model_as_a_row_would():
    """The belief is that of a table with one more row, whose value is known."""
    told = [(ROWS[i], loss(ROWS[i])) for i in (0, 3, 5)] + [(ELSEWHERE, loss(ELSEWHERE))]
    larger = sw.Candidates([*ROWS, ELSEWHERE])
    studies = [sw.Study(TABLE, off_table=True, **PLAIN), sw.Study(larger, **PLAIN)]
    for study in studies:
        for params, value in told:
            study.tell(params, value)
    one, other = (study.snapshot().law(study.domain.points).mean for study in studies)
    assert one == pytest.approx(other[: len(ROWS)], rel=1e-12)
    one, other = (study.should_stop() for study in studies)
    assert one.value == pytest.approx(other.value, rel=1e-9)
    assert studies[0].ask().params == studies[1].ask().params


def test_a_journal_resumes_data_off_the_table_to_the_last_bit(tmp_path):
    path = tmp_path / "study.jsonl"
    with begun(journal=path) as study:
        for _ in range(4):
            study.should_stop()
            trial = study.ask()
            study.tell(trial, loss(trial.params))
    whole = run(begun())
    again = run(sw.Study.resume(path))
    assert again.history == whole.history
    assert again.traces == whole.traces
    assert sw.Study.load(path).history[0].params == ELSEWHERE
    [replayed] = sw.replay(again, again.rules)
    assert len(replayed.verdicts) == len(again.traces[again.rules[0].key])


def test_a_resumed_study_may_begin_to_accept_such_data_but_not_refuse_what_it_has(tmp_path):
    path = tmp_path / "study.jsonl"
    sw.Study(TABLE, journal=path, **PLAIN).close()
    with pytest.warns(ResumeWarning, match="off_table is now True; it was False"):
        study = sw.Study.resume(path, off_table=True)
    study.tell(ELSEWHERE, 1.0)
    study.close()
    with pytest.raises(InputError, match="off_table=False, but this study accepts data off its"):
        sw.Study.resume(path, off_table=False)
    assert sw.Study.resume(path).history[0].params == ELSEWHERE


def test_a_price_list_has_no_price_off_the_table():
    prices = np.arange(1.0, 9.0)
    study = sw.Study(TABLE, cost=prices, off_table=True, stopping=NEVER, **PLAIN)
    with pytest.raises(InputError, match="is in no row, so its cost is not known: tell it"):
        study.tell(ELSEWHERE, 1.0)
    study.tell(ELSEWHERE, 1.0, 12.5)
    assert study.history[0].cost == 12.5
    assert run(study).verdict.rule == "exhausted"


@pytest.mark.parametrize("params", [{"x": 7.0, "kind": "b"}, {"x": 3.0, "kind": "c"}])
def test_what_the_columns_cannot_hold_says_how_they_can(params):
    study = begun()
    with pytest.raises(
        InputError, match=r"a row off the table may have what its columns can hold"
    ):
        study.tell(params, 1.0)
    space = {"x": sw.Real(0, 10), "kind": sw.Categorical(["a", "b", "c"])}
    wider = sw.Study(sw.Candidates(ROWS, space=space), off_table=True, **PLAIN)
    wider.tell(params, 1.0)
    run(wider)


def test_what_is_to_be_proposed_must_be_in_the_table():
    with pytest.raises(InputError, match="is not one of the 8 candidates"):
        sw.Study(TABLE, off_table=True, start_from=[ELSEWHERE], **PLAIN)


def test_a_space_of_parameters_needs_no_such_option():
    with pytest.raises(InputError, match=r"off_table=True is for a table of candidates"):
        sw.Study({"x": sw.Real(0, 1)}, lam=1.0, off_table=True)
    with pytest.raises(InputTypeError, match=r"off_table='yes': give True or False"):
        sw.Study(TABLE, lam=1.0, off_table="yes")


def test_a_failure_off_the_table_is_kept_too():
    study = begun(stopping=NEVER)
    study.tell({"x": 3.0, "kind": "a"}, None, message="no reaction")
    assert run(study).verdict.rule == "exhausted"


def test_report_and_audit_show_data_off_the_table():
    study = run(begun(lam=0.05))
    assert "The best" in page(study)
    found = sw.audit(study)
    assert found.best == study.best.value
    assert any("1 evaluation is off the table" in note for note in found.notes)
    rows = [{**o.params, "value": o.value, "cost": 1.0} for o in study.history]
    table = sw.audit(rows, space=TABLE, lam=0.05, rules=["pbgi"], n_initial=3)
    assert table.n == len(study.history)
    assert any("1 evaluation is off the table" in note for note in table.notes)
