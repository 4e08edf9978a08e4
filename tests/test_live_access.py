"""Who may have the web searched from the page, see a search, and stop it?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live import OURS, QUERY, keep, note, opened, runner, seen, start, started, token
from searched import entry, publish
from starlette.testclient import TestClient

from webcrawler.web.live_api import NOBODY, NOT_YOU

PUBLIC = pytest.mark.parametrize("public", [{"hosts": ("search.test",)}, {"url": "https://search.test/"}])


@pytest.fixture
def web(tmp_path: Path) -> Iterator[TestClient]:
    with opened(tmp_path) as web:
        yield web


def buttons(web: TestClient, path: str, **headers: str) -> list[str]:
    forms = seen(web, path, **headers).xpath("//main//form[@action='/live']")
    return [form.xpath("string(.//button)") for form in forms]


def test_button_stands_on_pages_of_results_with_and_without_any(tmp_path: Path) -> None:
    publish(tmp_path, [entry(("http://a.test/1", "Molecular biology", "Genes"))])
    with opened(tmp_path) as web:
        assert buttons(web, f"/search?q={QUERY}") == ["Search the web now"]
        assert buttons(web, "/search?q=xyzzyplugh") == ["Search the web now"]
        assert buttons(web, "/") == []  # nothing is asked there


@pytest.mark.parametrize(
    "who, client, headers, may",
    [
        ("loopback", "127.0.0.1", {}, True),
        ("loopback", "::1", {}, True),
        ("loopback", "127.0.0.1", {"Host": "localhost:8000"}, True),
        ("loopback", "192.0.2.7", {}, False),
        ("loopback", "testclient", {}, False),  # no address: nobody can tell
        ("loopback", "127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, False),  # a proxy of this machine
        ("loopback", "127.0.0.1", {"Forwarded": "for=127.0.0.1"}, False),
        ("loopback", "127.0.0.1", {"Via": "1.1 proxy"}, False),
        ("loopback", "10.0.0.1", {"X-Forwarded-For": "192.0.2.7"}, False),
        ("all", "192.0.2.7", {}, True),
        ("all", "127.0.0.1", {"X-Forwarded-For": "192.0.2.7"}, True),
        ("off", "127.0.0.1", {}, False),
    ],
)
def test_who_may_search_the_web(
    tmp_path: Path, who: str, client: str, headers: dict[str, str], may: bool
) -> None:
    with opened(tmp_path, client, live=who) as web:
        path = f"/search?q={QUERY}"
        assert buttons(web, path, **headers) == (["Search the web now"] if may else [])

        answers = [web.get("/live", headers=headers), web.get("/live/unknown", headers=headers)]
        answers.append(web.post("/live", data={"q": QUERY}, headers={**OURS, **headers}))
        answers.append(web.post("/api/live", json={"query": QUERY}, headers=headers))
        assert [answer.status_code for answer in answers] == ([200, 404, 403, 202] if may else [403] * 4)
        line = NOBODY if who == "off" else NOT_YOU
        assert may or (note(answers[0]), note(answers[2]), answers[3].json()["error"]) == (line, line, line)


@PUBLIC
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]:8000"])
def test_name_that_a_visitor_chooses_lets_nobody_in_where_there_is_a_proxy(
    tmp_path: Path, public: dict[str, Any], host: str
) -> None:
    with opened(tmp_path, **public) as web:
        assert web.get("/live", headers={"Host": host}).status_code == 403


@PUBLIC
def test_behind_a_proxy_nobody_sees_all_searches(tmp_path: Path, public: dict[str, Any]) -> None:
    keep(tmp_path, "terminal")
    with opened(tmp_path, live="all", **public) as web:
        assert web.get("/api/live").json() == {"searches": []}
        assert web.post("/api/live/terminal/stop", json={}).status_code == 403


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

        for wrong in ("", "0" * 64, to_stop, token(web, **{"X-Forwarded-For": "192.0.2.7"})):
            answer = web.post("/live", data={"q": QUERY, "token": wrong}, headers=OURS)
            assert answer.status_code == 403 and "load the page anew" in note(answer)
        assert web.post(f"/live/{job}/stop", data={"token": mine}, headers=OURS).status_code == 403


def test_what_a_form_can_send_starts_nothing_at_the_api(web: TestClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = web.post("/api/live", content=b'{"query": "gene"}', headers={"Content-Type": kind})

        assert (answer.status_code, answer.json()) == (415, {"error": "send it as application/json"})


def test_list_of_searches_is_of_all_for_this_machine_and_ones_own_for_others(tmp_path: Path) -> None:
    with opened(tmp_path, live="all") as web:
        keep(tmp_path, "terminal")
        other = {**OURS, "X-Forwarded-For": "192.0.2.7"}
        mine = start(web, headers=other).headers["location"]

        assert seen(web, "/live").xpath("//table//a/@href") == [mine, "/live/terminal"]
        assert seen(web, "/live", **other).xpath("//table//a/@href") == [mine]
        stranger = {"X-Forwarded-For": "192.0.2.8"}
        assert seen(web, "/live", **stranger).xpath("//table//a/@href") == []
        assert web.get("/api/live", headers=stranger).json() == {"searches": []}
