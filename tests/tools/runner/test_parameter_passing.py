# SPDX-License-Identifier: Apache-2.0
"""How parameters reach a program; no value becomes an option by accident."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stopwise as sw
from stopwise.errors import InputError
from stopwise.tools.runner.parameter_passing import (
    arguments,
    builtin_values,
    check_passing,
    variables,
)
from stopwise.tools.runner.toml_table import TomlTable

BUILT_IN = builtin_values("f/0003", 3)


def test_parameters_become_one_argument_each():
    params = {"lr": 1e-05, "n": 3, "flag": True, "act": "-rf; rm *"}
    assert arguments(["prog", "--fast"], "arguments", params, BUILT_IN) == [
        *("prog", "--fast", "--lr=1e-05", "--n=3", "--flag=true", "--act=-rf; rm *")
    ]


def test_what_the_command_mentions_is_not_appended():
    command = ["{python}", "-t{lr}", "{trial_folder}/{trial_number}", "{{{act}}}"]
    assert arguments(command, "arguments", {"lr": 0.5, "act": "{lr}", "n": 1}, BUILT_IN) == [
        *(sys.executable, "-t0.5", "f/0003/3", "{{lr}}", "--n=1")
    ]


def test_other_channels_leave_the_arguments_alone():
    assert arguments(["prog"], "stdin", {"lr": 1.0}, BUILT_IN) == ["prog"]
    assert variables("environment", {"LR": 1e-3, "B": False}, BUILT_IN) == {
        "STOPWISE_TRIAL_FOLDER": "f/0003",
        "STOPWISE_TRIAL_NUMBER": "3",
        "LR": "0.001",
        "B": "false",
    }


def dashed(command, parameter):
    return f"command = {command}\nbudget = 9\n[parameters]\nx = {parameter}\ny = {parameter}\n"


NEGATIVE = '{ type = "real", low = -1, high = 1 }'
POSITIVE = '{ type = "integer", low = 0, high = 9 }'
FLAGS = '{ type = "categorical", choices = ["a", "-rf"] }'
EMPTY = '{ type = "categorical", choices = ["a", ""] }'


@pytest.mark.parametrize("parameter", [NEGATIVE, FLAGS])
@pytest.mark.parametrize(
    "command",
    [
        '["p", "{x}"]',
        '["p", "--opt", "{x}"]',
        '["p", "{x}{y}"]',
        '["p", "{x}.txt"]',
        '["p", "--", "sub", "{x}"]',  # the dashes may be for the first program only
    ],
)
def test_a_bare_value_that_may_begin_with_a_dash_is_refused(loaded, command, parameter):
    with pytest.raises(InputError, match=r"line 1: .*begin with a dash for x = .*--x=\{x\}"):
        loaded(dashed(command, parameter))


def test_an_empty_choice_may_not_let_a_dash_come_first(loaded):
    with pytest.raises(InputError, match="begin with a dash"):
        loaded(dashed('["p", "{x}-y"]', EMPTY))
    loaded(dashed('["p", "{x}"]', EMPTY))


@pytest.mark.parametrize(
    ("command", "parameter"),
    [
        ('["p", "--x={x}"]', NEGATIVE),
        ('["p", "-x{x}"]', FLAGS),
        ('["p", "--", "{x}", "{y}"]', NEGATIVE),
        ('["p", "{x}"]', POSITIVE),
        ('["p"]', FLAGS),
    ],
)
def test_guarded_values_are_allowed(loaded, command, parameter):
    loaded(dashed(command, parameter))


TEMPLATES = [
    "a",
    "-o",
    "--",
    "{x}",
    "{y}",
    "{x}{y}",
    "{y}.t",
    "--x={x}",
    "{x}-",
    "{{",
    "}}{x}",
]


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(TEMPLATES), min_size=1, max_size=5),
    st.lists(st.sampled_from(["a", "", "-rf", "--", "{y}"]), min_size=1, unique=True),
    st.booleans(),
)
def test_no_value_becomes_an_option_by_accident(command, choices, is_negative):
    """Whatever is accepted: an argument begins with a dash as written, or behind ``--``."""
    low = -1 if is_negative else 0
    space = {"x": sw.Categorical(choices), "y": sw.Real(low, 1)}
    try:
        check_passing(
            TomlTable("tune.toml", {}, (), {}),
            command=command,
            channel="arguments",
            directory=".",
            file=None,
            space=space,
            workers=1,
        )
    except InputError:
        return
    for choice in choices:
        params = {"x": choice, "y": float(low)}
        argv = arguments(command, "arguments", params, BUILT_IN)
        for i, element in enumerate(argv):
            written = command[i] if i < len(command) else f"--{element}"
            behind = [c for c in command[:i] if not c.startswith("{") or c == "{{"][-1:]
            assert not element.startswith("-") or written.startswith("-") or behind == ["--"]


def test_options_are_not_appended_after_dashes(loaded):
    with pytest.raises(InputError, match="say where each parameter goes"):
        loaded(dashed('["p", "--", "{x}"]', POSITIVE))


@pytest.mark.parametrize(
    ("name", "channel", "says"),
    [
        ("PATH", "environment", "cannot be a variable"),
        ("LD_PRELOAD", "environment", "cannot be a variable"),
        ("a-b", "environment", "cannot be a variable"),
        ("a b", "arguments", "cannot be appended"),
        ("-x", "arguments", "cannot be appended"),
        ("python", "stdin", "cannot be called 'python'"),
    ],
)
def test_names_that_cannot_be_passed_are_refused(loaded, name, channel, says):
    text = f'command = ["p"]\nbudget = 9\npass = "{channel}"\n[parameters]\n"{name}" = {POSITIVE}'
    with pytest.raises(InputError, match=f"line 5: .*{says}"):
        loaded(text)


def test_choices_that_read_the_same_are_refused_where_text_is_passed(loaded):
    same = '{ type = "categorical", choices = [1, "1"] }'
    with pytest.raises(InputError, match="could not tell all choices"):
        loaded(dashed('["p"]', same))
    loaded('pass = "stdin"\n' + dashed('["p"]', same))


def test_an_argument_about_an_inactive_parameter_is_left_out():
    command = ["./train", "--depth={depth}", "{kind}"]
    assert arguments(command, "arguments", {"kind": "flat", "lr": 0.1}, {}) == [
        "./train",
        "flat",
        "--lr=0.1",
    ]
    assert arguments(command, "arguments", {"kind": "deep", "lr": 0.1, "depth": 3}, {}) == [
        "./train",
        "--depth=3",
        "deep",
        "--lr=0.1",
    ]


@pytest.mark.parametrize(
    ("command", "without"),
    [
        (["p", "--depth", "{depth}", "-v"], ["p", "-v"]),
        (["p", "--size", "{n}x{depth}"], ["p"]),
        (["p", "--depth={depth}", "-v"], ["p", "-v"]),
        (["p", "-v", "--depth={depth}"], ["p", "-v"]),  # not the value of a flag
        (["p", "--fast=1", "{depth}"], ["p", "--fast=1"]),
        (["p", "-n{n}", "{depth}"], ["p", "-n3"]),
        (["p", "--", "{depth}", "{n}"], ["p", "--", "3"]),
        (["p", "--", "-v", "{depth}"], ["p", "--", "-v"]),
        (["p", "--range", "-1", "{depth}"], ["p", "--range", "-1"]),
        (["p", "-", "{depth}"], ["p", "-"]),
        (["p", "--mode", "{{depth}}", "{depth}"], ["p", "--mode", "{depth}"]),
    ],
)
def test_a_flag_goes_with_the_value_that_does_not_exist(command, without):
    assert arguments(command, "stdin", {"n": 3}, BUILT_IN) == without
    there = arguments(command, "stdin", {"n": 3, "depth": 5}, BUILT_IN)
    assert len(there) == len(command)
