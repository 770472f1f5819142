# SPDX-License-Identifier: Apache-2.0
"""A report on loopback that follows a journal while it is written.

Only this machine can reach it, and only under its own name: another site's name that resolves to
127.0.0.1 (DNS rebinding) is turned away by the Host header. A client that says nothing, or reads
nothing, is let go after some seconds, and only so many are served at once.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from stopwise.errors import InputError, StopwiseError
from stopwise.integrations.foreign_files import read_journal, reason
from stopwise.study import Study
from stopwise.tools.report._page import page

Load = Callable[[str], Study]

PATIENCE = 10.0  # seconds in which a request must have come, and an answer have been taken
MOST = 32  # connections at once

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # the rest is in the page
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


_Request = socket.socket | tuple[bytes, socket.socket]  # as the base class has it


class ReportServer:
    """Serves the report of a journal, made anew whenever the journal has changed.

    Args:
        journal: The file that a study writes.
        port: 0 takes any that is free.
        load: From the path of a journal to a study that is only looked at.

    Example:
        A ``with`` block serves in the background; ``serve_forever`` waits::

            with ReportServer("run.jsonl") as server:
                print(server.url)
    """

    def __init__(
        self, journal: str | os.PathLike[str], port: int = 0, load: Load = read_journal
    ) -> None:
        self._journal = Path(journal)
        self._load = load
        self._lock = threading.Lock()
        self._made: tuple[str, str] | None = None  # version and page
        self.version()  # refuse a journal that is not there now, not in the browser
        try:
            self._server = _Server(("127.0.0.1", port), self)
        except OSError as error:
            message = f"port {port} cannot be used ({error.strerror}): give another, or 0 for any."
            raise InputError(message) from error

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The address to open."""
        return f"http://127.0.0.1:{self.port}/"

    def version(self) -> str:
        """A name for the journal as it is now; it changes whenever something is appended."""
        try:
            status = self._journal.stat()
        except OSError as error:
            message = (
                f"the journal {str(self._journal)!r} cannot be read ({error.strerror}): give the"
                " file that a study writes, its journal=."
            )
            raise InputError(message) from error
        return f"{status.st_mtime_ns}-{status.st_size}"

    def page(self) -> str:
        """The report of the journal as it is now."""
        with self._lock:  # one model at a time, whoever asks
            version = self.version()
            if self._made is None or self._made[0] != version:
                self._made = version, page(self._load(str(self._journal)), version=version)
            return self._made[1]

    def serve_forever(self) -> None:
        """Serve until interrupted."""
        try:
            self._server.serve_forever()
        finally:
            self._server.server_close()

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], report: ReportServer) -> None:
        super().__init__(address, _Handler)
        self.report = report
        self._free = threading.BoundedSemaphore(MOST)

    def process_request(self, request: _Request, client_address: object) -> None:
        """Serve in a thread, unless too many are served already."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: _Request, client_address: object) -> None:
        """Serve one request; its place is free afterwards."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: _Request, client_address: object) -> None:
        """Say nothing of clients that went away: the terminal belongs to the command."""


class _Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE  # of each reading and writing

    def setup(self) -> None:
        """Give the whole request a time limit, too: one byte at a time is no way to hold it."""
        super().setup()
        self._limit = threading.Timer(PATIENCE, self._hang_up)
        self._limit.daemon = True
        self._limit.start()

    def finish(self) -> None:
        """Let go of the client."""
        self._limit.cancel()
        with suppress(OSError):
            super().finish()

    def _hang_up(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def do_HEAD(self) -> None:
        """As GET, without the content."""
        self.do_GET()

    def do_GET(self) -> None:
        """The page, its version, or a sentence about what is wrong."""
        self._limit.cancel()
        report = cast("_Server", self.server).report
        if self.headers.get("Host") not in {
            f"{n}:{report.port}" for n in ("127.0.0.1", "localhost")
        }:
            self._answer(HTTPStatus.MISDIRECTED_REQUEST, "This server answers to localhost only.")
            return
        try:
            status, body, kind = self._found(report)
        except StopwiseError as error:  # half a journal, or one that was removed
            status, body, kind = HTTPStatus.SERVICE_UNAVAILABLE, str(error), "text/plain"
        except Exception as error:  # noqa: BLE001  a browser is to be told too
            body = f"The report could not be made: {reason(error)}"
            status, kind = HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain"
        self._answer(status, body, kind)

    def _found(self, report: ReportServer) -> tuple[HTTPStatus, str, str]:
        """Status, content and kind of what was asked for."""
        if self.path == "/":
            return HTTPStatus.OK, report.page(), "text/html"
        if self.path == "/version":
            return HTTPStatus.OK, report.version(), "text/plain"
        if self.path == "/favicon.ico":
            return HTTPStatus.NO_CONTENT, "", "text/plain"
        return HTTPStatus.NOT_FOUND, "There is one page, at /.", "text/plain"

    def _answer(self, status: HTTPStatus, body: str, kind: str = "text/plain") -> None:
        content = body.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        with suppress(OSError):  # the client went away, or does not read
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base's name
        """Say nothing: the terminal belongs to the command."""
