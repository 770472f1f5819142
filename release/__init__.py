# SPDX-License-Identifier: Apache-2.0
"""Before a release: ``python -m release.check`` and ``python -m release.versions``."""
