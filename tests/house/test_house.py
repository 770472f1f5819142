# SPDX-License-Identifier: Apache-2.0
"""The house rules that no single module can check about itself."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

import stopwise
from tests.support.repository import ROOT

SRC = ROOT / "src" / "stopwise"
MODULES = sorted(SRC.rglob("*.py"))
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

PUBLIC = [
    "Audit",
    "Candidates",
    "Categorical",
    "Continue",
    "Evaluation",
    "Integer",
    "Ordinal",
    "Real",
    "Result",
    "Stages",
    "Start",
    "Study",
    "StudyOptions",
    "Trial",
    "Verdict",
    "__version__",
    "acquisition",
    "audit",
    "beliefs",
    "budget",
    "errors",
    "exchange_rate",
    "lam_ladder",
    "math",
    "maximize",
    "minimize",
    "replay",
    "space",
    "stopping",
    "testing",
    "utility",
]

HEAVY = {
    "torch", "gpytorch", "botorch", "ax", "ray", "optuna", "sklearn",
    "pandas", "pyarrow", "dask", "matplotlib", "plotly",
}  # fmt: skip
NOT_AT_IMPORT = HEAVY | {"rich", "typer", "scipy.optimize", "scipy.stats"}


def in_src(path):
    return path.relative_to(SRC).as_posix()


def each_module(function):
    return pytest.mark.parametrize("path", MODULES, ids=in_src)(function)


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports_of(tree):
    """All modules that a file imports, wherever in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def calls_of(tree):
    """Names of all functions that a file calls by their bare name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def answer_of(script, *arguments):
    """What a script prints, as JSON, when a fresh interpreter runs it."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


# ------------------------------------------------------------------------ import direction


def lint_imports(root):
    """Run import-linter over the tree at `root`, whichever stopwise is installed."""
    command = shutil.which("lint-imports", path=sysconfig.get_path("scripts"))
    assert command, "import-linter is missing: make lint installs it"
    return subprocess.run(
        [command, "--no-cache", "--config", str(root / "pyproject.toml")],
        check=False,
        capture_output=True,
        text=True,
        cwd=root / "src",
        env={**os.environ, "PYTHONPATH": str(root / "src")},
    )


