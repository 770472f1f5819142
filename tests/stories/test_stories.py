# SPDX-License-Identifier: Apache-2.0
"""Four jobs as new users have them, each a script that runs as the README says."""

import csv
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import stopwise as sw
from stopwise.core.units import AnswerUnits
from tests.support.repository import ROOT

HERE = Path(__file__).parent
SOLVENTS = {"water": 1.0, "ethanol": 4.0, "toluene": 9.0}  # what they cost, in price_list.py


def yielded(params):
    """What the laboratory of price_list.py measures."""
    best = {"water": 61.0, "ethanol": 78.0, "toluene": 74.0}[params["solvent"]]
    return best - ((params["temperature"] - 70) / 8.0) ** 2


def told(*command, cwd):
    """What a story printed; it must end well and never show a traceback."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.slow
def test_a_booster(tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    done = told(sys.executable, HERE / "booster.py", tmp_path, cwd=tmp_path)
    study = sw.Study.load(tmp_path / "booster.jsonl")
    best, verdict = study.best, study.verdict
    assert verdict.stop
    assert best.value == min(o.value for o in study.history)
    assert done.stdout.splitlines()[0] == verdict.reason
    lines = done.stderr.splitlines()  # one for each training, and one for the end
    assert [line.split(":")[0] for line in lines] == [
        *(f"trial {o.number}" for o in study.history),
        lines[-1].split(":")[0],
    ]
    assert "; stopwise itself took " in lines[-1]
    assert lines[-1].endswith(f"{verdict.rule}: {verdict.reason}.")
    assert all(" | best misread " in line and " % (trial " in line for line in lines[:-1])
    assert "(misread % per s)." in done.stdout
    assert "  lam = 0.1 (given): " in done.stdout
    assert abs(study.spent - sum(o.cost for o in study.history)) < 1e-9
    assert (tmp_path / "booster.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "booster.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "booster.svg").read_text().startswith("<svg")
    page = (tmp_path / "booster.html").read_text()
    assert f"the best misread is {best.value:.4g} %" in page
    assert "misread % per s" in page


def test_a_price_list(tmp_path):
    done = told(sys.executable, HERE / "price_list.py", tmp_path, cwd=tmp_path)
    study = sw.Study.load(tmp_path / "lab.jsonl")
    history, best, verdict = study.history, study.best, study.verdict
    *old, other = history[:2]
    tried = history[2:]
    assert [(o.value, o.charged) for o in (*old, other)] == [(54.0, False), (51.0, False)]
    assert other.params["temperature"] == 45  # off the list: known, and never proposed
    assert all(o.params["temperature"] % 10 == 0 for o in tried)
    assert len({tuple(o.params.items()) for o in history}) == len(history)  # none twice
    for o in tried:  # prices are prices, and not among what is varied
        assert o.params.keys() == {"temperature", "solvent"}
        assert o.cost == pytest.approx(
            20.0 + 0.2 * o.params["temperature"] + SOLVENTS[o.params["solvent"]]
        )
    assert study.spent == pytest.approx(sum(o.cost for o in tried))
    assert done.stdout.count("to the bench: ") == len(tried)
    assert len(tried) % 2 == 0  # two at a time
    assert tried[0].value == yielded(tried[0].params) - 0.5  # as it was amended
    assert [o.value for o in tried[1:]] == [yielded(o.params) for o in tried[1:]]
    assert verdict.stop
    assert best.value == max(o.value for o in history) > 54.0
    assert f"{verdict.reason}\n<Study: {len(history)} told, 0 pending, best yield " in done.stdout
    assert f"best yield {best.value:.4g} %>" in done.stdout
    assert "expected to raise yield % by " in verdict.reason
    assert " and costs $" in verdict.reason
    left = study.remaining()  # the next experiment: on the list, at its price, not worth it
    price = 20.0 + 0.2 * left.params["temperature"] + SOLVENTS[left.params["solvent"]]
    assert left.params not in [dict(o.params) for o in history]
    assert (left.cost, left.affordable) == (pytest.approx(price), True)
    assert left.gain / left.cost == pytest.approx(left.lam)
    assert left.lam <= 1.0 / 60.0
    candidate = f"temperature = {left.params['temperature']}, solvent = {left.params['solvent']}"
    gain = f"raise yield % by {left.gain:.4g} and costs {AnswerUnits(cost_unit='$').cost(price)}"
    assert f"candidate is {candidate}: it is expected to {gain}." in done.stdout
    untried = [name for name in SOLVENTS if name not in {o.params["solvent"] for o in history}]
    never = f"Never tried: solvent {', '.join(untried)}."
    assert (never in done.stdout) == bool(untried)
    for trial in tried:  # what was handed to the bench, with its price
        asked = f"to the bench: {trial.number} {dict(trial.params)} {trial.cost!r}"
        assert asked in done.stdout
    assert "Evaluations: at most 24, which is all there are." in done.stdout
    spent = AnswerUnits(cost_unit="$").cost(study.spent)
    assert f" (given): after {len(history)} trials ({spent} spent, best yield " in done.stdout
    page = (tmp_path / "lab.html").read_text()
    assert f"Stopped after {len(history)} trials: the best yield is {best.value:.4g} %" in page
    assert page.count(never) == (1 if untried else 0)
    for name in ("yield %", "spent ($)"):  # on the axes
        assert f">{name}<" in page
    for name, value in best.params.items():  # the best configuration, each with its name
        assert f"<dt>{name}</dt><dd>{value}</dd>" in page


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_c_program(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    stopwise = tools / "stopwise"
    stopwise.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m stopwise.tools.cli "$@"\n')
    stopwise.chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    done = told("env", f"PATH={path}", "sh", HERE / "c_program.sh", tmp_path, cwd=tmp_path)
    run, asked = (sw.Study.load(tmp_path / name) for name in ("tune.jsonl", "study.jsonl"))
    best = run.best
    checked = [f"{k} = {v!r}" for k, v in run.history[0].params.items()]
    assert f"    0  {', '.join(checked)}" in done.stdout  # --check had said what comes first
    assert "  lam = 0.01 (given): an improvement of 0.1 pays for 10 CPU h" in done.stdout
    for o in (*run.history, *asked.history):
        width, passes = o.params["width"], o.params["passes"]
        assert o.value == pytest.approx((math.log10(width) - 0.4) ** 2 + 1.5 / passes, abs=1e-6)
    assert [o.cost for o in run.history] == [o.params["passes"] for o in run.history]
    assert run.verdict.stop
    assert f"Best: error {best.value:.4g} px (trial {best.number}) with width = " in done.stdout
    trials = f"{len(run.history)} trials, {run.spent:g} CPU h spent; stopwise itself took "
    assert trials in done.stdout
    assert f"Why it ended: {run.verdict.reason}." in done.stdout
    assert f"the best error is {best.value:.4g} px" in (tmp_path / "tune.html").read_text()
    said = [
        f"trial {o.number} gave error {o.value:.4g} px, at a cost of 2 CPU h"
        for o in asked.history
    ]
    assert [line for line in done.stdout.splitlines() if " gave error " in line] == said
    assert len(said) == 5
    *_, verdict, found = done.stdout.splitlines()
    assert verdict == "max-trials: 5 of at most 5 trials: stop."
    first = asked.best
    shown = ", ".join(f"{name} = {value!r}" for name, value in first.params.items())
    assert found == (
        f"The best so far is trial {first.number}: error {first.value:.4g} px, with {shown}."
    )


def test_an_old_table_and_a_rule_of_ones_own(tmp_path):
    done = told(sys.executable, HERE / "old_runs.py", tmp_path, cwd=tmp_path)
    with (tmp_path / "runs.csv").open(newline="") as file:
        runs = [(float(row["accuracy"]), float(row["dollars"])) for row in csv.DictReader(file)]
    assert "asked: the value is called 'accuracy'" in done.stdout
    assert "say direction='maximize' (--maximize)" in done.stdout
    best = max(accuracy for accuracy, _ in runs)
    paid = sum(dollars for _, dollars in runs)
    assert f"24 evaluations (the first 3 are the initial design), spent ${paid:g}" in done.stdout
    assert f"best accuracy {best:.4g}, lam = 0.0005" in done.stdout
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if " $" in line}
    for rule in ("pbgi", "my-rule"):  # a user adds up what a rule would have saved and lost
        stops, spent, saved, then, lost, net = rows[rule][1:7]
        until = runs[: int(stops)]
        assert spent == f"${sum(d for _, d in until):g}"
        assert saved == f"${sum(d for _, d in runs[int(stops) :]):g}"
        assert float(then) == pytest.approx(max(a for a, _ in until), abs=1e-4)
        assert float(lost) == pytest.approx(best - max(a for a, _ in until), abs=1e-5)
        assert float(net) == pytest.approx(0.0005 * float(saved[1:]) - float(lost), abs=1e-4)
    assert "run_id" not in done.stdout  # it was dropped, and is no parameter
    assert "  lr     real, 0.0001 to 0.1, log scale" in done.stdout
    assert "  lam = 0.0005 (given): after " in done.stdout
    assert "my-rule: after " in done.stdout
    for rule in ("pbgi", "my-rule"):  # and the sentence says after how many
        assert f"{rule}: after {rows[rule][1]} evaluations: " in done.stdout
