# SPDX-License-Identifier: Apache-2.0
"""The command line, ``stopwise``. A new command is a file here and a line in ``app.py``."""

from __future__ import annotations


def main() -> None:
    """Run the command line; an error of stopwise is one message on stderr, without a traceback.

    Exit codes: 0 done; 1 something outside prevents it (a full disk); 2 the command line, or what
    it names, is wrong; 128 + n interrupted by signal n. A command may have more
    (docs/how-to/run.md).
    """
    import sys

    from stopwise.errors import StopwiseError
    from stopwise.tools.cli._output import complain
    from stopwise.tools.cli.app import app

    try:
        app(prog_name="stopwise")
    except OSError as error:  # errors of journals among them
        complain(f"stopwise: {getattr(error, 'in_shell', '') or error}")
        sys.exit(1)
    except StopwiseError as error:
        complain(f"stopwise: {error.in_shell or error}")
        sys.exit(2)
    except KeyboardInterrupt:
        complain("stopwise: interrupted")
        sys.exit(130)
