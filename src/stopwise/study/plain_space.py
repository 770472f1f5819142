# SPDX-License-Identifier: Apache-2.0
"""Plain spaces: from a space of ConfigSpace, or from a table with a column of costs."""

from __future__ import annotations

from typing import Any

from stopwise.core.space import Candidates, Space
from stopwise.core.space.configspace import is_configspace, read_configspace
from stopwise.core.space.constraints import checked_constraints
from stopwise.study.table_columns import with_cost_column


def plain_space(space: Space, options: dict[str, Any]) -> tuple[Space, dict[str, Any]]:
    """A space of ConfigSpace as one of ours, and options with what it forbids.

    A table whose column is the cost, without that column; other spaces as they are.
    """
    if isinstance(space, Candidates):
        return with_cost_column(space, options)
    if not is_configspace(space):
        return space, options
    parameters, forbidden = read_configspace(space)
    if forbidden:
        options["constraints"] = [*checked_constraints(options.get("constraints")), *forbidden]
    return parameters, options
