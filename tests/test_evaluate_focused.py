"""Focused crawls measured: which pages are relevant, how many were found when, are crawls as real ones?"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordedweb import page, recorded

from webcrawler.connection import Connection
from webcrawler.errors import BadInput, Unavailable
from webcrawler.evaluation import private_redis
from webcrawler.evaluation.focused import (
    Experiments,
    Recording,
    RelevanceRules,
    Run,
    Topic,
    compared,
    crawl,
    mode_of,
    read_topics,
    runs,
    tables,
)
from webcrawler.evaluation.focused.report import Pooled, marks_of, pooled
from webcrawler.frontier import Ordering, Seen, Source
from webcrawler.records import Lease, Link, Text
from webcrawler.urls import server, url_id

TOPIC = Topic("gene therapy", ("gene", "gene therapy"), 3)


@pytest.fixture(scope="module")
def redis() -> Iterator[Connection]:
    with private_redis() as connection:
        yield connection


# Which pages are relevant?


@pytest.mark.parametrize(
    ("title", "body", "is_relevant"),
    [
        ("Gene", "", True),  # once in the title is enough
        ("GENE\n Therapy today", "", True),  # a space is any white space; case does not matter
        ("Genes and general", "", False),  # whole words
        ("gene-pool", "", True),  # which end at whatever is not a letter, digit or underscore
        ("", "gene gene", False),
        ("", "gene gene gene", True),
        ("", "gene therapy and gene", True),  # each term counts for itself: gene twice, gene therapy once
        ("", "therapy therapy therapy", False),
    ],
)
def test_a_page_is_relevant_by_its_title_or_by_often_enough_in_its_body(
    title: str, body: str, is_relevant: bool
) -> None:
    assert bool(RelevanceRules([TOPIC]).queries(Text(title, "", "", "", body))) is is_relevant


def test_headings_and_descriptions_do_not_count() -> None:
    text = Text("", "gene gene gene gene", "gene gene gene", "gene gene gene", "")

    assert RelevanceRules([TOPIC]).queries(text) == set()


def test_topics_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "topics.json"
    row = {"query": " gene  therapy ", "terms": ["Gene", "gene ", "Gene  Therapy"], "min_body": 3, "note": 1}
    file.write_text(json.dumps({"rule": "…", "topics": [row]}))

    assert read_topics(file) == [Topic("gene  therapy", ("gene", "gene therapy"), 3)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected"),
        ("[]", "expected"),
        ("[[[" * 100_000, "expected"),
        ('{"topics": []}', "has no topics"),
        ('{"topics": {"a": 1}}', "has no topics"),
        ('{"topics": [1]}', "topic 1: expected"),
        ('{"topics": [{"query": "a", "terms": "gene", "min_body": 3}]}', "topic 1: expected"),
        ('{"topics": [{"query": "a", "terms": [], "min_body": 3}]}', "topic 1: expected"),
        ('{"topics": [{"query": "a", "terms": [" "], "min_body": 3}]}', "topic 1: expected"),
        ('{"topics": [{"query": "a", "terms": ["b"], "min_body": 0}]}', "topic 1: expected"),
        ('{"topics": [{"query": "a", "terms": ["b"], "min_body": true}]}', "topic 1: expected"),
        ('{"topics": [{"query": " ", "terms": ["b"], "min_body": 1}]}', "topic 1: expected"),
        (json.dumps({"topics": [{"query": "a", "terms": ["b"], "min_body": 1}] * 2}), "twice"),
    ],
)
def test_a_file_that_holds_no_topics_is_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "topics.json"
    file.write_text(text)

    with pytest.raises(BadInput, match=said) as refused:
        read_topics(file)
    assert str(file) in str(refused.value)
    assert "\n" not in str(refused.value)


# How many were found when?

RUN = Run("shark", "gene", relevant=8, fetched=300, found=(2, 3, 50, 101))


def finding(strategy: str, query: str, found: int) -> Run:
    """A crawl whose first pages are relevant."""
    return Run(strategy, query, 100, 100, tuple(range(1, found + 1)))


def test_measures_by_hand() -> None:
    assert [RUN.at(n) for n in (1, 2, 100, 101, 1000)] == [0, 1, 3, 4, 4]
    assert RUN.harvest(100) == 0.03
    assert RUN.harvest(1000) == 4 / 300  # nothing was left to fetch
    assert RUN.recall(100) == 3 / 8
    assert RUN.until(3) == 50
    assert RUN.until(10) == float("inf")
    nothing = Run("shark", "gene", relevant=0, fetched=0, found=())
    assert (nothing.harvest(100), nothing.recall(100)) == (0.0, 1.0)


def test_crawls_are_measured_at_some_places_and_at_their_end() -> None:
    marks = [100, 300, 1000, 5000]
    assert [marks_of(pages) for pages in (50, 300, 1000, 5000)] == [[50], marks[:2], marks[:3], marks]


@given(st.lists(st.integers(1, 500), unique=True).map(sorted), st.integers(1, 600))
def test_places_are_counted_as_a_plain_loop_counts(found: list[int], pages: int) -> None:
    run = Run("shark", "gene", 600, 500, tuple(found))

    assert run.at(pages) == sum(place <= pages for place in found)
    assert run.until() == next((place for place in found if run.at(place) == 10), float("inf"))


def test_programs_read_all_measures() -> None:
    row = RUN._replace(pool=Pooled(12.345, 50)).as_json(300)

    assert json.loads(json.dumps(row)) == {
        "strategy": "shark", "query": "gene", "relevant": 8, "fetched": 300, "found": [2, 3, 50, 101],
        "tried": 0, "seconds": 0.0, "pool": {"mean_place": 12.35, "top_share": 50.0},
        "found_at": {"100": 3, "300": 4}, "harvest_rate": {"100": 0.03, "300": 0.0133},
        "recall": {"100": 0.375, "300": 0.5}, "first_10": None,
    }  # fmt: skip


def test_the_table_has_mean_and_median_and_topics_with_ten() -> None:
    text = tables([finding("hot", query, found) for query, found in (("a", 0), ("b", 10), ("c", 50))], 100)

    assert "20.0 / 10.0" in text
    assert "0.20 / 0.10" in text
    assert re.search(r"(?m)^hot +3 .* 10 +2$", text)
    assert "place in the pool" not in text


# Retrieval system rank


def test_pools_by_hand() -> None:
    # Pool 1 … 5; ranked 3, 1, 2, and 9 which nobody fetched; 4 and 5 share the places 3 and 4: 3.5 of 0 … 4.
    found = pooled({"a": [1, 3], "b": [4, 5, 2], "c": []}, ranked=[3, 9, 1, 2])

    assert found["a"].mean_place == pytest.approx(100 * (1 + 0) / 2 / 4)
    assert found["a"].top_share == pytest.approx(200 / 3)
    assert found["b"].mean_place == pytest.approx(100 * (3.5 + 3.5 + 2) / 3 / 4)
    assert found["b"].top_share == pytest.approx(100 / 3)
    assert found["c"] == Pooled(100, 0)


def test_all_of_a_pool_stands_in_its_middle() -> None:
    assert pooled({"all": range(7), "one": [3]}, ranked=[3, 2])["all"].mean_place == pytest.approx(50)


# Virtual crawls

HOME = "http://a.example/"


def web(seed: int, pages: int = 60) -> dict[str, str]:
    """Pages of a few servers with random links, some of them to nothing, some to redirects."""
    chance = random.Random(seed)
    names = [HOME, *(f"http://{chance.choice('abcd')}.example/{n}" for n in range(pages))]
    lost = [f"http://{server}.example/lost" for server in "abxy"]
    moved = {
        f"http://{chance.choice('abcd')}.example/moved{n}": f"-> {chance.choice(names)}" for n in range(8)
    }
    targets = [*names, *lost, *moved]
    html = {
        name: page(
            f"Page {n}", "gene " * chance.randrange(5), *chance.sample(targets, chance.randrange(2, 6))
        )
        for n, name in enumerate(names)
    }
    return html | moved


def breadth(pages: dict[str, str], links: dict[str, list[str]]) -> list[str]:
    """WC's indexing mode: servers without a document first, in order of discovery; else all in turn."""
    waiting, known, order, used = {server(HOME): [HOME]}, {HOME}, list[str](), dict[str, int]()
    new, clock = [server(HOME)], 0
    while any(waiting.values()):
        clock += 1
        fresh = [one for one in new if waiting[one]]
        chosen = fresh[0] if fresh else min((one for one in waiting if waiting[one]), key=lambda s: used[s])
        url = waiting[chosen].pop(0)
        used[chosen] = clock
        found = pages.get(url, "")
        if found and not found.startswith("-> "):
            order.append(url)
            new = [one for one in new if one != chosen]
        for target in [found[3:]] if found.startswith("-> ") else links.get(url, []):
            if target not in known:
                known.add(target)
                if server(target) not in waiting:
                    new.append(server(target))
                waiting.setdefault(server(target), []).append(target)
    return order


