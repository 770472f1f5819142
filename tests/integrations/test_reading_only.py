# SPDX-License-Identifier: Apache-2.0
"""Readers of other packages' studies: they change nothing and run nothing."""

import json
import shutil
import sqlite3

import pytest

from stopwise.errors import InputError
from stopwise.integrations._ray_results import read_results

# ------------------------------------------------------------------------------ Optuna


def files(folder):
    """The names and the content of all files in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def read_history(monkeypatch, tmp_path):
    pytest.importorskip("optuna").logging.set_verbosity(40)
    from stopwise.integrations.optuna import read_history

    monkeypatch.chdir(tmp_path)
    return read_history


def fill(url, n=3):
    import optuna

    study = optuna.create_study(storage=url, study_name="mine")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) ** 2, n_trials=n)
    study._storage._backend.engine.dispose()


def test_a_mistyped_path_creates_no_file(read_history, tmp_path):
    with pytest.raises(InputError, match=r"there is no database 'typo.db'.*Nothing was created"):
        read_history("sqlite:///typo.db")
    assert files(tmp_path) == {}


def test_a_foreign_database_gets_no_tables(read_history, tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("create table t (a)")
    other.close()
    before = files(tmp_path)
    with pytest.raises(InputError, match="is not a storage of Optuna: its table 'studies'"):
        read_history("sqlite:///other.db")
    (tmp_path / "empty.db").touch()
    with pytest.raises(InputError, match="is not a storage of Optuna"):
        read_history("sqlite:///empty.db")
    assert files(tmp_path) == {**before, "empty.db": b""}


@pytest.mark.parametrize("emptied", ["version_info", "alembic_version"])
def test_a_storage_without_its_version_is_not_given_one(read_history, tmp_path, emptied):
    fill("sqlite:///study.db")
    with sqlite3.connect(tmp_path / "study.db") as study:
        study.execute(f"delete from {emptied}")  # noqa: S608
    study.close()
    before = files(tmp_path)
    with pytest.raises(InputError, match=f"its table '{emptied}' is missing or empty"):
        read_history("sqlite:///study.db")
    assert files(tmp_path) == before


@pytest.mark.parametrize("name", ["study.db", "a b%20{c}?.db", "ü.db"])
def test_a_storage_is_read_and_left_as_it_is(read_history, tmp_path, name):
    fill("sqlite:///study.db")
    (tmp_path / "study.db").rename(tmp_path / name)
    (tmp_path / name).chmod(0o400)
    before = files(tmp_path)
    from sqlalchemy import URL

    url = URL.create("sqlite", database=name).render_as_string()
    assert len(read_history(url, cost=None).history) == 3
    assert files(tmp_path) == before


@pytest.mark.parametrize("is_open", [False, True])
def test_a_storage_with_a_log_is_read_and_left_as_it_is(read_history, tmp_path, is_open):
    fill("sqlite:///study.db")
    writer = sqlite3.connect(tmp_path / "study.db")
    writer.execute("pragma journal_mode=wal")
    writer.execute("update studies set study_name = 'other'")
    writer.commit()
    if not is_open:
        writer.close()
    before = files(tmp_path)
    assert len(read_history("sqlite:///study.db", "other", cost=None).history) == 3
    assert {n: c for n, c in files(tmp_path).items() if not n.endswith("-shm")} == {
        n: c
        for n, c in before.items()
        if not n.endswith("-shm")  # its locks, not its data
    }
    assert set(files(tmp_path)) == set(before)
    writer.close()


@pytest.mark.parametrize(
    "url",
    [
        "foo://bar", "://", "sqlite://", "sqlite:///", "sqlite:///:memory:", "http://x", "file:///x",
        "redis://localhost", "mysql://a:hush@b/c", "sqlite:///%00.db", "sqlite:///.",
        "postgresql+psycopg://me:hush@[::1/x", "postgresql+psycopg://me:hush@127.0.0.1:1/x",
        "oracle://a", "sqlite:///{nothing}.db", "sqlite:///junk.db", "postgresql://h:port/x",
    ],
)  # fmt: skip
def test_odd_urls_are_refused_without_their_password(read_history, tmp_path, url):
    (tmp_path / "junk.db").write_bytes(b"SQLite format 3\0" + b"?" * 5000)
    before = files(tmp_path)
    with pytest.raises(InputError) as refused:
        read_history(url)
    assert "hush" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert files(tmp_path) == before


def test_a_study_that_holds_nonsense_is_refused(read_history, tmp_path):
    fill("sqlite:///study.db")
    with sqlite3.connect(tmp_path / "study.db") as study:
        study.execute("update trial_params set distribution_json = ?", ("[" * 100_000,))
    study.close()
    with pytest.raises(InputError, match="nested too deeply"):
        read_history("sqlite:///study.db", cost=None)
    with sqlite3.connect(tmp_path / "study.db") as study:
        study.execute("update trial_params set distribution_json = '{}'")
    study.close()
    with pytest.raises(InputError, match="cannot be read"):
        read_history("sqlite:///study.db", cost=None)


def test_a_postgres_database_is_not_written_to(read_history):
    psycopg = pytest.importorskip("psycopg")
    from tests.support.postgres import server

    def tables(url):
        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            query = "select tablename from pg_tables where schemaname = 'public'"
            return sorted(row[0] for row in connection.execute(query))

    with server() as url:
        with pytest.raises(InputError, match="is not a storage of Optuna"):
            read_history(url)
        assert tables(url) == []
        fill(url)
        assert "studies" in tables(url)
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            # A role that may only read, so that any attempt to write is an error.
            connection.execute("create role reader login")
            connection.execute("grant select on all tables in schema public to reader")
            connection.execute("alter role reader set default_transaction_read_only = on")
        for who in (url, url.replace("tester@", "reader@")):
            assert len(read_history(who, cost=None).history) == 3


# --------------------------------------------------------------------------------- Ray


@pytest.fixture
def results(tmp_path):
    for i in range(4):
        folder = tmp_path / f"trial_{i}"
        folder.mkdir()
        (folder / "params.json").write_text(json.dumps({"x": i, "deep": {"y": 2 * i}}))
        line = json.dumps({"loss": i * i, "time_total_s": 1.0, "timestamp": i})
        (folder / "result.json").write_text(line + "\n")
    return tmp_path


def test_a_result_that_is_being_written_does_not_count(results):
    with (results / "trial_3" / "result.json").open("a") as file:
        file.write('{"loss": 7, "time_to')
    told = read_results(results, metric="loss")
    assert [o.value for o in told.history] == [0, 1, 4, 9]


TORN = {
    "params.json": [
        (b'{"x": ', "JSONDecodeError"),
        (b"[]", "holds no JSON object"),
        (b"\xff\xfe", "is not text in UTF-8"),
        (b'{"a":' * 100_000, "nested too deeply"),
    ],
    "result.json": [
        (b"[1]\n", "holds no JSON object"),
        (b"hello\n", "JSONDecodeError"),
        (b'{"loss": "a", "time_total_s": 1}\n', "'loss' as 'a', which is no number"),
        (b'{"loss": 1, "time_total_s": "b"}\n', "'time_total_s' as 'b'"),
        (b'{"loss": 1, "time_total_s": -1}\n', "'time_total_s' as -1"),
        (b'{"loss": 1, "time_total_s": 1' + b"0" * 400 + b"}\n", "'time_total_s' as 10"),
        (b'{"loss": 1}\n', "does not report 'time_total_s'"),
        (b"\xff\n", "is not text in UTF-8"),
        (b'{"a":' * 100_000 + b"\n", "nested too deeply"),
    ],
}


@pytest.mark.parametrize(
    ("name", "content", "says"), [(name, *case) for name, cases in TORN.items() for case in cases]
)
def test_torn_results_are_refused(results, name, content, says):
    (results / "trial_3" / name).write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_results(results, metric="loss")
    assert says in str(refused.value)


def test_odd_results_are_read_where_they_can_be(results):
    last = results / "trial_3"
    (last / "result.json").write_text('{"loss": 1' + "0" * 400 + ', "time_total_s": 1}\n')
    (last / "error.txt").write_bytes(b"Traceback\n\xff oh\n")
    told = read_results(results, metric="loss")
    assert told.history[3].failed
    shutil.rmtree(last)
    last.mkdir()
    (last / "params.json").mkdir()
    with pytest.raises(InputError, match="is not a regular file"):
        read_results(results, metric="loss")


# ---------------------------------------------------------------------------------- Ax


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    pytest.importorskip("ax")
    from ax.api.client import Client
    from ax.api.configs import RangeParameterConfig

    client = Client(random_seed=0)
    client.configure_experiment(
        parameters=[RangeParameterConfig(name="x", bounds=(0.0, 1.0), parameter_type="float")]
    )
    client.configure_optimization(objective="-lo.ss")
    for _ in range(2):
        for index, params in client.get_next_trials(max_trials=1).items():
            client.complete_trial(index, raw_data={"lo.ss": params["x"]})
    path = tmp_path_factory.mktemp("ax") / "client.json"
    client.save_to_json_file(str(path))
    return path


def test_a_client_of_ax_is_read(saved):
    from stopwise.integrations.ax import read_history

    assert len(read_history(saved).history.succeeded) == 2


def without_quotes(code):
    """Python that SymPy evaluates, and that Ax does not take for an attack."""
    return f"exec({'+'.join(f'chr({ord(c)}+0)' for c in code)})"


@pytest.mark.parametrize("place", ["objective", "metric", "constraint", "parameter", "runner"])
def test_no_code_in_a_client_of_ax_is_run(saved, tmp_path, place):
    from stopwise.integrations.ax import read_history

    trace = tmp_path / "executed"
    code = without_quotes(f"open({str(trace)!r}, 'w').close()")
    written = json.loads(saved.read_text())
    experiment = written["experiment"]
    match place:
        case "objective":
            experiment["optimization_config"]["objective"]["expression"] = code
        case "metric":
            metric = {"__type": "Metric", "name": code, "lower_is_better": True, "properties": {}}
            experiment["optimization_config"]["objective"] = {
                "__type": "Objective", "metric": metric, "minimize": True,
            }  # fmt: skip
        case "constraint":
            constraint = {"__type": "ParameterConstraint", "inequality": f"{code} <= 1"}
            experiment["search_space"]["parameter_constraints"] = [constraint]
        case "parameter":
            experiment["search_space"]["parameters"].append(
                {"__type": "DerivedParameter", "name": "y", "expression_str": code}
            )
        case "runner":
            experiment["runner"] = {"__type": "Type[Runner]", "value": code}
    path = tmp_path / "client.json"
    path.write_text(json.dumps(written))
    if place == "runner":  # it says nothing about the history, so it is left out
        assert len(read_history(path).history) == 2
    else:
        with pytest.raises(InputError, match="Ax might run code in it"):
            read_history(path)
    assert not trace.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000, b'{"a": 1}', b'{"experiment": 1}', b'{"experiment": {"__type": "Arm"}}',
        b'{"experiment": {"__type": "Experiment"}}', b"\xff\xfe", b"", b"[]",
        b'{"experiment": {}}',
        b'{"experiment": {"__type": ["Experiment"]}}',
    ],
)  # fmt: skip
def test_what_is_no_client_of_ax_is_refused(saved, tmp_path, content):
    from stopwise.integrations.ax import read_history

    path = tmp_path / "client.json"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_history(path)
