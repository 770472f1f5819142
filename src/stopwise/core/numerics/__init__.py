# SPDX-License-Identifier: Apache-2.0
"""Numerics: special functions, Cholesky factors, random streams, BLAS threads."""
