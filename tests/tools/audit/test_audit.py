# SPDX-License-Identifier: Apache-2.0
"""The audit: what every rule would have said of a history from elsewhere."""

import math
import re

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.quantity import quantity
from stopwise.errors import InputError, InputTypeError
from stopwise.study.external import ExternalStudy
from stopwise.tools.audit._inferred_space import infer_space
from tests.support.audits import as_csv, history
from tests.support.commands import stopwise

QUICK = ["pbgi", "gss", "convergence", "immediate"]


@pytest.fixture(scope="module")
def found():
    return sw.audit(history(), lam=0.01, rules=QUICK)


# -------------------------------------------------------------------------- the arithmetic


def test_each_row_adds_up(found):
    rows = history()
    values, costs = [row["value"] for row in rows], [row["cost"] for row in rows]
    assert [row.rule for row in found.rows] == QUICK
    for row in found.rows:
        n = len(rows) if row.stopped_at is None else row.stopped_at
        assert row.spent == pytest.approx(sum(costs[:n]))
        assert row.saved == pytest.approx(sum(costs[n:]))
        assert row.best == min(values[:n])
        assert row.lost == pytest.approx(min(values[:n]) - min(values))
        assert row.net == pytest.approx(0.01 * row.saved - row.lost)


def test_simple_rules_stop_where_a_loop_says(found):
    """Convergence by its definition: the best value has not changed over five evaluations."""
    values = [row["value"] for row in history()]
    first = 4  # d + 1
    assert found["immediate"].stopped_at == found.n_initial == first
    expected = next(
        n for n in range(first + 5, len(values) + 1) if min(values[:n]) == min(values[: n - 5])
    )
    assert found["convergence"].stopped_at == expected


def test_it_says_what_a_live_study_says(found):
    """Replay over told data is the same as asking a study after each tell."""
    live = ExternalStudy(
        found.space, lam=0.01, cost="reported", acquisition="logeipc", stopping="pbgi"
    )
    stopped = None
    for n, row in enumerate(history(), start=1):
        trial = live.begin({name: row[name] for name in ("lr", "layers", "act")})
        live.tell(trial, row["value"], row["cost"])
        if live.should_stop().stop and stopped is None:
            stopped = n
    assert found["pbgi"].stopped_at == stopped
    now, said = live.should_stop(), found["pbgi"].now
    assert (said.stop, said.rule, said.reason) == (now.stop, now.rule, now.reason)
    assert said.value == pytest.approx(now.value, rel=1e-6)


def test_maximising_is_minimising_the_negative(found):
    turned = [{**row, "value": -row["value"]} for row in history()]
    other = sw.audit(turned, lam=0.01, rules=QUICK, direction="maximize")
    assert [row.stopped_at for row in other.rows] == [row.stopped_at for row in found.rows]
    assert other.best == -found.best
    assert [row.lost for row in other.rows] == [row.lost for row in found.rows]


def test_every_rule_but_the_fixed_one_is_replayed():
    rows = [{"x": i % 5, "value": abs(i % 5 - 2.0) + 0.01 * i, "cost": 1.0} for i in range(10)]
    found = sw.audit(rows, lam=0.01)
    assert {row.rule for row in found.rows} == set(sw.stopping.RULES) - {"fixed"}
    assert any("noise is learned" in note for note in found.notes)


def test_without_lam_the_rule_that_needs_it_is_left_out():
    found = sw.audit(history(10), rules=None, lam=None, n_initial=9)
    assert "pbgi" not in {row.rule for row in found.rows}
    assert any("lam" in note for note in found.notes)
    assert all(math.isnan(row.net) for row in found.rows)


