"""FTP and Gopher servers on loopback: pyftpdlib in a thread, and Debian's pygopherd."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.ioloop import IOLoop
from pyftpdlib.servers import FTPServer
from waiting import until

PYGOPHERD = shutil.which("pygopherd", path=f"{os.environ['PATH']}:/usr/sbin")
CONFIG = Path("/etc/pygopherd/pygopherd.conf")


@contextmanager
def ftp(folder: Path, **attributes: Any) -> Iterator[str]:
    """Serves a folder to anonymous users; gives its URL.

    Args:
        attributes: of pyftpdlib's handler.
    """
    authorizer = DummyAuthorizer()
    authorizer.add_anonymous(str(folder))
    handler = type("Handler", (FTPHandler,), {"authorizer": authorizer, **attributes})
    server = FTPServer(("127.0.0.1", 0), handler, ioloop=IOLoop())
    thread = threading.Thread(target=server.serve_forever, kwargs={"timeout": 0.05, "handle_exit": False})
    thread.start()
    try:
        yield f"ftp://127.0.0.1:{server.address[1]}/"
    finally:
        server.ioloop.call_later(0, server.close_all)
        thread.join()


@contextmanager
def gopher(folder: Path, work: Path) -> Iterator[str]:
    """Serves a folder as pygopherd does; gives its URL."""
    if PYGOPHERD is None:
        if os.environ.get("CI"):
            pytest.fail("pygopherd is not installed")
        pytest.skip("pygopherd is not installed")
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    config = work / "pygopherd.conf"
    config.write_text(_configured(CONFIG.read_text(), port, folder, work))
    with (work / "pygopherd.log").open("w") as log:
        process = subprocess.Popen(["/usr/bin/python3", PYGOPHERD, str(config)], stdout=log, stderr=log)
    try:
        until(lambda: _listens(port), f"pygopherd, see {work}/pygopherd.log", process)
        yield f"gopher://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait()


def _configured(text: str, port: int, folder: Path, work: Path) -> str:
    ours = {
        "port": str(port),
        "interface": "127.0.0.1",
        "root": str(folder),
        "servername": "127.0.0.1",
        "usechroot": "no",
        "pidfile": str(work / "pygopherd.pid"),
        "servertype": "ThreadingTCPServer",
        "cachetime": "0",
        "logmethod": "file",
    }
    kept = [line for line in text.splitlines() if line.partition("=")[0].strip() not in ours]
    sections = {"[pygopherd]": ours.keys() - {"cachetime", "logmethod"}, "[logger]": {"logmethod"}}
    sections["[handlers.dir.DirHandler]"] = {"cachetime"}
    lines = []
    for line in kept:
        lines.append(line)
        lines += (f"{name} = {ours[name]}" for name in sorted(sections.get(line.strip(), ())))
    return "\n".join(lines)


def _listens(port: int) -> bool:
    with closing(socket.socket()) as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
