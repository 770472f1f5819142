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
from stopwise.core.units import AnswerUnits, amount
from stopwise.errors import InputTypeError
from stopwise.record.history import Observation
from stopwise.record.outcomes import Completed
from stopwise.stopping import PBGI, Convergence, FixedTrials
from stopwise.study.display import Silent
from stopwise.tools.progress import SECONDS, Progress
from stopwise.tools.progress.painters import (
    Clock,
    Forgiving,
    Live,
    Notebook,
    bar,
    painter_for,
    rows,
)
from stopwise.tools.progress.view import told, view_of
from stopwise.tools.progress.words import configuration, printable, shortened, times
from tests.support.screen import screen

TABLE = sw.Candidates([{"x": i, "y": (5 * i) % 7} for i in range(40)])
LINE = {"x": sw.Real(0.0, 1.0)}
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def valley(params):
    return 0.1 * (params["x"] - 13) ** 2 + params["y"]


def bowl(params):
    return (params["x"] - 0.3) ** 2


def run_by_hand(study, objective, trials):
    for _ in range(trials):
        study.should_stop()
        trial = study.ask()
        study.tell(trial, objective(trial.params))
    study.should_stop()
    return study


def path_of(result):
    return [(dict(o.params), o.value) for o in result.history]


# --------------------------------------------------------------------------------- gains


def test_what_choices_promised_and_what_came_is_shown_once_one_is_told():
    study = run_by_hand(sw.Study(LINE, lam=1e-4, n_initial=4), bowl, 4)
    assert view_of(study).gains == ""
    study.ask()
    assert view_of(study).gains == ""
    [trial] = study.pending
    study.tell(trial, bowl(trial.params))
    [promise] = study.promises
    words = f"promised {promise.promised:.4g} in 1 choice, {promise.delivered:.4g} came"
    assert view_of(study).gains == words
    assert ("gains", words) in [(label, gauge.text) for label, gauge in rows(view_of(study), [])]
    out = io.StringIO()
    painter_for(out, "").paint(view_of(study), ["trial 4: 1 for 1"])
    assert f" | {words} | " in out.getvalue()


# --------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("cost", "unit", "words"),
    [
        (32.0, "", "32"),
        (4.5, "hours", "4.5 hours"),
        (0.01234, SECONDS, "0.0123 s"),
        (12.34, SECONDS, "12.3 s"),
        (59.97, SECONDS, "1 min"),
        (125.0, "seconds", "2 min 5 s"),
        (3599.9, SECONDS, "1 h"),
        (4320.0, SECONDS, "1 h 12 min"),
        (200000.0, SECONDS, "2 d 7 h"),
        (-4320.0, SECONDS, "-1 h 12 min"),
        (12.5, "$", "$12.50"),
        (3.0, "$", "$3"),
        (1234.5, "€", "€1,234"),
        (0.004, "$", "$0.004"),
        (-2.0, "$", "-$2"),
        (20.0, "%", "20 %"),
        (math.nan, SECONDS, "nan s"),
    ],
)
def test_costs_in_words(cost, unit, words):
    assert amount(cost, unit) == words


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (3.21, "3.2 times"),
        (321.4, "321 times"),
        (1e9, "more than 1000 times"),
        (0.0, "less than 0.001 times"),
    ],
)
def test_ratios_in_words(ratio, words):
    assert times(ratio) == words


def test_long_and_wild_values_are_shortened():
    params = {"lr": 0.00123456, "layers": 3, "name": "x" * 500 + "end", "evil": "a\nb\x1b[2J"}
    line = configuration(params)
    assert line.startswith("lr=0.001235 layers=3 name=xxx")
    assert "end evil=a b [2J" in line
    assert len(line) < 100
    assert len(shortened("y" * 99, 10)) == 10


# ---------------------------------------------------------------------------------- view


def test_the_distance_is_gain_over_price():
    study = run_by_hand(sw.Study(TABLE, lam=0.05), valley, 12)
    [trace] = study.traces.values()
    facts = trace.current.facts
    expected = facts["gain"] / (0.05 * facts["cost"])
    view = view_of(study, "euros")
    [stop] = view.stops
    assert stop.text == f"the best candidate left is worth {times(expected)} its price"
    gain = f"expected to gain {facts['gain']:.4g} for {facts['cost']:.4g} euros"
    assert view.next == f"the best candidate left is {gain}"
    assert view.spent.text.startswith("12 euros; stopwise itself took ")
    assert view.trials == "12"
    best = study.best
    assert view.best.startswith(f"{best.value:.4g} (trial {best.number}) x={best.params['x']} ")


def test_the_bar_is_full_only_at_the_stop():
    study = sw.Study(TABLE, lam=0.05)
    shares = []
    while not study.should_stop():
        shares += [view_of(study).stops[0].share]
        trial = study.ask()
        study.tell(trial, valley(trial.params))
    assert study.should_stop().rule == "pbgi"
    assert view_of(study).stops[0].share == 1.0
    assert all(share is None or 0.0 <= share < 1.0 for share in shares)
    assert any(share is not None and share > 0 for share in shares)


def test_an_average_is_called_one():
    rule = sw.stopping.Smoothed(sw.stopping.PBGI(1e-4), 5)
    study = run_by_hand(sw.Study(LINE, lam=1e-4, stopping=rule), bowl, 8)
    assert view_of(study).stops[0].text.endswith("its price (recent average)")


def test_the_initial_design_comes_first():
    study = run_by_hand(sw.Study(TABLE, lam=0.05, max_trials=9), valley, 2)
    view = view_of(study)
    assert view.stops[0].text == "not before the initial design is done, 2 of 3"
    assert view.next == ""
    assert view.trials == "2 of at most 9"


