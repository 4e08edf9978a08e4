"""Servers of S3 on loopback: SeaweedFS, which keeps what it acknowledges; moto, made to fail by a proxy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from ports import free_port
from waiting import until

KEY, SECRET, BUCKET = "key", "secret-of-tests", "bucket"


def program(name: str) -> str:
    """One of the group `fleet`. A laptop may do without, CI may not."""
    found = Path(sys.executable).with_name(name)
    if not found.exists() and not os.environ.get("CI"):
        pytest.skip(f"{name} is not installed: uv sync --all-extras --group fleet")
    return str(found)


def environment(url: str, secret: str = SECRET) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_REGION": "us-east-1",
    }


def answers(port: int) -> bool:
    try:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/")
        return connection.getresponse().status < 500
    except OSError:
        return False


class SeaweedFS:
    """One process with all it consists of; `kill` and `start` as often as one likes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        rights = {"credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin"]}
        (folder / "s3.json").write_text(json.dumps({"identities": [{"name": "tests", **rights}]}))
        parts = ("master", "volume", "filer", "s3")
        self._ports = {f"{part}.port{grpc}": free_port() for part in parts for grpc in ("", ".grpc")}
        self.url = f"http://127.0.0.1:{self._ports['s3.port']}"
        self.start()

    def start(self) -> None:
        options = {
            **self._ports,
            "ip": "127.0.0.1",
            "dir": self._folder,
            "s3.config": self._folder / "s3.json",
            "s3.port.iceberg": 0,
            "s3.port.lance": 0,
            "master.telemetry": "false",
            "volume.max": 100,
            "master.volumeSizeLimitMB": 64,
        }
        words = [f"-{name}={value}" for name, value in options.items()]
        with (self._folder / "log").open("ab") as log:
            command = [program("weed"), "server", "-s3", *words]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until(lambda: answers(self._ports["s3.port"]), "SeaweedFS")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def seaweedfs(folder: Path) -> Iterator[SeaweedFS]:
    server = SeaweedFS(folder)
    try:
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder)


class Faulty:
    """moto, and before it a proxy that refuses, answers 503, ends answers and requests in their middle, or
    passes on something else."""

    def __init__(self) -> None:
        self.fault = ""  # "refused", "503", "full", "cut", "changed"; empty: all passes
        self.failed = 0  # requests
        self._moto_port = free_port()
        command = [program("moto_server"), "-p", str(self._moto_port)]
        self._moto = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: answers(self._moto_port), "moto")
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._moto.kill()
        self._moto.wait()

    def make_bucket(self) -> None:
        """Moto asks for no key."""
        assert self.ask("PUT", f"/{BUCKET}", {}, b"")[0] == 200

    def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Mapping[str, str], bytes]:
        connection = HTTPConnection("127.0.0.1", self._moto_port)
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        faulty = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _pass(self) -> None:
                fault, length = faulty.fault, int(self.headers.get("Content-Length", 0))
                if fault in ("refused", "cut") and (fault == "refused" or self.command != "GET"):
                    faulty.failed += 1
                    self.rfile.read(length // 2 if fault == "cut" else 0)
                    self.close_connection = True
                    return self.connection.close()
                body = self.rfile.read(length)
                if fault == "503" or (fault == "full" and self.command in ("PUT", "POST")):
                    faulty.failed += 1
                    said = b"<Error><Code>None</Code><Message>There is no room, or no time.</Message></Error>"
                    return self._answer(503 if fault == "503" else 507, {}, said)
                if fault == "changed" and self.command == "PUT":
                    faulty.failed += 1
                    body = body[::-1]
                status, headers, content = faulty.ask(self.command, self.path, self.headers, body)
                self._answer(status, headers, content, is_cut=fault == "cut")

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _pass

            def _answer(
                self, status: int, headers: Mapping[str, str], content: bytes, is_cut: bool = False
            ) -> None:
                self.send_response(status)
                passed = {name: value for name, value in headers.items() if name.lower() != "connection"}
                passed.setdefault("Content-Length", str(len(content)))
                for name, value in passed.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content[: len(content) // 2] if is_cut else content)
                if is_cut:
                    faulty.failed += 1
                    self.close_connection = True
                    self.connection.close()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler


@contextmanager
def faulty() -> Iterator[Faulty]:
    server = Faulty()
    try:
        yield server
    finally:
        server.stop()
