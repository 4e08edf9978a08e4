"""The list of a search of the web as server-sent events: what is sent, to how many, and until when."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from live import found, journal, opened, runner, served, started
from lxml import html as lxml_html
from searched import entry, publish
from starlette.requests import Request
from starlette.testclient import TestClient

from webcrawler import pace
from webcrawler.realtime.journal import Writer
from webcrawler.records import Text
from webcrawler.web import Config, make_app
from webcrawler.web.failures import NotNow
from webcrawler.web.live import streams
from webcrawler.web.live.streams import Snapshot, Streams, event

JSON = ("/api/", "/suggest")


@pytest.fixture
def web(tmp_path: Path) -> Iterator[TestClient]:
    with opened(tmp_path) as web:
        yield web


def events(text: str) -> list[tuple[str, str]]:
    """(name, data) of each, as a browser reads them."""
    found = []
    for block in text.split("\n\n"):
        lines = [line.partition(": ") for line in block.split("\n") if line]
        names = [value for field, _, value in lines if field == "event"]
        if names:
            found.append((names[0], "\n".join(value for field, _, value in lines if field == "data")))
    return found


def test_stream_of_a_search_that_is_over_gives_the_list_and_ends(web: TestClient) -> None:
    job = started(web)
    runner(web).finish(job, "enough")

    answer = web.get(f"/live/{job}/events")

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-store"
    (list_, text), end = events(answer.text)
    assert (list_, end) == ("list", ("end", ""))
    fragment = lxml_html.fromstring(text)
    assert fragment.get("data-over") == "yes"
    assert fragment.xpath("//li/@id") == ["found-1", "found-2"]
    assert answer.text.startswith("retry: ")


def test_who_has_seen_the_end_is_told_not_to_come_again(web: TestClient) -> None:
    job = started(web)
    runner(web).finish(job)
    (id,) = re.findall(r"(?m)^id: (.+)$", web.get(f"/live/{job}/events").text)

    assert web.get(f"/live/{job}/events", headers={"Last-Event-ID": id}).status_code == 204


def test_stream_may_be_asked_for_its_head(web: TestClient) -> None:
    assert web.head(f"/live/{started(web)}/events").status_code == 200


CONTROLS = "\x1b[31mred\x07 \x9b2J\x7f\x90q\x9c\x85"


@pytest.mark.slow
def test_control_characters_of_strangers_are_neither_shown_nor_sent_to_programs(tmp_path: Path) -> None:
    """Data that older versions stored has them; through the real server, on every way out."""
    hostile = Text(f"Title {CONTROLS}", "", "", "", f"biology {CONTROLS} of the garden")
    publish(tmp_path, [replace(entry((f"http://a.test/{CONTROLS}", "", "")), text=hostile)])
    via = {"url": f"http://b.test/{CONTROLS}", "title": CONTROLS, "anchor": f"to {CONTROLS}"}
    hit = found(1, f"Title {CONTROLS}", snippet=f"biology {CONTROLS}", via=via)
    writer = Writer(tmp_path, "job")
    writer.write(journal("job", query=f"biology {CONTROLS}", hits=[hit], state="finished", note=CONTROLS))
    writer.close()
    asked = f"q={quote('biology ' + CONTROLS)}"
    search, explain = f"search?{asked}&explain=1&limit=20", f"explain?{asked}&number=1"
    paths = [f"/{search}", f"/api/{search}", f"/{explain}", f"/api/{explain}", f"/cached?{asked}&number=1"]
    paths += [f"/suggest?{asked}", "/status", "/api/status", "/live", "/api/live", "/live/job"]
    paths += ["/live/job/events", "/api/live/job"]
    config = Config(tmp_path, deadline_seconds=60)

    with (
        served(make_app(config)) as (host, port),
        httpx.Client(base_url=f"http://{host}:{port}", timeout=60) as client,
    ):
        answers = {path: client.get(path) for path in paths}

    assert "Title [31mred" in answers[paths[0]].text and "Title [31mred" in answers[paths[1]].text
    assert "to [31mred" in answers["/live/job"].text and "to [31mred" in answers["/api/live/job"].text
    for path, answer in answers.items():
        assert answer.status_code in (200, 404), path
        texts = [answer.text, *(strings(answer.json()) if path.startswith(JSON) else ())]
        controls = {c for text in texts for c in text if unicodedata.category(c) == "Cc"}
        assert controls <= {"\t", "\n"}, path


def strings(value: Any) -> Iterator[str]:
    """All texts of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