def test_a_budget_without_lam():
    study = run_by_hand(sw.Study(TABLE, budget=20), valley, 10)
    view = view_of(study)
    assert view.spent.text.startswith("10 of 20; stopwise itself took ")
    assert view.spent.share == 0.5
    assert view.stops[0].text == study.verdict.reason
    assert re.match(r"10 of 20 are left(;|, and) at the lam of [0-9.]+ ", view.stops[0].text)
    begun = view_of(sw.Study(TABLE, budget=20, n_initial=1))
    assert begun.stops[0].text == "not before the initial design is done, 0 of 1"
    assert view.next.startswith("the best candidate left is expected to gain ")


def test_each_rule_that_is_obeyed_has_its_line():
    rules = [PBGI(0.05), Convergence(50), FixedTrials(30)]
    study = run_by_hand(sw.Study(TABLE, lam=0.05, stopping=rules, watch="gss"), valley, 9)
    first, second, third = view_of(study).stops
    assert first.text.startswith("the best candidate left is worth ")
    assert second.text.startswith("convergence: ")
    assert third.text.startswith("fixed: ")


def test_nothing_told_failures_and_what_runs():
    study = sw.Study(TABLE, lam=0.05)
    assert view_of(study).best == "none yet"
    trial = study.ask()
    assert [t.number for t in view_of(study).running] == [0]
    study.tell(trial, None, message="out of memory\n" + "x" * 200)
    assert view_of(study).trials == "1, 1 failed"
    line = told(study.history[0])
    assert line.startswith("trial 0 failed after 1: out of memory xxx")
    assert len(line) < 100
    assert (
        told(Observation(3, {}, Completed(0.5), 2.5), AnswerUnits("", SECONDS))
        == "trial 3: 0.5 for 2.5 s"
    )


def test_running_trials_say_since_when():
    study = sw.Study(TABLE, lam=0.05)
    for _ in range(8):
        study.ask()
    now = [100.0]
    clock = Clock("euros", now=lambda: now[0])
    clock.look(view_of(study))
    now[0] = 175.0
    lines = clock.running(view_of(study))
    assert re.fullmatch(
        r"trial 0 \(1 min 15 s, expected to cost about 1 euros\) x=\d+ y=\d", lines[0]
    )
    assert lines[-1] == "and 2 more"


def test_what_is_out_of_date_is_not_shown():
    """Between the end of an evaluation and the next verdict the last signal says nothing."""
    study = sw.Study(TABLE, lam=1e-9)
    while not study.traces:
        study.should_stop()
        trial = study.ask()
        study.tell(trial, valley(trial.params))
    assert view_of(study).next == "being computed"
    assert [gauge.text for gauge in view_of(study).stops] == ["being computed"]
    ended = view_of(study).at_the_end
    assert (ended.next, ended.stops, ended.running) == ("", (), ())
    study.should_stop()
    assert view_of(study).next.startswith("the best candidate left is expected to gain")
    assert "times its price" in view_of(study).stops[0].text


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


# ---------------------------------------------------------------------------- plain lines


def test_one_line_for_each_trial_and_one_for_the_end():
    out = io.StringIO()
    result = sw.minimize(valley, TABLE, lam=0.05, progress=Progress(stream=out, unit="euros"))
    lines = out.getvalue().splitlines()
    assert len(lines) == len(result.history) + 1
    assert not CONTROL.search(out.getvalue())
    for observation, line in zip(result.history, lines, strict=False):
        assert line.startswith(f"trial {observation.number}: {observation.value:.4g} for 1 euros")
        assert " | best " in line
    assert "| the best candidate left is expected to gain " in lines[-2]
    assert lines[-1].startswith(f"Spent {result.spent:g} euros; stopwise itself took ")
    assert lines[-1].endswith(f" s. pbgi: {result.verdict.reason}.")
    # the line of a trial knows what the rules said after it
    ratio = float(re.search(r"worth ([\d.]+) times", lines[-2])[1])
    assert ratio <= 1.0
    assert float(re.search(r"worth ([\d.]+) times", lines[-3])[1]) > 1.0


def test_true_writes_to_standard_error(capsys):
    result = sw.minimize(valley, TABLE, lam=0.05, progress=True)
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


def test_only_true_and_false():
    with pytest.raises(InputTypeError, match="progress='yes': give True"):
        sw.minimize(valley, TABLE, lam=0.05, progress="yes")


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
    result = sw.minimize(valley, TABLE, lam=0.05, progress=Progress(stream=stream))
    assert result.verdict.rule == "pbgi"


def test_no_standard_error_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert sw.minimize(valley, TABLE, lam=0.05, progress=True).verdict.rule == "pbgi"


def test_a_picture_that_fails_ends_nothing(monkeypatch, a_terminal):
    def fails(*_):
        message = "a bug of ours"
        raise RuntimeError(message)

    monkeypatch.setattr("stopwise.tools.progress.view_of", fails)
    before = sys.stdout
    result = sw.minimize(valley, TABLE, lam=0.05, progress=Progress(stream=Terminal()))
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
    sw.minimize(valley, TABLE, lam=0.05, progress=Progress(stream=stream))
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
    result = sw.minimize(valley, TABLE, lam=0.05, progress=Progress(stream=stream, unit="h"))
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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb\tc", "a\nb\tc"),
        ("naïve 東京 \u3000 \xa0", "naïve 東京 \u3000 \xa0"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\x9b31m\x7f\x00\r", "\\x9b31m\\x7f\\x00\\r"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped(text, shown):
    assert printable(text) == shown


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
