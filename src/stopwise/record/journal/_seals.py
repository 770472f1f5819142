# SPDX-License-Identifier: Apache-2.0
"""Seals: the checksum at the end of each line of a journal, which covers all lines before it too.

A seal is a BLAKE2b digest of the seal before it and of the line's text. A line that was changed,
deleted, repeated or moved therefore breaks the seal of its own or of the next line. The first seal
of a file covers everything before it: nothing in a journal of schema 2, whose header is sealed,
and all lines that version 0.1 wrote in a journal of schema 1 that was resumed since.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

_BYTES = 8  # a damage goes unnoticed once in 2**64 times
_KEY = b', "check": "'
_END = b'"}'
_LENGTH = len(_KEY) + 2 * _BYTES + len(_END)


class Sealed(NamedTuple):
    """A line without its newline, taken apart.

    Args:
        text: The line without the key of the seal and without the closing brace.
        seal: The seal that it carries.
    """

    text: bytes
    seal: str


def digest(content: bytes) -> str:
    """The digest of some bytes, in hexadecimal."""
    return blake2b(content, digest_size=_BYTES).hexdigest()


def seal_of(text: bytes, before: str) -> str:
    """The seal of a line.

    Args:
        text: The line without the closing brace.
        before: The seal of the line before it, or the digest of everything before it.
    """
    return digest(before.encode() + text)


def sealed(line: bytes, before: str) -> Sealed:
    """Seal a line of JSON."""
    text = line.removesuffix(b"}")
    return Sealed(text, seal_of(text, before))


def as_bytes(line: Sealed) -> bytes:
    """A sealed line as it is written, with its newline."""
    return line.text + _KEY + line.seal.encode() + _END + b"\n"


def taken_apart(line: bytes) -> Sealed | None:
    """The text and the seal of a line that was read; None if it has no seal."""
    text, tail = line[:-_LENGTH], line[-_LENGTH:]
    if not (tail.startswith(_KEY) and tail.endswith(_END)):
        return None
    return Sealed(text, tail[len(_KEY) : -len(_END)].decode("ascii", "replace"))
