# SPDX-License-Identifier: Apache-2.0
"""A seeded mutator: damaged and hostile files from sound ones.

Half of the mutations are of bytes. The others change values of the lines of JSON, so that what
comes out is still JSON and reaches the code behind the parser.
"""

import json
import random

TOKENS = (
    b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1b[2J", b"\r", b"\n", b"\n\n", b'"', b"'", b"\\",
    b"{", b"}", b"[", b"]", b"[[", b"=", b".", b",", b";", b"\t", b"#", b"nan", b"-inf", b"1e999",
    b"-0", b"1e-320", b"9" * 400, b"1" + b"0" * 5000, b"true", b"null", b"[" * 3000, b"{" * 3000,
    b'{"a":' * 2000, b"a." * 1500, b"'''", b'"""', b"<script>alert(1)</script>", b"\xe2\x80\xae",
    b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"__class__", b"../../x", b"A" * 200_000,
)  # fmt: skip
VALUES = (
    None, True, False, 0, -1, 1, 2, 10**6, 10**18, 10**400, -(10**400), 0.0, -0.0, 1e308, -1e308,
    5e-324, 0.5, float("nan"), float("inf"), "", "nan", "x", "\0", "\x1b[31m", "\ud800",
    "<img src=x onerror=alert(1)>", "\u202eabc", "pbgi", "seconds", "A" * 5000, "[" * 99_999, [],
    [None], [[]],
    [1, 2], {}, {"own": "os.system"}, {"choice": 99}, {"choice": -1}, {"choice": "a"},
    {"class": "PBGI", "lam": -1}, {"class": "os.system"}, {"name": "log"}, {"__class__": 1},
)  # fmt: skip


def mutated(random_: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A file with one to six mutations."""
    for _ in range(1 + min(int(random_.expovariate(0.7)), 5)):
        kind = random_.choice((_bytes, _values)) if b"{" in data[:4] else _bytes
        data = kind(random_, data, others)
    return data[:400_000]


def _bytes(random_, data, others):  # noqa: PLR0911  one case a mutation
    at = random_.randrange(len(data) + 1)
    end = min(at + int(random_.expovariate(0.05)) + 1, len(data))
    match random_.randrange(8):
        case 0 if data:  # a bit
            at = min(at, len(data) - 1)
            return data[:at] + bytes([data[at] ^ (1 << random_.randrange(8))]) + data[at + 1 :]
        case 1:
            return data[:at] + data[end:]
        case 2:
            return data[:at] + data[at:end] * random_.choice((2, 2, 3, 200)) + data[end:]
        case 3:  # cut short
            return data[:at]
        case 4:  # the rest of another file
            other = random_.choice(others)
            return data[:at] + other[random_.randrange(len(other) + 1) :]
        case 5:  # lines in another order
            lines = data.split(b"\n")
            a, b = random_.randrange(len(lines)), random_.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            return b"\n".join(lines)
        case 6:  # a line repeated or left out
            lines = data.split(b"\n")
            a = random_.randrange(len(lines))
            return b"\n".join(
                lines[:a] + lines[a : a + 1] * random_.choice((0, 2)) + lines[a + 1 :]
            )
        case _:
            token = random_.choice(TOKENS)
            return data[:at] + token + data[random_.choice((at, end)) :]


def _values(random_, data, _):
    lines = data.split(b"\n")
    at = random_.randrange(len(lines))
    try:
        line = json.loads(lines[at])
    except (ValueError, RecursionError):
        return data
    places = list(_places(line)) if isinstance(line, dict | list) else []
    if not places:
        return data
    holder, key = random_.choice(places)
    match random_.randrange(6):
        case 0:
            if isinstance(holder, dict):
                del holder[key]
        case 1:
            if isinstance(holder, dict):
                holder[random_.choice(("", "x", "event", "own", "class", "\0"))] = holder[key]
        case 2:
            other, other_key = random_.choice(places)
            holder[key] = json.loads(json.dumps(other[other_key]))
        case _:
            holder[key] = random_.choice(VALUES)
    lines[at] = json.dumps(line).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _places(value):  # every value inside, by what holds it
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)
