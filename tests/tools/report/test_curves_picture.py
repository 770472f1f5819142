# SPDX-License-Identifier: Apache-2.0
"""The report of a study with stages."""

import hashlib
import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from stopwise.tools.progress import Progress
from stopwise.tools.progress.words import times
from stopwise.tools.report._curves_picture import curves_picture
from stopwise.tools.report._facts import Facts

SPACE = {"x": sw.Real(0.0, 1.0)}
STAGES = sw.Stages([1, 3, 9])


def train(params: dict[str, Any]) -> Iterator[tuple[int, float]]:
    for step in range(1, 10):
        yield step, (params["x"] - 0.3) ** 2 + 0.1 * (3.0 / math.sqrt(step) - 1.0)


def test_a_report_shows_where_runs_were_left_and_why(tmp_path: Path) -> None:
    stream = io.StringIO()
    result = sw.minimize(train, SPACE, lam=0.01, stages=STAGES, progress=Progress(stream=stream))
    text = result.report(tmp_path / "report.html").read_text(encoding="utf-8")
    study = result._study
    begun, done, left = len(study.curves), len(result.history), len(study.paused)
    assert f"{begun} trials begun: {done} run to step 9, {left} left before." in text
    assert f"Stopped after {begun} trials begun, {done} finished" in text
    assert f"<dd>{begun}<small>{done} finished, {left} paused</small></dd>" in text
    rows = {row[0]: row for row in curves_picture(Facts(study)).rows}
    assert study.why_left
    for number, of in study.why_left.items():
        row = rows[number]
        assert row[1] == of.step
        assert str(row[5]).startswith(f"left for trial {of.chosen}: fair value ")
        then = of.going_on
        assert row[4] == (None if then.worth is None else f"{times(then.worth)} its price")
    for number in {trial.number for trial in study.paused} - study.why_left.keys():
        assert rows[number][4:] == (
            f"{times(study.worth_going_on()[number])} its price",
            "left when the study stopped",
        )
    worths = study.worth_going_on()
    assert worths.keys() == {trial.number for trial in study.paused}
    assert max(worths.values()) <= 1.0  # or it would have gone on
    assert "times its price" in stream.getvalue()
    assert study.explain() == f"pbgi: {result.verdict.reason}."


def test_a_report_lists_the_configurations_of_paused_trials(tmp_path: Path) -> None:
    result = sw.minimize(train, SPACE, lam=0.01, stages=STAGES, cost_unit="runs")
    text = result.report(tmp_path / "report.html").read_text(encoding="utf-8")
    _, _, part = text.partition("<h2>Paused trials</h2>")
    table, _, _ = part.partition("</section>")
    assert result.paused
    assert table.count("<tr>") == 1 + len(result.paused)
    for paused in result.paused:
        for number in (paused.params["x"], paused.value, paused.cost_to_finish):
            assert f">{number:.6g}</td>" in table
    assert "expected cost to finish (runs)" in table
    reasons = table.count(">left for trial ") + table.count(">left when the study stopped<")
    assert reasons == len(result.paused)
    whole = sw.minimize(lambda params: params["x"], SPACE, lam=1.0)
    assert "Paused" not in whole.report(tmp_path / "whole.html").read_text(encoding="utf-8")


def test_failed_runs_are_counted_apart() -> None:
    study = sw.Study(SPACE, lam=0.01, stages=STAGES)
    first, second, third, fourth = (study.next().trial for _ in range(4))
    study.tell(first, 0.5, step=1)
    study.tell(first, None, step=3, message="out of memory")
    study.tell(second, 0.4, step=1)
    study.tell(third, None)
    picture = curves_picture(Facts(study))
    assert picture.words == "4 trials begun: 1 paused before, 2 failed, 1 being run."
    assert [(row[0], row[5]) for row in picture.rows] == [
        (first.number, "failed: out of memory"),
        (second.number, "waits for the next choice"),
    ]
    assert fourth.number not in study.curves


def test_a_journal_that_does_not_say_why_is_shown_so(tmp_path: Path) -> None:
    path, old = tmp_path / "run.jsonl", tmp_path / "old.jsonl"
    new = sw.minimize(train, SPACE, lam=0.01, stages=STAGES, journal=path)._study
    seal, lines = digest(b""), []
    for line in path.read_text("utf-8").splitlines():
        event = {k: v for k, v in json.loads(line).items() if k not in ("check", "passed")}
        event.get("leg", {}).pop("passed", None)
        text = json.dumps(event)[:-1]
        seal = digest(f"{seal}{text}".encode())
        lines.append(f'{text}, "check": "{seal}"}}\n')
    old.write_text("".join(lines), "utf-8")
    study = sw.Study.load(old)
    assert study.curves == new.curves
    assert {n: (of.step, of.chosen) for n, of in study.why_left.items()} == {
        n: (of.step, of.chosen) for n, of in new.why_left.items()
    }
    rows = {row[0]: row for row in curves_picture(Facts(study)).rows}
    for number, of in study.why_left.items():
        assert rows[number][4:] == ("not recorded", f"left for trial {of.chosen}")


def digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def test_the_legend_has_a_mark_for_finished_trials(tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    result = sw.minimize(train, SPACE, lam=0.01, stages=STAGES)
    pixels = image.imread(result.plot_curves().save(tmp_path / "curves.png"))[..., :3]
    legend = pixels[: pixels.shape[0] // 12]  # above the axes
    for colour in ((0x0B, 0x57, 0xA4), (0xA6, 0x36, 0x03)):
        near = abs(legend * 255 - colour).max(axis=-1) < 30
        assert near.sum() > 50


def test_an_empty_study_has_a_report_too(tmp_path: Path) -> None:
    study = sw.Study(SPACE, lam=0.01, stages=STAGES)
    assert study.worth_going_on() == {}
    text = study.result().report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Nothing was reported yet" in text
