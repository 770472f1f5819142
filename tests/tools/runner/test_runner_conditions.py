# SPDX-License-Identifier: Apache-2.0
"""Conditions, orders and constraints in the file of a run."""

import pytest

import stopwise as sw
from stopwise.errors import InputError
from stopwise.tools.runner import description

CONDITIONAL = """\
command = ["./train", "--depth={depth}", "{python}"]
constraints = [
  "lr * batch <= 2",
  "kind != 'deep' or depth > 1",
]
[parameters]
kind = { type = "categorical", choices = ["flat", "deep"] }
lr = { type = "real", low = 1e-4, high = 1e-1, log = true }
depth = { type = "integer", low = 1, high = 9, when = { kind = ["deep"] } }
batch = { type = "ordinal", values = [16, 32, 64] }
[worth]
lam = 0.1
"""
BELOW = """\
[parameters.batch]
type = "integer"
low = 1
high = 2
when = { kind = [VALUES] }
#"""


def test_conditions_orders_and_constraints_are_read(loaded):
    config = loaded(CONDITIONAL)
    assert config.space["depth"] == sw.Integer(1, 9, when={"kind": ["deep"]})
    assert config.space["batch"] == sw.Ordinal([16, 32, 64])
    assert config.constraints == ("lr * batch <= 2", "kind != 'deep' or depth > 1")
    text = description(config)
    assert "depth is passed only when kind is 'deep'." in text
    assert "Every trial satisfies lr * batch <= 2." in text
    begun = [line for line in text.splitlines() if "kind = " in line]
    assert begun
    for line in begun:
        assert ("depth = " in line) == ("kind = deep" in line)
        assert "depth = 1," not in line


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("lr * batch <= 2", "lr * btch <= 2", 3, "names 'btch'"),
        ("kind != 'deep' or", "import os or", 4, "is no expression"),
        ("lr * batch <= 2", "lr > 1", 2, "allow almost nothing"),
        ('kind = ["deep"]', 'knd = ["deep"]', 9, "the space has no 'knd'"),
        ('kind = ["deep"]', 'kind = ["shallow"]', 9, "is one of 'shallow'"),
        ('when = { kind = ["deep"] }', "when = 3", 9, "must be a table"),
        ("values = [16, 32, 64]", "values = [16, 16]", 10, "listed twice"),
        # An error about one parameter may mention others; a condition may be below its parameter.
        ("log = true }", "log = true, when = { dept = [1] } }", 8, "the space has no 'dept'"),
        ("batch = {", BELOW.replace("VALUES", ""), 14, "when lists no value of 'kind'"),
        ("batch = {", BELOW.replace("VALUES", '"shallow"'), 14, "is one of 'shallow'"),
        ("values = [16, 32, 64]", 'values = [16], by = "size"', 10, '"rank", "value"'),
    ],
)
def test_a_wrong_condition_is_refused_with_its_line(loaded, old, new, line, says):
    with pytest.raises(InputError) as caught:
        loaded(CONDITIONAL.replace(old, new))
    assert str(caught.value).startswith(f"tune.toml, line {line}: "), caught.value
    assert says in str(caught.value)


def test_one_constraint_needs_no_list(loaded):
    lines = CONDITIONAL.splitlines()
    assert loaded("\n".join([lines[0], 'constraints = "lr <= 1"', *lines[5:]])).constraints == (
        "lr <= 1",
    )
    with pytest.raises(InputError, match=r"tune\.toml, line 2: .*write <= for at most"):
        loaded("\n".join([lines[0], 'constraints = "lr =< 1"', *lines[5:]]))


def test_a_program_gets_no_flag_without_its_value(loaded):
    apart = CONDITIONAL.replace('"--depth={depth}"', '"--depth", "{depth}"')
    lines = [line for line in description(loaded(apart)).splitlines() if "would run: " in line]
    assert sorted(" --depth " in line for line in lines) == [False, True]
    assert sum("without depth" in line for line in lines) <= 1  # else the first one has none
