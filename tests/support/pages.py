# SPDX-License-Identifier: Apache-2.0
"""The blocks of a page, as a reader copies them."""

import re

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page):
    """Kind and text of the blocks of a page, a path, in their order."""
    return _BLOCK.findall(page.read_text("utf-8"))


def blocks_of(page, kind):
    """The texts of the blocks of one kind."""
    return [text for its_kind, text in blocks(page) if its_kind == kind]


def blocks_under(page, heading):
    """Kind and text of the blocks below one heading of a page, down to the next heading."""
    [section] = re.findall(
        rf"^## {heading}$(.*?)(?=^## |\Z)", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return _BLOCK.findall(section)
