# SPDX-License-Identifier: Apache-2.0
"""``python -m stopwise.cli``, where the script ``stopwise`` is not installed."""

from stopwise.cli import main

if __name__ == "__main__":
    main()
