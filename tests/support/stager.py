# SPDX-License-Identifier: Apache-2.0
"""A program that reports in stages: a line of JSON for each of nine steps.

    python stager.py X [CHECKPOINT] [TO_STEP]

With a checkpoint it goes on where it was. The environment variable TROUBLE says what goes wrong,
and PAUSE how long a step takes.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path


def say(step, value, cost):
    sys.stdout.write(json.dumps({"step": step, "loss": value, "cost": cost}) + "\n")
    sys.stdout.flush()


def main():  # noqa: C901  one trouble after the other
    x = float(sys.argv[1])
    checkpoint = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    to_step = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    trouble = os.environ.get("TROUBLE", "")
    done = 0
    if checkpoint and checkpoint.exists():
        done = int(checkpoint.read_text())
    Path(os.environ["STOPWISE_TRIAL_FOLDER"], "pid").write_text(f"{os.getpid()}\n")
    sys.stdout.write("some words, and {no JSON}\n")
    for step in range(done + 1, to_step + 1):
        time.sleep(float(os.environ.get("PAUSE", "0")))
        if trouble == "hang" and step == 3:
            time.sleep(600)
        if trouble == "crash" and step == 3:
            sys.exit("out of memory")
        if trouble == "silent" and step == 3:
            break
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # what is saved is printed, too
        if checkpoint:
            checkpoint.with_suffix(".new").write_text(str(step))
            checkpoint.with_suffix(".new").replace(checkpoint)
        if trouble == "skip" and step == 3:
            continue
        value, cost = (x - 0.3) ** 2 + x / step**0.5, 2.0 * step
        if trouble == "nan" and step == 2:
            value = float("nan")
        if trouble == "cheaper" and step == 3:
            cost = 1.0
        say({"word": "three"}.get(trouble, step) if step == 3 else step, value, cost)
        if trouble == "back" and step == 3:
            say(2, value, cost)
        if trouble == "more" and step == 9:
            say(10, value, cost)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])


if __name__ == "__main__":
    main()
