# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.fuzz NAME --minutes M``: mutate the corpus of a target for M CPU-minutes.

Files that lead to a finding are written into the corpus, which test_corpora.py replays.
"""

import argparse
import hashlib
import random
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter

from tests.fuzz.mutations import mutated
from tests.fuzz.targets import CORPORA, TARGETS, outcome

MEMORY = 6 << 30  # bytes of address space: what would fill the machine is a finding too


def tried(name, data, counts, seen):
    """Give one file to a target; a finding of a new kind is printed and written to the corpus."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            counts[outcome(name, data, folder)] += 1
    except BaseException as error:  # a finding, whatever it is
        if isinstance(error, KeyboardInterrupt):
            raise
        counts["findings"] += 1
        where = traceback.extract_tb(error.__traceback__)[-1]
        if (type(error), where.filename, where.lineno) in seen:
            return
        seen.add((type(error), where.filename, where.lineno))
        file = f"found-{hashlib.sha256(data).hexdigest()[:12]}"
        (CORPORA / name / file).write_bytes(data)
        sys.stdout.write(f"--- {file}\n{''.join(traceback.format_exception(error)[-6:])}\n")
        sys.stdout.flush()


def main():
    """Fuzz one target, and print what became of its files."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("name", choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=1.0, help="of this process's CPU time")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    corpus = [path.read_bytes() for path in sorted((CORPORA / options.name).iterdir())]
    generator = random.Random(options.seed)  # noqa: S311  repeatable on purpose
    counts, seen, slowest = Counter(), set(), 0.0
    try:
        while time.process_time() < 60 * options.minutes:
            data = mutated(generator, generator.choice(corpus), corpus)
            begun = time.process_time()
            tried(options.name, data, counts, seen)
            slowest = max(slowest, time.process_time() - begun)
    except KeyboardInterrupt:  # it says how far it came
        pass
    total = sum(counts.values())
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in ("read", "refused", "findings"))
    sys.stdout.write(
        f"{options.name}, seed {options.seed}: {total} files in {time.process_time():.0f} s of"
        f" CPU: {kinds} ({len(seen)} different); the slowest took {slowest:.1f} s\n"
    )
    sys.exit(bool(seen))


if __name__ == "__main__":
    main()
