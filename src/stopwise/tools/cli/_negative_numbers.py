# SPDX-License-Identifier: Apache-2.0
"""Commands with negative numbers among their arguments: ``stopwise tell study.jsonl 7 -0.31``.

The parser takes whatever begins with a dash for an option; told to leave unknown options alone, it
takes a mistyped one for an argument. So what is no number is looked at first.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from stopwise.core.other_names import meant
from stopwise.errors import InputError


class TakesNegativeNumbers(TyperCommand):
    """A command whose arguments may be negative numbers, and whose options are known by name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  as typer gives them
        super().__init__(*args, **kwargs)
        self.context_settings = {**self.context_settings, "ignore_unknown_options": True}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  typer's or click's
        """Refuse an unknown option, with the nearest one; then parse as usual."""
        takes_value = {
            name: not getattr(option, "is_flag", False)
            for option in self.get_params(ctx)
            for name in (*option.opts, *option.secondary_opts)
            if name.startswith("-")
        }
        rest = iter(args)
        for arg in rest:
            if arg == "--":
                break
            name, equals, _ = arg.partition("=")
            if name in takes_value:
                if takes_value[name] and not equals:
                    next(rest, None)  # its value
            elif arg.startswith("-") and arg != "-" and not _is_number(arg):
                raise _unknown(ctx.command_path, name, list(takes_value))
        return super().parse_args(ctx, args)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _unknown(command: str, name: str, options: list[str]) -> InputError:
    question = meant(name, options)
    hint = f" ({question})" if question else ""
    return InputError(f"{name} is no option of {command}{hint}; it has {', '.join(options)}.")
