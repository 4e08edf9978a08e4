"""Searches on other machines: they report to the page of a main index, where they are watched and stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Clock
from live import HERE, found, journal, note, opened, seen, served, start, started, until_there, web_searches
from localweb import Answer, Site, crawl, page, sites
from starlette.testclient import TestClient
from test_live_launching import Noted, asking, noted, noting
from test_rebuild_command import WITH_INDEX
from test_shared_finds import TOKEN, taking
from waiting import until

from webcrawler.errors import BadInput
from webcrawler.realtime import journal as journals
from webcrawler.realtime import reports
from webcrawler.web import Config, make_app
from webcrawler.web.live import watch
from webcrawler.web.live.scrapyd import SILENT

IDLE = (200, '{"status": "ok", "running": 0, "pending": 0, "finished": 0}')
SENDER = {"Authorization": f"Bearer {TOKEN}"}

__all__ = ["asking", "noted"]


def report(web: TestClient, job: str = "far", headers: dict[str, str] = SENDER, **changes: Any) -> Any:
    given = dict(journal(job, agent="far-1", **changes))
    return web.post(f"/api/live/{job}/report", json=given, headers=headers)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[TestClient]:
    """The page of a main index, as its own machine sees it."""
    with opened(tmp_path, pages_token=TOKEN) as web:
        yield web


# ---- what is shown


def test_search_that_reports_is_shown_as_those_of_this_machine(web: TestClient) -> None:
    assert report(web, fetched=7).json() == {"stop": False}

    assert "Searching the web." in web.get("/live/far").text
    (row,) = web.get("/api/live").json()["searches"]
    assert (row["job"], row["agent"], row["fetched"], row["reported"]) == ("far", "far-1", 7, True)
    (listed,) = seen(web, "/status").xpath("//table[.//th='agent']//tbody/tr")
    assert "far-1" in listed.text_content()


def test_its_hits_have_no_cached_copies_here(web: TestClient) -> None:
    report(web)

    page = seen(web, "/live/far")

    assert len(page.xpath("//li[@class='hit']")) == 2
    assert not page.xpath("//a[starts-with(@href, '/cached')]")


def test_times_are_those_of_this_machine(web: TestClient, tmp_path: Path, clock: Clock) -> None:
    clock.hold(1_800_000_000)
    report(web, started=1.0, updated=5.0, seconds=30.0)

    kept = journals.read(tmp_path, "far")

    assert kept is not None
    assert (kept["started"], kept["updated"]) == (1_799_999_970, 1_800_000_000)


def test_search_that_goes_silent_counts_as_dead_until_it_reports_again(
    web: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report(web)
    monkeypatch.setattr(journals, "SILENT_SECONDS", 0.0)
    assert "Ended: it broke off." in web.get("/live/far").text

    monkeypatch.undo()
    report(web)
    assert "Searching the web." in web.get("/live/far").text


def test_search_that_has_ended_says_why(web: TestClient) -> None:
    report(web)
    report(web, state="finished", reason="enough")

    assert "Ended: enough similar pages were found." in web.get("/live/far").text


def test_searches_that_others_have_started_take_no_place(web: TestClient) -> None:
    for number in range(5):
        report(web, f"far{number}")
    before = {one["job"] for one in web_searches(web).recent()}

    assert started(web) not in before


def test_only_the_newest_reports_are_kept(
    web: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "KEPT", 2)
    for number in range(4):
        report(web, f"far{number}", state="finished", reason="enough", seconds=0.0)

    assert len(list((tmp_path / "realtime").glob("*.json"))) == 2


# ---- stopping


def test_stop_reaches_a_search_with_the_answer_to_its_next_report(web: TestClient) -> None:
    report(web)
    (form,) = seen(web, "/status").xpath("//form[@action='/live/far/stop']")
    token = form.xpath(".//input[@name='token']/@value")[0]

    web.post("/live/far/stop", data={"token": token}, headers={"Sec-Fetch-Site": "same-origin"})

    assert report(web).json() == report(web).json() == {"stop": True}


def test_search_that_was_stopped_may_begin_anew(web: TestClient, tmp_path: Path) -> None:
    report(web)
    journals.stop(tmp_path, "far")
    report(web, state="finished", reason="stopped")

    assert report(web).json() == {"stop": False}


# ---- what is refused


def test_reports_need_a_token(tmp_path: Path, web: TestClient) -> None:
    assert report(web, headers={}).status_code == 401
    assert report(web, headers={"Authorization": "Bearer of bad news"}).status_code == 401
    with TestClient(make_app(Config(tmp_path, rate="")), HERE) as without:
        assert report(without).status_code == 403
    with TestClient(make_app(replace(taking(tmp_path), folders=(tmp_path,))), HERE) as merged:
        assert report(merged).status_code == 403
    assert not (tmp_path / "realtime").exists()


def test_search_of_this_machine_cannot_be_reported(web: TestClient, tmp_path: Path) -> None:
    writer = journals.Writer(tmp_path, "far")
    writer.write(journal("far", query="mine"))

    refused = report(web)
    writer.close()

    assert refused.status_code == 409
    assert "has the name far" in refused.json()["error"]


A_HIT = found(1)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"job": "other"}, "another search than far"),
        ({"query": 7}, "query"),
        ({"query": "q" * 10_001}, "query"),
        ({"query": "\ud800"}, "query"),
        ({"state": "starting"}, "state"),
        ({"reason": "because"}, "reason"),
        ({"keep": "maybe"}, "keep"),
        ({"fetched": -1}, "fetched"),
        ({"fetched": True}, "fetched"),
        ({"fetched": 1.5}, "fetched"),
        ({"seconds": 10**400}, "seconds"),
        ({"seconds": None}, "seconds"),
        ({"hits": {}}, "hits"),
        ({"hits": [A_HIT] * 101}, "hits"),
        ({"hits": ["hit"]}, "a hit"),
        ({"hits": [{**A_HIT, "url": "javascript:alert(1)"}]}, "url"),
        ({"hits": [{**A_HIT, "url": "http://[/"}]}, "url"),
        ({"hits": [{**A_HIT, "via": {"url": "data:text/html,x", "title": "", "anchor": ""}}]}, "url"),
        ({"hits": [{**A_HIT, "via": 7}]}, "via"),
        ({"hits": [{**A_HIT, "kept": "yes"}]}, "kept"),
    ],
)
def test_what_is_no_journal_is_refused(tmp_path: Path, changes: dict[str, Any], named: str) -> None:
    given = json.loads(json.dumps(journal("far"))) | changes

    with pytest.raises(BadInput, match=named):
        reports.take_in(tmp_path, "far", given)

    assert not (tmp_path / "realtime").exists()


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b'{"seconds": NaN}', b"\xff"])
def test_what_is_no_json_is_refused(web: TestClient, body: bytes) -> None:
    assert web.post("/api/live/far/report", content=body, headers=SENDER).status_code == 400


def test_what_is_not_asked_for_is_left_out(tmp_path: Path) -> None:
    reports.take_in(tmp_path, "far", {**journal("far"), "more": "<script>", "reported": False})

    kept = journals.read(tmp_path, "far")

    assert kept is not None and kept.keys() == journal("far").keys()
    assert kept["reported"]


# ---- several Scrapyds


def machines(crawl_dir: Path, *others: Noted) -> Config:
    addresses = tuple(one.address for one in others)
    return Config(crawl_dir, rate="", scrapyd=addresses, scrapyd_folder="own", pages_token=TOKEN)


@contextmanager
def page_of(config: Config) -> Iterator[TestClient]:
    with TestClient(make_app(config), HERE, follow_redirects=False, client=("127.0.0.1", 50_000)) as web:
        yield web


def test_search_goes_to_the_machine_with_the_fewest_jobs(tmp_path: Path) -> None:
    with noting() as busy, noting() as idle, noting() as dead:
        busy.answers["daemonstatus"] = (200, '{"status": "ok", "running": 1, "pending": 2, "finished": 0}')
        idle.answers["daemonstatus"] = (200, '{"status": "ok", "running": 1, "pending": 0, "finished": 9}')
        dead.answers["daemonstatus"] = (500, "")
        with page_of(machines(tmp_path, busy, idle, dead)) as web:
            job = started(web, seeds="http://a.test/1,2")

    assert [what for what, _ in busy.asked] == ["daemonstatus"]
    what, fields = idle.asked[1]
    assert (what, fields["jobid"]) == ("schedule", job)
    assert "schedule" not in [what for what, _ in dead.asked]


def test_machine_with_its_own_folder_is_given_texts_and_no_files(tmp_path: Path, noted: Noted) -> None:
    with page_of(machines(tmp_path, noted)) as web:
        started(web, seeds="http://a.test/1,2")

    _, fields = noted.asked[0]
    assert fields["seeds"] == "http://a.test/1,2\n"
    assert "setting" not in fields
    assert not list((tmp_path / "realtime").glob("*.seeds"))


def test_machine_that_refuses_is_passed_over(tmp_path: Path) -> None:
    with noting() as refusing, noting() as other:
        refusing.answers = {"daemonstatus": IDLE, "schedule": (200, '{"status": "error", "message": "no"}')}
        other.answers["daemonstatus"] = IDLE
        with page_of(machines(tmp_path, refusing, other)) as web:
            started(web)

    assert [what for what, _ in other.asked][:2] == ["daemonstatus", "schedule"]


def test_no_machine_that_answers_is_one_line(tmp_path: Path) -> None:
    with noting() as one, noting() as two:
        one.answers["daemonstatus"] = two.answers["daemonstatus"] = (500, "")
        with page_of(machines(tmp_path, one, two)) as web:
            refused = start(web)

    assert (refused.status_code, note(refused)) == (503, SILENT)


def test_killed_search_is_resumed_on_its_machine(tmp_path: Path, asking: None) -> None:
    with noting() as first, noting() as second:
        first.answers["daemonstatus"] = second.answers["daemonstatus"] = IDLE
        with page_of(machines(tmp_path, first, second)) as web:
            job = started(web)
            report(web, job)
            second.answers["daemonstatus"] = (500, "")  # nothing but its own machine will do
            first.jobs["pending"].clear()  # it was killed
            asked = first.asked
            until_there(web, lambda: [what for what, _ in asked].count("schedule") == 2, "another process")

            assert "Searching the web." in web.get(f"/live/{job}").text

    assert {fields["jobid"] for what, fields in first.asked if what == "schedule"} == {job}


def test_search_that_is_killed_for_good_is_over_at_once(
    tmp_path: Path, noted: Noted, asking: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "MAX_RESUMPTIONS", 0)
    with page_of(machines(tmp_path, noted)) as web:
        job = started(web)
        report(web, job)
        noted.jobs["pending"].clear()
        until_there(web, lambda: web_searches(web)._started[job].is_over, "its end")

        assert "Ended: it broke off." in web.get(f"/live/{job}").text


def test_who_asks_the_same_is_led_to_a_search_elsewhere_also_after_a_restart(
    tmp_path: Path, noted: Noted
) -> None:
    with page_of(machines(tmp_path, noted)) as web:
        job = started(web)
        report(web, job)
    noted.asked.clear()

    with page_of(machines(tmp_path, noted)) as again:
        assert started(again) == job

    assert "schedule" not in [what for what, _ in noted.asked]


# ---- the whole way


@pytest.fixture
def slow_site() -> Iterator[Site]:
    """More pages than a search needs that is to be stopped."""
    quokka = "<title>Quokka {}</title><p>quokka {} <a href=/{}>more</a>"
    pages = {f"/{n}": Answer(quokka.format(n, n, n + 1)) for n in range(500)}
    with sites(site={"/": page("/0"), **pages}) as local:
        yield local["site"]


@pytest.mark.slow
def test_search_in_a_folder_of_its_own_is_watched_and_stopped_from_the_page(
    tmp_path: Path, slow_site: Site
) -> None:
    main, far = tmp_path / "main", tmp_path / "far"
    words = ("query=quokka", f"seeds={slow_site.url}/", "strategy=breadth", "enough=0", "job=far")
    with served(make_app(taking(main))) as (host, port), ThreadPoolExecutor(1) as beside:
        url = f"http://{host}:{port}"
        ended = beside.submit(
            crawl,
            far,
            *("realtime", *(part for word in words for part in ("-a", word))),
            process="is watched by a server in this one",
            variables={"SHARE_URL": url, "SHARE_TOKEN": TOKEN},
            ITEM_PIPELINES=WITH_INDEX,
            DOWNLOAD_DELAY=0.2,
        )
        until(lambda: httpx.get(f"{url}/api/live/far", timeout=60).json().get("fetched", 0) >= 3, "reports")
        httpx.post(f"{url}/api/live/far/stop", json={}, timeout=60)
        done = ended.result(timeout=300)
        now = httpx.get(f"{url}/api/live/far", timeout=60).json()

    own = journals.read(far, "far")
    assert own is not None, done.log
    assert (now["state"], now["reason"], now["reported"]) == ("finished", "stopped", True)
    assert (now["fetched"], now["hits"]) == (own["fetched"], own["hits"])
    assert now["agent"] == own["agent"] != ""
    assert now["note"].startswith("the main index took")


@pytest.mark.slow
def test_search_goes_on_when_the_main_index_does_not_answer(tmp_path: Path) -> None:
    with sites(site={"/": page("/1"), "/1": Answer("<title>One</title><p>quokka")}) as local:
        done = crawl(
            tmp_path / "far",
            *("realtime", "-a", "query=quokka", "-a", f"seeds={local['site'].url}/", "-a", "job=far"),
            variables={"SHARE_URL": "http://127.0.0.1:1", "SHARE_TOKEN": TOKEN},
            ITEM_PIPELINES=WITH_INDEX,
        )

    found = journals.read(tmp_path / "far", "far")
    assert found is not None and (found["reason"], found["fetched"]) == ("nothing_left", 2)
    assert done.log.count("does not know how this search stands") == 2  # the first time, and at the end
