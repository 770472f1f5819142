# SPDX-License-Identifier: Apache-2.0
"""Where data lie, and what to say when they do not."""

from __future__ import annotations

import os
from pathlib import Path

from stopwise.errors import InputError

VARIABLE = "STOPWISE_DATA"


class MissingDataError(InputError):
    """Data that an experiment needs are not on this machine."""


def data_folder() -> Path:
    """The folder of the environment variable ``STOPWISE_DATA``, else ``../shared/data``."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    checkout = Path(__file__).resolve().parents[4]
    return checkout.parent / "shared" / "data"


def found(*places: str, what: str, where: str) -> Path:
    """The first of the places that exists in the data folder.

    Args:
        places: Paths inside the data folder, the preferred one first.
        what: What is looked for.
        where: Where it can be had.
    """
    folder = data_folder()
    for place in places:
        if (folder / place).exists():
            return folder / place
    message = (
        f"{what} is not in {folder} (looked for {', '.join(places)}). {where} Then set {VARIABLE}"
        " to the folder that holds it. Without any data, 'sklearn' runs the whole pipeline."
    )
    raise MissingDataError(message)
