# SPDX-License-Identifier: Apache-2.0
"""What stands on a terminal after everything that was written to it."""

import re

_PARTS = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n]+)")


def screen(written):
    """The lines of a terminal that is wide enough: newline, return, up, and erase are obeyed."""
    lines, row, column = [""], 0, 0
    for count, control, back, down, text in _PARTS.findall(written):
        if back:
            column = 0
        elif down:
            row, column = row + 1, 0  # as terminals do it for programs that are not raw
            lines += [""] * (row - len(lines) + 1)
        elif control == "A":
            row = max(row - int(count or 1), 0)
        elif control == "K":
            lines[row] = "" if count == "2" else lines[row][:column]
        elif text:
            before = lines[row].ljust(column)
            lines[row] = before[:column] + text + before[column + len(text) :]
            column += len(text)
    return [line.rstrip() for line in lines]
