# SPDX-License-Identifier: Apache-2.0
"""The audit of values and costs without parameters: rules that read values alone."""

import math

import numpy as np
import pytest

import stopwise as sw
from stopwise.errors import InputError
from tests.support.audits import as_csv, history
from tests.support.commands import stopwise

RESULTS = [3.0, 2.0, 2.5, 1.0, 1.2, 1.1, 1.3, 1.0, 1.4, 1.2]


def bare(tmp_path, name="results.tsv"):
    rows = ["commit\tvalue\tcost\tstatus"]
    rows += [f"{at * 7919:07x}\t{value}\t{at + 1}\tkeep" for at, value in enumerate(RESULTS)]
    path = tmp_path / name
    path.write_text("\n".join([*rows, "fffffff\t\t11\tcrash"]) + "\n")
    return path


def test_a_record_without_parameters_is_judged_by_its_values_alone(tmp_path):
    found = sw.audit(bare(tmp_path), lam=0.01, params=[])
    assert [row.rule for row in found.rows] == ["gss", "convergence", "immediate"]
    assert (found.n, found.n_initial, found.spent, found.best) == (10, 1, 55.0, 1.0)
    convergence = found["convergence"]
    assert (convergence.stopped_at, convergence.saved) == (9, 10.0)  # five without improvement
    assert (convergence.lost, convergence.net) == (0.0, pytest.approx(0.1))
    gss = next(  # the definition, by a loop
        n
        for n in range(6, 11)
        if min(RESULTS[: n - 5]) - min(RESULTS[:n])
        <= 0.01 * np.subtract(*np.quantile(RESULTS[:n], [0.75, 0.25]))
    )
    assert found["gss"].stopped_at == gss
    notes = "\n".join(found.notes)
    assert "left out: pbgi, logeipc-med, srgap-med, ucb-lcb, prb" in notes
    assert "evaluation 4 of 10; since then 45 was spent, worth 0.45 at lam = 0.01" in notes
    assert (
        "1 of 11 rows are left out (row 11: value is missing); what they cost, 11 in all," in notes
    )
    assert "Parameters, as taken" not in str(found)
    assert found.study is None


def test_failures_of_a_record_without_parameters_count_too():
    rows = [{"value": value, "cost": 1.0} for value in RESULTS]
    rows.insert(6, {"value": "out of memory", "cost": 30.0})
    found = sw.audit(rows, rules=["convergence"])
    assert (found.n, found.spent) == (10, 40.0)
    assert found["convergence"].stopped_at == 10  # nine of them with a value
    assert found["convergence"].saved == 1.0
    best = RESULTS.index(min(RESULTS))
    assert any(f"evaluation {best + 1} of 11; since then 36 was" in note for note in found.notes)


def test_columns_that_are_no_parameters_leave_a_bare_record():
    rows = [{"trial": at, "value": -value, "cost": 1.0} for at, value in enumerate(RESULTS)]
    found = sw.audit(rows, direction="maximize", rules=["convergence"])
    assert (found.best, found["convergence"].stopped_at) == (-1.0, 9)
    assert math.isnan(found["convergence"].net)
    last = sw.audit([{"value": 2.0, "cost": 1.0}, {"value": 1.0, "cost": 1.0}])
    assert "the last evaluation is the best one" in last.notes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rules": ["gss", sw.stopping.PBGI(0.1)]}, "pbgi asks what could still be gained"),
        ({"n_initial": 11}, "10 evaluations are fewer than n_initial = 11"),
    ],
)
def test_what_a_bare_record_cannot_say_is_refused(options, words):
    rows = [{"value": value, "cost": 1.0} for value in RESULTS]
    with pytest.raises(InputError, match=words):
        sw.audit(rows, **options)


def test_the_command_says_it_in_json_and_by_its_exit_code(tmp_path):
    path = bare(tmp_path)
    said = stopwise("audit", path, "--values-only", "--json", "--exit-code")
    found = said.json
    assert (said.code, found["n"], found["best"], found["lam"]) == (3, 10, 1.0, None)
    by_name = {row["rule"]: row for row in found["rules"]}
    assert by_name["convergence"]["stops_after"] == 9
    assert by_name["convergence"]["net"] is None
    assert by_name["convergence"]["now"]["stop"] is True
    assert by_name["convergence"]["why"].endswith("the patience is 5: stop")
    assert found["parameters"] == []
    said = stopwise("audit", path, "--values-only", "--html", tmp_path / "page.html")
    assert (said.code, "without parameters there is none" in said.err) == (2, True)
    path = as_csv(tmp_path / "runs.csv", history(8))
    said = stopwise("audit", path, "--json", "--html", tmp_path / "page.html", "--n-initial", 7)
    assert (said.code, len(said.json["parameters"])) == (0, 3)
    assert (tmp_path / "page.html").exists()


def test_a_space_is_inferred_from_numpys_numbers_too():
    rows = [{"a": np.float64((i + 1) / 13), "value": np.float64(i)} for i in range(12)]
    assert sw.audit(rows, lam=1e-3, cost=None).n == 12
