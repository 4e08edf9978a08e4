"""`scrapy evaluate --focused`: what people type, see, and are told; what programs read."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as xml
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from localweb import PROJECT
from recordedweb import page, recorded
from scrapy.cmdline import execute

pytestmark = pytest.mark.slow

PAGES = {
    "http://a.example/": page("Home", "", *(f"http://a.example/{n}" for n in range(30))),
    **{
        f"http://a.example/{n}": page("Gene" if n % 2 else "Other", "words", "http://b.example/")
        for n in range(30)
    },
    "http://b.example/": page("Gene", "words"),
}
TOPICS = {"topics": [{"query": "gene", "terms": ["gene"], "min_body": 3}]}


class Answer(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Answer]


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    file = tmp_path / "topics.json"
    file.write_text(json.dumps(TOPICS))
    return file


@pytest.fixture
def crawl_dir(tmp_path: Path) -> Path:
    return recorded(tmp_path / "crawl", PAGES, indexed=True)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command in this process, in the project folder."""
    monkeypatch.chdir(PROJECT)
    monkeypatch.delenv("REDIS_URL", raising=False)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "webcrawler.settings")

    def act(*arguments: object) -> Answer:
        with pytest.raises(SystemExit) as ended:
            execute(["scrapy", "evaluate", *map(str, arguments)])
        return Answer(int(ended.value.code or 0), *capsys.readouterr())

    return act


def test_people_see_a_row_for_each_strategy(run: Run, topics: Path, crawl_dir: Path) -> None:
    answer = run("--focused", topics, crawl_dir, "--strategies", "fifo,best-first,breadth", "--pages", "20")

    assert answer.status == 0, answer.err
    assert "32 documents, up to 20 fetched in each crawl. Relevant: gene 16." in answer.out
    for table in ("relevant pages found", "mean / median", "retrieval system rank"):
        (shown,) = re.findall(rf"{table}.*?(?:\n\n|\Z)", answer.out, re.DOTALL)
        assert [line.split()[0] for line in shown.strip().splitlines()[1:]] == [
            "fifo",
            "best-first",
            "breadth",
        ]


def test_programs_read_the_figures_and_curves_are_drawn(
    run: Run, topics: Path, crawl_dir: Path, tmp_path: Path
) -> None:
    file, plots = tmp_path / "figures.json", tmp_path / "plots"

    answer = run(
        "--focused", topics, crawl_dir, "--strategies", "fifo,breadth", "--pages", "20",
        "--start", "http://a.example/1", "--json", file, "--plots", plots,
    )  # fmt: skip

    assert answer.status == 0, answer.err
    found = json.loads(file.read_text())
    assert {name: found[name] for name in ("documents", "not_archived", "pages", "known")} == {
        "documents": 32, "not_archived": 0, "pages": 20, "known": 0,
    }  # fmt: skip
    assert [run["strategy"] for run in found["runs"]] == ["fifo", "breadth"]
    assert found["runs"][0]["found"] == [1, 2]  # page 1, and b.example, which it leads to
    assert (found["runs"][0]["fetched"], found["runs"][0]["relevant"]) == (2, 16)
    assert set(found["runs"][0]) == {
        "strategy", "query", "relevant", "fetched", "found", "tried", "seconds", "seed", "pool",
        "found_at", "harvest_rate", "recall", "first_10",
    }  # fmt: skip
    texts = [text.strip() for text in xml.parse(plots / "found.svg").getroot().itertext()]
    assert {"fifo", "breadth", "pages fetched"} <= set(texts)


def test_some_documents_may_be_known_beforehand(
    run: Run, topics: Path, crawl_dir: Path, tmp_path: Path
) -> None:
    file = tmp_path / "figures.json"

    answer = run(
        "--focused",
        topics,
        crawl_dir,
        "--strategies",
        "fifo",
        "--known",
        "20",
        "--seeds",
        "1,2",
        "--json",
        file,
    )

    assert answer.status == 0, answer.err
    assert "20 random documents are known beforehand" in answer.out
    found = json.loads(file.read_text())
    assert [(run["seed"], run["fetched"] <= 12) for run in found["runs"]] == [(1, True), (2, True)]


def test_without_an_index_there_is_no_rank(run: Run, topics: Path, tmp_path: Path) -> None:
    answer = run("--focused", topics, recorded(tmp_path / "bare", PAGES), "--strategies", "fifo")

    assert answer.status == 0, answer.err
    assert "No index, so no retrieval system rank" in answer.out


