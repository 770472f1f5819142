# SPDX-License-Identifier: Apache-2.0
"""Programs that the runner has started."""

import select
import time

import pytest


def ended(running, patience=30.0):
    """How a program ended; it must do so within so many seconds."""
    deadline = time.monotonic() + patience
    while select.select([running], [], [], max(deadline - time.monotonic(), 0.0))[0]:
        how = running.hear()
        if how is not None:
            running.close()
            return how
    return pytest.fail("the program did not end in time")


TIDYING = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (open("tidied", "w").write("1"), sys.exit()))
open("ready", "w").write("1")
time.sleep(600)
"""  # a program that tidies up when it is asked to end

WITH_CHILD = """
import os, subprocess, sys, time
child = '''
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if sys.argv[1] == "away":
    os.setsid()
    if os.fork():
        os._exit(0)
open("grandchild", "w").write(str(os.getpid()))
time.sleep(600)
'''
subprocess.Popen([sys.executable, "-c", child, "HOW"])
while not (os.path.exists("grandchild") and open("grandchild").read()):
    time.sleep(0.01)
"""


def with_child(how, then):
    """A program whose child keeps the pipes open and ignores SIGTERM, and what it does then.

    ``how`` is "near", or "away": then the child leaves session and group, too.
    """
    return WITH_CHILD.replace("HOW", how) + then
