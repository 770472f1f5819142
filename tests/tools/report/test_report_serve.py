# SPDX-License-Identifier: Apache-2.0
"""The report's server: loopback only, its own name only, always the newest journal."""

import http.client
import socket
import struct
import threading
import time
from contextlib import suppress

import pytest

import stopwise as sw
from stopwise.errors import InputError
from stopwise.tools.report import ReportServer, _serve, cli_report
from tests.support.report_pages import study_of_lines


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text("3\n2\n", encoding="utf-8")
    return path


def get(server, path="/", host=None, method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request(method, path, headers={} if host is None else {"Host": host})
    answer = connection.getresponse()
    body = answer.read().decode("utf-8")
    connection.close()
    return answer, body


def test_it_listens_on_loopback_only(journal):
    with ReportServer(journal, load=study_of_lines) as server:
        assert server._server.server_address[0] == "127.0.0.1"
        assert server.url == f"http://127.0.0.1:{server.port}/"


def test_the_page_follows_the_journal(journal):
    with ReportServer(journal, load=study_of_lines) as server:
        answer, first = get(server)
        assert answer.status == 200
        assert answer.getheader("Content-Type") == "text/html; charset=utf-8"
        assert "2 trials so far: the best value is 2" in first
        before = get(server, "/version")[1]
        assert f'data-version="{before}"' in first
        assert get(server, "/version")[1] == before
        with journal.open("a", encoding="utf-8") as file:
            file.write("1\n")
        assert get(server, "/version")[1] != before
        assert "3 trials so far: the best value is 1" in get(server)[1]


def test_a_real_journal_is_followed_while_it_is_written(tmp_path):
    path = tmp_path / "real.jsonl"
    study = sw.Study({"x": sw.Real(0, 1)}, lam=1e-9, n_initial=3, journal=path)
    with ReportServer(path) as server:
        for told_so_far in range(1, 4):
            trial = study.ask()
            assert "1 running" in get(server)[1]
            study.tell(trial, trial.params["x"] ** 2)
            plural = "trial" if told_so_far == 1 else "trials"
            assert f"<h1>{told_so_far} {plural} so far" in get(server)[1]
    study.close()


def test_an_unchanged_journal_is_read_once(journal):
    read = []

    def load(path):
        read.append(path)
        return study_of_lines(path)

    with ReportServer(journal, load=load) as server:
        assert get(server)[1] == get(server)[1]
    assert read == [str(journal)]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "localhost"])
def test_another_name_is_turned_away(journal, host):
    with ReportServer(journal, load=study_of_lines) as server:
        for path in ("/", "/version"):
            answer, body = get(server, path, host=host)
            assert answer.status == 421
            assert "data-version" not in body
        assert get(server, host=f"localhost:{server.port}")[0].status == 200


def test_there_is_one_page_and_it_is_only_read(journal):
    with ReportServer(journal, load=study_of_lines) as server:
        assert get(server, "/../run.jsonl")[0].status == 404
        assert get(server, "/run.jsonl")[0].status == 404
        assert get(server, method="POST")[0].status == 501
        headers = get(server)[0]
        assert headers.getheader("X-Content-Type-Options") == "nosniff"
        assert headers.getheader("Content-Security-Policy") == "frame-ancestors 'none'"
        assert headers.getheader("Cross-Origin-Resource-Policy") == "same-origin"


def test_half_a_journal_is_said_in_words_and_mended_later(journal):
    def load(path):
        if "half" in journal.read_text("utf-8"):
            message = "line 3 is not complete"
            raise InputError(message)
        return study_of_lines(path)

    with ReportServer(journal, load=load) as server:
        journal.write_text("3\nhalf", encoding="utf-8")
        answer, body = get(server)
        assert (answer.status, body) == (503, "line 3 is not complete")
        journal.write_text("3\n", encoding="utf-8")
        assert get(server)[0].status == 200


