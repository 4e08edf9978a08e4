"""Searching the web from the page: who may, within which limits, what is shown, and how it is stopped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hostile import PAYLOADS
from live import (
    OURS,
    QUERY,
    found,
    journal,
    note,
    opened,
    runner,
    seen,
    start,
    started,
    stop,
    token,
    until,
    web_searches,
)
from lxml import html as lxml_html
from searched import entry, publish
from starlette.testclient import TestClient

from webcrawler.realtime.job import STRATEGIES as RUNNABLE
from webcrawler.realtime.journal import Writer
from webcrawler.web.live import searches
from webcrawler.web.live.access import NOBODY, NOT_YOU
from webcrawler.web.live.asking import MAX_TYPED
from webcrawler.web.live.strategies import STRATEGIES
from webcrawler.web.openapi import SCHEMAS
from webcrawler.web.security import MAX_UPLOAD_BYTES

PAGES = [("http://a.test/1", "Molecular biology", "Genes")]
BOOKMARKS = b"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<TITLE>Bookmarks</TITLE><DL><p><DT><A HREF="http://a.test/x,y?a=1&amp;b=2" ADD_DATE="1">A</A>
<DT><A HREF="javascript:alert(1)">mean</A><DT><A HREF="place:sort=8">of the browser</A>
<DT><A HREF="https://b.test/">B</A></DL>"""

T = TypeVar("T")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    publish(folder, map(entry, PAGES))
    return folder


@pytest.fixture
def web(tmp_path: Path) -> Iterator[TestClient]:
    with opened(tmp_path) as web:
        yield web


def buttons(web: TestClient, path: str, **headers: str) -> list[str]:
    forms = seen(web, path, **headers).xpath("//main//form[@action='/live']")
    return [form.xpath("string(.//button)") for form in forms]


# ---- who may


def test_button_stands_on_pages_of_results_with_and_without_any(published: Path) -> None:
    with opened(published) as web:
        assert buttons(web, f"/search?q={QUERY}") == ["Search the web now"]
        assert buttons(web, "/search?q=xyzzyplugh") == ["Search the web now"]
        assert buttons(web, "/") == []  # nothing is asked there


def test_button_stands_where_nothing_was_crawled_yet(web: TestClient) -> None:
    assert buttons(web, f"/search?q={QUERY}") == ["Search the web now"]


@pytest.mark.parametrize(
    "who, client, headers, may",
    [
        ("loopback", "127.0.0.1", {}, True),
        ("loopback", "::1", {}, True),
        ("loopback", "127.0.0.1", {"Host": "localhost:8000"}, True),
        ("loopback", "192.0.2.7", {}, False),
        ("loopback", "testclient", {}, False),  # no address: nobody can tell
        ("loopback", "127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, False),  # a proxy that is not named
        ("loopback", "127.0.0.1", {"Forwarded": "for=127.0.0.1"}, False),
        ("loopback", "127.0.0.1", {"Via": "1.1 proxy"}, False),
        ("loopback", "127.0.0.1", {"Host": "search.test"}, False),  # a proxy that only hands the name on
        ("loopback", "10.0.0.1", {"X-Forwarded-For": "192.0.2.7"}, False),  # through the named one
        ("loopback", "10.0.0.1", {"X-Forwarded-For": "192.0.2.7, 127.0.0.1"}, True),
        ("all", "192.0.2.7", {}, True),
        ("all", "127.0.0.1", {"X-Forwarded-For": "192.0.2.7"}, True),
        ("off", "127.0.0.1", {}, False),
    ],
)
def test_who_may_search_the_web(
    tmp_path: Path, who: str, client: str, headers: dict[str, str], may: bool
) -> None:
    config = {"live": who, "hosts": ("search.test",), "trusted_proxies": ("10.0.0.1",)}
    with opened(tmp_path, client, **config) as web:
        path = f"/search?q={QUERY}"
        assert buttons(web, path, **headers) == (["Search the web now"] if may else [])

        answers = [web.get("/live", headers=headers), web.get("/live/unknown", headers=headers)]
        answers.append(web.post("/live", data={"q": QUERY}, headers={**OURS, **headers}))
        answers.append(web.post("/api/live", json={"query": QUERY}, headers=headers))
        assert [answer.status_code for answer in answers] == ([200, 404, 403, 202] if may else [403] * 4)
        line = NOBODY if who == "off" else NOT_YOU
        assert may or (note(answers[0]), note(answers[2]), answers[3].json()["error"]) == (line, line, line)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://evil.test"},
        {"Origin": "http://127.0.0.1:9999"},
    ],
)
def test_form_of_another_site_starts_and_stops_nothing(web: TestClient, headers: dict[str, str]) -> None:
    data = {"q": QUERY, "token": token(web)}
    job = started(web)
    stopping = {"token": token(web, f"/live/{job}", f"/live/{job}/stop")}

    answers = [
        web.post("/live", data=data, headers=headers),
        web.post(f"/live/{job}/stop", data=stopping, headers=headers),
        web.post("/api/live", json={"query": QUERY}, headers=headers),
        web.post(f"/api/live/{job}/stop", json={}, headers=headers),
    ]

    assert [answer.status_code for answer in answers] == [403] * 4
    assert list(runner(web).arguments) == [job] and not runner(web).writers[job].is_stopped()