def test_without_an_archive_it_says_so(run: Run, topics: Path, tmp_path: Path) -> None:
    answer = run(
        "--focused", topics, recorded(tmp_path / "bare", PAGES, archived=False), "--strategies", "fifo"
    )

    assert answer.status == 0, answer.err
    assert "32 pages are not in the archive: their links came without the words around." in answer.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--strategies nobody", "unknown mode 'nobody'"),
        ("--strategies blend", "blend follows ranks: compare it by --orderings"),
        ("--strategies ,", "--strategies needs at least one item"),
        ("--strategies shark?d=x", "d=x"),
        ("--strategies fifo --pages 0", "--pages must be a whole number from 1"),
        ("--strategies fifo --pages many", "--pages must be a whole number"),
        ("--strategies fifo --known 32", "--known must be 1 to 31 of the 32 documents"),
        ("--strategies fifo --known -1", "--known must be a whole number"),
        ("--strategies fifo --seeds one", "--seeds must be a whole number"),
        ("--strategies fifo --start http://c.example/", "--start: the crawl has no document"),
        ("--strategies fifo --start nowhere", "--start=nowhere"),
        ("--strategies fifo --json /proc/no/file", "there is no folder /proc/no"),
    ],
)
def test_what_is_asked_wrongly_is_refused_in_one_line(
    run: Run, topics: Path, crawl_dir: Path, arguments: str, said: str
) -> None:
    answer = run("--focused", topics, crawl_dir, *arguments.split())

    assert (answer.status, answer.out) == (2, "")
    assert said in answer.err
    assert len(answer.err.splitlines()) == 1


def test_the_default_strategies_need_no_extra(
    run: Run, topics: Path, crawl_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)

    answer = run("--focused", topics, crawl_dir, "--pages", "5")
    wanted = run("--focused", topics, crawl_dir, "--strategies", "classifier")
    nowhere = run("--focused", topics, crawl_dir / "nowhere", "--strategies", "classifier")

    assert answer.status == 0, answer.err
    assert "seed-similarity" in answer.out
    assert "classifier needs sklearn" in wanted.err
    assert "nothing was crawled into" in nowhere.err


def test_crawls_that_fetched_everything_are_told_of(run: Run, topics: Path, crawl_dir: Path) -> None:
    some = run("--focused", topics, crawl_dir, "--strategies", "fifo", "--pages", "20")
    all = run("--focused", topics, crawl_dir, "--strategies", "fifo")

    assert "fetched everything they could reach" not in some.out
    assert "fetched everything they could reach" in all.out


def test_a_query_of_stop_words_is_refused(run: Run, tmp_path: Path, crawl_dir: Path) -> None:
    file = tmp_path / "topics.json"
    file.write_text(json.dumps({"topics": [{"query": "of the", "terms": ["the"], "min_body": 1}]}))

    answer = run("--focused", file, crawl_dir, "--strategies", "best-first")

    assert answer.status == 2
    assert len(answer.err.splitlines()) == 1


def test_topics_that_nothing_is_relevant_to_are_left_out(run: Run, tmp_path: Path, crawl_dir: Path) -> None:
    file = tmp_path / "topics.json"
    nothing = {"query": "quasar", "terms": ["quasar"], "min_body": 1}
    file.write_text(json.dumps({"topics": [*TOPICS["topics"], nothing]}))

    some = run("--focused", file, crawl_dir, "--strategies", "fifo")
    file.write_text(json.dumps({"topics": [nothing]}))
    none = run("--focused", file, crawl_dir, "--strategies", "fifo")

    assert "Left out, as nothing new is relevant: quasar." in some.out
    assert none.status == 2
    assert "is relevant to a topic" in none.err


def test_a_folder_that_nothing_was_crawled_into_is_refused(run: Run, topics: Path, tmp_path: Path) -> None:
    answer = run("--focused", topics, tmp_path / "nowhere", "--strategies", "fifo")

    assert answer.status == 2
    assert "nothing was crawled into" in answer.err


def test_options_of_focused_crawls_want_topics(run: Run, crawl_dir: Path) -> None:
    for option in ("--strategies=fifo", "--known=5", "--pages=5"):
        answer = run(crawl_dir, option)

        assert answer.status == 2
        assert "belongs to --focused TOPICS.json" in answer.err


def test_known_documents_want_an_index(run: Run, topics: Path, tmp_path: Path) -> None:
    bare = recorded(tmp_path / "bare", PAGES)

    answer = run("--focused", topics, bare, "--strategies", "fifo", "--known", "5")

    assert answer.status == 2
    assert "scrapy reindex" in answer.err
