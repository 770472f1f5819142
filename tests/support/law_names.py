# SPDX-License-Identifier: Apache-2.0
"""The names of tests that break laws."""


def names(pairs):
    """What tests of broken things are called: the law, and which of those that break it."""
    return [f"{law}-{position}" for position, (law, _) in enumerate(pairs)]
