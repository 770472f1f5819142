# SPDX-License-Identifier: Apache-2.0
"""Plugins: acquisitions and stopping rules of other packages, named ``package.module:Class``.

Experiments run plugin acquisitions beside the library's and record plugin rules beside its rules.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from stopwise.errors import InputError


def load_plugin(reference: str) -> Any:  # noqa: ANN401  whatever it names
    """The object that ``package.module:Class`` names; a class is made without arguments."""
    module, _, name = reference.partition(":")
    try:
        plugin = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        message = (
            f"{reference!r} cannot be imported ({error}): give package.module:Class, importable"
            " where the experiment runs."
        )
        raise InputError(message) from error
    return plugin() if isinstance(plugin, type) else plugin


def check_plugins(references: Iterable[str]) -> None:
    """Refuse plugins that cannot be imported, before anything runs."""
    for reference in references:
        load_plugin(reference)