def test_token_is_for_one_client_and_one_deed(tmp_path: Path) -> None:
    with opened(tmp_path, live="all") as web:
        job = started(web)
        mine, to_stop = token(web), token(web, f"/live/{job}", f"/live/{job}/stop")

        for wrong in ("", "0" * 64, to_stop, token(web, **{"X-Forwarded-For": "192.0.2.7"}) + "0"):
            answer = web.post("/live", data={"q": QUERY, "token": wrong}, headers=OURS)
            assert answer.status_code == 403 and "load the page anew" in note(answer)
        assert web.post(f"/live/{job}/stop", data={"token": mine}, headers=OURS).status_code == 403


def test_what_a_form_can_send_starts_nothing_at_the_api(web: TestClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = web.post("/api/live", content=b'{"query": "gene"}', headers={"Content-Type": kind})

        assert (answer.status_code, answer.json()) == (415, {"error": "send it as application/json"})


# ---- starting


def test_button_starts_a_search_within_the_limits_and_leads_to_its_page(tmp_path: Path) -> None:
    with opened(tmp_path, live_seconds=60, live_pages=50) as web:
        job = started(web)

        assert runner(web).arguments[job] == {
            "job": job,
            "query": QUERY,
            "strategy": "adaptive",
            "enough": "20",
            "max_pages": "50",
            "max_time": "60",
        }
        assert re.fullmatch(r"[0-9a-f]{16,}", job)  # whoever guesses one sees what was searched
        assert web.get(f"/live/{job}").status_code == 200


@pytest.mark.parametrize(
    "fields, line",
    [
        ({"q": ""}, "say what to search for"),
        ({"q": "   "}, "say what to search for"),
        ({"q": "the of and"}, "word"),
        ({"q": "gene\x1b[31m"}, "plain text"),
        ({"q": "", "examples": "http://a.test/"}, "seed-similarity and classifier do without words"),
        ({"q": "", "strategy": "seed-similarity"}, "pages of the kind"),
        ({"strategy": "magic"}, "no strategy 'magic'"),
        ({"strategy": "webcrawler.focus.adaptive.Adaptive"}, "no strategy"),
        ({"enough": "-1"}, "enough wants a number"),
        ({"max_pages": "0"}, "max_pages wants a number from 1 to 300"),
        ({"max_pages": "301"}, "max_pages wants a number from 1 to 300"),
        ({"max_time": "121"}, "max_time wants a number from 1 to 120"),
        ({"max_time": "1e9"}, "max_time wants a number from 1 to 120"),
        ({"seeds": "file:///etc/passwd"}, "seeds: 'file:///etc/passwd' is no address"),
        ({"seeds": "@/etc/passwd"}, "seeds: '@/etc/passwd' is no address"),
        ({"seeds": "javascript:alert(1)"}, "seeds: 'javascript:alert(1)' is no address"),
        ({"examples": "gopher://a.test/"}, "examples: 'gopher://a.test/' is no address"),
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
    assert not [path for path in (web_dir(web) / "realtime").glob("*") if path.suffix != ".lock"]


def web_dir(web: TestClient) -> Path:
    return runner(web).crawl_dir


def test_addresses_reach_the_search_as_files_and_are_gone_when_it_is_over(web: TestClient) -> None:
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
    files = [web_dir(web) / "realtime" / f"{job}.{name}" for name in ("seeds", "examples")]
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]
    runner(web).finish(job)
    until(lambda: not any(file.exists() for file in files), web)


def test_form_offers_each_strategy_there_is_with_a_sentence(web: TestClient) -> None:
    form = seen(web, "/live")

    offered = form.xpath("//input[@name='strategy']/@value")
    assert tuple(offered) == RUNNABLE == tuple(STRATEGIES)
    assert form.xpath("//input[@name='strategy' and @checked]/@value") == ["adaptive"]
    for name in offered:
        assert len(form.xpath(f"string(//label[@for='live-{name}'])").split()) > 6


def test_form_keeps_what_one_came_with_and_what_was_typed(web: TestClient) -> None:
    assert seen(web, "/live?q=violin").xpath("//input[@id='live-q']/@value") == ["violin"]

    typed = {"q": "violin", "seeds": "http://a.test/<", "strategy": "shark", "max_time": "9999"}
    page = lxml_html.fromstring(start(web, **typed).text)

    assert page.xpath("//input[@id='live-q']/@value") == ["violin"]
    assert page.xpath("string(//textarea[@name='seeds'])") == "http://a.test/<"
    assert page.xpath("//input[@name='strategy' and @checked]/@value") == ["shark"]
    assert page.xpath("//input[@name='max_time']/@value") == ["9999"]


# ---- limits


def test_client_has_one_search_and_is_led_to_it(web: TestClient) -> None:
    job = started(web)

    answer = start(web, q="violin")

    assert answer.status_code == 409 and "wait for its end, or stop it" in note(answer)
    assert lxml_html.fromstring(answer.text).xpath("//*[@class='note']/a/@href") == [f"/live/{job}"]
    assert web.post("/api/live", json={"query": QUERY}).status_code == 409
    runner(web).finish(job)
    assert started(web, q="violin") != job


def test_all_clients_together_have_so_many(tmp_path: Path) -> None:
    with opened(tmp_path, live="all", live_jobs=2, trusted_proxies=("127.0.0.1",)) as web:
        others = [{**OURS, "X-Forwarded-For": f"192.0.2.{number}"} for number in range(3)]
        first, second, third = (start(web, headers=headers) for headers in others)

        assert [first.status_code, second.status_code, third.status_code] == [303, 303, 503]
        assert "as many searches of the web as may be" in note(third) and third.headers["Retry-After"]
        runner(web).finish(first.headers["location"].removeprefix("/live/"))
        assert start(web, headers=others[2]).status_code == 303


def test_search_that_cannot_be_started_is_told_and_takes_no_place(web: TestClient) -> None:
    runner(web).refuses = "not today"
    answer = start(web)
    assert (answer.status_code, note(answer)) == (503, "not today")

    runner(web).refuses = ""
    assert start(web).status_code == 303


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
    assert "Rank 1. relevance 1000" in " ".join(first.xpath("string(.)").split())
    assert "from the index" in first.xpath("string(.)") and not first.xpath(".//*[@class='via']")
    assert "just found" in second.xpath("string(.)")
    assert " ".join(second.xpath("string(.//*[@class='via'])").split()) == "by the link to 2 on B"
    assert [mark.text for mark in first.iter("mark")] == ["molecular", "biology"]
    figures = " ".join(page.xpath("string(//*[@id='live-figures'])").split())
    assert figures == "pages fetched12 similar ones, of 20 wanted3 URLs waiting40 seconds2"
    assert page.xpath("string(//*[@id='live-state'])") == "Searching the web."
    assert page.xpath("//*[@class='live-head']/a/@href")[0] == "/search?q=molecular+biology"


def test_page_loads_itself_anew_without_scripts_as_long_as_the_search_goes_on(web: TestClient) -> None:
    job = started(web)
    assert '<noscript><meta http-equiv="refresh" content="3"></noscript>' in web.get(f"/live/{job}").text

    runner(web).finish(job, "max_time")

    page = web.get(f"/live/{job}").text
    assert "http-equiv" not in page and "Ended: time is up." in page and ">Stop<" not in page


def test_search_that_says_nothing_yet_has_a_page(web: TestClient) -> None:
    runner(web).is_slow = True
    job = started(web)

    page = seen(web, f"/live/{job}")

    assert page.xpath("string(//*[@id='live-state'])") == "Starting."
    assert page.xpath("//ol[@id='live-list']/li") == []


def test_search_that_never_began_says_why(web: TestClient) -> None:
    runner(web).is_slow = True
    job = started(web)
    runner(web).finish(job)
    until(lambda: web_searches(web).look(job)["state"] == "finished", web)

    page = seen(web, f"/live/{job}")
    assert page.xpath("string(//*[@id='live-state'])") == "Ended: it broke off."
    assert page.xpath("string(//*[@class='note'])") == "it was asked for in vain"


def test_search_whose_process_died_is_over(web: TestClient) -> None:
    job = started(web)
    runner(web).writers.pop(job).close()  # as the kernel does

    assert "Ended: it broke off." in web.get(f"/live/{job}").text


@pytest.mark.parametrize("job", ["nowhere", "%2e%2e%2e", "a" * 200, "a%00b", "%ff", "x.json", "..%2fkey"])
def test_search_that_nobody_knows_is_not_there(web: TestClient, job: str) -> None:
    for path in (f"/live/{job}", f"/live/{job}/events", f"/api/live/{job}"):
        assert web.get(path).status_code in (400, 404)


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


def test_list_of_searches_is_of_all_for_this_machine_and_ones_own_for_others(tmp_path: Path) -> None:
    with opened(tmp_path, live="all", trusted_proxies=("127.0.0.1",)) as web:
        writer = Writer(tmp_path, "terminal")
        writer.write(journal("terminal", query="of the terminal", state="finished", reason="enough"))
        writer.close()
        other = {**OURS, "X-Forwarded-For": "192.0.2.7"}
        mine = start(web, headers=other).headers["location"]

        assert seen(web, "/live").xpath("//table//a/@href") == [mine, "/live/terminal"]
        assert seen(web, "/live", **other).xpath("//table//a/@href") == [mine]
        stranger = {"X-Forwarded-For": "192.0.2.8"}
        assert seen(web, "/live", **stranger).xpath("//table//a/@href") == []
        assert web.get("/api/live", headers=stranger).json() == {"searches": []}


# ---- stopping


def test_stop_asks_the_search_to_end_and_leads_back(web: TestClient) -> None:
    job = started(web)

    answer = stop(web, job)

    assert (answer.status_code, answer.headers["location"]) == (303, f"/live/{job}")
    assert runner(web).writers[job].is_stopped()
    assert "Stopping." in web.get(f"/live/{job}").text
    runner(web).finish(job, "stopped")
    assert "Ended: it was stopped." in web.get(f"/live/{job}").text


def test_search_that_has_not_begun_is_ended_by_who_runs_it(web: TestClient) -> None:
    runner(web).is_slow = True
    job = started(web)

    stop(web, job)
    runner(web).finish(job)

    until(lambda: web_searches(web).look(job)["state"] == "finished", web)
    assert runner(web).ended == [(job, False)]
    assert "Ended: it was stopped." in web.get(f"/live/{job}").text


def test_search_that_does_not_obey_is_made_to_end(web: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "GRACE_SECONDS", 0.05)
    monkeypatch.setattr(searches, "WATCH_SECONDS", 0.01)
    job = started(web)

    stop(web, job)

    until(lambda: (job, True) in runner(web).ended, web)
    assert runner(web).ended[0] == (job, False)  # first in good order


def test_search_that_passes_its_time_is_asked_to_end(
    web: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "WATCH_SECONDS", 0.01)
    job = started(web)
    runner(web).write(job, started=1.0)

    until(lambda: runner(web).writers[job].is_stopped(), web)


def test_only_who_started_a_search_or_sits_here_may_stop_it(tmp_path: Path) -> None:
    with opened(tmp_path, live="all", trusted_proxies=("127.0.0.1",)) as web:
        mine, other = ({"X-Forwarded-For": f"192.0.2.{number}"} for number in (7, 8))
        job = start(web, headers={**OURS, **mine}).headers["location"].removeprefix("/live/")

        assert not seen(web, f"/live/{job}", **other).xpath(f"//form[@action='/live/{job}/stop']")
        assert web.post(f"/api/live/{job}/stop", json={}, headers=other).status_code == 403
        assert not runner(web).writers[job].is_stopped()
        assert stop(web, job, **mine).status_code == 303
        assert runner(web).writers[job].is_stopped()
        assert stop_buttons(web, job) == ["Stop"]  # of who sits here


def stop_buttons(web: TestClient, job: str) -> list[str]:
    return [str(button.text) for button in seen(web, f"/live/{job}").xpath("//form[@id='live-stop']/button")]


def test_searches_end_with_the_server(tmp_path: Path) -> None:
    with opened(tmp_path) as web:
        job = started(web)
        launcher = runner(web)
        assert not launcher.writers[job].is_stopped()

    assert launcher.writers[job].is_stopped()


# ---- for programs


def test_program_starts_follows_and_stops_a_search(web: TestClient) -> None:
    asked = {"query": QUERY, "strategy": "shark", "enough": 0, "max_pages": 7, "seeds": ["http://a.test/"]}

    begun = web.post("/api/live", json=asked)

    job = begun.json()["job"]
    assert (begun.status_code, begun.headers["location"]) == (202, f"/api/live/{job}")
    assert runner(web).arguments[job]["max_pages"] == "7" and runner(web).arguments[job]["enough"] == "0"
    now = web.get(f"/api/live/{job}").json()
    assert (now["state"], now["strategy"], len(now["hits"])) == ("running", "shark", 2)
    assert web.post(f"/api/live/{job}/stop", json={}).status_code == 202
    assert runner(web).writers[job].is_stopped()
    runner(web).finish(job, "stopped")
    (row,) = web.get("/api/live").json()["searches"]
    assert (row["job"], row["reason"]) == (job, "stopped")


def test_openapi_document_names_each_key_of_a_search(web: TestClient) -> None:
    job = started(web)
    now, (row,) = web.get(f"/api/live/{job}").json(), web.get("/api/live").json()["searches"]

    for name, answer in {
        "Live": now,
        "LiveRow": row,
        "LiveHit": now["hits"][1],
        "LiveVia": now["hits"][1]["via"],
        "LiveList": {"searches": []},
    }.items():
        assert set(SCHEMAS[name]) == set(answer), name


@pytest.mark.parametrize(
    "content, line",
    [
        (b"{", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"\xff", "no JSON"),
        (b"[]", "an object is wanted"),
        (b'{"query": "gene", "spider": "index"}', "an object is wanted"),
        (b'{"query": ["gene"]}', "query wants a text"),
        (b'{"query": "gene", "max_pages": true}', "max_pages wants"),
        (b'{"query": "gene", "max_pages": 1e99}', "max_pages wants"),
        (b'{"query": "gene", "seeds": "http://a.test/"}', "seeds wants a list"),
        (b'{"query": "gene", "seeds": ["file:///etc/passwd"]}', "is no address"),
        (b"{}", "say what to search for"),
    ],
)
def test_what_a_program_asks_wrongly_is_told_in_a_line(web: TestClient, content: bytes, line: str) -> None:
    answer = web.post("/api/live", content=content, headers={"Content-Type": "application/json"})

    assert answer.status_code == 400 and line in answer.json()["error"]
    assert not runner(web).arguments