@given(st.text())
def test_lines_of_an_event_arrive_as_they_were(text: str) -> None:
    text = text.replace("\r", "")

    sent = event("list", text, "7")

    assert sent.endswith("\n\n") and "\n\n" not in sent[:-2]
    assert [line[6:] for line in sent.split("\n")[2:-2]] == text.split("\n")
    assert sent.split("\n")[:2] == ["event: list", "id: 7"]


def of_client(client: str = "ann") -> Request:
    return Request({"type": "http", "method": "GET", "headers": [], "client": (client, 1)})


def quiet(job: str) -> Snapshot:
    return Snapshot("1", "one", False)


def body(response: Any) -> AsyncIterator[str]:
    iterator: AsyncIterator[str] = response.body_iterator
    return iterator


def test_stream_follows_a_search_and_is_silent_if_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "LIVE_LOOK_SECONDS", 0.001)
    seen = [("1", "one", False), ("1", "one", False), ("2", "two", False), ("3", "3", True)]

    async def read() -> list[str]:
        streams = Streams(lambda job: Snapshot(*seen.pop(0)))
        return [text async for text in body(streams.open(of_client(), "job"))]

    assert events("".join(anyio.run(read))) == [("list", "one"), ("list", "two"), ("list", "3"), ("end", "")]


def test_stream_of_a_quiet_search_is_kept_awake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "LIVE_LOOK_SECONDS", 0.001)
    monkeypatch.setattr(streams, "HEARTBEAT_SECONDS", 0.0)

    async def read() -> list[str]:
        stream = body(Streams(quiet).open(of_client(), "job"))
        return [await anext(stream) for _ in range(4)]

    assert anyio.run(read)[2:] == [": it goes on\n\n"] * 2


def test_streams_end_when_the_server_does() -> None:
    async def read() -> list[str]:
        streams = Streams(quiet)
        stream = body(streams.open(of_client(), "job"))
        first = [await anext(stream), await anext(stream)]
        streams.leave()
        return first + [text async for text in stream]

    assert len(anyio.run(read)) == 2


def test_streams_are_so_many_and_of_a_client_so_many() -> None:
    async def read() -> None:
        watched = Streams(quiet)
        for number in range(streams.MOST):
            watched.open(of_client(f"c{number // streams.MOST_OF_CLIENT}"), "job")
            if number + 1 == streams.MOST_OF_CLIENT:
                with pytest.raises(NotNow):
                    watched.open(of_client("c0"), "job")
        with pytest.raises(NotNow):
            watched.open(of_client("another"), "job")

    anyio.run(read)


def test_client_that_opens_many_streams_at_once_gets_no_more_than_its_share(tmp_path: Path) -> None:
    """Through the real server: requests that come in together are all checked before any is answered."""
    writer = Writer(tmp_path, "job")  # who holds it runs
    writer.write(journal("job"))
    request = b"GET /live/job/events HTTP/1.1\r\nHost: localhost\r\n\r\n"

    async def opened(address: tuple[str, int]) -> tuple[bytes, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(request)
        return (await reader.readline()).split()[1], writer

    async def ask(address: tuple[str, int]) -> list[bytes]:
        found = await asyncio.gather(*(opened(address) for _ in range(58)))
        for _, writer in found:
            writer.close()
        while (again := await opened(address))[0] != b"200":  # until the server knows that the others left
            again[1].close()
        again[1].close()
        return [status for status, _ in found]

    with served(make_app(Config(tmp_path))) as address:
        statuses = asyncio.run(ask(address))

    writer.close()
    assert statuses.count(b"200") == streams.MOST_OF_CLIENT
    assert statuses.count(b"503") == 58 - streams.MOST_OF_CLIENT


def test_many_who_watch_cost_one_look() -> None:
    looks: list[str] = []

    def look(job: str) -> Snapshot:
        looks.append(job)
        return quiet(job)

    async def read() -> None:
        streams = Streams(look)
        watching = [body(streams.open(of_client(str(number)), "job")) for number in range(20)]
        for _ in range(2):
            await asyncio.gather(*(anext(stream) for stream in watching))

    anyio.run(read)

    assert looks == ["job"]
