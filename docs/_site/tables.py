# SPDX-License-Identifier: Apache-2.0
"""Pages from tables: a comment such as ``<!-- stopwise: rules -->`` becomes what the table has.

The text of a page is the author's; what is listed is read from the package when the site is built,
so that a new rule, kernel, option or command is on its page without anybody writing it there.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import stopwise
from _site import pictures
from stopwise.acquisition import ACQUISITIONS
from stopwise.core.beliefs import laws
from stopwise.core.beliefs.kernels import KERNELS
from stopwise.core.beliefs.models import SURROGATES
from stopwise.core.beliefs.utilities import UTILITIES
from stopwise.core.beliefs.warps import WARPS
from stopwise.stopping import RULES, After, Smoothed
from stopwise.study.options import StudyOptions

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MARK = re.compile(r"^<!-- stopwise: (\w+) -->$", re.MULTILINE)
INTEGRATIONS = ("optuna", "sklearn", "botorch", "ray", "ax")


def directive(kind: str, name: str, *options: str) -> str:
    """A directive of autodoc, as Markdown takes it."""
    lines = [f".. {kind}:: {name}", *(f"   {option}" for option in options)]
    return "\n".join(["```{eval-rst}", *lines, "```", ""])


def home_of(thing: Any) -> str:  # noqa: ANN401  whatever a table has
    """Where a thing is defined."""
    return f"{thing.__module__}.{thing.__qualname__}"


def entries(table: Mapping[str, Any], picture: Callable[[str], str | None]) -> str:
    """A section for each entry of a table: its documentation and a picture of its behaviour."""
    parts = []
    for name, made in table.items():
        kind = made.func if isinstance(made, partial) else made
        parts.append(f"## `{name}`\n")
        if isinstance(made, partial):
            given = ", ".join(f"{key}={value!r}" for key, value in made.keywords.items())
            parts.append(f"`{kind.__name__}({given})`; see there.\n")
        else:
            parts.append(directive("autoclass", home_of(kind), ":no-index:"))
        drawn = picture(name)
        if drawn:
            parts.append(f"![{name}]({drawn})\n")
    return "\n".join(parts)


def law_classes() -> dict[str, type]:
    """The classes of laws, by name."""
    named = {name: getattr(laws, name) for name in laws.__all__}
    return {
        name: kind
        for name, kind in named.items()
        if inspect.isclass(kind) and hasattr(kind, "fair_value") and name != "Law"
    }


def options_table() -> str:
    """The options of a study: name, default, whether a resume may change it."""
    rows = ["| option | default | may change on resuming |", "|---|---|---|"]
    for field in dataclasses.fields(StudyOptions):
        changes = "yes" if field.metadata.get("may_change") else ""
        rows.append(f"| `{field.name}` | `{field.default!r}` | {changes} |")
    described = directive("autoclass", "stopwise.StudyOptions", ":no-index:")
    return "\n".join([*rows, "", described])


def names_of(module: ModuleType) -> Iterable[str]:
    """Public names of a module, in the order of its list."""
    return (name for name in module.__all__ if not name.isupper() and not name.startswith("__"))


def described(path: str, thing: Any) -> str:  # noqa: ANN401  whatever is public
    """One public thing."""
    if inspect.isclass(thing):
        return directive("autoclass", path, ":members:", ":inherited-members: Exception,tuple")
    if inspect.isfunction(thing):
        return directive("autofunction", path)
    return ""


def api() -> str:
    """Every public name of the package and of its public modules."""
    public = {name: getattr(stopwise, name) for name in stopwise.__all__}
    modules = {name: thing for name, thing in public.items() if inspect.ismodule(thing)}
    parts = ["## stopwise\n"]
    parts += [described(f"stopwise.{name}", thing) for name, thing in public.items()]
    for name in ("acquisition", "stopping", "math", "testing", "errors"):
        module = modules[name]
        parts.append(f"## stopwise.{name}\n\n{summary(module)}\n")
        parts += [
            described(f"stopwise.{name}.{each}", thing)
            for each in names_of(module)
            if (thing := getattr(module, each)) not in described_above(public)
        ]
    return "\n".join(part for part in parts if part)


def described_above(public: Mapping[str, Any]) -> list[Any]:
    """Classes and functions that the package itself exports."""
    return [thing for thing in public.values() if callable(thing)]


def summary(module: ModuleType) -> str:
    """The first sentence of a module's documentation."""
    return inspect.cleandoc(module.__doc__ or "").partition("\n\n")[0].replace("\n", " ")


def integrations() -> str:
    """What each integration offers, where its package is installed."""
    parts = []
    for name in INTEGRATIONS:
        path = f"stopwise.integrations.{name}"
        try:
            module = __import__(path, fromlist=["__all__"])
        except ImportError:
            parts.append(f"## {path}\n\n(Its package was not installed where this was built.)\n")
            continue
        parts.append(f"## {path}\n\n{summary(module)}\n")
        parts += [
            directive("autoclass" if inspect.isclass(thing) else "autofunction", f"{path}.{each}")
            for each in names_of(module)
            if callable(thing := getattr(module, each))
        ]
    return "\n".join(parts)


def commands() -> str:
    """Every command with its arguments and options, as ``--help`` has them."""
    import typer.main
    from click import Context

    from stopwise.tools.cli.app import app

    group = typer.main.get_command(app)
    context = Context(group, info_name="stopwise")
    parts = []
    for name in group.list_commands(context):  # type: ignore[attr-defined]
        command = group.get_command(context, name)  # type: ignore[attr-defined]
        inner = Context(command, info_name=name, parent=context, terminal_width=98)
        parts.append(f"## stopwise {name}\n\n```text\n{command.get_help(inner).strip()}\n```\n")
    return "\n".join(parts)


PAGES: dict[str, Callable[[], str]] = {
    "rules": lambda: entries(RULES | {"After": After, "Smoothed": Smoothed}, pictures.rule),
    "acquisitions": lambda: entries(ACQUISITIONS, pictures.acquisition),
    "kernels": lambda: entries(KERNELS, pictures.kernel),
    "warps": lambda: entries(WARPS, pictures.warp),
    "laws": lambda: entries(law_classes(), pictures.law),
    "utilities": lambda: entries(UTILITIES, pictures.utility),
    "surrogates": lambda: entries(SURROGATES, pictures.surrogate),
    "curves": pictures.curves,
    "leaving": pictures.leaving,
    "options": options_table,
    "api": api,
    "integrations": integrations,
    "commands": commands,
}


def fill(app: Sphinx, name: str, source: list[str]) -> None:  # noqa: ARG001  Sphinx hands it in
    """Put what a table has in the place of its mark."""
    if name.startswith("docs/reference/"):
        source[0] = MARK.sub(lambda mark: PAGES[mark[1]](), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Fill pages as they are read."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
