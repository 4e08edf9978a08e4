"""Who runs searches of the web: a child process over the demo web, or a Scrapyd, here one that only notes."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from live import HERE, note, opened, start, started, stop, until_there, web_searches
from live import journal as made
from localweb import PROJECT, share_demo_web
from starlette.testclient import TestClient
from waiting import until

from webcrawler import pace
from webcrawler.demo import DemoWeb
from webcrawler.errors import BadInput
from webcrawler.realtime import journal
from webcrawler.web import Config, make_app
from webcrawler.web.live.launchers import BROKE, REFUSED, SILENT, Children, Scrapyd

# ---- child processes


@pytest.fixture
def crawl_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a process that runs in the project."""
    monkeypatch.chdir(PROJECT)
    (tmp_path / "realtime").mkdir()
    return tmp_path


def arguments(job: str, **more: str) -> dict[str, str]:
    return {"job": job, "query": "solar eclipse", "strategy": "breadth", "max_time": "60", **more}


@pytest.mark.slow
def test_child_searches_the_demo_web_and_ends_in_order_when_told(crawl_dir: Path, demo_web: DemoWeb) -> None:
    children = Children(Config(share_demo_web(demo_web, crawl_dir)))

    children.start("j1", arguments("j1", enough="0"))
    until(lambda: (journal.read(crawl_dir, "j1") or {"hits": []})["hits"], "hits")
    assert not children.is_over("j1")
    children.end("j1", at_once=False)
    until(lambda: children.is_over("j1"), "its end")

    found = journal.read(crawl_dir, "j1")
    assert found and found["state"] == "finished" and found["hits"]
    assert (crawl_dir / "catalog.sqlite").exists()


@pytest.mark.slow
def test_child_that_is_killed_has_broken_off_and_who_asks_the_same_again_starts_another(
    crawl_dir: Path, demo_web: DemoWeb
) -> None:
    app = make_app(Config(share_demo_web(demo_web, crawl_dir)))
    with TestClient(app, HERE, follow_redirects=False, client=("127.0.0.1", 50_000)) as web:
        killed = started(web, q="solar eclipse", strategy="breadth", enough=0)
        launcher = app.state.live.searches.launcher

        def fetched(job: str) -> int:
            found = journal.read(crawl_dir, job)
            return found["fetched"] if found else 0

        until(lambda: fetched(killed) >= 3, "pages")
        launcher._processes[killed].kill()
        until_there(web, lambda: web_searches(web)._started[killed].is_over, "its end")
        assert "Ended: it broke off." in web.get(f"/live/{killed}").text
        job = started(web, q="solar eclipse", strategy="breadth", enough=0)
        assert job != killed
        until(lambda: fetched(job) >= 3, "pages of the second")

    until(lambda: not journal.is_alive(crawl_dir, job), "its end")
    found = journal.read(crawl_dir, job)
    assert found and (found["state"], found["reason"]) == ("finished", "stopped")


