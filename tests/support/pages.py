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
