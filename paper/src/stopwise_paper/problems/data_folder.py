# SPDX-License-Identifier: Apache-2.0
"""The folder of external data (LCBench, NATS-Bench), and the error that says what is missing."""

from __future__ import annotations

import os
from pathlib import Path

from stopwise.errors import InputError

VARIABLE = "STOPWISE_DATA"


class MissingDataError(InputError):
    """Data that an experiment needs are not on this machine."""


def data_folder() -> Path:
    """The folder of the environment variable ``STOPWISE_DATA``, else ``../shared/data``."""
    folder = os.environ.get(VARIABLE)
    if folder:
        return Path(folder)
    checkout = Path(__file__).resolve().parents[4]
    return checkout.parent / "shared" / "data"


def find_file(*paths: str, content: str, source: str) -> Path:
    """The first of several files that exists in the data folder.

    Args:
        paths: Paths inside the data folder, the preferred one first.
        content: Name of the data, for the message.
        source: A sentence that says where to get them.

    Raises:
        MissingDataError: None of them exists; the message says where to get one.
    """
    folder = data_folder()
    for path in paths:
        if (folder / path).exists():
            return folder / path
    message = (
        f"{content} is not in {folder} (looked for {', '.join(paths)}). {source} Then set"
        f" {VARIABLE} to the folder that holds it. Without any data, 'sklearn' runs the whole"
        " pipeline."
    )
    raise MissingDataError(message)