@pytest.mark.slow
def test_child_that_never_begins_tells_visitors_nothing_of_this_machine(
    crawl_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    children = Children(Config(crawl_dir, live_settings=(("REDIS_URL", "redis://:secret@127.0.0.1:1/0"),)))

    children.start("j1", arguments("j1", seeds=f"@{crawl_dir}/none"))
    children.start("j2", arguments("j2"))
    children.end("j2", at_once=True)
    until(lambda: children.is_over("j1") and children.is_over("j2"), "the end of both")

    for job in ("j1", "j2"):
        assert children.complaint(job) == BROKE
        assert f"{job}.log" in caplog.text  # there the operator finds why


def test_log_of_a_child_that_never_began_is_forgotten_with_it(crawl_dir: Path) -> None:
    children = Children(Config(crawl_dir))
    (crawl_dir / "realtime/j2.json").write_text("{}")

    for job in ("j1", "j2"):
        children.start(job, arguments(job))
        children.end(job, at_once=True)
        until(partial(children.is_over, job), "its end")
        children.forget(job)

    assert [file.name for file in crawl_dir.glob("realtime/*.log")] == ["j2.log"]
    assert not children._processes


def test_child_has_a_session_of_its_own_and_is_reaped(crawl_dir: Path) -> None:
    children = Children(Config(crawl_dir))

    children.start("j1", arguments("j1"))
    (process,) = children._processes.values()
    assert os.getsid(process.pid) == process.pid
    children.end("j1", at_once=True)
    until(lambda: children.is_over("j1"), "its end")

    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


# ---- Scrapyd


class Noted(ThreadingHTTPServer):
    """Speaks as Scrapyd does (docs of 1.6), and notes what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.headers: list[str] = []
        self.pending: set[str] = set()
        self.answers: dict[str, tuple[int, str]] = {}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Noted

    def do_GET(self) -> None:
        self._answer(urlsplit(self.path).query)

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def log_message(self, *_: Any) -> None:
        pass

    def _answer(self, form: str) -> None:
        what, fields = urlsplit(self.path).path.strip("/").removesuffix(".json"), dict(parse_qsl(form))
        self.server.asked.append((what, fields))
        self.server.headers.append(self.headers.get("Authorization", ""))
        told: dict[str, str | None] = {"status": "ok"}
        if what == "schedule":
            self.server.pending.add(fields["jobid"])
        if what == "cancel":
            told["prevstate"] = "pending" if fields["job"] in self.server.pending else None
            self.server.pending.discard(fields["job"])
        status, text = self.server.answers.get(what, (200, json.dumps(told)))
        self.send_response(status)
        self.end_headers()
        with suppress(BrokenPipeError):
            self.wfile.write(text.encode())


@pytest.fixture
def noted() -> Iterator[Noted]:
    with Noted() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def with_scrapyd(crawl_dir: Path, address: str) -> Iterator[TestClient]:
    with opened(crawl_dir) as web:
        web_searches(web).launcher = Scrapyd(Config(crawl_dir, scrapyd=address))
        yield web


def test_search_becomes_a_job_of_scrapyd_with_our_folder(tmp_path: Path, noted: Noted) -> None:
    with with_scrapyd(tmp_path, f"http://ann:secret@127.0.0.1:{noted.server_port}/") as web:
        job = started(web, seeds="http://a.test/")

    what, fields = noted.asked[0]
    assert (what, noted.headers[0]) == ("schedule", "Basic YW5uOnNlY3JldA==")
    ours = {"project": "webcrawler", "spider": "realtime", "jobid": job, "setting": f"CRAWL_DIR={tmp_path}"}
    asked = {"query": "molecular biology", "strategy": "adaptive", "enough": "20", "max_pages": "300"}
    asked |= {"max_time": "120", "keep": "similar", "seeds": f"@{tmp_path}/realtime/{job}.seeds"}
    assert fields == ours | asked


def test_job_that_waits_in_scrapyd_is_cancelled_when_stopped(tmp_path: Path, noted: Noted) -> None:
    with with_scrapyd(tmp_path, noted.address) as web:
        job = started(web)
        assert "Starting." in web.get(f"/live/{job}").text
        stop(web, job)

    cancelled = [fields for what, fields in noted.asked if what == "cancel"]
    assert cancelled == [{"project": "webcrawler", "job": job}]


def test_job_that_is_cancelled_while_it_waits_makes_room_for_the_next(
    tmp_path: Path, noted: Noted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "LIVE_WATCH_SECONDS", 0.001)
    with with_scrapyd(tmp_path, noted.address) as web:
        job = started(web)
        stop(web, job)
        until_there(web, lambda: web_searches(web).look(job)["state"] == "finished", "its end")

        assert "Ended: it was stopped." in web.get(f"/live/{job}").text
        assert started(web) != job


def test_job_is_over_when_its_journal_says_so_and_nobody_holds_its_lock(tmp_path: Path, noted: Noted) -> None:
    runner = Scrapyd(Config(tmp_path, scrapyd=noted.address))
    runner.start("j1", {"query": "gene"})
    assert not runner.is_over("j1")  # it waits for its turn
    writer = journal.Writer(tmp_path, "j1")
    for state, over in [("running", False), ("finished", False)]:
        writer.write(made("j1", state=state))
        assert runner.is_over("j1") == over

    writer.close()
    assert runner.is_over("j1")


def test_job_that_died_is_over(tmp_path: Path, noted: Noted) -> None:
    runner, writer = Scrapyd(Config(tmp_path, scrapyd=noted.address)), journal.Writer(tmp_path, "j1")
    writer.write(made("j1"))
    assert not runner.is_over("j1")

    writer._lock.close()  # as the kernel does

    assert runner.is_over("j1")


def test_job_is_not_over_as_long_as_scrapyd_says_that_it_ran(tmp_path: Path, noted: Noted) -> None:
    runner = Scrapyd(Config(tmp_path, scrapyd=noted.address))
    noted.answers["cancel"] = (200, '{"status": "ok", "prevstate": "running"}')
    runner.end("j1", at_once=False)
    assert not runner.is_over("j1")

    noted.answers["cancel"] = (200, '{"status": "ok", "prevstate": null}')
    runner.end("j1", at_once=True)
    assert runner.is_over("j1")
    runner.forget("j1")
    assert not runner._gone


@pytest.mark.parametrize(
    "answer, line",
    [
        ((200, '{"status": "error", "message": "project \'x\' not found in /srv"}'), REFUSED),
        ((401, "Unauthorized"), REFUSED),
        ((500, "Traceback"), REFUSED),
        ((200, "<html>"), SILENT),
        ((200, "[]"), REFUSED),
    ],
)
def test_what_scrapyd_says_wrongly_is_one_line(
    tmp_path: Path, noted: Noted, answer: tuple[int, str], line: str
) -> None:
    noted.answers["schedule"] = answer
    with with_scrapyd(tmp_path, noted.address) as web:
        refused, told = start(web), web.post("/api/live", json={"query": "gene"})

    assert (refused.status_code, note(refused)) == (503, line)
    assert (told.status_code, told.json()) == (503, {"error": line})


def test_scrapyd_that_is_not_there_is_one_line(tmp_path: Path, noted: Noted) -> None:
    address = noted.address
    noted.server_close()
    with with_scrapyd(tmp_path, address) as web:
        refused = start(web)
        assert (refused.status_code, note(refused)) == (503, SILENT)
        assert not list((tmp_path / "realtime").glob("*.seeds"))


@pytest.mark.parametrize("url", ["scrapyd", "ftp://127.0.0.1", "http://", "127.0.0.1:6800"])
def test_scrapyd_needs_an_address(tmp_path: Path, url: str) -> None:
    with pytest.raises(BadInput, match="SERVE_SCRAPYD"):
        make_app(Config(tmp_path, scrapyd=url))


def test_runner_is_a_child_process_unless_a_scrapyd_is_named(tmp_path: Path) -> None:
    for address, kind in (("", Children), ("http://127.0.0.1:6800", Scrapyd)):
        app = make_app(Config(tmp_path, scrapyd=address))
        assert isinstance(app.state.live.searches.launcher, kind)