def test_a_history_a_study_and_a_result_are_audited_as_they_are():
    result = sw.minimize(lambda p: (p["x"] - 0.3) ** 2, {"x": sw.Real(0, 1)}, lam=0.01)
    space = {"x": sw.Real(0, 1)}
    study = sw.Study(space, lam=0.01)
    for o in result.history:
        study.tell(o.params, o.value, o.cost, charge=True)
    for data, given in ((result.history, {"space": space}), (study, {}), (result, {})):
        found = sw.audit(data, lam=0.01, rules=["immediate"], **given)
        assert (found.n, found.spent) == (len(result.history), result.spent)
        assert found.space == space


def test_a_journal_is_audited_by_its_path(tmp_path):
    path = tmp_path / "run.jsonl"
    result = sw.minimize(lambda p: p["n"], {"n": sw.Integer(1, 9)}, lam=0.01, journal=path)
    found = sw.audit(path, lam=0.01, rules=["immediate"])
    assert (found.n, found.spent) == (len(result.history), result.spent)
    assert found.space == {"n": sw.Integer(1, 9)}


def test_failed_evaluations_are_paid_and_not_believed():
    space = {"x": sw.Real(0, 1)}
    study = sw.Study(space, lam=0.01)
    for x in (0.1, 0.9, 0.5, 0.3, 0.7):
        study.tell({"x": x}, None if x == 0.9 else x, 2.0, charge=True)
    found = sw.audit(study.history, space=space, lam=0.01, rules=["immediate"])
    assert (found.n, found.spent) == (4, 10.0)
    assert (found["immediate"].stopped_at, found["immediate"].saved) == (3, 4.0)


# ----------------------------------------------------------------------------- what is read


def test_csv_parquet_frames_and_columns_read_the_same(tmp_path, found):
    import pandas as pd

    frame = pd.DataFrame(history())
    frame.to_parquet(tmp_path / "runs.parquet")
    sources = [
        as_csv(tmp_path / "runs.csv", history()),
        str(tmp_path / "runs.parquet"),
        frame,
        frame.to_dict("list"),
    ]
    for source in sources:
        other = sw.audit(source, lam=0.01, rules=["convergence"])
        assert other["convergence"] == found["convergence"]
        assert other.space == found.space


def test_rows_that_cannot_be_used_are_counted_named_and_left_out(tmp_path, found):
    rows = history()
    odd = [
        {**rows[0], "value": "nan"},
        {**rows[1], "value": "crashed", "cost": ""},
        {**rows[2], "cost": 0},
        {**rows[3], "lr": ""},
    ]
    path = as_csv(tmp_path / "runs.csv", [*odd, *rows])
    other = sw.audit(path, lam=0.01, rules=["convergence"])
    [note] = other.notes
    assert note == (
        "4 of 28 rows are left out (row 1: value is missing; row 2: value is 'crashed';"
        " row 3: cost is 0; row 4: lr is missing); what they cost,"
        f" {quantity(rows[0]['cost'] + rows[3]['cost'])} in all, does not count as spent (a row"
        " that was evaluated and failed counts if its value is a word such as failed)"
    )
    assert other["convergence"] == found["convergence"]


@pytest.mark.parametrize("value", ["crashed", math.inf])
def test_a_row_that_failed_and_was_paid_for_counts_as_spent(found, value):
    rows = history()
    rows.insert(20, {**rows[3], "value": value, "cost": 70.0})
    other = sw.audit(rows, lam=0.01, rules=["convergence"])
    counted = f"1 of 25 rows count as failed evaluations (row 21: value is {value!r})"
    assert other.notes == (f"{counted}; they cost 70 of what was spent",)
    assert (other.n, other.best) == (found.n, found.best)
    assert other.spent == pytest.approx(found.spent + 70.0)
    before, after = found["convergence"], other["convergence"]
    assert (after.stopped_at, after.lost) == (before.stopped_at, before.lost)
    assert after.saved == pytest.approx(before.saved + 70.0 * (before.stopped_at < 20))
    assert other.study.history[20].failed
    assert other.heading.startswith("25 evaluations, 1 of them without a value (the first ")
    assert other.as_json()["without_value"] == 1


