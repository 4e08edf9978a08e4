"""Searches of the web that the page started: how many at once, and how each comes to its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Any

import pytest
from crawled import fetched
from live import (
    OURS,
    QUERY,
    journal,
    note,
    opened,
    runner,
    seen,
    start,
    started,
    stop,
    until_there,
    web_searches,
)
from lxml import html as lxml_html
from starlette.testclient import TestClient

from webcrawler import clock
from webcrawler.archive.catalog import Catalog
from webcrawler.clock import now
from webcrawler.errors import BadInput
from webcrawler.realtime.journal import Writer
from webcrawler.web import live_searches as searches
from webcrawler.web.live_searches import NO_PROCESS

BOOKMARKS = b"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<TITLE>Bookmarks</TITLE><DL><p><DT><A HREF="http://a.test/x,y?a=1&amp;b=2" ADD_DATE="1">A</A>
<DT><A HREF="javascript:alert(1)">mean</A><DT><A HREF="place:sort=8">of the browser</A>
<DT><A HREF="https://b.test/">B</A></DL>"""


def led_to(web: TestClient, headers: dict[str, str]) -> str:
    return str(start(web, headers=headers).headers["location"].removeprefix("/live/"))


@pytest.fixture
def web(tmp_path: Path) -> Iterator[TestClient]:
    with opened(tmp_path) as web:
        yield web


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "GRACE_SECONDS", 0.02)
    monkeypatch.setattr(clock, "LIVE_WATCH_SECONDS", 0.001)


# ---- how many


def test_client_has_one_search_and_is_led_to_it(web: TestClient) -> None:
    job = started(web)

    answer = start(web, q="violin")

    assert answer.status_code == 409 and "wait for its end, or stop it" in note(answer)
    page = lxml_html.fromstring(answer.text)
    assert page.xpath("//*[@class='note']/a/@href") == [f"/live/{job}"]
    assert web.post("/api/live", json={"query": "violin"}).status_code == 409
    (form,) = page.xpath(f"//form[@action='/live/{job}/stop']")
    web.post(form.get("action"), data=dict(form.form_values()), headers=OURS)
    assert runner(web).writers[job].is_stopped()
    runner(web).finish(job)
    assert started(web, q="violin") != job


def test_all_clients_together_have_so_many(tmp_path: Path) -> None:
    with opened(tmp_path, live="all", live_jobs=2) as web:
        others = [{**OURS, "X-Forwarded-For": f"192.0.2.{number}"} for number in range(3)]
        first, second, third = (start(web, headers=one, q=f"{n} violins") for n, one in enumerate(others))

        assert [first.status_code, second.status_code, third.status_code] == [303, 303, 503]
        assert "the maximum number of searches of the web" in note(third) and third.headers["Retry-After"]
        runner(web).finish(first.headers["location"].removeprefix("/live/"))
        assert start(web, headers=others[2], q="violin").status_code == 303


def test_searches_of_a_terminal_or_of_a_server_that_was_killed_take_places(tmp_path: Path) -> None:
    writer = Writer(tmp_path, "orphan")
    writer.write(journal("orphan"))
    with opened(tmp_path, live_jobs=1) as web:
        assert start(web).status_code == 503
        writer.close()  # its process is gone
        assert start(web).status_code == 303


def test_clients_that_nobody_can_tell_apart_neither_see_nor_stop_each_others_searches(tmp_path: Path) -> None:
    with opened(tmp_path, "", live="all") as web:
        job = started(web)

        assert web.get("/api/live").json() == {"searches": []}
        assert seen(web, "/live").xpath("//table//a") == []
        assert web.post(f"/api/live/{job}/stop", json={}).status_code == 403
        assert started(web, q="violin") != job


def test_who_asks_the_same_gets_what_is_there(tmp_path: Path) -> None:
    with opened(tmp_path, live="all") as web:
        one, other = ({**OURS, "X-Forwarded-For": f"192.0.2.{number}"} for number in (7, 8))
        job = led_to(web, one)

        assert led_to(web, other) == led_to(web, one) == job  # it runs
        runner(web).finish(job)
        assert led_to(web, other) == job  # it is over
        assert "Search once more" in web.get(f"/live/{job}").text
        assert len(runner(web).arguments) == 1


