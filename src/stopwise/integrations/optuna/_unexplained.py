# SPDX-License-Identifier: Apache-2.0
"""Warnings of parameters that exist, or have their range, for no reason that trials show."""

from __future__ import annotations

import warnings
from threading import Lock

from stopwise.integrations.optuna._tree import Tree


class Unexplained:
    """Warns of unexplained parameters, once of each.

    Args:
        owner: Name of the class that learns the space, for messages.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._lock = Lock()  # with n_jobs several threads ask at once
        self._warned: set[str] = set()

    def warn(self, tree: Tree) -> None:
        """Warn of the parameters of a space that were not warned of yet."""
        with self._lock:
            new = [name for name in tree if name in tree.unexplained - self._warned]
            self._warned |= set(new)
        if new:
            message = (
                f"{self._owner} cannot tell from the trials when, or in which range, they suggest"
                f" {', '.join(map(repr, new))}: no category or whole number that is suggested"
                " before decides it, nor do two. It is modelled as if every trial had it, with"
                " noise, which takes more trials, and values that do not fit are replaced by"
                " random ones. Better: suggest it in every trial, whether it is used or not, in"
                " one range (as a share, if its range depends on other values); or, if it exists"
                " under conditions, give space= with when=."
            )
            warnings.warn(message, stacklevel=2)