def test_a_table_of_which_every_row_failed_has_nothing_to_audit():
    rows = [{**row, "value": "crashed"} for row in history()]
    with pytest.raises(InputError, match="nothing is left to audit: 24 of 24 rows count as fail"):
        sw.audit(rows)


def test_numbers_that_are_texts_are_said_to_be_choices():
    rows = [{**row, "steps": str(at % 4)} for at, row in enumerate(history())]
    notes = sw.audit(rows, rules=["immediate"]).notes
    said = "column 'steps' has numbers that are written as text ('0'), so it is taken for choices"
    assert any(note.startswith(said) for note in notes)
    assert not any("choices" in note for note in sw.audit(history(), rules=["immediate"]).notes)


def test_an_order_column_sorts(found):
    rows = [{**row, "step": i} for i, row in enumerate(history())]
    other = sw.audit(rows[::-1], order="step", lam=0.01, rules=["convergence"])
    assert other["convergence"] == found["convergence"]


def test_missing_costs_name_the_columns_there_are():
    rows = [{"x": r["lr"], "seconds": 1.0, "value": r["value"]} for r in history()]
    with pytest.raises(
        InputError, match=r"no column 'cost' .* 'x', 'seconds', 'value'.*cost=None"
    ):
        sw.audit(rows, lam=0.01)
    found = sw.audit(rows, lam=0.01, cost=None, params=["x"], rules=["immediate"])
    assert found.spent == len(rows)
    assert "each evaluation is taken to cost 1" in found.notes


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ([], InputError, "no rows"),
        (7, InputTypeError, "cannot read evaluations from int"),
        ("nowhere.csv", InputError, "there is no file"),
        ([{"x": 1, "value": None, "cost": 1.0}] * 3, InputError, "nothing is left to audit"),
        ([{"x": 1, "y": 1}], InputError, "no column 'value'"),
        (history(3), InputError, "fewer than the 4 of the initial design"),
    ],
)
def test_what_cannot_be_audited_is_refused_in_words(data, error, words):
    with pytest.raises(error, match=words):
        sw.audit(data, lam=0.01, rules=["immediate"])


# ------------------------------------------------------------------------- what is inferred


def test_kinds_bounds_and_scales_are_inferred():
    rng = np.random.default_rng(1)
    rows = [
        {
            "number": i,
            "lr": float(10 ** rng.uniform(-4, -1)),
            "decay": float(rng.uniform(1e-5, 0.1)),
            "units": int(2 ** rng.uniform(4, 10)),
            "layers": int(rng.integers(1, 5)),
            "bias": bool(rng.integers(2)),
            "act": str(rng.choice(["relu", "tanh"])),
            "run": f"run-{i}",
            "machine": "gpu1",
        }
        for i in range(60)
    ]
    space, notes = infer_space(rows, list(rows[0]))
    assert list(space) == ["lr", "decay", "units", "layers", "bias", "act"]
    assert space["lr"].log
    assert space["units"].log
    assert not space["decay"].log
    assert space["layers"] == sw.Integer(1, 4)
    assert set(space["bias"].choices) == {True, False}
    assert space["lr"].low == min(row["lr"] for row in rows)
    assert [re.search(r"'(\w+)' (.*)$", note).groups() for note in notes] == [
        ("number", "counts the rows and is left out"),
        ("run", "has another text in every row and is left out"),
        ("machine", "does not vary and is left out"),
    ]


def test_bounds_and_scales_can_be_given():
    rows = [{"lr": 0.01 * (i + 1)} for i in range(9)]
    space, _ = infer_space(rows, ["lr"], log=["lr"], bounds={"lr": (0.001, 1.0)})
    assert space == {"lr": sw.Real(0.001, 1.0, log=True)}
    with pytest.raises(InputError, match="no parameter column 'lt'; there are lr"):
        infer_space(rows, ["lr"], log=["lt"])


