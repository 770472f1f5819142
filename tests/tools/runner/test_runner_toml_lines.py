# SPDX-License-Identifier: Apache-2.0
"""On which line of a TOML text each key stands."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.tools.runner.toml_lines import key_lines


def paths(data, prefix=()):
    """Every path of what tomllib made of a text."""
    items = enumerate(data) if isinstance(data, list) else data.items()
    for key, value in items:
        yield (*prefix, key)
        if isinstance(value, list | dict):
            yield from paths(value, (*prefix, key))


DOCUMENT = """\
# a comment with [a.table] and key = "value" in it
command = ["a", # with = a comment ]
  'b # no comment', \"\"\"c
[not.a.table]
x = 1 \"\"\" , ["nested", {deep = 1}]]
dotted . "quoted.key".'other one' = 1979-05-27 07:32:00

[parameters.lr] # after a header
type = "real"
low = 1e-4
  high=0.1
[parameters]
layers = { type = "integer", "low" = 1, bounds.high = 6 }
text = '''
[no.header]
k = "]"'''''
after = "\\"]\\\\" # escaped
[[search.start_from]]
lr = 1
[search.start_from.inner]
a = {}
[[search.start_from]]
lr = 2
empty = []
"""

LINES = {
    ("command",): 2,
    ("command", 0): 2,
    ("command", 1): 3,
    ("command", 2): 3,
    ("command", 3): 5,
    ("command", 3, 1, "deep"): 5,
    ("dotted",): 6,
    ("dotted", "quoted.key", "other one"): 6,
    ("parameters",): 8,
    ("parameters", "lr"): 8,
    ("parameters", "lr", "type"): 9,
    ("parameters", "lr", "high"): 11,
    ("parameters", "layers", "low"): 13,
    ("parameters", "layers", "bounds", "high"): 13,
    ("parameters", "text"): 14,
    ("parameters", "after"): 17,
    ("search", "start_from"): 18,
    ("search", "start_from", 0, "lr"): 19,
    ("search", "start_from", 0, "inner", "a"): 21,
    ("search", "start_from", 1): 22,
    ("search", "start_from", 1, "lr"): 23,
    ("search", "start_from", 1, "empty"): 24,
}


def test_every_kind_of_key_is_found_on_its_line():
    found = key_lines(DOCUMENT)
    assert {where: found.get(where) for where in LINES} == LINES
    assert set(found) == set(paths(tomllib.loads(DOCUMENT)))


@pytest.mark.parametrize("text", ["", "# nothing\n", "\n\n", "a = 1", "[t]", "a = [\n]\n"])
def test_short_texts(text):
    assert set(key_lines(text)) == set(paths(tomllib.loads(text)))


KEYS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=4)
LEAVES = st.one_of(
    st.integers(-9, 9),
    st.booleans(),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=6),
)
INLINE = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3), max_leaves=4)
TABLES = st.dictionaries(KEYS, st.one_of(INLINE, st.dictionaries(KEYS, INLINE, max_size=3)))


@given(TABLES, st.data())
def test_any_document(tables, data):
    """Written in any of four styles, each key is found on the line where it was written."""
    lines, expected = [], {}

    def add(line, *wheres):
        lines.append(line)
        for where in wheres:
            expected.setdefault(where, len(lines))

    for key, value in sorted(tables.items(), key=lambda item: isinstance(item[1], dict)):
        quoted = json.dumps(key)
        style = data.draw(st.sampled_from(["inline", "header"]))
        if not isinstance(value, dict):
            add(f"{quoted}\t= {json.dumps(value)} # [x]", (key,))
            continue
        if style == "inline" and not any(line.startswith("[") for line in lines):
            inside = ", ".join(f"{json.dumps(k)} = {json.dumps(v)}" for k, v in value.items())
            add(f"{quoted} = {{ {inside} }}", (key,), *((key, k) for k in value))
            continue
        add(f"[ {quoted} ]", (key,))
        for k, v in value.items():
            add("")
            add(f"  {json.dumps(k)} = {json.dumps(v)}", (key, k))
    text = "\n".join(lines)
    found = key_lines(text)
    assert set(found) == set(paths(tomllib.loads(text)))
    assert {where: found[where] for where in expected} == expected
