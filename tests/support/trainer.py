# SPDX-License-Identifier: Apache-2.0
"""A program to be tuned: takes real time, crashes sometimes, hangs once, and floods its output.

    python trainer.py --lr=0.1 --steps=20

Fits one number by gradient descent. Too large an lr diverges, and then it crashes as programs do,
with a traceback. The first program to find no file `hung` beside it makes one, starts a child that
ignores SIGTERM, and hangs.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--flood", type=int, default=0, help="megabytes")
    parser.add_argument("--hang-once", action="store_true")
    parser.add_argument("--crash-once", action="store_true")
    return parser.parse_args()


def is_first(name):
    """Whether no program before has made the file."""
    try:
        os.close(os.open(name, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def main(given):
    if given.crash_once and is_first("crashed"):
        sys.exit("not yet")

    if given.hang_once and is_first("hung"):
        code = (
            "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
            "open('grandchild.pid', 'w').write(str(os.getpid())); time.sleep(600)"
        )
        subprocess.Popen([sys.executable, "-c", code])
        while not (Path("grandchild.pid").exists() and Path("grandchild.pid").read_text()):
            time.sleep(0.01)
        time.sleep(600)

    for _ in range(given.flood * 16):
        sys.stdout.write("all work and no play\n" * 3120)  # 64 KiB

    weight = 0.0
    for _step in range(given.steps):
        weight -= given.lr * 2 * (weight - 1.0)
        time.sleep(0.002)
        if abs(weight) > 1e3:
            raise FloatingPointError(f"diverged to {weight:g}")
    sys.stdout.write(json.dumps({"loss": (weight - 1.0) ** 2, "paid": 0.01 * given.steps}) + "\n")


if __name__ == "__main__":
    main(arguments())