# ------------------------------------------------------------------------------ how it reads


def test_it_prints_a_table_reasons_and_parameters(found):
    text = str(found)
    assert text.startswith("24 evaluations (the first 4 are the initial design), spent")
    assert re.search(
        r"^rule +stops after +spent +saved +best then +lost +net +now$", text, re.MULTILINE
    )
    assert "convergence: after" in text
    assert re.search(r"^  lr +real, .* log scale$", text, re.MULTILINE)
    assert max(map(len, str(found).split("\n\n")[1].splitlines())) <= 99


def test_it_has_a_table_for_notebooks_and_escapes_it():
    rows = [{"x": float(i), "<b>": i % 2, "value": float(i), "cost": 1.0} for i in range(8)]
    rows[3]["value"] = "<script>"
    page = sw.audit(rows, lam=0.1, rules=["immediate"])._repr_html_()
    assert page.count("<tr>") == 2
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_the_command_reads_a_file(tmp_path):
    path = as_csv(tmp_path / "runs.csv", [{**r, "score": -r["value"]} for r in history()])
    done = stopwise(
        "audit", path, "--value", "score", "--cost", "cost", "--lam", "0.01", "--maximize",
        "--log", "lr", "--bounds", "layers=1:8", "--n-initial", 22,
    )  # fmt: skip
    assert done.code == 0
    assert re.search(r"^  lr +real, .* log scale$", done.out, re.MULTILINE)
    assert re.search(r"^  layers +whole, 1 to 8$", done.out, re.MULTILINE)
    assert re.search(r"^  value +real", done.out, re.MULTILINE)  # what is not named is a parameter
    done = stopwise(
        "audit", path, "--lam", "0.01", "--n-initial", 23, "--html", tmp_path / "page.html"
    )
    assert "page.html" in done.out
    assert (tmp_path / "page.html").read_text("utf-8").lower().startswith("<!doctype html>")
    done = stopwise("audit", path, "--lam", "0.01", "--bounds", "lr")
    assert (done.code, "--bounds 'lr': give a column" in done.err) == (2, True)


# ------------------------------------------------------------------------- bounds and promises


@pytest.mark.parametrize("bounds", [(0, None), {"value": (0, None)}, {"value": [0, math.inf]}])
def test_bounds_of_the_objective_as_for_a_study_or_by_its_column(bounds):
    audited = sw.audit(history(12), lam=0.01, rules=["immediate"], bounds=bounds)
    assert audited.study.options.bounds == (0.0, None)
    with pytest.raises(InputError, match=r"no value is above 0\.1"):
        sw.audit(history(12), lam=0.01, rules=["immediate"], bounds=(None, 0.1))


def test_bounds_of_columns_stay_and_one_side_may_be_as_tried():
    rows = history(12)
    bounds = {"lr": (1e-5, None), "value": (0, None)}
    audited = sw.audit(rows, lam=0.01, rules=["immediate"], bounds=bounds)
    lr = audited.space["lr"]
    assert (lr.low, lr.high) == (1e-5, max(row["lr"] for row in rows))
    assert audited.study.options.bounds == (0.0, None)
    for data in (rows, audited.study):
        with pytest.raises(InputError, match="no parameter column 'loss'"):
            sw.audit(data, lam=0.01, rules=["immediate"], bounds={"loss": (0, None)})


