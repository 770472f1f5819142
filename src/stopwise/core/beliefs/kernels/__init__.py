# SPDX-License-Identifier: Apache-2.0
"""Kernels, one a file, and the table of their names.

A new kernel is a file with a frozen class (see ``Kernel``) and a line in ``KERNELS``.
"""

from __future__ import annotations

from collections.abc import Callable

from stopwise.core.beliefs.kernels.kernel import Kernel
from stopwise.core.beliefs.kernels.matern52 import Matern52
from stopwise.core.lookup import make

__all__ = ["DEFAULT_KERNEL", "KERNELS", "Kernel", "make_kernel"]

KERNELS: dict[str, Callable[..., Kernel]] = {
    "matern52": Matern52,
}

DEFAULT_KERNEL: Kernel = Matern52()


def make_kernel(given: str | Kernel) -> Kernel:
    """The kernel of a name; a kernel as it is."""
    return make("kernel", KERNELS, given, None, methods=("value", "value_and_slope"))