@pytest.mark.parametrize(
    "fields", [{"again": "yes"}, {"enough": 7}, {"q": "violin"}, {"seeds": "http://a.test/"}]
)
def test_who_asks_anything_else_starts_a_search(web: TestClient, fields: dict[str, Any]) -> None:
    job = started(web)
    runner(web).finish(job)

    assert started(web, **fields) != job


@pytest.mark.parametrize(("reason", "seconds_ago"), [("failed", 0), ("stopped", 0), ("enough", 3_600)])
def test_a_search_that_did_not_end_well_or_lately_is_made_again(
    web: TestClient, reason: str, seconds_ago: float
) -> None:
    job = started(web)
    runner(web).finish(job, reason, updated=now() - seconds_ago)
    until_there(web, lambda: web_searches(web)._started[job].is_over, "its end")

    assert started(web) != job


def test_search_whose_query_is_still_being_read_is_not_listed(web: TestClient) -> None:
    rows: list[Any] = []
    every = web_searches(web)

    def ask() -> Any:
        rows.extend(every.recent())
        raise BadInput("nothing")

    assert web.portal
    with pytest.raises(BadInput):
        web.portal.call(every.start, ask, "127.0.0.1")
    assert rows == []


def test_search_that_cannot_be_started_is_told_and_takes_no_place(web: TestClient) -> None:
    runner(web).refuses = True
    answer = start(web, seeds="http://a.test/")
    assert (answer.status_code, note(answer)) == (503, NO_PROCESS)
    assert not list((runner(web).crawl_dir / "realtime").glob("*.seeds"))

    runner(web).refuses = False
    assert start(web).status_code == 303


# ---- their end


def test_stop_asks_the_search_to_end_and_leads_back(web: TestClient) -> None:
    job = started(web)

    answer = stop(web, job)

    assert (answer.status_code, answer.headers["location"]) == (303, f"/live/{job}")
    assert runner(web).writers[job].is_stopped()
    assert "Stopping." in web.get(f"/live/{job}").text
    runner(web).finish(job, "stopped")
    assert "Ended: it was stopped." in web.get(f"/live/{job}").text


def test_search_that_has_not_begun_is_ended_by_a_signal(web: TestClient) -> None:
    runner(web).is_slow = True
    job = started(web)

    stop(web, job)
    runner(web).finish(job)

    until_there(web, lambda: web_searches(web).look(job)["state"] == "finished", "its end")
    assert runner(web).processes[job].signals == [SIGTERM]
    assert "Ended: it was stopped." in web.get(f"/live/{job}").text


def test_search_that_does_not_begin_in_time_is_ended_and_says_so(
    web: TestClient, hasty: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "START_SECONDS", -1.0)
    runner(web).is_slow = True
    job = started(web)

    until_there(web, lambda: not web_searches(web)._watching, "its end")

    assert runner(web).processes[job].signals == [SIGTERM, SIGTERM, SIGKILL]
    assert "Ended: it broke off." in web.get(f"/live/{job}").text
    assert started(web) != job  # nobody else is led to it


