# SPDX-License-Identifier: Apache-2.0
"""What holds for every integration: its extra, its page, its example; and foreign spaces."""

import builtins
import importlib
import subprocess
import sys

import numpy as np
import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError, MissingExtraError
from stopwise.integrations.foreign_space import (
    ConstantParameter,
    ForeignSpace,
    Positioned,
    Ranked,
    Stepped,
    inferred,
    of_choices,
    translated,
)
from tests.support.pages import blocks_of
from tests.support.repository import ROOT

PACKAGES = ("ax", "botorch", "ray", "sklearn")  # each has a page and an example of its own


@pytest.mark.parametrize("name", [*PACKAGES, "optuna"])
def test_a_missing_package_names_the_command_that_installs_it(name):
    script = (
        "import sys\n"
        f"sys.modules[{name!r}] = None\n"
        "import stopwise.errors\n"
        "try:\n"
        f"    import stopwise.integrations.{name}\n"
        "except stopwise.errors.MissingExtraError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert f"pip install 'stopwise[{name}]'" in done.stdout


@pytest.mark.parametrize(
    ("module", "missing", "extra"),
    [
        ("optuna", "optuna", "optuna"),
        ("optuna", "sqlalchemy", "optuna"),
        ("sklearn", "sklearn", "sklearn"),
        ("ray", "ray", "ray"),
        ("ax", "ax", "ax"),
        ("botorch", "torch", "botorch"),
        ("botorch", "botorch", "botorch"),
    ],
)
def test_a_missing_extra_names_what_is_missing(monkeypatch, module, missing, extra):
    name = f"stopwise.integrations.{module}"
    wanted = {"optuna": "optuna", "botorch": "torch"}.get(module, module)
    original = builtins.__import__

    def without(imported, *args, **kwargs):
        if imported.partition(".")[0] in {missing, wanted, module}:
            raise ModuleNotFoundError(f"No module named {missing!r}", name=f"{missing}.core")
        return original(imported, *args, **kwargs)

    for loaded in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=rf"'{missing}'.*stopwise\[{extra}\]") as error:
        importlib.import_module(name)
    assert error.value.name == missing


@pytest.mark.parametrize("name", PACKAGES)
def test_each_has_a_page_a_short_example_and_a_pinned_version(name):
    assert (ROOT / "docs" / "how-to" / f"{name}.md").exists()
    example = (ROOT / "examples" / f"{name}_search.py").read_text("utf-8")
    assert len(example.splitlines()) < 60
    pinned = {
        line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()
    }
    distribution = {"sklearn": "scikit-learn", "ax": "ax-platform"}.get(name, name)
    assert distribution in pinned


@pytest.mark.parametrize("name", PACKAGES)
def test_the_code_of_each_page_runs(name, tmp_path):
    [block] = blocks_of(ROOT / "docs" / "how-to" / f"{name}.md", "python")
    subprocess.run([sys.executable, "-c", block], check=True, capture_output=True, cwd=tmp_path)


# ------------------------------------------------------------------------------ foreign spaces


def test_numbers_of_a_list_are_ranked_and_come_back_as_given():
    kind = of_choices([100, 1, np.float64(10.0), 10])
    assert isinstance(kind, Ranked)
    assert kind.values == (1, 10, 100)
    assert kind.parameter == sw.Integer(0, 2)
    assert [kind.outward(kind.inward(v)) for v in (1, 10, 100)] == [1, 10, 100]
    assert kind.inward(100 * (1 + 1e-12)) == 2
    with pytest.raises(InputError, match=r"50 is not one of"):
        kind.inward(50)


def test_choices_that_cannot_be_hashed_are_known_by_position():
    kind = of_choices([[1, 2], {"a": 1}, np.arange(2)])
    assert isinstance(kind, Positioned)
    assert [kind.inward(c) for c in ([1, 2], {"a": 1}, np.arange(2))] == [0, 1, 2]
    assert kind.outward(1) == {"a": 1}
    with pytest.raises(InputError, match="not one of the choices"):
        kind.inward([3])


def test_other_choices_are_categories_and_one_is_fixed():
    assert of_choices(["a", "b", "a"]) == sw.Categorical(["a", "b"])
    assert of_choices([True, 1, "x"]) == sw.Categorical([True, 1, "x"])
    assert of_choices([None]) == ConstantParameter(None)
    assert of_choices([3, 3]) == ConstantParameter(3)
    assert of_choices([[1]]) == ConstantParameter([1])
    with pytest.raises(InputError, match="empty"):
        of_choices([])


def test_params_go_both_ways_and_the_fixed_are_added():
    foreign = ForeignSpace(
        {
            "n": of_choices([8, 2, 4]),
            "x": sw.Real(0, 1),
            "f": ConstantParameter("same"),
            "c": of_choices("ab"),
        }
    )
    assert set(foreign.space) == {"n", "x", "c"}
    theirs = {"n": 4, "x": 0.5, "f": "same", "c": "b"}
    ours = foreign.inward(theirs)
    assert ours == {"n": 1, "x": 0.5, "c": "b"}
    assert foreign.outward(ours) == theirs
    assert foreign.cost(lambda params: params["n"])(ours) == 4
    with pytest.raises(InputError, match=r"lack \['x'\]"):
        foreign.inward({"n": 4, "c": "a"})


def test_what_cannot_be_modelled_is_named():
    with pytest.raises(InputTypeError, match=r"'a' is <object.*cannot model. Allowed are lists"):
        translated({"a": object()}, lambda _name, _value: None, "lists")
    with pytest.raises(InputTypeError, match="must be a dict"):
        translated([1], lambda _name, _value: None, "lists")
    with pytest.raises(InputError, match="nothing varies"):
        translated({"a": 1}, lambda _name, value: ConstantParameter(value), "lists")


def test_even_steps_are_counted():
    kind = Stepped(0.0, 0.1, sw.Integer(2, 5))
    assert [kind.outward(k) for k in (2, 3, 5)] == [0.2, 0.3, 0.5]
    assert [kind.inward(v) for v in (0.2, 3 * 0.1, 0.5)] == [2, 3, 5]
    whole = Stepped(0, 8, sw.Integer(1, 64, log=True), whole=True)
    assert whole.outward(3) == 24
    assert isinstance(whole.outward(3), int)
    with pytest.raises(InputError, match="not at a step"):
        kind.inward(0.25)


def test_a_space_can_be_inferred_from_what_was_tried():
    rows = [
        {"lr": 0.1, "n": 3, "act": "relu", "same": 1, "some": 2},
        {"lr": 0.001, "n": 9, "act": "tanh", "same": 1},
    ]
    assert inferred(rows, log=["lr"]).space == {
        "lr": sw.Real(0.001, 0.1, log=True),
        "n": sw.Integer(3, 9),
        "act": sw.Categorical(["relu", "tanh"]),
    }
    with pytest.raises(InputError, match="nothing varies"):
        inferred([])