@pytest.mark.parametrize("seed", range(3))
def test_breadth_goes_as_twenty_lines_say(tmp_path: Path, redis: Connection, seed: int) -> None:
    pages = web(seed)
    recording = Recording(recorded(tmp_path, pages))
    links = {url: [link.url for link in recording.fetch(url).links] for url in pages}

    order, tried = crawl(recording, "breadth", [HOME], redis, 1000)

    assert [recording.documents[number].url for number in order] == breadth(pages, links)
    assert 20 < len(order) < tried


class Watching(Ordering):
    """Writes down what it is told; the best links lead to /b."""

    learns = takes_notes = True
    told: list[str] = []  # in the last crawl
    seen: list[Seen] = []

    def __init__(self, query: str = "") -> None:
        self.told.clear()
        self.seen.clear()
        self._waits: list[Link] = []

    def learn(self, seen: Sequence[Seen]) -> None:
        self.told.append("learn")
        self.seen.extend(seen)
        self._waits += [link for one in seen for link in one.links]

    def page_note(self, text: Text | None, lease: Lease) -> int:
        self.told.append("page_note")
        return 7

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        self.told.append("seed" if source is None else f"first_priority after {source.note}")
        return 0

    def plan(self) -> tuple[list[Link], list[int]]:
        self.told.append("plan")
        return self._waits, [int(link.url.endswith("/b")) for link in self._waits]


