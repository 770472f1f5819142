# SPDX-License-Identifier: Apache-2.0
"""Painters of a view: live in a terminal, live in a notebook, or line by line.

rich is imported here, inside functions, so that it is loaded only where something is painted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from stopwise.core.units import SECONDS, amount, is_seconds
from stopwise.tools.progress.view import Gauge, View, summary
from stopwise.tools.progress.words import configuration, printable

if TYPE_CHECKING:
    from rich.console import Console, OverflowMethod, RenderableType

_LABEL = 9  # characters, the space after it included
_BAR = 12
_WIDE = 80  # columns; a narrower terminal has room for the words only
_STYLE = "white-space: pre-wrap; word-break: normal; font-family: monospace"  # of a notebook
_MOST_RUNNING = 6  # trials that are listed


class Painter(Protocol):
    """Shows views; made for one run."""

    def paint(self, view: View, lines: Sequence[str]) -> None:
        """Show a view; lines tell of evaluations that have come back since."""
        ...

    def note(self, text: str) -> None:
        """Show what an interrupt does, as long as the run goes on."""
        ...

    def close(self, last: str) -> None:
        """The end: a sentence that stays, or nothing."""
        ...


def painter_for(stream: TextIO | None, unit: str) -> Painter:
    """Live where somebody can watch, line by line elsewhere."""
    from rich.console import Console

    out = Forgiving(sys.stderr if stream is None else stream)
    console = Console(file=out, highlight=False, markup=False, emoji=False)  # type: ignore[arg-type]
    if console.is_jupyter and stream is None:
        return Notebook(unit)
    if console.is_terminal and not console.is_dumb_terminal:
        return Live(console, unit)
    return Lines(out)


class Forgiving:
    """A stream to which writing never fails: what cannot be written is lost."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401  whatever sys.stderr is
        self._stream = stream
        self.encoding = getattr(stream, "encoding", None) or "ascii"

    def write(self, text: str) -> int:
        """Write what the encoding can hold, if the stream is still there."""
        try:
            safe = text.encode(self.encoding, "replace").decode(self.encoding, "replace")
            self._stream.write(safe)
        except (OSError, ValueError, AttributeError, LookupError):
            pass  # closed, a broken pipe, or none at all: the run goes on
        return len(text)

    def flush(self) -> None:
        """Flush, if the stream is still there."""
        with suppress(OSError, ValueError, AttributeError):
            self._stream.flush()

    def isatty(self) -> bool:
        """Whether somebody watches."""
        try:
            return bool(self._stream.isatty())
        except (OSError, ValueError, AttributeError):
            return False

    def fileno(self) -> int:
        """The descriptor; rich asks it for the width."""
        return int(self._stream.fileno())


class Lines:
    """One line for each evaluation that came back, and with stages for each stage."""

    def __init__(self, out: Forgiving) -> None:
        self._out = out

    def paint(self, view: View, lines: Sequence[str]) -> None:
        """Write what is new; best value, costs and signal follow the last line."""
        for at, line in enumerate(lines, start=1):
            after = ""
            if at == len(lines):
                best = view.best.partition(") ")[0]
                best += ")" if "(" in best else ""
                after = f" | best {best} | spent {view.spent.text}"
                after += "".join(f" | {words}" for words in (view.leg, view.next) if words)
                after += f" | {view.gains}" if view.gains else ""
                after += f" | {summary(view.stops)}"
            self._out.write(printable(f"{line}{after}") + "\n")
        self._out.flush()

    def note(self, text: str) -> None:
        """Write it."""
        self._out.write(printable(text) + "\n")
        self._out.flush()

    def close(self, last: str) -> None:
        """Write the last sentence."""
        if last:
            self._out.write(printable(last) + "\n")
        self._out.flush()


class Live:
    """A few lines at the bottom of the terminal that are painted over and over."""

    def __init__(self, console: Console, unit: str) -> None:
        from rich.live import Live as RichLive

        self._console = console
        self._clock = Clock(unit)
        self._view: View | None = None
        self._live = RichLive(
            console=console,
            get_renderable=self._picture,
            refresh_per_second=4,
            redirect_stdout=_watched(sys.stdout),  # what goes to a file is left alone
            redirect_stderr=_watched(sys.stderr),
        )
        self._live.start()

    def paint(self, view: View, lines: Sequence[str]) -> None:
        """Show the view at once; lines are for those who cannot watch."""
        del lines
        self._clock.look(view)
        self._view = view
        self._live.refresh()

    def note(self, text: str) -> None:
        """Put it into the picture, which is painted within a quarter of a second.

        A signal handler calls this, which must not write in the middle of what is being written.
        """
        if self._view is not None:
            self._view = replace(self._view, note=text)

    def close(self, last: str) -> None:
        """Leave the last picture standing, and the sentence below it."""
        self._live.stop()
        if last:
            self._console.print(printable(last))

    def _picture(self) -> RenderableType:
        width = self._console.width
        plain = not self._console.encoding.lower().startswith("utf")
        return picture(self._view, self._clock.running, width=width, plain=plain)


