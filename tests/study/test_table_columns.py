# SPDX-License-Identifier: Apache-2.0
"""Columns of a table that are no parameters: its prices, ids and dates."""

import datetime as dt
import warnings

import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError

ROWS = [
    {"flow": 0.1 * i, "solvent": "water" if i % 2 else "ethanol", "price": 10.0 + i, "id": 100 + i}
    for i in range(12)
]


def gain(params):
    return (params["flow"] - 0.6) ** 2 + 0.1 * (params["solvent"] == "water")


def run(study):
    while not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, gain(trial.params))
    return study


def test_a_column_is_the_cost():
    table = sw.Candidates(ROWS, drop=["id"])
    study = run(sw.Study(table, lam=0.001, cost="price"))
    assert study.domain.names == ("flow", "solvent")
    by_hand = [{"flow": row["flow"], "solvent": row["solvent"]} for row in ROWS]
    prices = [row["price"] for row in ROWS]
    other = run(sw.Study(sw.Candidates(by_hand), lam=0.001, cost=prices))
    assert study.history == other.history
    assert study.spent == other.spent > 20


def test_declared_parameters_stay_declared():
    table = sw.Candidates(ROWS, space={"flow": sw.Real(0, 5)}, drop=["id"]).without("price")
    assert table.domain.codec.parameters[0] == sw.Real(0, 5)
    assert set(table.beside) == {"id", "price"}
    assert list(table.beside["price"]) == [row["price"] for row in ROWS]


def test_params_name_the_parameters():
    table = sw.Candidates(ROWS, params=["solvent", "flow"])
    assert table.names == ("flow", "solvent")
    assert set(table.beside) == {"price", "id"}
    study = sw.Study(table, lam=0.1, cost="price")
    assert study.ask().expected_cost in {row["price"] for row in ROWS}


def test_a_journal_goes_on_with_the_column(tmp_path):
    path = tmp_path / "run.jsonl"
    table = sw.Candidates(ROWS, drop=["id"])
    with sw.Study(table, lam=0.001, cost="price", journal=path) as study:
        trial = study.ask()
        study.tell(trial, gain(trial.params))
        following = study.ask()
        spent = study.spent
    again = sw.Study.resume(path)
    assert again.spent == spent
    assert again.ask() == following


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: sw.Study(sw.Candidates(ROWS), lam=1, cost="prize"), InputError,
         r"cost='prize' is no column of the table, which has flow, solvent, price, id\."),
        (lambda: sw.Candidates(ROWS, drop=["prize"]), InputError, r"drop names 'prize'.*'price'"),
        (lambda: sw.Candidates(ROWS, params=["a"]), InputError, r"params names 'a'"),
        (lambda: sw.Candidates(ROWS, drop="id"), InputTypeError, r"give a list of column names"),
        (lambda: sw.Candidates(ROWS, params=["id"], drop=["id"]), InputError, r"no parameter is"),
        (lambda: sw.Study(sw.Candidates([*ROWS, {**ROWS[0], "price": 3.0}], drop=["id"]), lam=1,
                          cost="price"), InputError,
         r"rows 0 and 12 of the table are equal but for 'price', which is 10\.0 and 3\.0"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_odd_columns_are_warned_of_once_they_are_parameters():
    dated = [{"x": i, "when": dt.date(2026, 1, i + 1), "Cost": i + 1} for i in range(5)]
    with pytest.warns(UserWarning, match=r"'when' looks like a date and 'Cost' looks like"):
        sw.Study(sw.Candidates(dated), lam=1.0)
    with pytest.warns(UserWarning, match=r"'id' looks like an id.* drop=\['id'\]"):
        sw.Study(sw.Candidates(ROWS), lam=1.0, cost="price")


@pytest.mark.filterwarnings("error")
def test_nobody_is_warned_who_has_said_so():
    sw.Study(sw.Candidates(ROWS, drop=["id"]), lam=1.0, cost="price")
    sw.Study(sw.Candidates(ROWS, params=["flow", "id"]), lam=1.0)
    sw.Study(sw.Candidates([{"x": 1}, {"x": 2}]), lam=1.0, cost=[1.0, 2.0])


def test_numbers_that_are_texts_are_said_to_be_choices():
    rows = [{"lr": text, "x": x} for x, text in enumerate(["0.1", "0.01", "0.001"])]
    with pytest.warns(UserWarning, match=r"'lr' has numbers that are written as text \('0.001'\)"):
        sw.Study(sw.Candidates(rows), lam=1.0)
    declared = {"lr": sw.Categorical(["0.1", "0.01", "0.001"])}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.Study(sw.Candidates(rows, space=declared), lam=1.0)


def test_a_column_of_numbers_and_a_word_is_said_to_be_choices():
    rows = [{"depth": depth} for depth in (1, 2, 3, "unlimited")]
    with pytest.warns(
        UserWarning, match="'depth' has numbers and also 'unlimited', so it is"
    ) as w:
        sw.Study(sw.Candidates(rows), lam=1.0)
    assert w[0].filename == __file__


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "column", [["a", "b", "3"], [True, False, True], [1, 2.5, 3], ["a", 1, "b"]]
)
def test_choices_that_are_no_numbers_need_no_word(column):
    sw.Study(sw.Candidates([{"kind": value} for value in column]), lam=1.0)
