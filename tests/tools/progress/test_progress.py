# SPDX-License-Identifier: Apache-2.0
"""Progress: it says what is recorded, changes nothing, and never ends a run."""

import builtins
import dataclasses
import io
import json
import math
import os
import pty
import re
import subprocess
import sys
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

import stopwise as sw
from stopwise.errors import InputTypeError
from stopwise.stopping import Convergence
from stopwise.study.display import Silent
from stopwise.tools.progress import Progress
from stopwise.tools.progress.painters import (
    Forgiving,
    Live,
    Notebook,
    bar,
    painter_for,
)
from stopwise.tools.progress.view import view_of
from tests.support.progress_studies import LINE, TABLE, bowl, quick_run, valley
from tests.support.screen import screen

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def path_of(result):
    return [(dict(o.params), o.value) for o in result.history]


# ---------------------------------------------------------------------------- plain lines


def test_one_line_for_each_trial_and_one_for_the_end():
    out = io.StringIO()
    result = quick_run(progress=Progress(stream=out, unit="euros"))
    lines = out.getvalue().splitlines()
    assert len(lines) == len(result.history) + 1
    assert not CONTROL.search(out.getvalue())
    for observation, line in zip(result.history, lines, strict=False):
        assert line.startswith(f"trial {observation.number}: {observation.value:.4g} for 1 euro ")
        assert " | best " in line
    assert "| the best candidate left is expected to gain " in lines[-2]
    assert lines[-1].startswith(f"Spent {result.spent:g} euros; stopwise itself took ")
    assert lines[-1].endswith(f" s. pbgi: {result.verdict.reason}.")
    # the line of a trial knows what the rules said after it
    ratio = float(re.search(r"worth ([\d.]+) times", lines[-2])[1])
    assert ratio <= 1.0
    assert float(re.search(r"worth ([\d.]+) times", lines[-3])[1]) > 1.0


