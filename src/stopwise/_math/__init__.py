# SPDX-License-Identifier: Apache-2.0
"""Scalar mathematics: special functions, log-normal moments, Cholesky factors."""
