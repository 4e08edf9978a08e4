"""Judging a result good or bad: who may, what is saved, and that another site's page cannot."""

from __future__ import annotations

import re
import shutil
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html
from searched import entry, publish
from starlette.testclient import TestClient

from webcrawler.errors import Unavailable
from webcrawler.usage import MAX_QUERY, one_line, query_id
from webcrawler.web import Config, make_app
from webcrawler.web.judge import JudgmentFiles
from webcrawler.web.security import Tokens

HERE = "http://127.0.0.1:8000"
QUERY = "molecular biology"
OURS = {"Sec-Fetch-Site": "same-origin"}
PAGES = [
    ("http://a.test/1", "Molecular biology", "Genes"),
    ("http://a.test/2", "Biology", "of molecular things"),
]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    publish(folder, map(entry, PAGES))
    return folder


@pytest.fixture
def crawl_dir(published: Path, tmp_path: Path) -> Path:
    """A copy of its own for each test."""
    shutil.copytree(published, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def web(crawl_dir: Path) -> Iterator[TestClient]:
    with TestClient(make_app(Config(crawl_dir, feedback=True)), HERE, follow_redirects=False) as web:
        yield web


def forms(web: httpx.Client, query: str = QUERY) -> list[Any]:
    page = lxml_html.fromstring(web.get("/search", params={"q": query}).text)
    return [form for form in page.iter("form") if form.get("action") == "/judge"]


def fields(form: Any) -> dict[str, str]:
    return {field.get("name"): field.get("value") for field in form.iter("input")}


def judge(web: TestClient, verdict: str, headers: dict[str, str] = OURS, **changes: Any) -> Any:
    return web.post("/judge", data={**fields(forms(web)[0]), "verdict": verdict, **changes}, headers=headers)


def qrels(crawl_dir: Path) -> list[list[str]]:
    path = crawl_dir / "feedback" / "qrels.txt"
    return [line.split(" ") for line in path.read_text().splitlines()] if path.exists() else []


# ---- on the page


def test_off_by_default(crawl_dir: Path) -> None:
    with TestClient(make_app(Config(crawl_dir)), HERE) as web:
        assert not forms(web)
        assert web.post("/judge", data={}).status_code == 405
    assert not (crawl_dir / "feedback").exists()


def test_judgment_is_saved_in_trec_format_and_leads_back(web: TestClient, crawl_dir: Path) -> None:
    answer = judge(web, "good")

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/search?q=molecular+biology")
    ((id, zero, url, grade),) = qrels(crawl_dir)
    assert (zero, url, grade) == ("0", "http://a.test/1", "1")
    assert (crawl_dir / "feedback" / "queries.tsv").read_text() == f"{id}\t{QUERY}\n"


def test_one_can_search_and_judge_by_keyboard_alone(web: TestClient) -> None:
    for form in forms(web):
        assert form.get("method") == "post"
        assert [button.get("value") for button in form.iter("button")] == ["good", "bad"]
        assert all(button.text_content().strip() for button in form.iter("button"))


def test_what_was_said_is_shown_and_can_be_taken_back(web: TestClient, crawl_dir: Path) -> None:
    judge(web, "bad")
    (good, bad) = forms(web)[0].iter("button")

    assert (good.get("value"), good.get("aria-pressed")) == ("good", "false")
    assert (bad.get("value"), bad.get("aria-pressed")) == ("undo", "true")

    judge(web, "undo")

    assert qrels(crawl_dir) == []
    assert (crawl_dir / "feedback" / "queries.tsv").read_text() == ""


def test_last_verdict_on_a_pair_holds(web: TestClient, crawl_dir: Path) -> None:
    for verdict in ("good", "bad", "good", "bad"):
        judge(web, verdict)

    assert [row[3] for row in qrels(crawl_dir)] == ["0"]


def test_judgments_survive_the_server(web: TestClient, crawl_dir: Path) -> None:
    judge(web, "good")

    with TestClient(make_app(Config(crawl_dir, feedback=True)), HERE) as other:
        assert forms(other)[0].find(".//button").get("aria-pressed") == "true"


def test_page_of_results_is_kept_on_the_way_back(web: TestClient) -> None:
    answer = judge(web, "good", expand="0", ranking="bm25f")

    assert re.match(r"/search\?q=molecular\+biology&.*#hit-\d+$", answer.headers["location"])
    assert "expand=0" in answer.headers["location"]


# ---- who may (W10: CSRF)


@pytest.mark.parametrize(
    "headers, status",
    [
        ({"Sec-Fetch-Site": "same-origin"}, 303),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, 303),  # as our no-referrer makes browsers say
        ({"Origin": HERE}, 303),
        ({"Origin": "null"}, 303),  # plain HTTP, no Sec-Fetch-Site: the token decides
        ({}, 303),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": HERE}, 403),
        ({"Origin": "https://evil.test"}, 403),
        ({"Origin": "http://127.0.0.1:8001"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": f"https://evil.test/{HERE}"}, 403),
    ],
)
def test_only_our_own_page_may_send_the_form(
    web: TestClient, crawl_dir: Path, headers: dict[str, str], status: int
) -> None:
    assert judge(web, "good", headers).status_code == status
    assert len(qrels(crawl_dir)) == (status == 303)


def test_token_is_of_one_query_and_one_client(web: TestClient, crawl_dir: Path) -> None:
    assert judge(web, "good", q="another query").status_code == 403
    token = fields(forms(web)[0])["token"]
    with TestClient(web.app, HERE, client=("203.0.113.9", 1), follow_redirects=False) as stranger:
        assert judge(stranger, "good", token=token).status_code == 403
        assert judge(stranger, "good").status_code == 303  # with its own


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": "best"},
        {"verdict": ""},
        {"number": "0"},
        {"number": "999999"},  # no such page
        {"number": "x"},
        {"number": "9" * 40},
        {"page": "-1"},
        {"q": " "},
        {"ranking": "evil"},
        *({"token": token} for token in ("", "0" * 64, "é", "x" * 5000)),  # none that we gave
    ],
)
def test_form_that_cannot_be_is_refused(web: TestClient, crawl_dir: Path, changes: dict[str, Any]) -> None:
    answer = judge(web, changes.pop("verdict", "good"), **changes)

    assert answer.status_code in (400, 403)
    assert qrels(crawl_dir) == []


