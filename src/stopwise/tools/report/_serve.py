# SPDX-License-Identifier: Apache-2.0
"""A report on loopback that follows a journal while it is written.

Only this machine can reach it, and only under its own name: another site's name that resolves to
127.0.0.1 (DNS rebinding) is turned away by the Host header.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from stopwise.errors import InputError, StopwiseError
from stopwise.study import Study
from stopwise.tools.report._page import page

Load = Callable[[str], Study]

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # the rest is in the page
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


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
        self, journal: str | os.PathLike[str], port: int = 0, load: Load = Study.load
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


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        report = cast("_Server", self.server).report
        if self.headers.get("Host") not in {
            f"{n}:{report.port}" for n in ("127.0.0.1", "localhost")
        }:
            self._answer(HTTPStatus.MISDIRECTED_REQUEST, "This server answers to localhost only.")
            return
        try:
            if self.path == "/":
                self._answer(HTTPStatus.OK, report.page(), "text/html")
            elif self.path == "/version":
                self._answer(HTTPStatus.OK, report.version())
            elif self.path == "/favicon.ico":
                self._answer(HTTPStatus.NO_CONTENT, "")
            else:
                self._answer(HTTPStatus.NOT_FOUND, "There is one page, at /.")
        except StopwiseError as error:  # half a journal, or one that was removed
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, str(error))

    def _answer(self, status: HTTPStatus, body: str, kind: str = "text/plain") -> None:
        content = body.encode("utf-8")
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base's name
        """Say nothing: the terminal belongs to the command."""
