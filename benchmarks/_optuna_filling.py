# SPDX-License-Identifier: Apache-2.0
"""Finished trials in a storage of Optuna, many at once.

Through Optuna each trial of a database is a transaction or two, and 5,000 take more than twenty
minutes. Here the first is written by Optuna, and the others are rows like those of the first.
"""

from random import Random

import optuna
from optuna.trial import create_trial
from sqlalchemy import Connection, create_engine, text

from benchmarks._optuna_worker import NAME, SPACE, loss, storage_at

_NUMBERED = {"trials": "trial_id", "trial_params": "param_id", "trial_values": "trial_value_id"}


def filled(place: str, finished: int) -> str:
    """A new study at a place, with so many finished trials."""
    study = optuna.create_study(study_name=NAME, storage=storage_at(place))
    random = Random(0)  # noqa: S311  no secrets
    drawn = [{name: random.random() for name in SPACE} for _ in range(finished)]
    by_optuna = drawn if "://" not in place else drawn[:1]
    study.add_trials(
        [create_trial(params=p, distributions=dict(SPACE), value=loss(p)) for p in by_optuna]
    )
    if len(by_optuna) < finished:
        with create_engine(place).begin() as database:
            _insert(database, study.trials[0]._trial_id, drawn)  # noqa: SLF001  as Optuna's tools do
    return place


def _insert(database: Connection, first: int, drawn: list[dict[str, float]]) -> None:
    """Rows of all trials but the first, which is there."""
    ids = range(first + 1, first + len(drawn))
    rest = list(zip(ids, drawn[1:], strict=True))
    database.execute(
        text(
            "insert into trials"
            " (trial_id, number, study_id, state, datetime_start, datetime_complete)"
            " select :id, :number, study_id, state, datetime_start, datetime_complete"
            " from trials where trial_id = :first"
        ),
        [{"id": i, "number": i - first, "first": first} for i in ids],
    )
    database.execute(
        text(
            "insert into trial_params (trial_id, param_name, param_value, distribution_json)"
            " select :id, param_name, :value, distribution_json"
            " from trial_params where trial_id = :first and param_name = :name"
        ),
        [
            {"id": i, "name": name, "value": value, "first": first}
            for i, params in rest
            for name, value in params.items()
        ],
    )
    database.execute(
        text(
            "insert into trial_values (trial_id, objective, value, value_type)"
            " values (:id, 0, :value, 'FINITE')"
        ),
        [{"id": i, "value": loss(params)} for i, params in rest],
    )
    if database.dialect.name == "postgresql":
        for table, number in _NUMBERED.items():
            latest = f"(select max({number}) from {table})"  # noqa: S608  our own names
            counter = f"pg_get_serial_sequence('{table}', '{number}')"
            database.execute(text(f"select setval({counter}, {latest})"))
