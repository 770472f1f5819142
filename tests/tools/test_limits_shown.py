# SPDX-License-Identifier: Apache-2.0
"""Limits where people look: report, progress, audit."""

import pytest

import stopwise as sw
from stopwise.errors import InputError
from stopwise.tools.progress.view import told, view_of
from stopwise.tools.report._axis import number
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._pictures import best_picture, costs_picture

TABLE = sw.Candidates([{"x": i / 19} for i in range(20)])


def react(params):
    return {"value": -params["x"], "outcomes": {"harm": 4.0 * params["x"] ** 2}}


@pytest.fixture(scope="module")
def result():
    options = {"lam": 1e-4, "surrogate": "plain", "n_initial": 4, "max_trials": 8}
    return sw.minimize(react, TABLE, limits={"harm": (None, 1.0)}, **options)


@pytest.fixture
def looking():
    study = sw.Study(
        TABLE, lam=1e-4, limits={"harm": (None, -1.0)}, surrogate="plain", n_initial=2
    )
    for i in (3, 9):
        made = react({"x": i / 19})
        study.tell({"x": i / 19}, made["value"], outcomes=made["outcomes"])
    return study


def test_the_report_shows_infeasible_trials_apart(result, looking, tmp_path):
    infeasible = sum(o.infeasible for o in result.history)
    assert infeasible
    text = result.report(tmp_path / "report.html").read_text()
    assert f"{infeasible} broke a limit (hollow squares) and cannot be the best." in text
    assert "sw-square f" in text
    assert f"{infeasible} infeasible" in text
    assert ">harm<" in text
    assert "succeed with probability" in text
    text = looking.result().report(tmp_path / "looking.html").read_text()
    assert "no evaluation has kept all limits yet" in text
    assert "No evaluation has kept all limits yet. 2 broke a limit (hollow squares)" in text
    assert "it keeps all limits with probability" in text
    for wrong in ("given a value yet", "not complete yet", "no value yet"):
        assert wrong not in text


@pytest.mark.parametrize(
    ("noise", "word"), [(None, "infeasible"), (0.01, "measured beyond a limit")]
)
def test_tables_say_what_broke_a_limit_whatever_its_message(noise, word, tmp_path):
    study = sw.Study(
        TABLE, lam=1e-4, limits={"harm": (None, 1.0)}, surrogate="plain", n_initial=2, noise=noise
    )
    for i in (3, 12):
        study.tell({"x": i / 19}, float(i), outcomes={"harm": i / 10}, message=f"batch {i}")
    study.tell({"x": 1.0}, None)
    text = study.result().report(tmp_path / "report.html").read_text()
    trials = text.partition('id="trials"')[2]
    rows = [part.partition("</tr>")[0] for part in trials.split('id="t')[1:]]
    assert [word in row for row in rows] == [False, True, False]
    assert ["batch" in row for row in rows] == [True, True, False]
    assert [">failed<" in row for row in rows] == [False, False, True]
    for picture in (best_picture(Facts(study)), costs_picture(Facts(study))):
        assert picture.header[-1] == "status"
        assert [row[-1] for row in picture.rows] == ["", word, "failed"]


def test_the_report_names_limits_fallback_and_what_was_measured(result, tmp_path):
    text = result.report(tmp_path / "report.html").read_text()
    assert "Limit of harm" in text
    assert "at most 1" in text
    assert f"{result.best.outcomes['harm']:.6g}" in text.partition("harm (measured)")[2][:60]
    kept = next(o.value for o in result.history if not o.infeasible)
    assert f"the first was {number(kept)}." in text
    study = sw.Study(TABLE, lam=1e-4, limits={"harm": (0.5, 1.0)}, fallback=-0.25, n_initial=2)
    for i in (3, 9):
        study.tell({"x": i / 19}, {"value": 1.0, "outcomes": {"harm": 2.0 + i, "smell": 7.5}})
    text = study.result().report(tmp_path / "fallback.html").read_text()
    for said in ("from 0.5 to 1", "Fallback", "the fallback of -0.25", ">smell<", "7.5"):
        assert said in text