def test_a_journal_that_is_not_there_is_refused_at_once(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        ReportServer(tmp_path / "none.jsonl")


def test_a_port_in_use_is_said_in_words(journal):
    with (
        ReportServer(journal, load=study_of_lines) as server,
        pytest.raises(InputError, match="cannot be used"),
    ):
        ReportServer(journal, server.port, study_of_lines)


def test_the_command_serves_until_interrupted(journal, monkeypatch):
    said = []

    def interrupted(self):
        self._server.server_close()
        raise KeyboardInterrupt

    monkeypatch.setattr(ReportServer, "serve_forever", interrupted)
    assert cli_report(journal, load=study_of_lines, serve=True, say=said.append) is None
    assert said[0].startswith("serving http://127.0.0.1:")
    assert said[-1] == "ended"


# ----------------------------------------------------------------------- clients that misbehave


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(_serve, "PATIENCE", 0.5)
    monkeypatch.setattr(_serve._Handler, "timeout", 0.5)
    monkeypatch.setattr(_serve, "MOST", 4)


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def test_head_is_answered_without_content(journal):
    with ReportServer(journal, load=study_of_lines) as server:
        whole, body = get(server)
        head, nothing = get(server, method="HEAD")
        assert (head.status, nothing) == (200, "")
        assert int(head.getheader("Content-Length")) == len(body.encode())
        assert whole.getheaders()[2:] == head.getheaders()[2:]
        assert get(server, "/none", method="HEAD")[0].status == 404
        assert get(server, host="evil.example", method="HEAD")[0].status == 421


def test_a_client_that_says_nothing_is_let_go(journal, impatient):
    with ReportServer(journal, load=study_of_lines) as server, connect(server) as silent:
        begin = time.monotonic()
        assert silent.recv(100) == b""
        assert time.monotonic() - begin < 10


def test_a_client_that_says_one_byte_at_a_time_is_let_go(journal, impatient):
    with ReportServer(journal, load=study_of_lines) as server, connect(server) as slow:
        begin = time.monotonic()
        with suppress(OSError):  # the server has hung up
            while time.monotonic() - begin < 10:
                slow.sendall(b"G")
                time.sleep(0.1)
        assert time.monotonic() - begin < 10


def test_a_client_that_does_not_read_is_let_go(journal, impatient, monkeypatch):
    monkeypatch.setattr(_serve, "page", lambda *_, **__: "x" * 50_000_000)
    with ReportServer(journal, load=study_of_lines) as server:
        with connect(server) as deaf:
            deaf.sendall(f"GET / HTTP/1.1\r\nHost: localhost:{server.port}\r\n\r\n".encode())
            deadline = time.monotonic() + 10
            while server._server._free._value == 4 and time.monotonic() < deadline:
                time.sleep(0.02)  # until it is being served
            while server._server._free._value < 4 and time.monotonic() < deadline:
                time.sleep(0.02)
            assert server._server._free._value == 4
        assert get(server, "/version")[0].status == 200


def test_only_so_many_are_served_at_once(journal, impatient):
    with ReportServer(journal, load=study_of_lines) as server:
        threads, most = threading.active_count(), 0
        crowd = [connect(server) for _ in range(20)]
        for _ in range(25):
            most = max(most, threading.active_count())
            time.sleep(0.01)
        assert most <= threads + 2 * 4  # a thread and its timer each
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with suppress(OSError, http.client.HTTPException):
                if get(server, "/version")[0].status == 200:
                    break
        else:
            pytest.fail("nobody is served after the crowd")
        for one in crowd:
            one.close()


def test_dropped_clients_leave_no_traceback(journal, capfd, monkeypatch):
    monkeypatch.setattr(_serve, "page", lambda *_, **__: "x" * 50_000_000)
    with ReportServer(journal, load=study_of_lines) as server:
        whole = "GET / HTTP/1.1\r\nHost: localhost:{}\r\n\r\n"
        for request in ("", "GET", whole[:20], whole):
            dropped = connect(server)
            dropped.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            dropped.sendall(request.format(server.port).encode())
            dropped.close()  # by a reset
        long_path = b"GET " + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n"
        for odd in (b"\0\xff\r\n\r\n", long_path, b"A: b\r\n" * 300):
            with connect(server) as client, suppress(OSError):
                client.sendall(odd)
                client.recv(1000)
        time.sleep(0.3)
        assert get(server, "/version")[0].status == 200
    assert capfd.readouterr() == ("", "")


def test_a_report_that_cannot_be_made_is_said_in_words(journal, capfd, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(_serve, "page", broken)
    with ReportServer(journal, load=study_of_lines) as server:
        answer, body = get(server)
        assert (answer.status, body) == (500, "The report could not be made: ZeroDivisionError")
    assert capfd.readouterr() == ("", "")