def test_true_writes_to_standard_error(capsys):
    result = quick_run(progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == len(result.history) + 1


def test_seconds_are_written_as_seconds(capsys):
    sw.minimize(valley, TABLE, lam=1e3, cost="seconds", progress=True)
    assert re.search(
        r"^trial 0: [\d.]+ for [\d.e-]+ s \| .* spent [\d.e-]+ s", capsys.readouterr().err
    )


def test_an_executor_shows_all_that_came_back():
    out = io.StringIO()
    with ThreadPoolExecutor(3) as pool:
        result = sw.maximize(
            lambda p: -valley(p), TABLE, lam=0.05, executor=pool, progress=Progress(stream=out)
        )
    lines = out.getvalue().splitlines()
    assert len(lines) == len(result.history) + 1
    numbers = [int(re.match(r"trial (\d+)", line)[1]) for line in lines[:-1]]
    assert numbers == [o.number for o in result.history]


# ----------------------------------------------------------------------- changes nothing


@pytest.mark.parametrize(
    "options",
    [{}, {"noise": "learn"}, {"budget": 15.0, "lam": None}, {"stopping": ["pbgi", "gss"]}],
    ids=["plain", "noisy", "budget", "rules"],
)
def test_watching_changes_nothing(options):
    options = {"lam": 0.01, "max_trials": 14, **options}
    alone = sw.minimize(bowl, LINE, **options)
    watched = sw.minimize(bowl, LINE, **options, progress=Progress(stream=io.StringIO()))
    assert path_of(watched) == path_of(alone)
    assert watched.verdict == alone.verdict


def test_it_costs_nothing_when_off():
    script = (
        "import json, sys, stopwise as sw\n"
        "sw.minimize(lambda p: p['x'], {'x': sw.Real(0, 1)}, lam=1.0)\n"
        "print(json.dumps([m for m in ('rich', 'IPython', 'html') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    assert json.loads(done.stdout) == []


def test_what_is_neither_true_false_nor_a_progress_is_refused():
    with pytest.raises(InputTypeError, match="progress='yes': give True"):
        quick_run(progress="yes")


# -------------------------------------------------------------------------- never breaks


class Terminal(io.StringIO):
    """A stream that says that somebody watches."""

    encoding = "utf-8"

    def isatty(self):
        return True


class Broken(Terminal):
    def write(self, _):
        raise BrokenPipeError

    def flush(self):
        raise BrokenPipeError


class Gone(Terminal):
    def isatty(self):
        raise ValueError("I/O operation on closed file")


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.fixture
def a_terminal(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.parametrize("stream", [Broken(), Gone(), closed()], ids=["pipe", "gone", "closed"])
def test_a_stream_that_fails_ends_nothing(stream, a_terminal):
    result = quick_run(progress=Progress(stream=stream))
    assert result.verdict.rule == "pbgi"


def test_no_standard_error_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert quick_run(progress=True).verdict.rule == "pbgi"


def test_a_picture_that_fails_ends_nothing(monkeypatch, a_terminal):
    def fails(*_):
        message = "a bug of ours"
        raise RuntimeError(message)

    monkeypatch.setattr("stopwise.tools.progress.view_of", fails)
    before = sys.stdout
    result = quick_run(progress=Progress(stream=Terminal()))
    assert result.verdict.rule == "pbgi"
    assert sys.stdout is before


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_without_unicode(terminal, a_terminal):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", errors="strict")
    stream.isatty = lambda: terminal
    sw.minimize(
        lambda p: len(p["größe"]),
        {"größe": sw.Categorical(["über", "ß", "日本語の値"])},
        lam=0.05,
        progress=Progress(stream=stream),
    )
    stream.flush()
    shown = raw.getvalue().decode("ascii")
    assert "exhausted: " in shown
    assert ("gr??e=?" in shown) == terminal


# ---------------------------------------------------------------------------- a terminal


def test_the_live_view_fits_a_narrow_terminal(a_terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    stream = Terminal()
    quick_run(progress=Progress(stream=stream))
    plain = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())  # colours take no room
    lines = CONTROL.sub("\n", plain).split("\n")
    assert max(map(len, lines)) <= 30
    together = " ".join(" ".join(lines).split())  # sentences go on below
    assert re.search(r" left the best candidate left is expected to gain [\d.]+ for 1 ", together)
    assert any(re.fullmatch(r"running  trial .*…", line) for line in lines)  # a list is cut


def test_no_sentence_of_the_live_view_is_cut_at_80_columns(a_terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    stream = Terminal()
    study = sw.Study(TABLE, lam=0.05, value_name="misread of the second kind %", cost_unit="GPU h")
    with Progress(stream=stream) as progress:
        progress.begin(study)
        for _ in range(6):
            trial = study.ask()
            study.tell(trial, valley(trial.params), None)
            study.should_stop()
            progress.changed(study)
        view = view_of(study)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    shown = " ".join(" ".join(screen(plain)).split())
    assert max(map(len, screen(plain))) <= 80
    for sentence in (view.best, view.spent.text.partition(";")[0], view.next, view.stops[0].text):
        assert len(sentence) > 0
        assert sentence in shown
    assert len(f"   left  {view.next}") > 80


def test_the_live_view_shows_it_all(a_terminal):
    stream = Terminal()
    result = quick_run(progress=Progress(stream=stream, unit="h"))
    text = CONTROL.sub("", stream.getvalue())
    for part in (
        " trials  ",
        "   best  ",
        "  spent  ",
        "   left  ",
        "  stop?  ",
        "running  trial ",
    ):
        assert part in text
    assert f"  spent  {result.spent:g} h" in text
    assert bar(1.0, plain=False) in text


def test_the_note_of_an_interrupt_stands_until_the_end(a_terminal):
    stream, study = Terminal(), sw.Study(TABLE, lam=0.05)
    with Progress(stream=stream) as progress:
        progress.begin(study)
        progress.note("no new trials; 1 running may finish")
        study.ask()
        progress.changed(study)
        shown = screen(stream.getvalue())
        assert shown[-1] == " Ctrl-C  no new trials; 1 running may finish"
    assert "Ctrl-C" not in "".join(screen(stream.getvalue()))
    out = io.StringIO()
    with Progress(stream=out) as progress:
        progress.begin(study)
        progress.note("no new trials")
    assert out.getvalue() == "no new trials\n"


def test_an_interrupt_beside_an_executor_says_what_is_still_being_done(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("stopwise.study.loop.wait", interrupted)
    out = io.StringIO()
    with pytest.raises(KeyboardInterrupt), ThreadPoolExecutor(2) as executor:
        sw.minimize(valley, TABLE, lam=0.05, executor=executor, progress=Progress(stream=out))
    assert "The executor is at work on 2 trials and may wait until they end" in out.getvalue()


def test_the_terminal_is_given_back_after_an_interrupt(a_terminal):
    def interrupted(params):
        raise KeyboardInterrupt

    stream, before = Terminal(), (sys.stdout, sys.stderr)
    with pytest.raises(KeyboardInterrupt):
        sw.minimize(interrupted, TABLE, lam=0.05, progress=Progress(stream=stream))
    assert (sys.stdout, sys.stderr) == before
    assert stream.getvalue().rstrip().endswith("\x1b[?25h")  # the cursor is shown again


OWN_OUTPUT = """
import stopwise as sw
def f(p):
    print("own output")
    return p["x"]
sw.minimize(f, {"x": sw.Integer(1, 4)}, lam=0.5, progress=True)
"""


def test_what_the_objective_prints_to_a_file_stays_there():
    watched, terminal = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-c", OWN_OUTPUT],
        check=True, stdout=subprocess.PIPE, stderr=terminal, text=True, env=env,
    )  # fmt: skip
    os.close(terminal)
    shown = b""
    try:
        while chunk := os.read(watched, 65536):
            shown += chunk
    except OSError:  # Linux's way to say that the other end is closed
        pass
    os.close(watched)
    assert set(done.stdout.splitlines()) == {"own output"}
    assert b"own output" not in shown
    assert b"stop?" in shown


def test_who_paints(a_terminal, monkeypatch):
    live = painter_for(Terminal(), "")
    assert isinstance(live, Live)
    live.close("")
    monkeypatch.setenv("TERM", "dumb")
    assert not isinstance(painter_for(Terminal(), ""), Live)
    assert isinstance(Progress(), Silent)  # what drives the one drives the other
    assert Forgiving(None).write("nobody") == 6


# ----------------------------------------------------------------------------- a notebook


@pytest.fixture
def cell(monkeypatch):
    """A notebook's cell: what was displayed, and how it was replaced."""
    shown = []

    class Handle:
        def update(self, bundle, *, raw):
            assert raw
            shown[-1] = bundle

    def display(bundle, *, raw, display_id):
        assert raw
        assert display_id
        shown.append(bundle)
        return Handle()

    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setattr(builtins, "get_ipython", lambda: shell, raising=False)
    package = types.ModuleType("IPython")
    package.display = types.ModuleType("IPython.display")
    package.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", package.display)
    return shown


def test_a_notebook_has_one_output_that_is_replaced(cell):
    assert isinstance(painter_for(None, ""), Notebook)
    space = {"<b>x</b>": sw.Integer(0, 9)}
    result = sw.minimize(lambda p: p["<b>x</b>"], space, lam=0.5, progress=True)
    [bundle] = cell
    assert bundle["text/plain"].endswith(f"{result.verdict.reason}.")
    assert f"   best  {result.best.value:g} (trial " in bundle["text/plain"]
    assert "&lt;b&gt;x&lt;/b&gt;=" in bundle["text/html"]
    assert "<b>" not in bundle["text/html"]


# ------------------------------------------------------------------------ control characters


def told_something_wild(progress, reason="\x1b]0;mine\x07\x9b31m"):
    """A study whose rule and whose failures say wild things."""

    class Wild(Convergence):
        def verdict(self, trace):
            return dataclasses.replace(super().verdict(trace), reason=reason, value=math.nan)

    study = sw.Study(LINE, stopping=Wild(), lam=0.1, n_initial=2)
    with progress:
        progress.begin(study)
        for value in (1.0, 2.0, None, 0.5):
            trial = study.ask()
            progress.changed(study)
            study.tell(trial, value, message="" if value else reason)
            study.should_stop()
            progress.changed(study)
        progress.end(study, study.result())


def test_plain_lines_have_no_control_characters():
    stream = io.StringIO()
    told_something_wild(Progress(stream=stream))
    assert not set("\x1b\x07\x9b") & set(stream.getvalue())
    assert "\\x1b]0;mine" in stream.getvalue()


def test_the_live_view_has_no_control_characters_but_its_own(a_terminal):
    stream = io.StringIO()
    stream.isatty = lambda: True
    told_something_wild(Progress(stream=stream))
    assert not set("\x1b\x07\x9b") & set(CONTROL.sub("", stream.getvalue()))
    assert "\\x1b]0;mine" in stream.getvalue()
