"""Searches of the web in child processes, over the demo web."""

from __future__ import annotations

import os
from pathlib import Path
from signal import SIGKILL, SIGTERM

import pytest
from live import HERE, started
from localweb import PROJECT, share_demo_web
from starlette.testclient import TestClient
from waiting import until

from webcrawler.demo import DemoWeb
from webcrawler.realtime import journal
from webcrawler.web import Config, make_app
from webcrawler.web.live_searches import BROKE, launched


@pytest.fixture
def crawl_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a process that runs in the project."""
    monkeypatch.chdir(PROJECT)
    (tmp_path / "realtime").mkdir()
    return tmp_path


def arguments(**more: str) -> dict[str, str]:
    return {"job": "j1", "query": "solar eclipse", "strategy": "breadth", "max_time": "60", **more}


@pytest.mark.slow
def test_child_searches_the_demo_web_and_ends_in_order_when_told(crawl_dir: Path, demo_web: DemoWeb) -> None:
    process = launched(Config(share_demo_web(demo_web, crawl_dir)), "j1", arguments(enough="0"))

    until(lambda: (journal.read(crawl_dir, "j1") or {"hits": []})["hits"], "hits")
    assert process.poll() is None
    process.send_signal(SIGTERM)
    until(lambda: process.poll() is not None, "its end")

    found = journal.read(crawl_dir, "j1")
    assert found and found["state"] == "finished" and found["hits"]
    assert (crawl_dir / "catalog.sqlite").exists()


@pytest.mark.slow
def test_child_that_never_begins_tells_visitors_nothing_of_this_machine(
    crawl_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = make_app(Config(crawl_dir, live_settings=(("REDIS_URL", "redis://:secret@127.0.0.1:1/0"),)))
    with TestClient(app, HERE, follow_redirects=False, client=("127.0.0.1", 50_000)) as web:
        job = started(web)
        until(lambda: f"{job}.log" in caplog.text, "the line for the operator")
        told = web.get(f"/api/live/{job}")

    assert (told.json()["reason"], told.json()["note"]) == ("failed", BROKE)
    assert "secret" not in told.text


def test_child_has_a_session_of_its_own_and_is_reaped(crawl_dir: Path) -> None:
    process = launched(Config(crawl_dir), "j1", arguments())

    assert os.getsid(process.pid) == process.pid
    process.send_signal(SIGKILL)
    until(lambda: process.poll() is not None, "its end")

    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