@pytest.mark.parametrize("form", ["study", "result", "journal"])
def test_a_study_keeps_its_bounds_and_shows_its_promises(form, tmp_path):
    path = tmp_path / "run.jsonl"
    study = sw.Study({"x": sw.Real(0, 1)}, lam=1e-6, n_initial=4, bounds=(0, None), journal=path)
    while len(study.history) < 7:
        trial = study.ask()
        study.tell(trial, (trial.params["x"] - 0.3) ** 2)
    data = {"study": study, "result": study.result(), "journal": path}[form]
    audited = sw.audit(data, lam=0.01, rules=["immediate"])
    assert audited.study.options.bounds == (0.0, None)
    assert audited.promises == study.promises
    assert f"; {study.promises}" in audited.heading
    assert len(audited.study.promises) == 0
    wider = sw.audit(data, lam=0.01, rules=["immediate"], bounds=(-1, None))
    assert wider.study.options.bounds == (-1.0, None)
    bare = sw.audit(study.history, space=study.space, lam=0.01, rules=["immediate"])
    assert (len(bare.promises), bare.study.options.bounds) == (0, None)
    assert "promised" not in str(bare)
    study.close()


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ("value=0:", 0, "12 evaluations"),
        ("value=:99", 0, "12 evaluations"),
        ("value=:0.1", 2, "no value is above 0.1"),
        ("value=0", 2, "give a column, its lowest and highest value"),
        ("loss=0:", 2, "'loss'; there are lr, layers, act; the objective is 'value'"),
    ],
)
def test_the_command_takes_bounds_of_the_objective(given, code, words, tmp_path):
    table = as_csv(tmp_path / "runs.csv", history(12))
    done = stopwise("audit", table, "--lam", "0.01", "--n-initial", 11, "--bounds", given)
    assert done.code == code
    assert words in done.out + done.err


def test_it_says_when_other_lams_would_have_stopped(found):
    rows = history()
    [given] = [rung for rung in found.ladder if rung.is_given]
    assert (given.lam, given.stops_after) == (0.01, found["pbgi"].stopped_at)
    assert given.spent == pytest.approx(found["pbgi"].spent)
    assert [r.lam for r in found.ladder] == pytest.approx(
        [1e-4, 1e-3, 1e-2 / 3, 1e-2, 3e-2, 0.1, 1.0]
    )
    for rung in found.ladder:
        told = rows if rung.stops_after is None else rows[: rung.stops_after]
        assert rung.best == min(row["value"] for row in told)
    [largest] = sw.replay(found.study, sw.stopping.PBGI(1.0))
    assert found.ladder[-1].stops_after == found.n_initial + largest.stop_t
    assert "  lam = 0.01 (given): not yet (" in str(found)
    assert found.as_json()["lam_ladder"]["stops_now"] == found.ladder.stops_now


def test_the_ladder_of_others_choices_speaks_of_them(found):
    said = "read off this history; others chose its evaluations, whatever lam is"
    assert f"When other lams would have stopped ({said}):" in str(found)
    assert said in found.study.explain()
    assert "PBGI's" not in str(found)
    assert "under PBGI" not in str(found) + found.study.explain()


@pytest.mark.parametrize(
    ("acquisition", "said"),
    [
        ("pbgi", "under PBGI another lam would have chosen otherwise"),
        ("logeipc", "read off this trajectory; its choices do not depend on lam"),
    ],
)
def test_the_ladder_of_an_own_study_speaks_of_its_choices(acquisition, said):
    study = sw.Study({"x": sw.Real(0, 1)}, lam=0.01, acquisition=acquisition, surrogate="plain")
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, (trial.params["x"] - 0.3) ** 2)
    found = sw.audit(study, rules=["pbgi"])
    for text in (str(sw.lam_ladder(study)), study.explain(), str(found), found.study.explain()):
        assert said in text


def test_rows_and_ladder_count_failures_alike():
    """The rule and the rung of the same lam are one and the same, whatever failed on the way."""
    rows = history(8)
    for at in (6, 5, 5, 2):
        rows.insert(at, {**rows[3], "value": "crashed", "cost": 70.0})
    for lam in (0.01, 0.3):
        found = sw.audit(rows, lam=lam, rules=["pbgi", "immediate"])
        [given] = [rung for rung in found.ladder if rung.is_given]
        row = found["pbgi"]
        assert (given.stops_after, given.spent, given.best) == (
            row.stopped_at,
            row.spent,
            row.best,
        )
        told = len(rows) if row.stopped_at is None else row.stopped_at
        assert row.spent == pytest.approx(sum(r["cost"] for r in rows[:told]))
    assert found["immediate"].stopped_at == found.n_initial + 1  # which failed
    said = "Evaluations without a value count wherever evaluations or trials are counted."
    assert said in str(found)