def test_folder_is_its_owners_alone(web: TestClient, crawl_dir: Path) -> None:
    judge(web, "good")

    assert stat.S_IMODE((crawl_dir / "feedback").stat().st_mode) == 0o700


def test_token_holds_for_today_and_yesterday_and_one_server() -> None:
    tokens = Tokens()

    good = [tokens.is_good(tokens.give("ann", "q", days), "ann", "q") for days in (0, 1, 2)]

    assert good == [True, True, False]
    assert not Tokens().is_good(tokens.give("ann", "q"), "ann", "q")


# ---- what is saved


def test_each_query_has_one_id_and_one_line(tmp_path: Path) -> None:
    judgments = JudgmentFiles(tmp_path / "feedback")
    for query in ("gene", "gene ", " Gene", "gene\n", "genes"):
        judgments.save(query, f"http://a.test/{query_id(query)}", "good")

    lines = (tmp_path / "feedback" / "queries.tsv").read_text().splitlines()
    assert len(lines) == len({line.split("\t")[0] for line in lines}) == 2


@settings(deadline=None)
@given(query=st.text(min_size=1), verdict=st.sampled_from(["good", "bad"]))
def test_any_query_can_be_read_back(
    tmp_path_factory: pytest.TempPathFactory, query: str, verdict: str
) -> None:
    judgments = JudgmentFiles(tmp_path_factory.mktemp("feedback"))
    judgments.save(query, "http://a.test/", verdict)

    assert judgments.of(query) == {"http://a.test/": int(verdict == "good")}
    assert "\n" not in one_line(query) and "\t" not in one_line(query) and len(one_line(query)) <= MAX_QUERY


def test_nobody_who_saves_at_the_same_time_is_lost(tmp_path: Path) -> None:
    def save(name: int) -> None:
        for n in range(5):
            JudgmentFiles(tmp_path).save(f"query {name}", f"http://a.test/{n}", "good")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(save, range(6)))

    assert len((tmp_path / "qrels.txt").read_text().splitlines()) == 30
    assert len((tmp_path / "queries.tsv").read_text().splitlines()) == 6


def test_there_may_only_be_so_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webcrawler.web.judge.MOST", 2)
    judgments = JudgmentFiles(tmp_path)
    judgments.save("a", "http://a.test/", "good")
    judgments.save("b", "http://a.test/", "good")

    with pytest.raises(Unavailable):
        judgments.save("c", "http://a.test/", "good")
    judgments.save("a", "http://a.test/", "bad")  # a change is not a further one

    assert judgments.of("a") == {"http://a.test/": 0}


@pytest.mark.parametrize(
    "damaged", [b"\xff\n", b"three columns only\n", b"id 0 http://a.test/1 good\n", None]
)
def test_judgments_that_cannot_be_read_are_not_shown_and_not_written_over(
    web: TestClient, crawl_dir: Path, caplog: pytest.LogCaptureFixture, damaged: bytes | None
) -> None:
    path = crawl_dir / "feedback" / "qrels.txt"
    path.parent.mkdir()
    if damaged is None:
        path.mkdir()
    else:
        path.write_bytes(damaged)

    assert forms(web) and forms(web)[0].find(".//button").get("aria-pressed") == "false"
    answer = judge(web, "good")

    assert answer.status_code == 503 and str(crawl_dir) not in answer.text
    assert path.is_dir() if damaged is None else path.read_bytes() == damaged
    assert [record for record in caplog.records if str(path.parent) in record.getMessage()]


def test_last_line_without_an_end_is_kept(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(f"{query_id('gene')} 0 http://a.test/ 1")
    (tmp_path / "queries.tsv").write_text(f"{query_id('gene')}\tgene")

    JudgmentFiles(tmp_path).save("yeast", "http://a.test/", "good")

    assert JudgmentFiles(tmp_path).of("gene") == {"http://a.test/": 1}


def test_disk_that_is_full_loses_nothing_and_is_told(web: TestClient, crawl_dir: Path) -> None:
    judge(web, "good")
    (crawl_dir / "feedback" / "qrels.new").mkdir()  # what is written aside cannot be

    answer = judge(web, "bad")

    assert answer.status_code == 503
    assert [row[3] for row in qrels(crawl_dir)] == ["1"]
