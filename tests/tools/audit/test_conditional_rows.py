# SPDX-License-Identifier: Apache-2.0
"""Audits of rows with parameters that exist only sometimes, and over constrained ground."""

import math

import numpy as np
import pytest

import stopwise as sw
from stopwise.errors import InputError
from tests.support.audits import as_csv
from tests.support.commands import stopwise

SPACE = {
    "kind": sw.Categorical(["a", "b"]),
    "x": sw.Real(0, 1),
    "n": sw.Integer(1, 5, when={"kind": ["b"]}),
    "c": sw.Categorical([1, 2, 3], when={"kind": ["a"]}),
}


def conditional_rows():
    rng = np.random.default_rng(0)
    rows = []
    for i in range(14):
        own = {"n": int(rng.integers(1, 6))} if i % 2 else {"c": int(rng.integers(1, 4))}
        rows.append({"kind": "ab"[i % 2], "x": float(rng.random()), **own, "cost": 1.0})
        rows[-1]["value"] = rows[-1]["x"] + 0.1 * own.get("n", 0)
    return rows


@pytest.mark.parametrize("form", ["frame", "frame of NA", "file", "dicts with nan"])
def test_what_does_not_exist_may_be_written_in_any_way(form, tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = conditional_rows()
    frame = pandas.DataFrame(rows)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    data = {
        "frame": frame,
        "frame of NA": frame.convert_dtypes(),
        "file": tmp_path / "rows.csv",
        "dicts with nan": frame.to_dict("records"),
    }[form]
    options = {"space": SPACE, "lam": 1e-3, "rules": ["convergence"]}
    audited, wanted = sw.audit(data, **options), sw.audit(rows, **options)
    told = [o.params for o in audited.study.history]
    assert told == [o.params for o in wanted.study.history]
    assert told == [{k: v for k, v in r.items() if k not in ("cost", "value")} for r in rows]
    assert audited.notes == wanted.notes


def test_what_is_dropped_without_a_space_is_said():
    rows = conditional_rows()
    for row in rows:
        row.pop("c", None)
    first, *rest = rows
    audited = sw.audit([first, *rest], lam=1e-3, rules=["convergence"])
    [note] = [note for note in audited.notes if "'n'" in note]
    assert note.startswith("1 column is left out, as not all rows have them ('n'):")
    assert "when=" in note
    empty = [{"n": None, **row} for row in rows]
    audited = sw.audit(empty, lam=1e-3, rules=["convergence"])
    assert any("n is missing" in note for note in audited.notes)
    assert any("in which it has its condition, when=" in note for note in audited.notes)


def test_a_bare_history_says_what_it_drops():
    study = sw.Study(SPACE, lam=1e-3)
    for row in conditional_rows():
        params = {name: value for name, value in row.items() if name in SPACE}
        study.tell(params, row["value"])
    audited = sw.audit(study.history, rules=["convergence"])
    assert any("2 columns are left out, as not all rows have them" in n for n in audited.notes)


def constrained_rows():
    rng = np.random.default_rng(0)
    rows = [{"a": float(a), "b": float(b)} for a, b in rng.random((16, 2)) if a + b <= 1]
    return [
        {**row, "value": 0.2 * math.sin(8.0 * row["a"]) - row["a"] - row["b"], "cost": 1.0}
        for row in rows
    ]


def test_constraints_of_an_audit_hold_of_what_could_still_be_evaluated(tmp_path):
    rows = constrained_rows()
    for constraints in ("a + b <= 1", [lambda p: p["a"] + p["b"] <= 1]):
        study = sw.audit(rows, lam=1e-3, rules=["pbgi"], constraints=constraints).study
        best = study.snapshot().sup(study.acquisition).x
        assert sum(study.domain.decode(best[None, :])[0].values()) <= 1.0
    free = sw.audit(rows, lam=1e-3, rules=["pbgi"]).study
    best = free.snapshot().sup(free.acquisition).x
    assert sum(free.domain.decode(best[None, :])[0].values()) > 1.0
    with pytest.raises(InputError, match=r"violates the constraint 'a \+ b <= 0.5'"):
        sw.audit(rows, lam=1e-3, constraints="a + b <= 0.5")
    values = [{name: row[name] for name in ("value", "cost")} for row in rows]
    with pytest.raises(InputError, match="names 'a', which the space does not have"):
        sw.audit(values, lam=1e-3, constraints="a + b <= 1")


def test_constraints_of_a_journal_are_kept_beside_those_that_are_given(tmp_path):
    space, path = {"a": sw.Real(0, 1), "b": sw.Real(0, 1)}, tmp_path / "run.jsonl"
    study = sw.Study(space, lam=1e-3, constraints="a + b <= 1", n_initial=4, journal=path)
    for row in constrained_rows():
        study.tell({"a": row["a"], "b": row["b"]}, row["value"])
    study.close()
    audited = sw.audit(path, rules=["convergence"], constraints=["a <= 0.99", "a + b <= 1"])
    known = [c.source for c in audited.study.options.constraints]
    assert known == ["a + b <= 1", "a <= 0.99"]


def test_a_space_of_configspace_brings_what_it_forbids():
    cs = pytest.importorskip("ConfigSpace")
    space = cs.ConfigurationSpace()
    space.add(cs.Integer("a", (0, 9)), cs.Integer("b", (0, 9)))
    space.add(cs.ForbiddenGreaterThanRelation(space["a"], space["b"]))
    rows = [{"a": a, "b": 9 - a, "value": 1.0 * a, "cost": 1.0} for a in range(5)]
    audited = sw.audit(rows, space=space, lam=1e-3, rules=["convergence"], n_initial=3)
    assert [c.source for c in audited.study.options.constraints] == ["not (`a` > `b`)"]


def test_the_command_takes_constraints(tmp_path):
    path = as_csv(tmp_path / "rows.csv", constrained_rows())
    command = ("audit", path, "--lam", "0.001", "--json")
    limited = stopwise(*command, "--constraint", "a + b <= 1", "--constraint", "a <= 0.99")
    free = stopwise(*command)
    assert limited.code == free.code == 0
    assert limited.json != free.json
    refused = stopwise(*command, "--constraint", "a + b <= 0.5")
    assert refused.code == 2
    assert "violates the constraint 'a + b <= 0.5'" in refused.err
