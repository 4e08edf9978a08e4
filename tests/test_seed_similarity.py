"""Similarity to the seed pages: Mengozzi, "Page importance"."""

from __future__ import annotations

import heapq
import math
from collections import Counter

import pytest
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from learning import Web, crawl, lease_of, link, seen, text, told
from redis import Redis

from webcrawler.errors import BadInput
from webcrawler.frontier import Ordering, Source, ordering
from webcrawler.orderings.base import PRIORITY_MAX
from webcrawler.orderings.examples import KEPT

A = "http://a.test/"
SEED, OTHER = A + "seed", A + "other"
URLS = [f"http://s{n % 4}.test/{n}" for n in range(12)]
FULL = 2**19 - 1  # the priority of a similarity of 1


def by(*seeds: str, query: str = "") -> Ordering:
    found = ordering(f"seed-similarity?query={query}")
    for url in seeds:
        assert found.first_priority(link(url)) == PRIORITY_MAX
    return found


def by_cosine(one: str, *others: str) -> int:
    """The priority that the links of a text have by its similarity to the others together."""
    a, b = Counter(one.split()), Counter(" ".join(others).split())
    product = sum(a[word] * b[word] for word in a)
    norms = math.sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()) or 1)
    return round(product / norms * FULL)


# ---- the score of a page


@pytest.mark.parametrize(
    "body, score",
    [
        ("gene cell", 1.0),
        ("gene wood", 1 / 2),
        ("the Genes and a cell", 1.0),  # stems, without stop words
        ("gene gene cell", 3 / math.sqrt(2 * 5)),
        ("wood", 0.0),
        ("", 0.0),
    ],
)
def test_a_page_is_as_good_as_its_cosine_with_the_seed(body: str, score: float) -> None:
    found = told(by(SEED), seen(SEED, "gene cell"), seen(A, body, link(A + "1")))

    assert found == {A + "1": round(score * FULL)}


def test_further_words_count_as_often_as_the_most_frequent_word_of_the_seeds() -> None:
    strategy = by(SEED, query="tree")
    told(strategy, seen(SEED, "gene gene cell"))

    note = strategy.page_note(text("tree gene"), lease_of(A))

    assert note == by_cosine("tree gene", "gene gene cell tree tree")


def test_further_words_alone_will_do_until_there_is_a_seed() -> None:
    assert told(by(query="gene"), seen(A, "gene", link(A + "1"))) == {A + "1": FULL}


# ---- which pages are seeds


def test_a_seed_counts_once_however_often_it_is_told_of() -> None:
    strategy = by(SEED, OTHER)
    told(strategy, seen(SEED, "gene"), seen(SEED, "gene"), seen(SEED, "gene"), seen(OTHER, "cell"))
    strategy.first_priority(link(SEED))

    assert strategy.page_note(text("gene cell"), lease_of(A)) == FULL


def test_what_a_seed_redirects_to_is_a_seed() -> None:
    strategy = by(SEED)
    told(strategy, seen(SEED, None, link(OTHER, rel="redirect")), seen(A, "wood"), seen(OTHER, "gene"))

    assert strategy.page_note(text("gene"), lease_of(A)) == FULL
    assert strategy.page_note(text("wood"), lease_of(A)) == 0


def test_a_redirect_takes_the_place_of_its_page() -> None:
    assert by().first_priority(link(A, rel="redirect"), Source(7, 3)) == 7


def test_without_a_seed_that_is_known_links_inherit_the_priority_of_their_page() -> None:
    assert by().page_note(text("gene"), lease_of(A, priority=1_000)) == 1_000
    assert by().page_note(text("gene"), lease_of(A, priority=-(2**20))) == 0
    assert by().page_note(text("gene"), lease_of(A, priority=PRIORITY_MAX)) == FULL


# ---- pages that come before the seeds


def test_pages_that_came_before_a_seed_are_judged_again_when_it_is_there() -> None:
    strategy = by(SEED, OTHER)
    told(strategy, seen(SEED, "gene"))
    page = seen(A, "gene cell", link(A + "1"), link(A + "2"))
    before = told(strategy, page, seen(A + "w", "wood", link(A + "3")))

    after = told(strategy, seen(OTHER, "cell cell"))

    assert before == {**dict.fromkeys([A + "1", A + "2"], by_cosine("gene cell", "gene")), A + "3": 0}
    assert after == dict.fromkeys([A + "1", A + "2"], by_cosine("gene cell", "gene cell cell"))
    assert strategy.plan() == ([], [])


