# SPDX-License-Identifier: Apache-2.0
"""The command ``stopwise``, as a shell calls it, within this process."""

import contextlib
import io
import json
import sys
from typing import NamedTuple
from unittest import mock

from stopwise.tools.cli import main


class Ended(NamedTuple):
    """A command that has ended: its exit code, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """What it wrote to standard output, as JSON."""
        return json.loads(self.out)


def stopwise(*arguments):
    """Run a command to its end."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["stopwise", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        else:
            code = 0
    return Ended(code, out.getvalue(), err.getvalue())
