"""`.ci/run` around its stages: it serves them a web, and ends in good order. What it starts are stand-ins."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from localweb import PROJECT

pytestmark = pytest.mark.slow

SERVES = """
import http.server, sys

class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

if sys.argv[1] == "serve":
    held = open("held", "w")
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[4])), Web).serve_forever()
"""
DOES_NOT_SERVE = "import sys; sys.exit(sys.argv[1] == 'serve')"
STAGES = """
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
print("stages of", *sys.argv[2:], os.environ["DOCWEB_PROXY"], flush=True)
open("begun", "w").close()
signal.sigwait({signal.SIGTERM})
sys.exit("ended in good order")
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Where all is installed already."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(PROJECT / ".ci/run", tmp_path / ".ci")
    for program in ("bin/apt-get", "bin/make", ".venv/bin/uv"):
        _script(tmp_path / program, "#!/bin/sh\n")
    _script(tmp_path / ".venv/bin/python", f"#!{sys.executable}\n{STAGES}")
    return tmp_path


def _script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@contextmanager
def begun(clone: Path, docweb: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    (clone / "docweb.py").write_text(docweb)
    with subprocess.Popen(
        ["bash", ".ci/run", *arguments],
        cwd=clone,
        env=os.environ
        | {"DOCWEB_SOURCE": ".", "PATH": f"{clone}/bin:{os.environ['PATH']}", "TMPDIR": f"{clone}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        try:
            yield run
        finally:
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)  # whatever hangs


def test_a_docweb_that_does_not_listen_is_one_line_and_the_end(clone: Path) -> None:
    with begun(clone, DOES_NOT_SERVE) as run:
        told, errors = run.communicate()

    assert run.returncode == 1
    assert told == "docweb does not listen\n", errors


def test_who_ends_it_ends_the_stages_in_good_order_and_leaves_nothing(clone: Path) -> None:
    for name in ("begun", "held"):
        os.mkfifo(clone / name)

    with begun(clone, SERVES, "--deep") as run, (clone / "held").open() as held:
        (clone / "begun").read_text()
        run.send_signal(signal.SIGTERM)
        told, errors = run.communicate()
        held.read()  # until nobody serves any more

    assert run.returncode == 1
    assert "stages of --deep http://127.0.0.1:" in told
    assert "ended in good order" in errors
    assert not list(clone.glob("tmp.*"))
