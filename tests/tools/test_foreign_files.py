# SPDX-License-Identifier: Apache-2.0
"""Files from elsewhere are refused in one sentence, with exit code 2; none is changed or run."""

import contextlib
import json
import os
import pickle

import pytest

import stopwise as sw
from stopwise.errors import InputError
from stopwise.integrations.foreign_files import (
    LIMIT,
    check_size,
    checked_file,
    read_journal,
    reading,
)
from stopwise.tools.audit._table import read_table
from tests.support.commands import stopwise
from tests.support.sealing import sealed_again

ESCAPE = "\x1b]0;mine\x07"


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return stopwise


def rows(n=9):
    return "".join(f"{i % 5 + 0.5 * i},{(i - 3) ** 2},{1 + i % 2}\n" for i in range(n))


BIG = "1" + "0" * 5000
HEADER = '{"journal": "stopwise", "schema": 1, "version": "0.1.0", "at": 0, '
REFUSED = {
    "latin-1.csv": ("x,value,cost\n\xe9,1,2\n".encode("latin-1"), "is not text in UTF-8"),
    "field.csv": (b"x,value,cost\n" + b"a" * 200_000 + b",1,2\n", "field larger than"),
    "values.csv": (f"x,value,cost\n1,{BIG},1\n2,{BIG},1\n".encode(), "value is inf"),
    "empty.csv": (b"", "the table has no rows"),
    "other.xls": (b"x", "neither .csv"),
    "junk.parquet": (b"PAR1" + b"?" * 500 + b"PAR1", "cannot be read (Arrow"),
    "empty.parquet": (b"", "cannot be read (Arrow"),
    "deep.jsonl": (b"[" * 100_000 + b"\n", "is no journal of stopwise"),
    "header.jsonl": (HEADER.encode() + b'"space": 3, "options": []}\n', "is not understood"),
    "text.jsonl": (b"hello\n", "is no journal of stopwise"),
    "schema.jsonl": (b'{"journal": "stopwise", "schema": 99}\n', "says schema 99"),
    "deep.toml": (b"a = " + b"[" * 100_000, "nested too deeply"),
    "digits.toml": (b"seed = " + BIG.encode(), "Exceeds the limit"),
    "latin-1.toml": ("a = '\xe9'".encode("latin-1"), "is not text in UTF-8"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_read_is_one_sentence(command, tmp_path, name):
    content, says = REFUSED[name]
    (tmp_path / name).write_bytes(content)
    code, out, err = command("run" if name.endswith(".toml") else "audit", name)
    assert (code, out) == (2, "")
    assert err.startswith("stopwise: ")
    assert err.count("\n") == 1
    assert says in err
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == content


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl", "a.toml"])
def test_a_pipe_is_not_waited_for(command, tmp_path, name):
    os.mkfifo(tmp_path / name)
    for verb in ("run",) if name.endswith(".toml") else ("audit", "report"):
        code, _, err = command(verb, name)
        assert code == 2
        assert "is not a regular file" in err


def test_numbers_that_no_float_can_hold(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"x,value,cost\n{rows()}1{'0' * 4000},1,2\n{BIG},1,2\n")
    audit = sw.audit(path, rules=["immediate"])
    assert audit.n == 11
    path.write_text(f"x,value,cost\n{rows()}1,1{'0' * 400},2\n1,2,1{'0' * 400}\n")
    audit = sw.audit(path, rules=["immediate"])
    assert audit.n == 9
    assert "count as failed evaluations (row 10: value is inf)" in audit.notes[0]
    assert "row 11: cost is inf" in audit.notes[1]
    assert (
        sw.audit(
            [{"x": i, "value": i % 3, "cost": 1} for i in range(1, 9)]
            + [{"x": 1, "value": 10**400, "cost": 1}],
            params=["x"],
            rules=["immediate"],
        ).n
        == 8
    )


# ------------------------------------------------------------------------------- size


def test_the_limit_can_be_raised(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text(f"x,value,cost\n{rows(40)}")
    monkeypatch.setenv(LIMIT, "0.0001")
    with pytest.raises(InputError, match=f"at most 0.0001 are read.*{LIMIT}"):
        checked_file(path)
    monkeypatch.setenv(LIMIT, "1")
    assert checked_file(path) == path
    for wrong in ("-1", "0", "nan", "much"):
        monkeypatch.setenv(LIMIT, wrong)
        with pytest.raises(InputError, match=f"{LIMIT}='{wrong}': give a number"):
            check_size("it", 1)


def test_a_parquet_bomb_is_refused_before_it_is_expanded(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "bomb.parquet"
    zeros = pyarrow.array([0.0]).take(pyarrow.array([0]).take(pyarrow.repeat(0, 10_000_000)))
    parquet.write_table(pyarrow.table({"x": zeros, "value": zeros}), path)
    assert path.stat().st_size < 1e6
    before = pyarrow.total_allocated_bytes()
    with pytest.raises(InputError, match="when it is expanded, has 160 megabytes"):
        read_table(path)
    assert pyarrow.total_allocated_bytes() - before < 1e6


def test_a_long_text_that_is_repeated_is_held_once(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "texts.parquet"
    texts = pyarrow.DictionaryArray.from_arrays(pyarrow.repeat(0, 20_000), ["x" * 1_000_000])
    parquet.write_table(pyarrow.table({"s": texts}), path)  # 20 GB, were they expanded
    read = read_table(path)
    assert len(read) == 20_000
    assert len({id(row["s"]) for row in read}) == 1
    nested = pyarrow.ListArray.from_arrays(pyarrow.array(range(20_001), "int32"), texts)
    parquet.write_table(pyarrow.table({"s": nested}), path)
    with pytest.raises(InputError, match="when it is expanded"):
        read_table(path)


def test_a_parquet_file_is_read_as_pyarrow_reads_it(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table(
        {
            "x": [1.0, None, 2.0],
            "a.b": ["c", "d", "c"],
            "s": ["a", None, "a"],
            "b": [b"a", None, b"b"],
            "l": [["a", "b"], [], None],
            "d": pyarrow.array(["u", "v", None]).dictionary_encode(),
            "t": [{"q": "r"}, None, {"q": "s"}],
        }
    )
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    assert read_table(tmp_path / "a.parquet") == table.to_pylist()


# -------------------------------------------------------------------- nothing is executed


class Touch:
    """Unpickling or comparing it runs code that leaves a trace."""

    def __reduce__(self):
        return (exec, (f"open({str(Touch.trace)!r}, 'w').close()",))


@pytest.fixture
def trace(tmp_path):
    Touch.trace = tmp_path / "executed"
    return Touch.trace


def hostile_strings(trace):
    code = f"open({str(trace)!r}, 'w').close()"
    return [
        f"__import__('os').system('touch {trace}')",
        f"exec({code!r})",
        f"!!python/object/apply:os.system ['touch {trace}']",
        f"$(touch {trace})",
        f"`touch {trace}`",
        f"=cmd|'touch {trace}'!A0",
        f"{{{code}}}",
        "{x.__class__.__mro__}",
        "stopwise.record.journal.os.system",
    ]


def test_a_journal_executes_nothing(trace, tmp_path):
    path = tmp_path / "run.jsonl"
    hostile = hostile_strings(trace)
    study = sw.Study({"a": sw.Categorical(hostile)}, lam=0.1, n_initial=2, journal=path)
    for _ in range(3):
        study.tell(study.ask(), None, message="; ".join(hostile))
    study.close()
    assert len(read_journal(path).history) == 3  # as it is, it can be read to its end
    lines = path.read_text("utf-8").splitlines()
    header = json.loads(lines[0])
    for option in ("stopping", "watch", "acquisition", "cost", "surrogate"):
        for name in hostile:
            for value in (
                {"own": name},
                {"class": name, "rule": name},
                {"class": "PBGI", name: 1},
            ):
                options = {**header["options"], option: [value] if "ing" in option else value}
                changed = {**header, "options": options}
                path.write_bytes(sealed_again([changed, *map(json.loads, lines[1:])]))
                with contextlib.suppress(sw.errors.StopwiseError):
                    read_journal(path)
    assert not trace.exists()


def test_a_toml_file_executes_nothing_when_it_is_checked(command, trace, tmp_path):
    for string in hostile_strings(trace):
        template = json.dumps(string.replace("{", "{{").replace("}", "}}"))
        (tmp_path / "tune.toml").write_text(
            f'command = ["/bin/sh", "-c", {template}, "--a={{a}}"]\nbudget = 5\n[parameters]\n'
            f'a = {{ type = "categorical", choices = [{json.dumps(string)}, "x"] }}\n'
            f"[environment]\nENV = {json.dumps(string)}\n"
        )
        code, out, err = command("run", "tune.toml", "--check")
        assert (code, "would run: /bin/sh -c" in out) == (0, True), err
    assert not trace.exists()
    assert [p.name for p in tmp_path.iterdir()] == ["tune.toml"]


def test_tables_execute_nothing(trace, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts = (hostile_strings(trace) * 2)[:12]
    columns = {"a": texts, "value": [float(i % 5) for i in range(12)], "cost": [1.0] * 12}
    path = tmp_path / "a.csv"
    path.write_text("a,value,cost\n" + "".join(f'"{t}",{i % 5},1\n' for i, t in enumerate(texts)))
    print(sw.audit(path, rules=["immediate"]))  # noqa: T201
    table = pyarrow.table(columns)
    payload = pickle.dumps(Touch())
    extension = {b"ARROW:extension:name": b"arrow.py_extension_type"}
    field = table.schema.field("value").with_metadata(
        {**extension, b"ARROW:extension:metadata": payload}
    )
    schema = table.schema.set(1, field).with_metadata({b"pandas": payload, b"pickle": payload})
    parquet.write_table(table.cast(schema), tmp_path / "a.parquet")
    with reading("the table"):
        sw.audit(tmp_path / "a.parquet", rules=["immediate"])
    assert not trace.exists()
    (tmp_path / "b.parquet").write_bytes(payload)
    (tmp_path / "b.csv").write_bytes(payload)
    for name in ("b.parquet", "b.csv"):
        with pytest.raises(InputError):
            sw.audit(tmp_path / name)
    assert not trace.exists()


# ------------------------------------------------------------------------- the terminal


def test_no_control_character_reaches_the_terminal(command, tmp_path):
    name = f"a{ESCAPE}.csv".replace("/", "")
    (tmp_path / name).write_text(
        f"x{ESCAPE},act,value,cost\n"
        + "".join(f"{i % 5},\x9b31m{ESCAPE}{i % 2},{(i - 3) ** 2},1\n" for i in range(12))
    )
    code, out, err = command("audit", name, "--n-initial", "4")
    assert code == 0, err
    assert "\\x1b]0;mine\\x07" in out
    for text in (out, err, command("audit", f"{ESCAPE}.jsonl")[2]):
        assert not any(c in text for c in "\x1b\x07\x9b")
    assert str(sw.audit(tmp_path / name, n_initial=4, rules=["immediate"])).isascii()
