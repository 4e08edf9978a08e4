"""`webcrawler evaluate --focused`: what people type, see, and are told; what programs read."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from conftest import Answered, Run
from recordedweb import page, recorded

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


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    file = tmp_path / "topics.json"
    file.write_text(json.dumps(TOPICS))
    return file


@pytest.fixture
def crawl_dir(tmp_path: Path) -> Path:
    return recorded(tmp_path / "crawl", PAGES, indexed=True)


@pytest.fixture
def run(run: Run, topics: Path) -> Run:
    """Of that data folder, with these strategies and options."""

    def act(folder: Path, strategies: str, *options: object) -> Answered:
        given = ("--strategies", strategies) if strategies else ()
        return run("evaluate", "--focused", str(topics), str(folder), *given, *map(str, options))

    return act


def test_people_see_a_row_for_each_strategy(run: Run, crawl_dir: Path) -> None:
    answer = run(crawl_dir, "fifo,best-first,breadth", "--pages", "20")

    assert answer.status == 0, answer.err
    assert "32 documents, up to 20 fetched in each crawl. Relevant: gene 16." in answer.out
    assert re.findall(r"(?m)^(fifo|best-first|breadth) ", answer.out) == ["fifo", "best-first", "breadth"]


def test_programs_read_the_figures_and_curves_are_drawn(run: Run, crawl_dir: Path, tmp_path: Path) -> None:
    file, plots = tmp_path / "figures.json", tmp_path / "plots"
    files = ("--json", file, "--plots", plots)

    answer = run(crawl_dir, "fifo,breadth", "--pages", "20", "--start", "http://a.example/1", *files)

    assert answer.status == 0, answer.err
    found = json.loads(file.read_text())
    assert (found["documents"], found["pages"]) == (32, 20)
    assert [run["strategy"] for run in found["runs"]] == ["fifo", "breadth"]
    assert found["runs"][0]["found"] == [1, 2]  # page 1, and b.example, which it leads to
    assert (found["runs"][0]["fetched"], found["runs"][0]["relevant"]) == (2, 16)
    assert set(found["runs"][0]) == {
        "strategy", "query", "relevant", "fetched", "found", "tried", "seconds", "pool",
        "found_at", "harvest_rate", "recall", "first_10",
    }  # fmt: skip
    texts = [text.strip() for text in xml.parse(plots / "found.svg").getroot().itertext()]
    assert {"fifo", "breadth", "pages fetched"} <= set(texts)


def test_a_crawl_without_its_archive_is_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    answer = run(recorded(tmp_path / "bare", PAGES, archived=False), "fifo")

    assert (answer.status, answer.out) == (1, "")
    assert "http://a.example/ is in no WARC file of" in answer.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("nobody", "unknown mode 'nobody'"),
        ("blend", "blend follows ranks: compare it by --orderings"),
        (",", "--strategies needs at least one item"),
        ("shark?d=x", "d=x"),
        ("fifo --pages 0", "is not a whole number from 1"),
        ("fifo --pages many", "is not a whole number"),
        ("fifo --seeds one", "--seeds is for orderings and --freshness"),
        ("fifo --start http://c.example/", "--start: the crawl has no document"),
        ("fifo --start nowhere", "--start=nowhere"),
        ("fifo --json /proc/no/file", "there is no folder /proc/no"),
    ],
)
def test_what_is_asked_wrongly_is_refused_in_one_line(
    run: Run, crawl_dir: Path, arguments: str, said: str
) -> None:
    answer = run(crawl_dir, *arguments.split())

    assert (answer.status, answer.out) == (2, "")
    assert said in answer.err
    assert len(answer.err.splitlines()) == 1


def test_the_default_strategies_need_no_extra(
    run: Run, crawl_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)

    answer = run(crawl_dir, "", "--pages", "5")
    wanted = run(crawl_dir, "classifier")
    nowhere = run(crawl_dir / "nowhere", "classifier")

    assert answer.status == 0, answer.err
    assert "seed-similarity" in answer.out
    assert "classifier needs sklearn" in wanted.err
    assert (nowhere.status, nowhere.out) == (2, "")
    assert "nothing was crawled into" in nowhere.err


def test_crawls_that_fetched_everything_are_told_of(run: Run, crawl_dir: Path) -> None:
    some, all = run(crawl_dir, "fifo", "--pages", "20"), run(crawl_dir, "fifo")

    assert "fetched everything they could reach" not in some.out
    assert "fetched everything they could reach" in all.out


def test_a_query_of_stop_words_is_refused(run: Run, topics: Path, crawl_dir: Path) -> None:
    topics.write_text(json.dumps({"topics": [{"query": "of the", "terms": ["the"], "min_body": 1}]}))

    answer = run(crawl_dir, "best-first")

    assert answer.status == 2
    assert len(answer.err.splitlines()) == 1


def test_topics_that_nothing_is_relevant_to_are_left_out(run: Run, topics: Path, crawl_dir: Path) -> None:
    nothing = {"query": "quasar", "terms": ["quasar"], "min_body": 1}
    topics.write_text(json.dumps({"topics": [*TOPICS["topics"], nothing]}))

    some = run(crawl_dir, "fifo")
    topics.write_text(json.dumps({"topics": [nothing]}))
    none = run(crawl_dir, "fifo")

    assert "Left out, as nothing is relevant: quasar." in some.out
    assert none.status == 2
    assert "is relevant to a topic" in none.err
