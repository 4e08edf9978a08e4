"""Searching the web from the page: what may be asked, what is shown, and the same for programs."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from documented import api_names
from hostile import PAYLOADS
from live import (
    QUERY,
    found,
    journal,
    note,
    opened,
    runner,
    seen,
    served,
    start,
    started,
    until_there,
    web_searches,
)
from lxml import html as lxml_html
from searched import entry, publish
from starlette.testclient import TestClient

from webcrawler.orderings import strategies
from webcrawler.realtime.journal import Writer
from webcrawler.records import Text
from webcrawler.web import Config, make_app
from webcrawler.web.live_request import MAX_TYPED, STRATEGIES, LiveRequest
from webcrawler.web.live_searches import BROKE
from webcrawler.web.security import MAX_UPLOAD_BYTES


@pytest.fixture
def web(tmp_path: Path) -> Iterator[TestClient]:
    with opened(tmp_path) as web:
        yield web


def text(element: Any, path: str = ".") -> str:
    """As it is read, without the blanks of its markup."""
    return " ".join(element.xpath(f"string({path})").split())


# ---- starting


def test_button_starts_a_search_within_the_limits_and_leads_to_its_page(tmp_path: Path) -> None:
    with opened(tmp_path, live_seconds=60, live_pages=50) as web:
        job = started(web)

        limits = {"enough": "20", "max_pages": "50", "max_time": "60"}
        asked = {"job": job, "query": QUERY, "strategy": "adaptive", "keep": "similar"}
        assert runner(web).arguments[job] == asked | limits
        assert re.fullmatch(r"[0-9a-f]{16,}", job)  # whoever guesses one sees what was searched
        assert web.get(f"/live/{job}").status_code == 200


@pytest.mark.parametrize(
    "fields, line",
    [
        ({"q": ""}, "say what to search for"),
        ({"q": "   "}, "say what to search for"),
        ({"q": "the of and"}, "word"),
        ({"q": "gene\x1b[31m"}, "plain text"),
        ({"q": "", "examples": "http://a.test/"}, "classifier and context-graph do without words"),
        ({"q": "", "strategy": "seed-similarity"}, "pages of the kind"),
        ({"strategy": "magic"}, "no strategy 'magic'"),
        ({"strategy": "webcrawler.orderings.adaptive.Adaptive"}, "no strategy"),
        ({"enough": "-1"}, "enough must be a number"),
        ({"max_pages": "0"}, "max_pages must be a number from 1 to 300"),
        ({"max_pages": "301"}, "max_pages must be a number from 1 to 300"),
        ({"max_time": "121"}, "max_time must be a number from 1 to 120"),
        ({"max_time": "1e9"}, "max_time must be a number from 1 to 120"),
        ({"keep": "some"}, "no such value of keep, 'some': choose one of similar, yes, no"),
        ({"domains": "http://a.test/"}, "domains: write hosts, as example.org"),
        ({"domains": " ".join(["a.test"] * (MAX_TYPED + 1))}, f"domains: {MAX_TYPED} hosts at most"),
        ({"seeds": "file:///etc/passwd"}, "seeds: 'file:///etc/passwd' is not an address"),
        ({"seeds": "@/etc/passwd"}, "seeds: '@/etc/passwd' is not an address"),
        ({"seeds": "javascript:alert(1)"}, "seeds: 'javascript:alert(1)' is not an address"),
        ({"examples": "gopher://a.test/"}, "examples: 'gopher://a.test/' is not an address"),
        ({"examples": "\n".join(["http://a.test/"] * (MAX_TYPED + 1))}, f"{MAX_TYPED} addresses at most"),
        ({"files": {"bookmarks": ("b.html", b"<p>none here</p>")}}, "no http or https URL"),
        ({"files": {"bookmarks": ("b.html", b"\xff\xfe\x00")}}, "no http or https URL"),
    ],
)
def test_what_cannot_be_searched_for_is_told_on_the_form(
    web: TestClient, fields: dict[str, Any], line: str
) -> None:
    fields = {"files": {"bookmarks": ("", b"")}, **fields}  # long lists come by the form of /live alone

    answer = start(web, **fields)

    assert answer.status_code == 400 and line in note(answer)
    assert not runner(web).arguments
    assert not [path for path in (runner(web).crawl_dir / "realtime").glob("*") if path.suffix != ".lock"]


def test_form_offers_each_strategy_there_is_with_a_sentence(web: TestClient) -> None:
    form = seen(web, "/live")

    offered = form.xpath("//input[@name='strategy']/@value")
    assert tuple(offered) == tuple(mode.name for mode in strategies() if mode.can_run) == tuple(STRATEGIES)
    assert form.xpath("//input[@name='strategy' and @checked]/@value") == ["adaptive"]
    for name in offered:
        assert len(form.xpath(f"string(//label[@for='live-{name}'])").split()) > 6


@pytest.mark.slow
def test_what_cannot_run_here_is_not_offered() -> None:
    script = """if True:
        import sys
        sys.modules["sklearn"] = None
        from webcrawler.web.live_request import STRATEGIES
        print("classifier" in STRATEGIES, "adaptive" in STRATEGIES)"""

    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "False True\n"


def test_searches_are_told_apart_by_when_they_started(web: TestClient) -> None:
    start(web)

    (started,) = seen(web, "/live").xpath("//table//time/@datetime")

    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", started)


def test_form_keeps_what_one_came_with_and_what_was_typed(web: TestClient) -> None:
    assert seen(web, "/live?q=violin").xpath("//input[@id='live-q']/@value") == ["violin"]

    typed = {"q": "violin", "seeds": "http://a.test/<", "strategy": "shark", "max_time": "9999"}
    page = lxml_html.fromstring(start(web, **typed).text)

    assert page.xpath("//input[@id='live-q']/@value") == ["violin"]
    assert page.xpath("string(//textarea[@name='seeds'])") == "http://a.test/<"
    assert page.xpath("//input[@name='strategy' and @checked]/@value") == ["shark"]
    assert page.xpath("//input[@name='max_time']/@value") == ["9999"]


@pytest.mark.parametrize(
    ("fields", "keep"),
    [
        ({"keep": "no"}, "no"),
        ({"q": "", "strategy": "seed-similarity", "examples": "http://a.test/"}, "similar"),
    ],
)
def test_what_is_kept_is_as_asked_or_as_on_the_terminal(
    web: TestClient, fields: dict[str, str], keep: str
) -> None:
    assert runner(web).arguments[started(web, **fields)]["keep"] == keep


def test_hosts_are_written_with_blanks_or_commas(web: TestClient) -> None:
    job = started(web, domains=" a.test, B.test\tc.test")

    assert runner(web).arguments[job]["domains"] == "a.test,b.test,c.test"


def test_page_says_what_was_not_kept(web: TestClient) -> None:
    job = started(web)
    runner(web).finish(job, kept=7, hits=[found(1), found(2, source="web", kept=False)])

    page = seen(web, f"/live/{job}")

    first, second = page.xpath("//ol[@id='live-list']/li")
    cached = ".//a[starts-with(@href, '/cached')]"
    assert "not kept in the index" in text(second) and not second.xpath(cached)
    assert "not kept" not in text(first) and first.xpath(cached)
    assert "pages kept in the index7" in text(page, "//*[@id='live-figures']")


def test_form_is_bounded(web: TestClient) -> None:
    answer = start(web, files={"bookmarks": ("b.html", b"a" * MAX_UPLOAD_BYTES)})

    assert answer.status_code == 413 and f"{MAX_UPLOAD_BYTES:,} bytes at most" in answer.text


# ---- its page


def test_page_shows_the_list_where_each_came_from_and_how_far_it_is(web: TestClient) -> None:
    page = seen(web, f"/live/{started(web)}")

    first, second = page.xpath("//ol[@id='live-list']/li")
    assert (first.get("id"), second.get("id")) == ("found-1", "found-2")
    assert first.xpath(".//h2//a/@href") == ["http://a.test/1"]
    assert first.xpath(".//h2//a/@rel") == ["noopener noreferrer nofollow"]
    assert "Rank 1. relevance 1000" in text(first)
    assert "from the index" in text(first) and not first.xpath(".//*[@class='via']")
    assert "just found" in text(second)
    assert text(second, ".//*[@class='via']") == "by the link to 2 on B"
    assert [mark.text for mark in first.iter("mark")] == ["molecular", "biology"]
    figures = "pages fetched12 similar ones, of 20 wanted3 URLs waiting40 seconds2"
    assert text(page, "//*[@id='live-figures']") == figures
    assert text(page, "//*[@id='live-state']") == "Searching the web."
    assert page.xpath("//*[@class='live-head']/a/@href")[0] == "/search?q=molecular+biology"


def test_page_loads_itself_anew_without_scripts_as_long_as_the_search_goes_on(web: TestClient) -> None:
    job = started(web)
    assert '<noscript><meta http-equiv="refresh" content="3"></noscript>' in web.get(f"/live/{job}").text

    runner(web).finish(job, "max_time")

    page = web.get(f"/live/{job}").text
    assert "http-equiv" not in page and "Ended: time is up." in page and ">Stop<" not in page


def test_page_without_scripts_can_be_kept_as_it_is(web: TestClient) -> None:
    job = started(web)
    (link,) = seen(web, f"/live/{job}").xpath("//noscript//a/@href")

    page = seen(web, f"/live/{job}{link}")

    assert link == "?still" and not page.xpath("//meta[@http-equiv]")
    assert page.xpath("//noscript//a/@href") == [f"/live/{job}"]


def test_search_that_says_nothing_has_a_page_which_says_why_if_it_never_began(web: TestClient) -> None:
    runner(web).is_slow = True
    job = started(web)

    page = seen(web, f"/live/{job}")

    assert text(page, "//*[@id='live-state']") == "Starting."
    assert page.xpath("//ol[@id='live-list']/li") == []

    runner(web).finish(job)
    until_there(web, lambda: web_searches(web).look(job)["state"] == "finished", "its end")

    page = seen(web, f"/live/{job}")
    assert text(page, "//*[@id='live-state']") == "Ended: it broke off."
    assert text(page, "//*[@class='note']") == BROKE


def test_search_whose_process_died_is_over(web: TestClient) -> None:
    job = started(web)
    runner(web).writers.pop(job).close()  # as the kernel does
    runner(web).processes[job].is_over = True
    until_there(web, lambda: web_searches(web)._started[job].is_over, "its end")

    assert "Ended: it broke off." in web.get(f"/live/{job}").text


@pytest.mark.parametrize("job", ["nowhere", "%2e%2e%2e", "a" * 200, "a%00b", "%ff", "x.json", "..%2fkey"])
def test_search_that_nobody_knows_is_not_there(web: TestClient, job: str) -> None:
    for path in (f"/live/{job}", f"/api/live/{job}"):
        assert web.get(path).status_code in (400, 404)


@pytest.mark.slow
def test_nothing_in_a_search_is_active(web: TestClient, tmp_path: Path) -> None:
    for payload in PAYLOADS:
        via = {"url": payload, "title": payload, "anchor": payload}
        hit = found(1, payload, url=payload, server=payload, snippet=payload, source="web", via=via)
        writer = Writer(tmp_path, "hostile")
        writer.write(journal("hostile", query=payload, strategy=payload, note=payload, hits=[hit]))
        writer.close()

        page = lxml_html.fromstring(web.get("/live/hostile").text)
        lists = lxml_html.fromstring(web.get("/live").text)

        for element in (*page.iter(), *lists.iter()):
            if isinstance(element.tag, str):
                assert element.tag not in ("img", "iframe", "object", "embed", "math")
                assert element.tag != "script" or element.get("src", "").startswith("/static/")
                assert not [name for name in element.attrib if name.startswith("on") or name == "style"]
                assert re.match(r"(https?://|/|#|$)", element.get("href", ""))
        assert payload.split() == page.xpath("string(//h2)").split() or not payload.isprintable()


# ---- for programs


def test_program_starts_follows_and_stops_a_search(web: TestClient) -> None:
    asked = {"query": QUERY, "strategy": "shark", "enough": 0, "max_pages": 7, "seeds": ["http://a.test/"]}
    asked |= {"keep": "no", "domains": ["a.test", "b.test"]}

    begun = web.post("/api/live", json=asked)

    job = begun.json()["job"]
    assert (begun.status_code, begun.headers["location"]) == (202, f"/api/live/{job}")
    told = {"max_pages": "7", "enough": "0", "keep": "no", "domains": "a.test,b.test"}
    assert runner(web).arguments[job].items() >= told.items()
    now = web.get(f"/api/live/{job}").json()
    assert (now["state"], now["strategy"], len(now["hits"])) == ("running", "shark", 2)
    assert web.post(f"/api/live/{job}/stop", json={}).status_code == 202
    assert runner(web).writers[job].is_stopped()
    runner(web).finish(job, "stopped")
    (row,) = web.get("/api/live").json()["searches"]
    assert (row["job"], row["reason"]) == (job, "stopped")


def test_reference_page_names_each_key_of_a_search(web: TestClient) -> None:
    job = started(web)
    now, listed = web.get(f"/api/live/{job}").json(), web.get("/api/live").json()
    (row,) = listed["searches"]

    assert api_names("Live") == now.keys() | listed.keys()
    assert row.keys() == now.keys() - {"hits"}
    assert api_names("LiveHit") == now["hits"][1].keys()
    assert now["hits"][1]["via"].keys() == {"url", "title", "anchor"}
    assert api_names("LiveAsked") == {*LiveRequest.__slots__}


@pytest.mark.parametrize(
    "content, line",
    [
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff", "not JSON"),
        (b"[]", "an object is wanted"),
        (b'{"query": "gene", "spider": "index"}', "an object is wanted"),
        (b'{"query": ["gene"]}', "query must be a text"),
        (b'{"query": "gene", "max_pages": true}', "max_pages must be a text or a number"),
        (b'{"query": "gene", "max_pages": 1e99}', "max_pages must be a text or a number"),
        (b'{"query": "gene", "seeds": "http://a.test/"}', "seeds must be a list"),
        (b'{"query": "gene", "domains": "a.test"}', "domains must be a list of hosts"),
        (b'{"query": "gene", "keep": true}', "keep must be a text"),
        (b'{"query": "gene", "seeds": ["file:///etc/passwd"]}', "is not an address"),
        (b"{}", "say what to search for"),
    ],
)
def test_what_a_program_asks_wrongly_is_told_in_a_line(web: TestClient, content: bytes, line: str) -> None:
    answer = web.post("/api/live", content=content, headers={"Content-Type": "application/json"})

    assert answer.status_code == 400 and line in answer.json()["error"]
    assert not runner(web).arguments


JSON = ("/api/", "/suggest")
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
    paths += ["/api/live/job"]
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
