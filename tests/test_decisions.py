"""The log of decisions: why each URL was added, refused, leased, fetched, tried again or set aside."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import MakeFrontier
from crawled import link
from localweb import PROJECT, Answer, Site, crawl, page, redirect, robots, sites
from searched import entry

from webcrawler.errors import BadInput
from webcrawler.frontier import Budgets, Decisions, Done
from webcrawler.frontier.decisions import BY, ROWS_WAITING, by, without_secrets
from webcrawler.records import Lease

STATES = (PROJECT / "docs" / "reference" / "states.md").read_text("utf-8")
SETTINGS = (PROJECT / "docs" / "reference" / "settings.md").read_text("utf-8")
MIB = 2**20


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def what(rows: list[dict[str, Any]], *keys: str) -> list[tuple[Any, ...]]:
    return [tuple(row.get(key) for key in keys) for row in rows]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Decisions]:
    decisions = Decisions(str(tmp_path / "log"), MIB, "breadth")
    yield decisions
    decisions.close()


# ---- of a crawl


@pytest.fixture
def site() -> Iterator[Site]:
    routes = {
        "/": page("/a", "/b", "/gone", "/moved", "/secret/x", "/film.mp4", "/busy", "/c?token=s3cret&page=2"),
        "/a": Answer("<title>One</title>the same text"),
        "/b": Answer("<title>One</title>the same text"),
        "/moved": redirect("/a"),
        "/busy": Answer("busy", 503),
        "/c?token=s3cret&page=2": page(),
        "/robots.txt": robots("User-agent: *", "Disallow: /secret/"),
    }
    with sites(site=routes) as opened:
        yield opened["site"]


@pytest.mark.slow
def test_each_decision_of_a_crawl_is_a_line(tmp_path: Path, site: Site) -> None:
    path = tmp_path / "decisions.jsonl"

    tries = {"FRONTIER_TRIES": 2, "FRONTIER_BACKOFF": 1}
    crawl(tmp_path / "crawl", "index", "-a", f"seeds={site.url}/", DECISION_LOG=path, **tries)

    rows = read(path)
    last = [row for row in rows if row["decision"] not in ("added", "leased")]
    of = {row["url"].removeprefix(site.url): row for row in last}
    told = {url: (row["decision"], row["reason"], row["by"]) for url, row in of.items()}
    assert told["/"] == ("fetched", "document", "server")
    assert {told["/a"][0], told["/b"][0]} == {"fetched", "duplicate"}
    assert told["/gone"] == ("failed", "not-found", "server")
    assert told["/moved"] == ("fetched", "redirect", "server")
    assert told["/secret/x"] == ("failed", "robots-disallowed", "robots.txt")
    assert told["/film.mp4"] == ("refused", "extension", "DOCUMENT_TYPES")
    assert told["/busy"] == ("failed", "server-error", "server")
    busy = [row["decision"] for row in rows if row["url"].endswith("/busy")]
    assert busy == ["added", "leased", "retried", "leased", "failed"]
    assert (of["/gone"]["status"], of["/gone"]["tries"]) == (404, 1)
    added = {row["url"].removeprefix(site.url): row for row in rows if row["decision"] == "added"}
    assert (added["/"]["reason"], added["/a"]["reason"]) == ("seed", "link")
    assert added["/a"]["page"] == f"{site.url}/"
    assert all(row["server"] == site.url and row["time"].endswith("Z") for row in rows)
    assert "s3cret" not in path.read_text() and "/c?token=***&page=2" in path.read_text()
    assert Counter(row["decision"] for row in rows)["added"] == len({row["url"] for row in rows}) - 1


@pytest.mark.slow
def test_without_the_setting_nothing_is_written(tmp_path: Path, site: Site) -> None:
    crawl(tmp_path / "crawl", "index", "-a", f"seeds={site.url}/a")

    assert not list(tmp_path.rglob("*.jsonl"))


# ---- of a frontier


def test_frontier_tells_which_links_were_new_and_which_are_over_a_budget(
    make_frontier: MakeFrontier, log: Decisions, tmp_path: Path
) -> None:
    frontier = make_frontier("breadth", budgets=Budgets(server=3))
    frontier.log_to(log)
    frontier.discover([link("http://a.test/")], within_budgets=False)
    lease = frontier.lease(1).leases[0]
    links = [link(f"http://a.test/{n}") for n in (1, 2, 3, 4)]

    frontier.complete([Done(lease, "document", True, [*links, link("http://a.test/")])])
    log.close()

    assert what(read(tmp_path / "log"), "decision", "url", "reason", "by", "page") == [
        ("added", "http://a.test/", "seed", "breadth", None),
        ("leased", "http://a.test/", "due", "breadth", None),
        ("added", "http://a.test/1", "link", "breadth", "http://a.test/"),
        ("added", "http://a.test/2", "link", "breadth", "http://a.test/"),
        ("refused", "http://a.test/3", "budget-server", "BUDGET_SERVER", "http://a.test/"),
        ("refused", "http://a.test/4", "budget-server", "BUDGET_SERVER", "http://a.test/"),
    ]


def test_links_of_other_partitions_are_told_of_too(
    make_frontier: MakeFrontier, log: Decisions, tmp_path: Path
) -> None:
    frontier = make_frontier(partitions=4)
    frontier.log_to(log)
    frontier.discover([link("http://a.test/")], within_budgets=False)
    lease = frontier.lease(1).leases[0]
    urls = [f"http://{name}.test/" for name in "bcdefgh"]

    frontier.complete([Done(lease, "document", True, list(map(link, urls)))])
    log.close()

    added = [row for row in read(tmp_path / "log") if row["decision"] == "added" and row["reason"] == "link"]
    assert sorted(row["url"] for row in added) == urls
    assert {row["page"] for row in added} == {"http://a.test/"}


def test_priority_is_the_one_that_it_is_leased_with(
    make_frontier: MakeFrontier, log: Decisions, tmp_path: Path
) -> None:
    frontier = make_frontier("random")
    frontier.log_to(log)
    frontier.discover([link(f"http://{name}.test/") for name in "abc"])
    frontier.lease(3)
    log.close()

    rows = read(tmp_path / "log")
    by_url = {row["url"]: row["priority"] for row in rows if row["decision"] == "added"}
    assert by_url == {row["url"]: row["priority"] for row in rows if row["decision"] == "leased"}


def test_answers_are_as_before_where_nobody_asks(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier()
    columns = frontier.intake.columns([link("http://a.test/")], None)

    assert len(columns) == 10


# ---- of the log itself


@pytest.mark.parametrize(
    "outcome, told",
    [
        ("done/document", [("fetched", "document", "server")]),
        ("done/noindex", [("fetched", "noindex", "page")]),
        ("done/duplicate", [("duplicate", "duplicate", "catalog")]),
        ("failed/timeout", [("failed", "timeout", "DOWNLOAD_TIMEOUT")]),
        ("retry/unreachable", [("retried", "unreachable", "network")]),
        ("retry/quarantined", [("retried", "quarantined", "parser")]),
        ("quarantined", [("quarantined", "quarantined", "parser")]),
        ("failed/certificate-expired", [("failed", "certificate-expired", "certificate")]),
        ("checked/unchanged", [("checked", "unchanged", "server")]),
        ("stale", []),  # somebody else holds the lease by now: it was not decided here
    ],
)
def test_outcomes_as_the_batch_tells_them(
    log: Decisions, tmp_path: Path, outcome: str, told: list[tuple[str, str, str]]
) -> None:
    log.decided([(entry(("http://a.test/x", "", "")).fetch, outcome)])
    log.close()

    assert what(read(tmp_path / "log"), "decision", "reason", "by") == told


def test_check_is_leased_for_the_refresher(log: Decisions, tmp_path: Path) -> None:
    lease = Lease(1, "http://a.test/", "http://a.test/", "http://a.test", 1)
    log.leased([lease, lease._replace(tries=1), lease._replace(was="done/document")])
    log.close()

    rows = what(read(tmp_path / "log"), "reason", "by")
    assert rows == [("due", "breadth"), ("retry", "breadth"), ("check", "refresher")]


def test_refusal_that_stands_on_each_page_is_told_of_once(log: Decisions, tmp_path: Path) -> None:
    refused = [("http://x.test/a", "domain"), ("http://x.test/b", "nofollow")]
    for number in range(5):
        log.refused(refused, f"http://a.test/{number}")
    log.close()

    assert len(read(tmp_path / "log")) == 2


@pytest.mark.parametrize(
    "url, told",
    [
        ("http://a.test/x?page=2&q=token", "http://a.test/x?page=2&q=token"),
        ("http://ann:pass@a.test/x", "http://a.test/x"),
        ("http://a.test/@ann", "http://a.test/@ann"),
        ("http://a.test/?token=abc&b=1", "http://a.test/?token=***&b=1"),
        ("http://a.test/?accessToken=abc", "http://a.test/?accessToken=***"),
        ("http://a.test/?PASSWORD=abc&x", "http://a.test/?PASSWORD=***&x"),
        ("http://a.test/?key=abc&monkey=1", "http://a.test/?key=***&monkey=1"),
        ("http://a.test/?X-Amz-Signature=0f", "http://a.test/?X-Amz-Signature=***"),
        (f"http://a.test/?v={'0f' * 20}", "http://a.test/?v=***"),  # nobody has typed that
        (f"http://a.test/?{'0f' * 20}", "http://a.test/?***"),
        ("http://a.test/?title=a-very-long-title-of-a-page-in-words", None),
        ("http://a.test/?token=", None),
        ("http://a.test/?", None),
    ],
)
def test_no_secret_of_a_url_is_told(url: str, told: str | None) -> None:
    assert without_secrets(url) == (url if told is None else told)


def test_file_is_bounded_and_one_older_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for number in range(20):
        decisions = Decisions(str(path), 2_000, "fifo")
        decisions.refused([(f"http://a.test/{number}/{n}", "domain") for n in range(10)], "")
        decisions.close()

    assert {one.name for one in tmp_path.iterdir()} <= {"log", "log.1"}
    assert all(one.stat().st_size < 5_000 for one in tmp_path.iterdir())
    assert read(tmp_path / "log.1")[-1]["url"] < "http://a.test/20"


def write_many(path: str, name: str) -> None:
    decisions = Decisions(path, MIB, "fifo")
    for n in range(50):
        decisions.refused([(f"http://{name}.test/{n}/{m}", "domain") for m in range(20)], "")
    decisions.close()


@pytest.mark.slow
def test_several_processes_write_whole_lines_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=write_many, args=(str(path), name)) for name in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert Counter(row["server"] for row in read(path)) == {"http://a.test": 1000, "http://b.test": 1000}


@pytest.mark.slow
def test_what_comes_faster_than_it_can_be_written_is_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(path, os.O_WRONLY)  # else the reader would see an end between two chunks
    decisions = Decisions(str(path), MIB, "fifo")  # nobody reads: the pipe is full at 64 KiB
    some = ROWS_WAITING // 2 + 1
    for part in range(3):
        decisions.refused([(f"http://a.test/{part}/{n}", "domain") for n in range(some)], "")
    os.set_blocking(reader, True)

    with os.fdopen(reader) as file:
        rows = []
        for line in file:
            rows.append(json.loads(line))
            if rows[-1]["decision"] == "lost":
                break
    os.close(writer)
    decisions.close()

    assert rows[-1]["number"] == some
    assert len(rows) <= 2 * some + 1


def test_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"DECISION_LOG: cannot write .*: "):
        Decisions(str(tmp_path / "nowhere" / "log"), MIB, "fifo")


# ---- what is documented


def test_each_reason_has_somebody_who_decides() -> None:
    documented = set(re.findall(r"(?m)^\| ((?:`[\w-]+`(?:, )?)+) \|", STATES))
    reasons = {one for row in documented for one in re.findall(r"`([\w-]+)`", row)}
    answered = {"document", "redirect", "not-modified", "sitemap", "probe"}
    answered |= {"not-found", "server-error", "redirect-loop", "queued", "leased", "done", "failed"}

    assert {one for one in reasons if by(one) == "server"} == answered
    assert set(BY) <= reasons


def test_each_field_and_each_decision_is_described(tmp_path: Path, log: Decisions) -> None:
    text = SETTINGS.partition("### DECISION_LOG\n")[2].partition("\n### ")[0]
    log.leased([Lease(1, "http://a.test/", "http://a.test/", "http://a.test", 1)])
    log.decided([(entry(("http://a.test/", "", "")).fetch, "done/document")])
    log.taken_in([b"http://a.test/", b"1"], [], "http://b.test/")
    log.close()

    fields = {key for row in read(tmp_path / "log") for key in row}
    decisions = {"added", "refused", "leased", "retried", "failed", "fetched", "checked", "duplicate"}
    for name in fields | decisions | {"quarantined", "lost"}:
        assert f"`{name}`" in text, name