def test_a_page_that_is_told_again_keeps_the_links_that_it_had() -> None:
    strategy = by(SEED, OTHER)
    told(strategy, seen(SEED, "gene"), seen(A, "gene cell", link(A + "1"), link(A + "2")))
    told(strategy, seen(A, "gene cell", link(A + "3"), relevance=0.5))

    after = told(strategy, seen(OTHER, "cell cell"))

    assert after == dict.fromkeys([A + n for n in "123"], by_cosine("gene cell", "gene cell cell"))


def test_what_waits_is_planned_anew_though_its_page_was_taken_in_again_by_what_is_known_now() -> None:
    """A frontier raises what waits once a page, however often the page is taken in."""
    strategy, page = by(SEED, OTHER), seen(A, "gene cell", link(A + "1"))
    told(strategy, seen(SEED, "gene"), page)
    strategy.learn([seen(OTHER, "cell cell")])

    strategy.page_note(page.text, lease_of(A))

    assert strategy.plan()[1] == [by_cosine("gene cell", "gene cell cell")]


def test_a_page_that_is_named_a_seed_after_it_was_found_is_one() -> None:
    strategy = by()
    told(strategy, seen(SEED, "gene", link(A + "1")), seen(A, "wood", link(A + "2")))

    strategy.first_priority(link(SEED))
    links, priorities = strategy.plan()

    assert {one.url: n for one, n in zip(links, priorities, strict=True)} == {A + "1": FULL, A + "2": 0}


@pytest.mark.parametrize("outcome", [None, "gene"])
def test_when_all_seeds_are_decided_pages_are_not_kept_any_more(outcome: str | None) -> None:
    strategy = by(SEED, OTHER)
    told(strategy, seen(SEED, "gene"), seen(A, "gene", link(A + "1")), seen(OTHER, outcome))

    assert not strategy._pages  # type: ignore[attr-defined]


def test_no_more_pages_are_kept_than_there_is_room_for() -> None:
    strategy = by(SEED)
    strategy.learn([seen(f"{A}{n}", "gene") for n in range(KEPT + 9)])

    assert len(strategy._pages) == KEPT  # type: ignore[attr-defined]


# ---- the crawl


TEXTS = ["", "gene", "gene cell", "gene gene cell", "cell wood", "wood tree wood"]
pages = st.tuples(
    st.sampled_from(TEXTS),
    st.lists(st.sampled_from(URLS).map(lambda url: (url, "")), max_size=5, unique=True),
)


def most_like_the_seeds(web: Web, seeds: list[str]) -> list[str]:
    """A heap of (score, time of discovery); the seeds are before everything else."""
    order, together = list(seeds), [web[url][0] for url in seeds]
    heap: list[tuple[int, int, str]] = []
    found: dict[str, int] = {}
    for url in order:
        score = by_cosine(web[url][0], *together)
        for target, _ in web[url][1]:
            if target not in order:
                found.setdefault(target, len(found))
                heapq.heappush(heap, (-score, found[target], target))
        while url == order[-1] and heap:
            _, _, best = heapq.heappop(heap)
            if best not in order:
                order.append(best)
    return order


@given(st.fixed_dictionaries(dict.fromkeys(URLS, pages)), st.integers(1, 3))
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_a_crawl_visits_links_of_the_page_most_like_the_seeds(client: Redis, web: Web, number: int) -> None:
    seeds = URLS[:number]
    web |= {url: (web[url][0] or "gene", web[url][1]) for url in seeds}

    order = crawl(client, "seed-similarity", web, *seeds)

    assert order == most_like_the_seeds(web, seeds)


@given(st.lists(st.tuples(st.sampled_from([*URLS, SEED]), st.sampled_from([*TEXTS, None])), max_size=12))
def test_priorities_stay_within_their_bounds(found: list[tuple[str, str | None]]) -> None:
    given = told(by(SEED), *(seen(url, body, link(A + "1")) for url, body in found))

    assert all(0 <= priority <= FULL for priority in given.values())


@pytest.mark.parametrize("query", ["the", "of+the", "%21"])
def test_further_words_without_a_word_to_look_for_are_bad_input(query: str) -> None:
    with pytest.raises(BadInput, match="no word to look for"):
        by(query=query)