WATCHING = f"{__name__}.Watching"
SMALL = {
    HOME: page("Home", "gene", "http://a.example/1", "http://a.example/moved", "http://a.example/b"),
    "http://a.example/1": page("One", "gene gene"),
    "http://a.example/b": page("Bee", "gene gene gene", HOME),
    "http://a.example/moved": "-> http://a.example/new",
    "http://a.example/new": page("New", "nothing", "http://a.example/lost"),
}


def test_a_strategy_is_told_as_a_crawl_tells_it(tmp_path: Path, redis: Connection) -> None:
    recording = Recording(recorded(tmp_path, SMALL))

    order, tried = crawl(recording, WATCHING, [HOME], redis, 1000)

    assert [recording.documents[number].url for number in order] == [
        HOME, "http://a.example/b", "http://a.example/1", "http://a.example/new",
    ]  # fmt: skip
    assert tried == 6  # a redirect, and what is not found
    home = Watching.told[Watching.told.index("learn") :][:6]
    assert home == ["learn", "page_note", *["first_priority after 7"] * 3, "plan"]
    assert Watching.told.count("learn") == Watching.told.count("plan") == 6
    by_url = {seen.url: seen for seen in Watching.seen}
    last = by_url[HOME].links[2]
    assert (last.url, last.anchor) == ("http://a.example/b", "ple/b")
    assert last.context.endswith("moved after before after")
    assert by_url["http://a.example/moved"].text is None
    assert [link.rel for link in by_url["http://a.example/moved"].links] == ["redirect"]
    lost = by_url["http://a.example/lost"]
    assert (lost.id, lost.text, list(lost.links)) == (url_id("http://a.example/lost"), None, [])


def test_a_page_that_the_archive_lacks_is_an_error(tmp_path: Path, redis: Connection) -> None:
    recording = Recording(recorded(tmp_path, SMALL, archived=False))

    with pytest.raises(Unavailable, match=f"{HOME} is in no WARC file"):
        crawl(recording, WATCHING, [HOME], redis, 1000)


def test_what_was_not_recorded_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nothing was crawled into"):
        Recording(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_strategies_are_given_the_query_where_they_take_one() -> None:
    assert mode_of("breadth", "gene therapy") == "breadth"
    assert mode_of("hot", "gene therapy") == "hot?query=gene+therapy"
    assert mode_of("hot?then=backlink", "a&b") == "hot?then=backlink&query=a%26b"
    with pytest.raises(BadInput, match="unknown mode"):
        mode_of("nobody", "gene")


# All of it


def test_runs_are_judged_by_the_topics_rule(tmp_path: Path) -> None:
    recording = Recording(recorded(tmp_path, SMALL, indexed=True))
    experiments = Experiments([TOPIC], ["fifo", WATCHING], pages=3)

    ((_, (fifo, watching)),) = runs(recording, experiments)

    assert (fifo.relevant, fifo.fetched, fifo.found) == (1, 3, (3,))
    assert (watching.relevant, watching.fetched, watching.found) == (1, 3, (2,))
    assert fifo.pool and watching.pool
    assert "place in the pool" in tables([fifo, watching], 3)


def test_focused_crawls_are_the_same_for_any_number_of_jobs(tmp_path: Path) -> None:
    topics = [TOPIC, Topic("news", ("news", "new"), 1), Topic("nothing", ("nowhere",), 1)]
    folder = recorded(tmp_path, web(1) | SMALL, indexed=True)
    experiments = Experiments(topics, ["fifo", WATCHING], pages=10)

    def crawls(recording: Recording, jobs: int) -> dict[int, list[Run]]:
        found = runs(recording, experiments, jobs=jobs)
        return {number: [run._replace(seconds=0.0) for run in of_topic] for number, of_topic in found}

    assert crawls(Recording(folder), 1) == crawls(Recording(folder), 3)


def test_strategies_are_compared_topic_by_topic() -> None:
    topics = [f"topic {n}" for n in range(8)]
    found = [Run("breadth", topic, 5, 10, (9,)) for topic in topics]
    found += [Run("shark", topic, 5, 10, (1, 2, 3)) for topic in topics]
    found += [Run("hot", topic, 5, 10, tuple(range(1, 1 + n % 3))) for n, topic in enumerate(topics)]

    rows = {(row["measure"], row["strategy"]): row for row in compared(found, 10)}

    assert rows["found", "shark"]["difference"]["value"] == 2
    assert rows["found", "shark"]["difference"]["p"] < 0.05
    assert rows["found", "hot"]["difference"]["p"] > 0.05
    assert rows["found", "breadth"]["difference"] is None
    assert rows["recall %", "shark"]["mean"]["trials"] == 8
    shown = tables(found, 10).split("compared with breadth")[1]
    assert re.search(r"shark +\+2\.0 \[", shown)
    assert re.search(r"hot +none \[", shown)