def test_progress_counts_them(result, looking):
    infeasible = [o for o in result.history if o.infeasible]
    view = view_of(result._study)
    assert f"{len(infeasible)} infeasible" in view.trials
    assert told(infeasible[0]).endswith(", infeasible")
    looking.should_stop()
    assert view_of(looking).stops[0].text == "not before an evaluation keeps all limits"
    assert view_of(looking).best == "none yet"


def test_an_audit_judges_by_what_keeps_the_limits(result, looking):
    audit = sw.audit(result, lam=1e-4, rules=["pbgi", "convergence"])
    assert audit.best == result.best.value
    assert audit.study.options.limits == {"harm": (None, 1.0)}
    assert all(row.best >= result.best.value for row in audit.rows)
    with pytest.raises(InputError, match="no evaluation has kept all limits"):
        sw.audit(looking, lam=1e-4, n_initial=2)


@pytest.mark.parametrize(
    ("noise", "word"), [(None, "infeasible"), (0.01, "measured beyond a limit")]
)
def test_an_audit_says_how_many_broke_a_limit(noise, word):
    study = sw.Study(TABLE, lam=1e-4, limits={"harm": (None, 1.0)}, surrogate="plain", noise=noise)
    for i in (3, 6, 12, 16):
        made = react({"x": i / 19})
        study.tell({"x": i / 19}, made["value"], outcomes=made["outcomes"])
    study.tell({"x": 1.0}, None)
    audited = sw.audit(study, rules=["convergence"], n_initial=2)
    said = f"5 evaluations, 1 of them without a value, 2 of them {word} (the first 2 with a value"
    assert audited.heading.startswith(said)
    assert (audited.n, audited.infeasible, audited.as_json()["infeasible"]) == (4, 2, 2)


def test_an_audit_takes_over_the_status_quo():
    study = sw.Study(TABLE, lam=1e-4, limits={"harm": (None, 1.0)}, fallback=-0.25, n_initial=2)
    for i in (1, 3, 16):
        made = react({"x": i / 19})
        study.tell({"x": i / 19}, made["value"], outcomes=made["outcomes"])
    audited = sw.audit(study, n_initial=2).study
    assert audited.options.fallback == -0.25
    reason = audited.should_stop().reason  # the best that keeps the limits is worse than that
    assert "-0.25" in reason
    assert reason == study.should_stop().reason


def test_an_audit_takes_over_constraints_noise_and_what_failures_teach():
    space = {"x": sw.Real(0, 1), "z": sw.Real(0, 1)}
    options = {"noise": 0.01, "replicates": True, "failures": "median"}
    study = sw.Study(space, lam=1e-4, constraints=["x + z <= 1"], n_initial=3, **options)
    for x, z in ((0.1, 0.1), (0.5, 0.2), (0.2, 0.7)):
        study.tell({"x": x, "z": z}, -x - z)
    taken = sw.audit(study, rules=["pbgi"], n_initial=3).study
    assert {name: getattr(taken.options, name) for name in options} == options
    best = taken.snapshot().sup(taken.acquisition).x  # beyond the wall there would be more
    assert sum(taken.domain.decode(best[None, :])[0].values()) <= 1.0


def test_an_audit_says_which_constraints_it_does_not_know(tmp_path):
    study = sw.Study(
        TABLE, lam=1e-4, constraints=[lambda p: p["x"] < 0.9], journal=tmp_path / "run.jsonl"
    )
    for i in (1, 3, 6):
        study.tell({"x": i / 19}, 0.1 * i)
    study.close()
    audited = sw.audit(tmp_path / "run.jsonl", rules=["convergence"], n_initial=2)
    assert any("constraints are not at hand" in note for note in audited.notes)
