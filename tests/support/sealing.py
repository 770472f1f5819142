# SPDX-License-Identifier: Apache-2.0
"""Journals that a test has edited, with seals that are right again."""

from __future__ import annotations

import json

from stopwise.record.journal._seals import as_bytes, digest, sealed


def sealed_again(lines):
    """The bytes of a journal with these lines, each a dict."""
    seal, content = digest(b""), []
    for line in lines:
        unsealed = {key: value for key, value in line.items() if key != "check"}
        entry = sealed(json.dumps(unsealed, ensure_ascii=False).encode(), seal)
        seal = entry.seal
        content.append(as_bytes(entry))
    return b"".join(content)


def edited(path, old, new):
    """Replace a text in a journal, and seal it again."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    lines = [json.loads(line) for line in text.replace(old, new).splitlines()]
    path.write_bytes(sealed_again(lines))
