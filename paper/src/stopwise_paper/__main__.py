# SPDX-License-Identifier: Apache-2.0
"""``python -m stopwise_paper``: the command ``stopwise-paper``."""

import sys

from stopwise_paper.cli import main

if __name__ == "__main__":
    sys.exit(main())