class Notebook:
    """One output of a notebook's cell, updated in place; it stays in the saved notebook."""

    def __init__(self, unit: str) -> None:
        self._clock = Clock(unit)
        self._handle: Any = None
        self._view: View | None = None

    def paint(self, view: View, lines: Sequence[str]) -> None:
        """Show the view in place of the last."""
        del lines
        self._clock.look(view)
        self._view = view
        self._show("")

    def note(self, text: str) -> None:
        """Put it into the next picture."""
        if self._view is not None:
            self._view = replace(self._view, note=text)

    def close(self, last: str) -> None:
        """The last picture with the sentence below it."""
        if last:
            self._show(last)

    def _show(self, last: str) -> None:
        from html import escape

        from IPython import display as ipython

        shown = filter(None, [_as_text(self._view, self._clock.running), last])
        text = printable("\n".join(shown))
        bundle = {
            "text/plain": text,
            "text/html": f'<pre style="{_STYLE}">{escape(text)}</pre>',
        }
        if self._handle is None:
            display: Any = ipython.display  # untyped
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


class Clock:
    """Since when trials have been running, as seen from here."""

    def __init__(self, unit: str, now: Callable[[], float] = time.monotonic) -> None:
        self._unit, self._now = unit, now
        self._since: dict[int, float] = {}

    def look(self, view: View) -> None:
        """Note when a trial is first seen, and forget those that are done."""
        now = self._now()
        self._since = {t.number: self._since.get(t.number, now) for t in view.running}

    def running(self, view: View) -> list[str]:
        """A line for each trial that runs."""
        lines = []
        for trial in view.running[:_MOST_RUNNING]:
            elapsed = self._now() - self._since.get(trial.number, self._now())
            took = amount(float(round(elapsed)), SECONDS)
            if trial.expected_cost is not None:
                expected = amount(trial.expected_cost, self._unit)
                joint = " of" if is_seconds(self._unit) else ", expected to cost"
                took += f"{joint} about {expected}"
            again = "" if trial.repeats is None else f", a repeat of trial {trial.repeats}"
            if trial.number in view.promised:
                took += f", {view.promised[trial.number]}"
            lines.append(f"trial {trial.number}{again} ({took}) {configuration(trial.params)}")
        more = len(view.running) - len(lines)
        return [*lines, f"and {more} more"] if more else lines


def rows(view: View, running: Sequence[str]) -> list[tuple[str, Gauge]]:
    """What is shown, line by line: a label and its content."""
    shown = [
        ("trials", Gauge(view.trials)),
        ("best", Gauge(view.best)),
        ("spent", view.spent),
        ("now", Gauge(view.leg)),
        ("left", Gauge(view.next)),
        ("gains", Gauge(view.gains)),
        *(("stop?", gauge) for gauge in view.stops),
        *(("running", Gauge(line, in_list=True)) for line in running),
        ("Ctrl-C", Gauge(view.note)),
    ]
    before = [""] + [label for label, _ in shown]
    return [
        ("" if label == last else label, gauge)
        for (label, gauge), last in zip(shown, before, strict=False)
        if gauge.text
    ]


def bar(share: float, *, plain: bool) -> str:
    """A bar of text; of ASCII where the terminal knows no more."""
    full = round(_BAR * min(max(share, 0.0), 1.0))
    on, off = ("#", "-") if plain else ("█", "░")
    return on * full + off * (_BAR - full)


def picture(
    view: View | None, running: Callable[[View], list[str]], *, width: int, plain: bool
) -> RenderableType:
    """The view as a table without lines; sentences are wrapped, and lists of trials are cut."""
    from rich.table import Table
    from rich.text import Text

    cut: OverflowMethod = "crop" if plain else "ellipsis"
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", width=_LABEL - 2)
    table.add_column(overflow="fold")
    for label, gauge in rows(view, running(view)) if view is not None else []:
        text = Text()
        if gauge.share is not None and width >= _WIDE:
            text.append(f"{bar(gauge.share, plain=plain)}  ", style="cyan")
        text.append(printable(gauge.text))
        if gauge.in_list:
            text.truncate(max(width - _LABEL, 1), overflow=cut)
        table.add_row(Text(label, style="bold"), text)
    return table


def _as_text(view: View | None, running: Callable[[View], list[str]]) -> str:
    if view is None:
        return ""
    return "\n".join(
        f"{label:>7}  "
        + (f"{bar(gauge.share, plain=False)}  " if gauge.share is not None else "")
        + gauge.text
        for label, gauge in rows(view, running(view))
    )


def _watched(stream: Any) -> bool:  # noqa: ANN401  whatever sys.stdout is
    return Forgiving(stream).isatty()