def test_fault_costs_a_look_and_not_the_end_of_a_search(
    web: TestClient, hasty: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(crawl_dir: Path, job: str) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("webcrawler.realtime.journal.stop", full)
    job = started(web)

    stop(web, job)

    until_there(web, lambda: not web_searches(web)._watching, "its end")
    assert runner(web).processes[job].signals == [SIGTERM, SIGTERM, SIGKILL]


def test_search_that_does_not_obey_is_told_once_in_good_order_and_once_at_once(
    web: TestClient, hasty: None
) -> None:
    job = started(web)

    stop(web, job)

    until_there(web, lambda: not web_searches(web)._watching, "its end")
    assert runner(web).processes[job].signals == [SIGTERM, SIGKILL]
    runner(web).writers.pop(job).close()  # as the kernel does
    assert "Ended: it was stopped." in web.get(f"/live/{job}").text
    assert [one["reason"] for one in web.get("/api/live").json()["searches"]] == ["stopped"]


def test_search_that_passes_its_time_is_asked_to_end(
    web: TestClient, hasty: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "START_SECONDS", -120.0)
    job = started(web)

    until_there(web, lambda: runner(web).processes[job].is_over, "its end")
    assert (runner(web).crawl_dir / "realtime" / f"{job}.stop").exists()
    runner(web).writers.pop(job).close()
    assert "Ended: time is up." in web.get(f"/live/{job}").text


def test_only_the_last_searches_are_remembered(
    web: TestClient, hasty: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "REMEMBERED", 1)
    jobs = []
    for _ in range(3):
        jobs.append(started(web, again="yes"))
        runner(web).finish(jobs[-1])

    assert list(web_searches(web)._started) == jobs[1:]


def test_finds_of_a_search_that_was_killed_leave_when_the_server_starts(tmp_path: Path) -> None:
    with closing(Catalog(tmp_path / "catalog.sqlite", job="killed")) as catalog:
        catalog.write([(fetched("http://a.test/"), None)])
        assert catalog.jobs_with_finds() == ["killed"]

        with opened(tmp_path):
            pass

        assert catalog.jobs_with_finds() == []
        assert catalog.find("http://a.test/") is None


def test_only_who_started_a_search_or_sits_here_may_stop_it(tmp_path: Path) -> None:
    with opened(tmp_path, live="all") as web:
        mine, other = ({"X-Forwarded-For": f"192.0.2.{number}"} for number in (7, 8))
        job = led_to(web, {**OURS, **mine})

        assert not seen(web, f"/live/{job}", **other).xpath(f"//form[@action='/live/{job}/stop']")
        assert web.post(f"/api/live/{job}/stop", json={}, headers=other).status_code == 403
        assert not runner(web).writers[job].is_stopped()
        assert stop(web, job, **mine).status_code == 303
        assert runner(web).writers[job].is_stopped()
        (button,) = seen(web, f"/live/{job}").xpath("//form[@id='live-stop']/button")  # of who sits here
        assert button.text == "Stop"


def test_searches_end_with_the_server(tmp_path: Path) -> None:
    with opened(tmp_path) as web:
        job = started(web)
        stand_in = runner(web)
        assert not stand_in.writers[job].is_stopped()

    assert stand_in.writers[job].is_stopped()


# ---- the addresses that were given


def test_addresses_reach_the_search_as_files_and_are_gone_when_it_is_over(
    web: TestClient, hasty: None
) -> None:
    runner(web).is_slow = True
    job = started(
        web,
        q="",
        strategy="seed-similarity",
        seeds="http://a.test/start,here\r\n\r\nHTTP://B.test",
        examples="http://c.test/",
        files={"bookmarks": ("bookmarks.html", BOOKMARKS, "text/html")},
    )

    assert "query" not in runner(web).arguments[job]
    assert runner(web).lists == {
        "seeds": "http://a.test/start,here\nhttp://b.test/",
        "examples": "http://c.test/\nhttp://a.test/x,y?a=1&b=2\nhttps://b.test/",
    }
    files = [runner(web).crawl_dir / "realtime" / f"{job}.{name}" for name in ("seeds", "examples")]
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]
    runner(web).begin(job)
    runner(web).finish(job)
    until_there(web, lambda: not any(file.exists() for file in files), "the lists to be removed")


# ---- the status page


def test_the_status_page_lists_the_searches_that_run_and_stops_them(web: TestClient) -> None:
    job = started(web)

    (row,) = seen(web, "/status").xpath("//table[.//th='agent']/tbody/tr")
    assert [cell.text_content() for cell in row.xpath("*")][:6] == [
        *(QUERY, "host-1", "Searching the web.", "12", "3", "40"),
    ]
    (form,) = row.iter("form")
    assert web.post(form.get("action"), data=dict(form.form_values()), headers=OURS).status_code == 303
    assert runner(web).writers[job].is_stopped()
    runner(web).finish(job)
    assert "host-1" not in web.get("/status").text


def test_the_status_page_shows_nobody_what_others_search_for(tmp_path: Path) -> None:
    with opened(tmp_path, live="all") as web:
        one, other = ({"X-Forwarded-For": f"192.0.2.{number}"} for number in (7, 8))
        led_to(web, {**OURS, **one})

        assert QUERY in web.get("/status", headers=one).text
        assert QUERY not in web.get("/status", headers=other).text
