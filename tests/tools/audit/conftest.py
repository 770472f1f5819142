# SPDX-License-Identifier: Apache-2.0
"""The command, as a shell calls it."""

import pytest

from stopwise.tools.cli import main


@pytest.fixture
def stopwise(capsys, monkeypatch):
    """``stopwise audit`` within this process: its exit code, and what it wrote."""

    def audited(*arguments):
        monkeypatch.setattr("sys.argv", ["stopwise", "audit", *map(str, arguments)])
        try:
            main()
        except SystemExit as end:
            return end.code, capsys.readouterr()
        return 0, capsys.readouterr()

    return audited
