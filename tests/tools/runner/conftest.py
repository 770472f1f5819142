# SPDX-License-Identifier: Apache-2.0
"""Signals are heard wherever the tests run."""

import signal

import pytest


@pytest.fixture(autouse=True)
def _signals_are_heard():
    """Under nohup a hangup, and in the background of a script an interrupt, would not be heard: a
    test that sends one would wait for ever.
    """
    before = {name: signal.getsignal(name) for name in (signal.SIGHUP, signal.SIGINT)}
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for name, handler in before.items():
        signal.signal(name, handler)
