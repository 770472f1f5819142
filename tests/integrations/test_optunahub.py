# SPDX-License-Identifier: Apache-2.0
"""The packages for OptunaHub have the registry's form, load as it loads them, and work."""

import importlib.util
import re
import sys
import types

import optuna
import pytest

from tests.support.pages import blocks_of
from tests.support.repository import ROOT

PACKAGES = sorted((ROOT / "hub" / "package").glob("*/*"))
TAGS = {"samplers": "sampler", "callbacks": "callback", "pruners": "pruner"}


def name_of(package):
    return f"{package.parent.name}/{package.name}"


def loaded(package):
    """The package as a module, read from its folder under a name of its own."""
    spec = importlib.util.spec_from_file_location(
        f"hub_{package.parent.name}_{package.name}", package / "__init__.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_packages():
    assert {name_of(package) for package in PACKAGES} == {
        "samplers/stopwise",
        "callbacks/stopwise",
        "pruners/stopwise",
    }


@pytest.mark.parametrize("package", PACKAGES, ids=name_of)
def test_a_package_has_the_form_of_the_registry(package):
    assert {file.name for file in package.iterdir() if file.is_file()} == {
        "LICENSE", "README.md", "__init__.py", "example.py", "requirements.txt",
    }  # fmt: skip
    page = (package / "README.md").read_text("utf-8")
    front = dict(re.findall(r"^(\w+): (.*)$", page.split("---")[1], re.MULTILINE))
    assert {*front} == {"author", "title", "description", "tags", "optuna_versions", "license"}
    assert TAGS[package.parent.name] in front["tags"].strip("[]").split(", ")
    assert front["license"] == "MIT License"
    assert "MIT License" in (package / "LICENSE").read_text("utf-8")
    for heading in ("Abstract", "APIs", "Installation", "Example"):
        assert f"\n## {heading}\n" in page
    [code] = blocks_of(package / "README.md", "python")
    example = (package / "example.py").read_text("utf-8")
    assert example.partition("\n")[2] == code


@pytest.mark.parametrize("package", PACKAGES, ids=name_of)
def test_the_example_of_a_package_runs(package, monkeypatch, capsys):
    """``optunahub.load_module`` reads from the network; here it reads from this folder."""
    hub = types.ModuleType("optunahub")
    hub.load_module = lambda name: loaded(ROOT / "hub" / "package" / name)
    monkeypatch.setitem(sys.modules, "optunahub", hub)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    exec((package / "example.py").read_text("utf-8"), {})  # noqa: S102  our own page
    printed = capsys.readouterr().out
    if package.parent.name == "callbacks":
        assert int(printed.split()[0]) < 60  # it was stopped
    elif package.parent.name == "pruners":
        epochs, best = re.fullmatch(r"(\d+) of 810 epochs, best ([\d.]+)\n", printed).groups()
        assert int(epochs) < 810 / 2
        assert float(best) < 0.5  # 3 / 27 is the least
    else:
        assert "'layers': 4" in printed


@pytest.mark.parametrize("package", PACKAGES, ids=name_of)
def test_optunahub_itself_loads_a_package(package):
    optunahub = pytest.importorskip("optunahub")
    module = optunahub.load_local_module(name_of(package), registry_root=str(ROOT / "hub/package"))
    assert module.__all__
