# SPDX-License-Identifier: Apache-2.0
"""What is done before a release: ``python -m release.check`` and ``python -m release.versions``."""
