# SPDX-License-Identifier: Apache-2.0
"""Optuna storages that are only read.

Optuna creates its tables in any database that it opens, and SQLite creates a file for any path. So
the tables are looked for first, through a connection that cannot write: SQLite's ``mode=ro``, and
read-only transactions in PostgreSQL. Of other databases only the tables are looked for, after
which Optuna has nothing to create.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy
from optuna.storages import RDBStorage
from sqlalchemy.engine import URL, make_url

from stopwise.errors import InputError
from stopwise.integrations.foreign_files import reason

# Where the last two are empty, Optuna would write its version into them.
_TABLES = ("studies", "trials", "trial_params", "trial_values", "version_info", "alembic_version")
_STAMPED = ("version_info", "alembic_version")


@contextmanager
def open_read_only(url: str) -> Iterator[RDBStorage]:
    """Open the storage at a URL; one that Optuna has not set up is refused and left as it is."""
    place, options = _read_only(_parsed(url))
    engine = sqlalchemy.create_engine(place, **options)
    try:
        _check_tables(engine, shown_url(url))
    finally:
        engine.dispose()
    text = place.render_as_string(hide_password=False)
    # Optuna fills in {...}: braces of the URL itself are doubled.
    text = text.replace("{", "{{").replace("}", "}}")
    storage = RDBStorage(text, engine_kwargs=options, skip_table_creation=True)
    try:
        yield storage
    finally:
        storage.engine.dispose()


def shown_url(url: str) -> str:
    """A URL without its password, for messages."""
    try:
        return repr(make_url(url).render_as_string(hide_password=True))
    except (sqlalchemy.exc.ArgumentError, ValueError):
        return repr(f"{url.partition('://')[0][:40]}://...")


def _parsed(url: str) -> URL:
    try:
        place = make_url(url)
        place.get_dialect()
    except (sqlalchemy.exc.ArgumentError, ValueError, ImportError) as error:
        message = (
            f"{shown_url(url)} is not the URL of a storage of Optuna ({reason(error)}): give one"
            " such as sqlite:///study.db or postgresql://user@host/database, with the driver of"
            " its database installed."
        )
        raise InputError(message) from error
    return place


def _read_only(place: URL) -> tuple[URL, dict[str, Any]]:
    """The URL and the options of an engine that cannot write, where there are such."""
    kind = place.get_backend_name()
    if kind == "sqlite":
        return _read_only_sqlite(place), {}
    if kind == "postgresql":
        return place, {"execution_options": {"postgresql_readonly": True}}
    return place, {}


def _read_only_sqlite(place: URL) -> URL:
    name = place.database or ""
    if name in ("", ":memory:") or name.startswith("file:"):
        message = (
            f"{shown_url(str(place))} names no file: give sqlite:///study.db, or with four slashes"
            " and an absolute path, sqlite:////home/me/study.db."
        )
        raise InputError(message)
    try:
        file = Path(name).absolute()
        is_file = file.is_file()
    except ValueError as error:  # a null character
        raise InputError(f"{name!r} cannot be the path of a file.") from error
    if not is_file:
        message = f"there is no database {name!r}: check the path. Nothing was created."
        raise InputError(message)
    query = {"mode": "ro", "uri": "true"}
    if _keeps_a_log(file) and not file.with_name(f"{file.name}-wal").exists():
        query["immutable"] = "1"  # nobody writes; a log would be created otherwise
    return place.set(database=f"file:{quote(str(file))}", query=query)


def _keeps_a_log(file: Path) -> bool:
    """Whether the database is in SQLite's write-ahead mode (bytes 18 and 19 of its header)."""
    with file.open("rb") as opened:
        return opened.read(20)[18:] == b"\x02\x02"


def _check_tables(engine: sqlalchemy.Engine, shown: str) -> None:
    present = sqlalchemy.inspect(engine).get_table_names()
    missing = [name for name in _TABLES if name not in present]
    if not missing:
        with engine.connect() as connection:
            rows = {
                name: connection.execute(
                    sqlalchemy.select(sqlalchemy.literal(1)).select_from(sqlalchemy.table(name))
                ).first()
                for name in _STAMPED
            }
            missing = [name for name, row in rows.items() if row is None]
    if missing:
        message = (
            f"{shown} is not a storage of Optuna: its table {missing[0]!r} is missing or empty."
            " Nothing was written to it."
        )
        raise InputError(message)