def test_without_a_recorded_gain_per_cost_there_is_no_ladder():
    assert len(sw.audit(history(8), rules=["immediate"]).ladder) == 0


# ---------------------------------------------------------------------------- other options


@pytest.mark.parametrize("params", [["x"], []])
def test_progress_counts_every_evaluation(params):
    rows = [{"x": float(i), "value": (i - 3.0) ** 2, "cost": 1.0} for i in range(6)]
    seen = []
    sw.audit(
        rows,
        params=params,
        rules=["convergence"],
        progress=lambda done, of: seen.append((done, of)),
    )
    assert seen == ([(i, 6) for i in range(1, 7)] if params else [])


def test_a_column_of_seconds_is_read_as_time():
    rows = [{"x": float(i), "loss": (i - 3.0) ** 2, "seconds": 1000.0} for i in range(6)]
    found = sw.audit(rows, value="loss", cost="seconds", rules=["convergence"])
    assert "spent 1 h 40 min, best loss 0" in found.heading
    assert "spent $6,000" in sw.audit(
        rows, value="loss", cost="seconds", rules=["convergence"], cost_unit="$"
    ).heading  # fmt: skip


def test_columns_may_be_listed_with_commas_and_a_wrong_one_says_the_nearest(tmp_path):
    rows = [
        {"id": f"r{i}", "day": i % 3, "x": float(i), "value": (i - 3.0) ** 2, "cost": 1.0}
        for i in range(6)
    ]
    path = as_csv(tmp_path / "runs.csv", rows)
    with_comma = stopwise("audit", path, "--drop", "id, day", "--values-only")
    assert with_comma == stopwise("audit", path, "--drop", "id", "--drop", "day", "--values-only")
    said = stopwise("audit", path, "--params", "x,day", "--drop", "id")
    assert said.code == 0
    assert "  x    whole, 0 to 5\n  day  whole, 0 to 2\n" in said.out
    said = stopwise("audit", path, "--drop", "idd")
    assert said.code == 2
    assert "no column 'idd' to be dropped (did you mean 'id'?)" in said.err


def test_known_prices_and_the_design_of_a_study_are_taken_over(tmp_path):
    rows = [{"a": a, "b": b, "price": 1.0 + 3 * a + (b == "y")} for a in range(5) for b in "xy"]
    path = tmp_path / "run.jsonl"
    study = sw.Study(sw.Candidates(rows), cost="price", lam=0.05, journal=path, n_initial=3)
    while not (verdict := study.should_stop()).stop:
        trial = study.ask()
        study.tell(trial, (trial.params["a"] - 2) ** 2 + 0.3 * (trial.params["b"] == "x"))
    study.close()
    for found in (sw.audit(study, rules=["pbgi"]), sw.audit(path, rules=["pbgi"])):
        assert found.n_initial == 3
        assert found["pbgi"].stopped_at == len(study.history)
        assert found["pbgi"].stopped_by.reason == verdict.reason


def test_of_a_study_it_says_that_choices_are_judged_as_if_others_had_made_them():
    study = sw.Study({"x": sw.Real(0, 1)}, lam=1e-3, cost=4)
    while not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, (trial.params["x"] - 0.3) ** 2)
    found = sw.audit(study, rules=["pbgi"])
    assert "choices are judged as if others had made them" in str(found)
    assert "and costs 4, worth 0.004" in str(found)  # the price of the study, not a learned one
    rows = [{"x": o.params["x"], "value": o.value, "cost": 4.0} for o in study.history]
    assert "as if others had made them" not in str(sw.audit(rows, lam=1e-3, rules=["pbgi"]))
