# SPDX-License-Identifier: Apache-2.0
"""A real PostgreSQL server for tests: on loopback, as an unprivileged user, gone afterwards."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

DEBIAN = Path(os.sep, "usr", "lib", "postgresql")  # one folder a version, not on the path


def program(name):
    """Where a program of PostgreSQL's is; the newest version."""
    installed = sorted(DEBIAN.glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    found = str(installed[-1]) if installed else shutil.which(name)
    if found is None:
        reason = f"PostgreSQL's {name} is not installed (Debian: apt-get install postgresql)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def server():
    """Start a server with an empty database; yields its URL."""
    initdb, postgres = program("initdb"), program("postgres")
    # The server refuses to run as root; Debian's package brings a user for it.
    root = os.geteuid() == 0
    who = {"user": "postgres", "group": "postgres", "extra_groups": []} if root else {}
    folder = Path(tempfile.mkdtemp(prefix="stopwise-pg-"))
    if root:
        shutil.chown(folder, "postgres", "postgres")
    data, port = folder / "data", free_port()
    running = None
    try:
        subprocess.run(
            [initdb, "-D", data, "-A", "trust", "-U", "tester", "--no-sync"],
            check=True, capture_output=True, cwd=folder, **who,
        )  # fmt: skip
        running = subprocess.Popen(
            [
                postgres, "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1",
                "-c", f"unix_socket_directories={folder}", "-c", "fsync=off",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **who,
        )  # fmt: skip
        wait_for(port, running)
        yield f"postgresql+psycopg://tester@127.0.0.1:{port}/postgres"
    finally:
        if running is not None:
            running.send_signal(signal.SIGINT)  # a fast shutdown: sessions are ended
            running.wait(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(port, running, seconds=60):
    import psycopg

    give_up = time.monotonic() + seconds
    while True:
        try:
            psycopg.connect(f"host=127.0.0.1 port={port} user=tester dbname=postgres").close()
        except psycopg.OperationalError:
            if running.poll() is not None or time.monotonic() > give_up:
                raise
            time.sleep(0.1)
        else:
            return
