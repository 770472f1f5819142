# SPDX-License-Identifier: Apache-2.0
"""What the experiments use of stopwise is public, and their own imports go downward only."""

import ast
import importlib
from pathlib import Path

import pytest

import stopwise as sw
import stopwise_paper
from tests.support.repository import ROOT

PACKAGE = Path(stopwise_paper.__file__).parent
TESTS = ROOT / "paper" / "tests"
FILES = sorted([*PACKAGE.rglob("*.py"), *TESTS.rglob("*.py")])

# The public modules of stopwise. Of each, what is listed in __all__ may be used, and nothing else.
MODULES = {
    "stopwise": sw,
    "stopwise.acquisition": sw.acquisition,
    "stopwise.beliefs": sw.beliefs,
    "stopwise.errors": sw.errors,
    "stopwise.math": sw.math,
    "stopwise.space": sw.space,
    "stopwise.stopping": sw.stopping,
    "stopwise.testing": sw.testing,
}

# From the top down; a folder imports from rows below its own.
LAYERS = ["cli", "figures", "analysis", "runs", "experiments", "problems", "cell", "base"]
BASE = {"arrays", "plugins", "seeds"}


def in_root(path):
    return path.relative_to(ROOT).as_posix()


def imports_of(tree):
    """What a file imports of stopwise: its dotted name, the local name, the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, alias.asname, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield f"{node.module}.{alias.name}", alias.asname or alias.name, node.lineno


def dotted_name(node, bound):
    """The dotted name of an expression such as sw.beliefs.condition, if it is one."""
    if isinstance(node, ast.Name):
        return bound.get(node.id)
    if isinstance(node, ast.Attribute):
        outer = dotted_name(node.value, bound)
        return outer and f"{outer}.{node.attr}"
    return None


def is_public(name):
    module, _, last = name.rpartition(".")
    return name in MODULES or (module in MODULES and last in MODULES[module].__all__)


def not_public(tree):
    """Imports of stopwise, and attributes of its modules, that are not public."""
    bound = {}
    for name, local, line in imports_of(tree):
        if name.partition(".")[0] == "stopwise":
            bound[local or "stopwise"] = name if local else "stopwise"
            if not is_public(name):
                yield f"import of {name}, line {line}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and dotted_name(node.value, bound) in MODULES:
            name = dotted_name(node, bound)
            if not is_public(name):
                yield f"{name}, line {node.lineno}"


@pytest.mark.parametrize("path", FILES, ids=in_root)
def test_only_public_names_of_stopwise_are_used(path):
    assert list(not_public(ast.parse(path.read_text("utf-8")))) == []


@pytest.mark.parametrize(
    "line",
    [
        "import stopwise.core.beliefs.gp",
        "from stopwise.core.snapshot import Snapshot",
        "from stopwise.acquisition.lcb import LCB",
        "from stopwise.acquisition import make",
        "from stopwise import core",
        "import stopwise as sw\nsw.core.beliefs",
        "import stopwise as sw\nsw.beliefs.gp.condition",
        "from stopwise import beliefs as b\nb.chol",
        "from stopwise import space\nspace._checks",
        "import stopwise.errors\nstopwise.record",
    ],
)
def test_private_names_are_noticed(line):
    assert len(list(not_public(ast.parse(line)))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "import stopwise as sw\nsw.beliefs.condition",
        "from stopwise import space\nspace.Finite",
        "from stopwise.acquisition import Snapshot",
        "import stopwise.errors\nstopwise.errors.InputError",
        "import stopwise_paper.runs",
    ],
)
def test_public_names_are_allowed(line):
    assert list(not_public(ast.parse(line))) == []


def test_public_lists_name_what_exists():
    for module in MODULES.values():
        assert [name for name in module.__all__ if not hasattr(module, name)] == []


# ----------------------------------------------------------------------------- layers


def layer_of(module):
    part = module.split(".")[1]
    return LAYERS.index("base" if part in BASE else part)


def imported_by(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("stopwise_paper"):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if node.module == "stopwise_paper" else node.module


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.parent != PACKAGE or path.stem[0] != "_"
    ],
    ids=in_root,
)
def test_imports_go_downward_only(path):
    module = ".".join(("stopwise_paper", *path.relative_to(PACKAGE).with_suffix("").parts))
    own = layer_of(module)
    upward = [
        name
        for name in imported_by(path)
        if layer_of(name) < own or (layer_of(name) == own and LAYERS[own] == "base")
    ]
    assert upward == []


@pytest.mark.parametrize("name", stopwise_paper.__all__)
def test_everything_exported_exists(name):
    assert getattr(importlib.import_module("stopwise_paper"), name) is not None
