# SPDX-License-Identifier: Apache-2.0
"""The command ``stopwise report``, apart from what it writes on the terminal."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from stopwise.integrations.foreign_files import read_journal, reading
from stopwise.tools.report._serve import Load, ReportServer
from stopwise.tools.report._write import write


def cli_report(
    journal: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    serve: bool = False,
    port: int = 0,
    load: Load = read_journal,
    say: Callable[[str], None] = lambda _: None,
) -> Path | None:
    """Report on a journal: into a file, or on loopback until interrupted.

    Args:
        journal: The file that a study writes; it may still be growing.
        out: Of the page; beside the journal, with the ending .html, if left out.
        serve: Whether to serve it, and make it anew as the journal grows, instead.
        port: To serve at; 0 takes any that is free.
        load: From the path of a journal to a study that is only looked at.
        say: Told where the page is to be seen.

    Returns:
        Where the page was written; None after serving.
    """
    if not serve:
        target = Path(journal).with_suffix(".html") if out is None else Path(out)
        with reading(f"the journal {str(journal)!r}"):  # what it holds may be impossible to draw
            study = load(str(journal))
            written = write(study, target)
        for note in study.notes:
            say(f"note: {note}")
        say(f"report written to {written}")
        return written
    server = ReportServer(journal, port, load)
    say(f"serving {server.url} (interrupt to end)")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        say("ended")
    return None
