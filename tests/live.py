"""What tests of searching the web from the page stand on: journals, and a stand-in for who runs searches."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from lxml import html as lxml_html
from starlette.applications import Starlette
from starlette.testclient import TestClient
from waiting import until

from webcrawler.clock import now
from webcrawler.realtime.journal import Found, Journal, Writer
from webcrawler.web import Config, make_app
from webcrawler.web.app import listen

HERE = "http://127.0.0.1:8000"
OURS = {"Sec-Fetch-Site": "same-origin"}
QUERY = "molecular biology"
VIA = {"url": "http://b.test/", "title": "B", "anchor": "to 2"}


def found(number: int, title: str = "", **changes: Any) -> Found:
    one = Found(
        rank=number,
        relevance=1000 // number,
        title=title or f"Page {number}",
        url=f"http://a.test/{number}",
        server="http://a.test",
        snippet="Genes of molecular biology",
        number=number,
        similarity=0.5,
        source="index",
        via=None,
        kept=True,
    )
    one.update(changes)  # type: ignore[typeddict-item]
    return one


def journal(job: str, **changes: Any) -> Journal:
    made = Journal(
        job=job,
        agent="host-1",
        query="molecular biology",
        strategy="adaptive",
        state="running",
        reason="",
        started=now(),
        updated=now(),
        seconds=1.5,
        fetched=12,
        similar=3,
        enough=20,
        waiting=40,
        note="",
        keep="similar",
        kept=0,
        hits=[found(1), found(2, source="web", via=VIA)],
    )
    made.update(changes)  # type: ignore[typeddict-item]
    return made


def keep(crawl_dir: Path, job: str) -> None:
    """The journal of a search that is over, and was not started here."""
    writer = Writer(crawl_dir, job)
    writer.write(journal(job, query="of the terminal", state="finished", reason="enough"))
    writer.close()


class Stood:
    """A process in which nothing runs."""

    def __init__(self) -> None:
        self.is_over = False
        self.signals: list[int] = []

    def poll(self) -> int | None:
        return 0 if self.is_over else None

    def send_signal(self, sig: int, /) -> None:
        self.signals.append(sig)
        self.is_over = self.is_over or sig == signal.SIGKILL


class StandIn:
    """Runs searches within the test: each keeps a real journal, and is over when the test says so."""

    def __init__(self, crawl_dir: Path) -> None:
        self.crawl_dir = crawl_dir
        self.arguments: dict[str, dict[str, str]] = {}
        self.lists: dict[str, str] = {}  # what the files of addresses held when it began
        self.writers: dict[str, Writer] = {}
        self.processes: dict[str, Stood] = {}
        self.refuses = False
        self.is_slow = False  # to say anything

    def launch(self, job: str, arguments: dict[str, str]) -> Stood:
        if self.refuses:
            raise OSError("not today")
        self.arguments[job] = arguments
        self.lists = {k: Path(v[1:]).read_text() for k, v in arguments.items() if v.startswith("@")}
        if not self.is_slow:
            self.begin(job)
        self.processes[job] = Stood()
        return self.processes[job]

    def begin(self, job: str) -> None:
        given = self.arguments[job]
        self.writers[job] = Writer(self.crawl_dir, job)
        self.write(job, query=given.get("query", ""), strategy=given["strategy"])

    def write(self, job: str, **changes: Any) -> None:
        self.writers[job].write(journal(job, **changes))

    def finish(self, job: str, reason: str = "enough", **changes: Any) -> None:
        if job in self.writers:
            self.write(job, state="finished", reason=reason, **changes)
            self.writers.pop(job).close()
        self.processes[job].is_over = True


# The page, as people use it


@contextmanager
def opened(crawl_dir: Path, client: str = "127.0.0.1", **config: Any) -> Iterator[TestClient]:
    app = make_app(Config(crawl_dir, **config))
    app.state.live.searches.launch = StandIn(crawl_dir).launch
    with TestClient(app, HERE, follow_redirects=False, client=(client, 50_000)) as web:
        yield web


@contextmanager
def served(app: Starlette) -> Iterator[tuple[str, int]]:
    """By the real server, on a port of its own."""
    bound = listen("127.0.0.1", 0)
    settings = uvicorn.Config(app, http="h11", ws="none", log_config=None, access_log=False)
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run, args=([bound],))
    thread.start()
    try:
        yield bound.getsockname()
    finally:
        server.should_exit = True
        thread.join()


def web_searches(web: TestClient) -> Any:
    assert isinstance(web.app, Starlette)
    return web.app.state.live.searches


def runner(web: TestClient) -> StandIn:
    stand_in = web_searches(web).launch.__self__
    assert isinstance(stand_in, StandIn)
    return stand_in


def seen(web: TestClient, path: str, **headers: str) -> Any:
    return lxml_html.fromstring(web.get(path, headers=headers).text)


def token(web: TestClient, path: str = "/live", action: str = "/live", **headers: str) -> str:
    (form,) = [form for form in seen(web, path, **headers).iter("form") if form.get("action") == action]
    return str(form.xpath(".//input[@name='token']/@value")[0])


def start(web: TestClient, headers: dict[str, str] = OURS, **fields: Any) -> Any:
    """As the button does; `files` are sent as the form of /live sends them."""
    files = fields.pop("files", None)
    data = {"q": QUERY, "token": token(web, **headers), **fields}
    return web.post("/live", data=data, files=files, headers=headers)


def started(web: TestClient, **fields: Any) -> str:
    answer = start(web, **fields)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"].removeprefix("/live/"))


def stop(web: TestClient, job: str, **headers: str) -> Any:
    given = token(web, f"/live/{job}", f"/live/{job}/stop", **headers)
    return web.post(f"/live/{job}/stop", data={"token": given}, headers={**OURS, **headers})


def note(answer: Any) -> str:
    return " ".join(lxml_html.fromstring(answer.text).xpath("string(//*[@class='note'])").split())


def until_there(web: TestClient, condition: Callable[[], bool], what: str) -> None:
    """As `until`, asked on the server's own event loop, where searches are watched."""
    assert web.portal is not None
    until(partial(web.portal.call, condition), what)