def test_imports_go_downward_only():
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_contracts_notice_wrong_imports_and_a_module_without_a_layer(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    package = tmp_path / "src" / "stopwise"
    with (package / "errors.py").open("a", encoding="utf-8") as file:
        file.write("\nfrom stopwise import math\nimport torch\n")
    (package / "utils.py").write_text('"""Odds and ends."""\n')
    done = lint_imports(tmp_path)
    assert done.returncode != 0
    said = " ".join(done.stdout.split())
    assert "stopwise.errors is not allowed to import stopwise.math" in said
    assert "stopwise is not allowed to import torch" in said
    assert "not listed as layers: - stopwise.utils" in said


# --------------------------------------------------------------------------- public names


def test_public_names_are_pinned():
    assert stopwise.__all__ == PUBLIC


def test_every_public_name_loads_and_is_listed():
    for name in PUBLIC:
        assert getattr(stopwise, name) is not None
        assert name in dir(stopwise)


EVERYTHING_FIRST = """
import importlib, json, sys, types
for name in sys.argv[1:]:
    importlib.import_module(name)
import stopwise
things = [name for name, home in stopwise._HOMES.items() if ":" in home]
print(json.dumps([n for n in things if isinstance(getattr(stopwise, n), types.ModuleType)]))
"""


def test_no_module_hides_a_public_name():
    """Importing a module binds its name in the package, where it must not hide a function."""
    names = [
        ".".join(("stopwise", *path.relative_to(SRC).with_suffix("").parts)) for path in MODULES
    ]
    assert answer_of(EVERYTHING_FIRST, *(name.removesuffix(".__init__") for name in names)) == []


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(AttributeError, match=r"no attribute 'minimise'; it has .*math"):
        _ = stopwise.minimise


@each_module
def test_all_lists_name_what_exists(path):
    module = ".".join(("stopwise", *path.relative_to(SRC).with_suffix("").parts))
    module = module.removesuffix(".__init__")
    loaded = __import__(module, fromlist=["_"])
    names = getattr(loaded, "__all__", [])
    assert len(set(names)) == len(names)
    assert [name for name in names if not hasattr(loaded, name)] == []


def undocumented(body, prefix=""):
    for node in body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("_") or is_overload(node):
            continue
        if not ast.get_docstring(node):
            yield f"{prefix}{node.name}, line {node.lineno}"
        if isinstance(node, ast.ClassDef):
            yield from undocumented(node.body, f"{prefix}{node.name}.")


def is_overload(node):
    return any(
        isinstance(mark, ast.Name) and mark.id == "overload" for mark in node.decorator_list
    )


@each_module
def test_everything_public_has_a_docstring(path):
    tree = tree_of(path)
    assert ast.get_docstring(tree), f"{in_src(path)} has no docstring"
    assert list(undocumented(tree.body)) == []


# ------------------------------------------------------------------------- a light import


def test_import_loads_nothing_heavy():
    loaded = answer_of("import sys, json, stopwise; print(json.dumps(sorted(sys.modules)))")
    assert "stopwise" in loaded
    assert NOT_AT_IMPORT.intersection(loaded) == set()


def test_public_names_load_no_framework():
    loaded = answer_of(
        "import sys, json, stopwise\n"
        "for name in stopwise.__all__: getattr(stopwise, name)\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    assert "stopwise.math" in loaded
    assert HEAVY.intersection(loaded) == set()


def test_the_first_suggestion_loads_no_part_of_scipy():
    """Its parts take longer to load than numpy, and the initial design needs none of them."""
    loaded = answer_of(
        "import sys, json, stopwise as sw\n"
        "study = sw.Study({'a': sw.Real(0, 1), 'n': sw.Integer(1, 9)}, lam=1e-3)\n"
        "study.should_stop(), study.ask()\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    parts = {f"scipy.{name}" for name in ("linalg", "optimize", "spatial", "special", "stats")}
    assert parts.intersection(loaded) == set()


GLOBALS = """
import json, locale, logging, os, random, signal, sys, warnings
import numpy as np, scipy.linalg, scipy.special  # what they do to the process is their affair

def state():
    root = logging.getLogger()
    return {
        "numpy errstate": repr(np.geterr()),
        "numpy print options": repr(np.get_printoptions()),
        "numpy random": repr(np.random.get_state()),
        "python random": repr(random.getstate()),
        "warnings": repr(warnings.filters),
        "logging": repr((root.handlers, root.level, logging.root.manager.disable)),
        "environment": repr(sorted(os.environ.items())),
        "path": repr(sys.path),
        "hooks": repr((sys.excepthook, sys.displayhook)),
        "interrupt": repr(signal.getsignal(signal.SIGINT)),
        "locale": repr(locale.setlocale(locale.LC_ALL)),
    }

before = state()
import stopwise
for name in stopwise.__all__:
    getattr(stopwise, name)
after = state()
print(json.dumps([key for key in before if before[key] != after[key]]))
"""


def test_import_changes_no_global():
    assert answer_of(GLOBALS) == []


# ------------------------------------------------------------------------- what files hold


@each_module
def test_no_pickle_no_eval(path):
    tree = tree_of(path)
    roots = {name.partition(".")[0] for name in imports_of(tree)}
    assert roots.isdisjoint({"pickle", "cloudpickle", "dill", "shelve", "marshal", "joblib"})
    assert {"eval", "exec", "compile", "__import__"}.isdisjoint(calls_of(tree))
    assert "allow_pickle=True" not in path.read_text(encoding="utf-8")


@each_module
def test_nothing_imports_the_experiments(path):
    roots = {name.partition(".")[0] for name in imports_of(tree_of(path))}
    assert roots.isdisjoint({"stopwise_paper", "joblib", "dask", "distributed"})


@each_module
def test_pictures_are_drawn_in_the_report_alone(path):
    roots = {name.partition(".")[0] for name in imports_of(tree_of(path))}
    assert "matplotlib" not in roots or path.parent.name == "report"


def test_the_wheel_holds_the_library_alone():
    wheel = CONFIG["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel == {"packages": ["src/stopwise"]}
    assert [path.parent.name for path in (ROOT / "src").glob("*/__init__.py")] == ["stopwise"]
    assert not list((ROOT / "src").rglob("stopwise_paper*"))
    assert CONFIG["project"]["scripts"] == {"stopwise": "stopwise.tools.cli:main"}
    needed = " ".join(CONFIG["project"]["dependencies"])
    assert not {"matplotlib", "joblib", "dask", "pyarrow"} & set(re.findall(r"[a-z]+", needed))


def layers_below(name):
    """Folders on rows below the one that holds `name`, from the contract of the package."""
    [rows] = [
        contract["layers"]
        for contract in CONFIG["tool"]["importlinter"]["contracts"]
        if contract.get("id") == "layers"
    ]
    rows = [{entry.strip() for entry in row.split("|")} for row in rows]
    [at] = [number for number, row in enumerate(rows) if name in row]
    return set().union(*rows[at + 1 :])


def modules_below(name):
    below = layers_below(name)
    found = [path for path in MODULES if path.relative_to(SRC).with_suffix("").parts[0] in below]
    assert found
    return found


@pytest.mark.parametrize("path", modules_below("study"), ids=in_src)
def test_no_clock_below_study(path):
    roots = {name.partition(".")[0] for name in imports_of(tree_of(path))}
    assert roots.isdisjoint({"time", "timeit", "datetime"})


@pytest.mark.parametrize("path", modules_below("record"), ids=in_src)
def test_no_input_or_output_below_the_record(path):
    tree = tree_of(path)
    roots = {name.partition(".")[0] for name in imports_of(tree)}
    assert roots.isdisjoint(
        {"io", "os", "pathlib", "shutil", "socket", "subprocess", "tempfile", "urllib"}
    )
    assert {"open", "print", "input"}.isdisjoint(calls_of(tree))


FOLDERS = ["src", "paper", "tests", "docs", "examples", "benchmarks"]
OURS = [
    *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.*"))),
    *(path for path in sorted(ROOT.glob("*.*")) if path.is_file()),
]
PYTHON = [path for path in OURS if path.suffix == ".py"]
TEXT = [path for path in OURS if path.suffix in {".py", ".md", ".toml", ".txt", ".cff", ".csv"}]


def in_root(path):
    return path.relative_to(ROOT).as_posix()


def test_every_python_file_names_its_licence():
    first_lines = {in_root(path): path.read_text("utf-8").partition("\n")[0] for path in PYTHON}
    assert [
        name
        for name, line in first_lines.items()
        if "SPDX-License-Identifier: Apache-2.0" not in line
    ] == []


# A path that begins at the root of some machine, Unix or Windows; not the tail of an address.
MACHINE_PATH = re.compile(
    r"(?<![\w.:/~-])/(?:home|root|Users|tmp|opt|work|mnt|srv|media|usr|var|etc)/\w|\b[A-Z]:\\\w"
)


def test_machine_paths_are_recognised():
    assert MACHINE_PATH.search("open('" + "/" + "home/me/data.csv')")
    assert not MACHINE_PATH.search("see https://example.org/home/me and src/home/me")


def test_no_machine_paths():
    found = [
        f"{in_root(path)}:{number}"
        for path in TEXT
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if MACHINE_PATH.search(line)
    ]
    assert found == []


def test_the_version_is_the_same_everywhere():
    version = stopwise.__version__
    assert CONFIG["tool"]["hatch"]["version"]["path"] == "src/stopwise/__init__.py"
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(r"^## (\S+)", changelog, re.MULTILINE)[1] in {version, "Unreleased"}
    assert re.search(rf"^## {re.escape(version)}\b", changelog, re.MULTILINE)


# ------------------------------------------------------------------------- rooms and sizes

PAPER = sorted((ROOT / "paper" / "src").rglob("*.py"))
MOST_ENTRIES, MOST_LINES, LONGEST_FUNCTION = 12, 350, 40
# Public names of 0.1 that two modules share, and the law of f(x) beside the laws of rules.
HOMONYMS = {"PBGI", "StopwiseStopper", "Law"}


def test_the_package_root_shows_at_most_a_dozen_entries():
    entries = sorted(path.name for path in SRC.iterdir() if path.name != "__pycache__")
    assert len(entries) <= MOST_ENTRIES, entries


@pytest.mark.parametrize("path", MODULES, ids=in_src)
def test_a_loop_without_a_condition_says_why_it_ends(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    endless = [line for line in lines if re.match(r"\s*while (True|1)\b", line)]
    assert all("#" in line for line in endless)


@pytest.mark.parametrize("path", [*MODULES, *PAPER], ids=lambda path: path.stem)
def test_modules_and_functions_are_short(path):
    text = path.read_text("utf-8")
    assert text.count("\n") <= MOST_LINES, in_root(path)
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and "#" not in lines[node.lineno - 1]:
            length = node.end_lineno - node.lineno + 1 - docstring_lines(node)
            assert length <= LONGEST_FUNCTION, f"{in_root(path)}: {node.name}, {length} lines"


def docstring_lines(node):
    first = node.body[0]
    return first.end_lineno - first.lineno + 1 if ast.get_docstring(node) else 0


def module_of(path):
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return [part for part in parts if part != "__init__"]


@each_module
def test_an_underscore_means_private_to_its_folder(path):
    for name in imports_of(tree_of(path)):
        parts = name.split(".")
        private = [at for at, part in enumerate(parts) if at and part.startswith("_")]
        if parts[0] == "stopwise" and private:
            folder = parts[: private[0]]
            assert module_of(path)[: len(folder)] == folder, f"{in_src(path)} imports {name}"


def test_one_name_one_meaning():
    homes = {}
    for path in [*MODULES, *PAPER]:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(in_root(path))
    shared = {name: paths for name, paths in homes.items() if len(paths) > 1}
    assert set(shared) == HOMONYMS, shared


def test_every_room_has_its_tests():
    rooms = [path.relative_to(SRC) for path in SRC.rglob("__init__.py")]
    folders = {room.parent for room in rooms if len(room.parts) in (2, 3)} - {Path("core/beliefs")}
    wanted = {f for f in folders if f.parts[0] in ("core", "tools") or len(f.parts) == 1}
    missing = [str(f) for f in wanted if not list((ROOT / "tests" / f).glob("**/test_*.py"))]
    assert missing == []


BENCHMARKS = sorted((ROOT / "benchmarks").glob("[a-z]*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_make_bench_can_run_every_benchmark(path):
    functions = [node for node in tree_of(path).body if isinstance(node, ast.FunctionDef)]
    [run] = [function for function in functions if function.name == "run"]
    needed = [
        argument.arg
        for argument, default in zip(run.args.kwonlyargs, run.args.kw_defaults, strict=True)
        if default is None
    ]
    assert needed == ["quick"]
    assert not run.args.args
