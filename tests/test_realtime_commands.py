"""`webcrawler crawl realtime` as people and programs meet it: bad arguments, JSON, a terminal, Ctrl-C."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import Run
from inprocess import Answered, command
from localweb import PROJECT, Answer, Crawled, Site, environment, share_demo_web, sites
from test_commands import assert_told_off
from waiting import PATIENCE_SECONDS, at_rest, until

from webcrawler.connection import connect
from webcrawler.demo import DemoWeb
from webcrawler.realtime import journal

QUERY = "query=molecular biology"
LOCAL = ("-s", "ADDRESSES_ALLOWED=127.0.0.1/32", "-s", "FRONTIER_DELAY=0", "-s", "RANKER_ENABLED=no")
Start = Callable[[Site], subprocess.Popen[str]]


# ---- asked wrongly: one clear line, exit status 2, and no data folder


HEADING = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<H1>Bookmarks</H1>\n<DL><p>"
WITHOUT_A_URL = {
    "empty.html": HEADING,
    "places.html": f'{HEADING}<DT><A HREF="place:sort=8">Recent</A>',
    "comments.txt": "# nothing yet\n",
}
BAD_SEARCHES = [
    ((), "what is looked for.*-a query="),
    (("query=",), "what is looked for.*-a query="),
    (("query=   ",), "what is looked for.*-a query="),
    (("query=the of and",), "'the of and' has no word to look for"),
    (("query=?!",), "no word to look for"),
    (("query=-coffee site:example.org",), "'-coffee site:example.org' has no word to look for"),
    ((QUERY, "examples=@feedback"), "no page was judged good for"),
    (("query=a\x1b[2J",), "cannot be printed"),
    ((QUERY, "strategy=psychic"), "unknown strategy 'psychic': choose one of adaptive, credit, webcrawler"),
    ((QUERY, "mode=fifo"), "no such argument: mode; strategy=adaptive takes query, strategy, enough"),
    ((QUERY, "enuogh=3"), "no such argument: enuogh; "),
    ((QUERY, "enough=-1"), "enough=-1 is not a whole number of at least 0"),
    ((QUERY, "enough=many"), "enough=many is not a whole number"),
    ((QUERY, "max_pages=0"), "max_pages=0 is not a whole number of at least 1"),
    ((QUERY, "max_pages=1e3"), "max_pages=1e3 is not a whole number"),
    ((QUERY, "max_time=abc"), "max_time=abc is not a number of seconds above 0"),
    ((QUERY, "max_time=0"), "max_time=0 is not a number of seconds"),
    ((QUERY, "max_time=inf"), "max_time=inf is not a number of seconds"),
    ((QUERY, "similarity=2"), "similarity=2 is not a number above 0 and up to 1"),
    ((QUERY, "similarity=nan"), "similarity=nan is not a number"),
    ((QUERY, "depth=3"), "no such argument: depth; strategy=adaptive"),
    ((QUERY, "strategy=shark", "d=x"), "d=x"),
    ((QUERY, "strategy=shark", "gamma=2"), "gamma=2"),
    ((QUERY, "strategy=hot", "then=psychic"), "unknown mode 'psychic'"),
    ((QUERY, "seeds=nonsense"), "'nonsense'.* is not a URL"),
    ((QUERY, "seeds=@no/such/file"), "cannot read no/such/file"),
    ((QUERY, "seeds=@{here}/empty.html"), "no http or https URL in these bookmarks"),
    ((QUERY, "seeds=@{here}/places.html"), "no http or https URL in these bookmarks"),
    ((QUERY, "seeds=@{here}/comments.txt"), "there is no URL in"),
    (("strategy=classifier", "examples=nonsense"), "'nonsense'.* is not a URL"),
    (("strategy=classifier",), "learns from pages: add -a examples=URL,URL or @bookmarks.html"),
    (("strategy=seed-similarity",), "learns from pages: add -a examples="),
    ((QUERY, "job=../x"), r"job=\.\./x is not valid"),
]


@pytest.mark.parametrize(("arguments", "line"), BAD_SEARCHES, ids=[" ".join(row[0]) for row in BAD_SEARCHES])
def test_a_search_asked_for_wrongly(run: Run, tmp_path: Path, arguments: tuple[str, ...], line: str) -> None:
    for name, text in WITHOUT_A_URL.items():
        (tmp_path / name).write_text(text)
    told = [part for argument in arguments for part in ("-a", argument.format(here=tmp_path))]

    assert_told_off(run("crawl", "realtime", *told), line)

    assert not (tmp_path / "crawl").exists()


BAD_OPTIONS = [
    (("--rescore",), "--rescore is for index"),
    (("--jsno",), "unknown option --jsno"),
    (("--json", "-O", "-:jsonlines"), "both go to standard output"),
    (("--json", "/dev/null/x.json"), "cannot write to /dev/null"),
    (("--json", "no/such/x.json"), "there is no folder no/such"),
    (("-s", "FRONTIER_DELAY=soon"), "FRONTIER_DELAY=soon"),
    (("-s", "ADDRESSES_ALLOWED=everything"), "ADDRESSES_ALLOWED"),
]


@pytest.mark.parametrize(("options", "line"), BAD_OPTIONS, ids=[" ".join(row[0]) for row in BAD_OPTIONS])
def test_an_option_given_wrongly(run: Run, tmp_path: Path, options: tuple[str, ...], line: str) -> None:
    assert_told_off(run("crawl", "realtime", "-a", QUERY, *options), line)

    assert not (tmp_path / "crawl").exists()


def test_json_is_for_realtime(run: Run) -> None:
    assert_told_off(run("crawl", "index", "--json"), "--json is for realtime; .*-O pages.jsonl")
    assert_told_off(run("crawl", "--json", "realtime"), "name one spider, before --json")


def test_a_classifier_without_its_extra(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = re.compile(r"sklearn\b|webcrawler\.orderings\.classifier")
    for name in list(filter(imported.match, sys.modules)):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)  # as if it were not installed

    answer = run("crawl", "realtime", "-a", "strategy=classifier", "-a", "examples=http://a.test/")

    assert_told_off(answer, r'mode=classifier needs sklearn: pip install "scrapy-webcrawler\[classifier\]"')
    assert not (tmp_path / "crawl").exists()


# ---- a search of the demo web


class Searched(NamedTuple):
    folder: Path
    answered: Answered
    feed: list[dict[str, Any]]

    @property
    def journal(self) -> journal.Journal:
        found: journal.Journal = json.loads(self.answered.out)
        return found


@pytest.fixture(scope="module")
def searched(demo_web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Searched:
    """With nothing to go on: the demo web, until five similar pages are found."""
    folder = share_demo_web(demo_web, tmp_path_factory.mktemp("searched") / "crawl")
    feed = folder.with_name("found.jsonl")
    told = ("-a", QUERY, "-a", "enough=5", "-a", "job=first", "--json", "-O", str(feed))
    answered = command("crawl", "realtime", *told, folder=folder, RANKER_ENABLED="no")
    assert answered.status == 0, answered.err
    return Searched(folder, answered, [json.loads(line) for line in feed.read_text("utf-8").splitlines()])


@pytest.mark.slow
def test_json_is_one_document_on_standard_output_the_journal_that_others_read(searched: Searched) -> None:
    assert searched.answered.out.startswith("{")
    assert searched.journal.keys() == journal.Journal.__annotations__.keys()
    assert searched.journal["hits"]
    assert all(hit.keys() == journal.Found.__annotations__.keys() for hit in searched.journal["hits"])
    assert searched.journal == journal.read(searched.folder, "first")


@pytest.mark.slow
def test_all_else_goes_to_standard_error(searched: Searched) -> None:
    told = searched.answered.err
    sources = [hit["source"] for hit in searched.journal["hits"][:30]]

    assert "crawling the demo web" in told
    assert "enough similar pages were found" in told
    assert told.count("just found") == sources.count("web")


@pytest.mark.slow
def test_a_feed_has_the_pages(searched: Searched) -> None:
    urls = {page["url"] for page in searched.feed}

    assert len(searched.feed) >= searched.journal["fetched"]
    assert {hit["url"] for hit in searched.journal["hits"]} <= urls
    assert all(page["text"] for page in searched.feed)


@pytest.mark.slow
def test_what_was_found_is_searched_from_another_terminal(searched: Searched) -> None:
    folder, hits = at_rest(searched.folder), searched.journal["hits"]

    _, out, err = command("search", "molecular biology", "--json", "-n", "100", folder=folder)

    found = {hit["url"] for hit in json.loads(out)["hits"]}
    assert {hit["url"] for hit in hits} & found == {hit["url"] for hit in hits if hit["kept"]}, err


# ---- on a terminal


def on_a_terminal(folder: Path, *arguments: str, rows: int = 24, columns: int = 80) -> str:
    """What `scrapy` draws where both its outputs are a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    kept = {k: v for k, v in environment(folder).items() if k not in ("LOG_LEVEL", "COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=PROJECT,
        env={**kept, "TERM": "xterm"},
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = b""
    with suppress(OSError):  # the other end is closed
        while data := os.read(ours, 65536):
            written += data
    os.close(ours)
    assert process.wait() == 0, written.decode()
    return written.decode()


@pytest.mark.slow
def test_the_list_grows_on_a_terminal(searched: Searched, tmp_path: Path) -> None:
    """The index answers first, then the list is drawn again and again, and gives way to the final table."""
    told = ("-a", QUERY, "-a", "enough=3", "-s", "RANKER_ENABLED=no", "--json", str(tmp_path / "found.json"))
    drawn = on_a_terminal(searched.folder, "crawl", "realtime", *told, columns=120)

    live, _, final = drawn.rpartition("\x1b[2K")  # the last line of the list is wiped
    first, _, later = live.partition("\x1b[1A")  # up again, to be drawn anew
    assert "“molecular biology”  0 fetched" in first
    assert "http://127.0.0.1:" in first
    assert later
    assert "ERROR" not in drawn
    assert "“molecular biology”" in final
    assert drawn.count("\x1b[?25l") == drawn.count("\x1b[?25h")  # the cursor is hidden, and shown again
    found = json.loads((tmp_path / "found.json").read_text())
    assert all(hit["url"] in final for hit in found["hits"][:3])
    assert "INFO" not in drawn


# ---- stopped by Ctrl-C


def endless(site: Site) -> Answer:
    """A page about molecular biology that links to two more."""
    number = len(site.asked)
    links = "".join(f'<a href="/{number}/{n}">more molecular biology</a> ' for n in range(2))
    return Answer(f"<!doctype html><title>Molecular biology {number}</title><p>{links}</p>")


def silent(site: Site) -> None:
    site.quit.wait()


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Start]:
    """Starts a search; one that waits for downloads does so for ever."""
    processes: list[subprocess.Popen[str]] = []

    def start(site: Site) -> subprocess.Popen[str]:
        told = ("-a", QUERY, "-a", f"seeds={site.url}/", "-a", "enough=0", "-a", "job=j", "--json")
        told += ("-s", "DOWNLOAD_TIMEOUT=9999")
        process = subprocess.Popen(
            [sys.executable, "-m", "scrapy", "crawl", "realtime", *told, *LOCAL],
            cwd=PROJECT,
            env=environment(tmp_path / "crawl"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
    connect(None, tmp_path / "crawl").close()  # who leaves last stops the server


@pytest.mark.slow
def test_ctrl_c_ends_it_and_keeps_what_was_found(started: Start, tmp_path: Path) -> None:
    with sites(site={"*": endless}) as opened:
        process = started(opened["site"])
        until(lambda: fetched(tmp_path / "crawl") >= 3, "pages", process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)

    found = json.loads(out)
    assert process.returncode == 0, err
    assert (found["state"], found["reason"]) == ("finished", "stopped")
    assert found["hits"]
    assert "it was stopped; the same command goes on" in err
    assert "Traceback" not in err
    assert {hit["url"] for hit in found["hits"]} <= Crawled(tmp_path / "crawl", 0, "").documents()


def fetched(folder: Path) -> int:
    found = journal.read(folder, "j") if (folder / "realtime").exists() else None
    return found["fetched"] if found else 0


def read_until(process: subprocess.Popen[str], words: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return
    raise AssertionError(f"it never said {words!r}")
