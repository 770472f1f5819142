# SPDX-License-Identifier: Apache-2.0
"""``python -m stopwise.tools.cli``, where the script ``stopwise`` is not installed."""

from stopwise.tools.cli import main

if __name__ == "__main__":
    main()
