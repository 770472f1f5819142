# SPDX-License-Identifier: Apache-2.0
"""The errors of stopwise.

    StopwiseError (Exception)
    ├── InputError (ValueError)             a value outside what is allowed
    ├── InputTypeError (TypeError)          a thing of the wrong kind
    ├── NumericsError (ArithmeticError)     a computation that could not be completed
    ├── JournalError (OSError)              a journal that cannot be written or read
    └── MissingExtraError (ImportError)     an optional package that is not installed

Each is also the builtin in parentheses, so `except ValueError` keeps working. Every message
says what was given, what is allowed and what to do.
"""

from typing import Self

__all__ = [
    "InputError",
    "InputTypeError",
    "JournalError",
    "MissingExtraError",
    "NumericsError",
    "StopwiseError",
]


_LONGEST = 200  # characters of a value in a message


def shown(given: object) -> str:
    """What was given, as a message shows it: its repr, shortened if it is long.

    Example:
        >>> shown(0.5), shown(10**5000)
        ('0.5', 'an object of type int with too many digits to be written')
    """
    try:
        text = repr(given)
    except ValueError:  # Python writes whole numbers of a few thousand digits, and no longer ones
        return f"an object of type {type(given).__name__} with too many digits to be written"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


class StopwiseError(Exception):
    """The base of every error that stopwise raises on purpose."""

    in_shell: str = ""
    """The message for people at a shell, where it differs."""

    def or_in_shell(self, message: str) -> Self:
        """The same error, with another message for people at a shell."""
        self.in_shell = message
        return self


class InputError(StopwiseError, ValueError):
    """A value of the right kind that is outside what is allowed: a price of -1, a nan."""


class InputTypeError(StopwiseError, TypeError):
    """A thing of the wrong kind: a string where an array belongs."""


class NumericsError(StopwiseError, ArithmeticError):
    """A computation that could not be completed to the promised accuracy."""


class JournalError(StopwiseError, OSError):
    """A journal that cannot be written or read: a full disk, another writer, another format."""


class MissingExtraError(StopwiseError, ImportError):
    """An optional package is needed and not installed."""

    @classmethod
    def of(
        cls, package: str, *, extra: str, purpose: str, cause: ImportError | None = None
    ) -> Self:
        """Say which extra brings a package.

        Args:
            package: The name under which the package is imported.
            extra: The extra of stopwise that brings it.
            purpose: What it is wanted for, as a noun phrase.
            cause: The error of importing it, which may be about a package that it needs itself.

        Example:
            >>> raise MissingExtraError.of("ray", extra="ray", purpose="the Ray Tune stopper")
            Traceback (most recent call last):
            ...
            stopwise.errors.MissingExtraError: the Ray Tune stopper needs the package 'ray', which
            is not installed; it comes with an extra: pip install 'stopwise[ray]'
        """
        if cause is not None and cause.name:
            package = cause.name.partition(".")[0]
        return cls(
            f"{purpose} needs the package {package!r}, which is not installed; "
            f"it comes with an extra: pip install 'stopwise[{extra}]'",
            name=package,
        )
