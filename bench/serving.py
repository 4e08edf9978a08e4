"""Docweb, a real web on loopback: a proxy that is there, or one of our own for the time of a run."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 10.0


@contextmanager
def proxy(folder: Path | None, url: str, delay_ms: int = 0) -> Iterator[str]:
    """The URL of a proxy that serves docweb; `folder` is served on a free port where no URL is given."""
    if url:
        yield url
        return
    if folder is None or not (folder / "web.json").exists():
        sys.exit(
            "bench: give --docweb DIR, a folder made by `docweb.py build`, or --proxy URL where it is served"
        )
    port = _free_port()
    options = ["--port", str(port), "--delay-ms", str(delay_ms)]
    server = subprocess.Popen([sys.executable, _program(), "serve", folder, *options])
    try:
        _wait_for(port, server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _program() -> Path:
    folder = Path(os.environ.get("DOCWEB_SOURCE", ROOT / "../shared/docweb"))
    if not (folder / "docweb.py").exists():
        sys.exit(f"bench: no docweb.py in {folder}; set DOCWEB_SOURCE, or give --proxy URL")
    return folder / "docweb.py"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit("bench: docweb's server did not start; it needs nginx (Debian: nginx-light)")
