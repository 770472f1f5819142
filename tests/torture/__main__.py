# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.torture LAST [FIRST]``: run the lots FIRST to LAST - 1 of drawn studies."""

import sys
import time
from collections import Counter

from tests.torture.running import run_lot


def main():
    """Print how the studies of each lot ended, and every failure."""
    last, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    total, failed = Counter(), 0
    for seed in range(first, last):
        began = time.process_time()
        outcomes, failures = run_lot(seed)
        total += outcomes
        failed += len(failures)
        sys.stdout.write(f"lot {seed}: {time.process_time() - began:.0f} s of CPU, {outcomes}\n")
        sys.stdout.writelines(f"FAILED in lot {seed}\n{failure}\n" for failure in failures)
        sys.stdout.flush()
    sys.stdout.write(f"{total.total()} studies, {failed} failed: {total}\n")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
