"""The WebCrawler's real-time search mode: Pinkerton 1994, "Real-time search mode"."""

from __future__ import annotations

import pytest
import redis
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from learning import Web, crawl, link, seen, text, told

from webcrawler.archive import take_in
from webcrawler.errors import BadInput
from webcrawler.frontier import Frontier, Ordering, Politeness, Source, ordering
from webcrawler.orderings.base import BAND, PRIORITY_MAX
from webcrawler.orderings.topic import ALSO
from webcrawler.orderings.webcrawler import LEVELS, Peculiar, WebCrawler, search_anchors
from webcrawler.text.reference import english

A = "http://a.test/"
URLS = [f"http://s{n % 4}.test/{n}" for n in range(15)]
NEAR_TOP = WebCrawler.near_top


def by(query: str = "gene", also: str = "") -> Ordering:
    return ordering(f"webcrawler?query={query}&also={also}")


# ---- the measure: peculiarity, as search has it


@pytest.mark.parametrize(
    "body, relevance",
    [
        ("gene", 1.0),  # nothing but the most peculiar word of the query
        ("a gene in the wood", 1 / 2),  # stop words do not count, in neither
        ("genes, and many other things here: wood, trees", 1 / 5),
        ("wood", 0.0),
        ("", 0.0),
    ],
)
def test_a_text_is_as_relevant_as_its_share_of_the_word(body: str, relevance: float) -> None:
    found = Peculiar("gene").relevance(text(body))

    assert found == pytest.approx(relevance, rel=0.3 if 0 < relevance < 0.5 else 1e-9)


def test_a_word_counts_by_its_weight_in_the_text_times_its_weight_in_the_query() -> None:
    """Pinkerton 1994: both weights are a frequency over that in the reference domain."""
    frequency = english().frequency
    query, body = ["gene", "tree", "tree"], ["gene", "gene", "tree", "wood"]

    def weight(word: str, words: list[str]) -> float:
        return words.count(word) / len(words) / frequency(word)

    relevance = sum(weight(word, body) * weight(word, query) for word in ("gene", "tree")) / len(query)
    most = max(weight(word, [word]) * weight(word, query) for word in ("gene", "tree")) / len(query)

    assert Peculiar("gene tree tree").relevance(text(" ".join(body))) == pytest.approx(relevance / most)


def test_the_index_of_anchors_finds_those_with_a_word_of_the_query() -> None:
    anchors = ["gene", "the genes of mice", "wood", "", "mice"]
    links = [link(URLS[n], anchor) for n, anchor in enumerate(anchors)]

    found = search_anchors(links, Peculiar("gene", ["mouse", "mice"]))

    best, second, weak = (found.pop(links[n].id) for n in (0, 1, 4))
    assert best == 1 and best > second > weak > 0 and not found


@given(st.sampled_from(["cell", "zygote", "tree", "the house", "qqqq"]))
def test_words_of_the_thesaurus_count_less_than_the_best_of_the_query_however_rare(also: str) -> None:
    query = Peculiar("gene", [also])

    assert query.values.pop("gene") == 1
    assert all(0 < value <= ALSO for value in query.values.values())


# ---- the loop


def test_links_of_documents_near_the_top_come_first_the_most_relevant_anchors_before_the_others() -> None:
    found = told(
        by("gene+zygote", "mouse"),
        seen(A, "gene", link(A + "1", "more"), link(A + "2", "gene"), link(A + "3", "mouse")),
        seen(A + "w", "wood", link(A + "4", "gene"), link(A + "5")),
    )

    assert sorted(found, key=lambda url: -found[url]) == [A + n for n in "23145"]
    assert [found[A + n] >= BAND for n in "12345"] == [True] * 3 + [False] * 2


def test_when_a_document_falls_out_of_the_top_its_links_fall_back() -> None:
    strategy = by()
    before = told(strategy, seen(A, "gene in a wood of trees", link(A + "1", "gene"), link(A + "2")))
    better = [seen(url, "gene gene tree", link(url + "/x")) for url in URLS[:NEAR_TOP]]

    first, after = told(strategy, *better[:-1]), told(strategy, better[-1])

    assert not {A + "1", A + "2"} & first.keys()
    assert [after[A + n] for n in "12"] == [before[A + n] - BAND for n in "12"] == [LEVELS, 0]
    assert told(strategy, seen(A + "w", "wood")) == {}


def test_an_old_document_becomes_a_candidate_when_the_query_is_run_again() -> None:
    strategy = by()
    told(strategy, *(seen(url, "gene gene tree", link(url + "/x")) for url in URLS[:NEAR_TOP]))
    old = seen(A, "gene in a wood of trees", link(A + "1"))
    assert told(strategy, old)[A + "1"] == 0

    strategy.learn([seen(URLS[3], relevance=0.1), old._replace(relevance=0.9)])

    found = {one.url: priority for one, priority in zip(*strategy.plan(), strict=True)}
    assert found == {A + "1": BAND, URLS[3] + "/x": 0}
    assert strategy.plan() == ([], [])


def test_a_document_that_a_search_ranks_no_more_falls_out_of_the_top() -> None:
    strategy = by()
    told(strategy, seen(A, "gene", link(A + "1", "gene"), relevance=1.0))

    assert told(strategy, seen(A, "gene", link(A + "1", "gene"), relevance=0.0)) == {A + "1": LEVELS}


def test_a_document_that_is_told_again_with_some_of_its_links_keeps_the_others() -> None:
    strategy = by()
    links = [link(A + n, "gene") for n in "123"]
    strategy.learn([seen(A, "gene", *links[:2])])
    strategy.learn([seen(A, "gene", links[2], relevance=0.5)])

    assert sorted(one.url for one in strategy.plan()[0]) == [A + n for n in "123"]
    strategy.learn([seen(A, "gene", links[0], relevance=0.6)])
    assert strategy.plan() == ([], [])


def test_a_document_that_falls_out_before_its_links_are_planned_has_them_fall_back() -> None:
    """Threads take turns: one learns of a page, and another of better ones before the links are taken in."""
    strategy, page = by(), seen(A, "gene in a wood of trees", link(A + "1", "gene"))
    strategy.learn([page])
    priority = strategy.first_priority(page.links[0], Source(id=page.id))
    strategy.learn([seen(url, "gene gene tree") for url in URLS[:NEAR_TOP]])

    assert priority == BAND + LEVELS
    assert strategy.plan() == ([page.links[0]], [LEVELS])


def test_what_waits_is_raised_when_its_document_becomes_a_candidate_later(client: redis.Redis) -> None:
    """A frontier raises what waits once a page, however often the page is taken in."""
    client.flushdb()
    frontier = Frontier(client, ordering("webcrawler?query=gene"), politeness=Politeness(delay=0.0))
    frontier.open("webcrawler?query=gene")
    wood, tree = link("http://b.test/1"), link("http://c.test/1")
    take_in(frontier, [seen(A + "w", "wood", wood), seen(A + "t", "tree", tree)])

    take_in(frontier, [seen(A + "t", "tree", tree, relevance=1.0)])

    assert [lease.url for lease in frontier.lease(2).leases] == [tree.url, wood.url]


def test_a_document_without_a_word_of_the_query_is_never_a_candidate() -> None:
    assert told(by(), seen(A, "wood", link(A + "1"))) == {A + "1": 0}
    assert told(by(), seen(A, "wood", link(A + "1"), relevance=0.0)) == {A + "1": 0}
    assert told(by(), seen(A, "wood", link(A + "1"), relevance=0.5)) == {A + "1": BAND}


def test_what_was_explored_is_not_planned_any_more() -> None:
    strategy = by()
    told(strategy, seen(A, "gene in a wood of trees", link(A + "1"), link(A + "2")))
    found = told(strategy, seen(A + "1"), *(seen(url, "gene gene tree") for url in URLS[:NEAR_TOP]))

    assert found == {A + "2": 0}


def test_what_is_recalled_from_the_catalog_is_planned_though_its_links_are_not_taken_in_again() -> None:
    strategy = by()
    strategy.learn([seen(A, "gene", link(A + "1", "gene"), link(A + "2"))])

    assert strategy.plan()[1] == [BAND + LEVELS, BAND]
    assert strategy.plan() == ([], [])


def test_seeds_come_first_and_a_redirect_takes_the_place_of_its_page() -> None:
    strategy = by()

    assert strategy.first_priority(link(A)) == PRIORITY_MAX
    assert strategy.first_priority(link(A, rel="redirect"), Source(7)) == 7


class OfThree(WebCrawler):
    near_top = 3


ANCHORS = {
    url: ["", "wood", "gene", "a gene in a wood", "wood and gene"][n % 5] for n, url in enumerate(URLS)
}
pages = st.tuples(
    st.sampled_from(["wood", "gene", "gene wood", "gene wood tree", "wood gene wood gene tree", ""]),
    st.lists(st.sampled_from(URLS), max_size=5, unique=True).map(
        lambda urls: [(url, ANCHORS[url]) for url in urls]
    ),
)


def loop(web: Web, seeds: list[str], near_top: int) -> list[str]:
    """The loop as it reads: at each step everything is looked at anew."""
    query = Peculiar("gene")
    order, waiting = list[str](), list(seeds)

    def relevance(words: str) -> float:
        return query.relevance(text(words))

    while waiting:
        results = sorted(order, key=lambda url: -relevance(web[url][0]))[:near_top]
        front = {link for url in results if relevance(web[url][0]) for link, _ in web[url][1]}
        first = [url for url in waiting if url in seeds][:1]
        best = max(
            first or waiting, key=lambda url: (url in front, relevance(ANCHORS[url]), -waiting.index(url))
        )
        waiting.remove(best)
        order.append(best)
        waiting += [url for url, _ in web[best][1] if url not in order + waiting]
    return order


@pytest.mark.slow
@given(st.fixed_dictionaries(dict.fromkeys(URLS, pages)), st.integers(1, 3))
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_a_crawl_follows_the_most_relevant_anchor_of_the_documents_near_the_top(
    client: redis.Redis, web: Web, number: int
) -> None:
    seeds = URLS[:number]

    order = crawl(client, "test_webcrawler_strategy.OfThree?query=gene", web, *seeds)

    assert order == loop(web, seeds, 3)


@pytest.mark.parametrize("query", ["", "the", "of+the", "%21"])
def test_a_query_without_a_word_to_look_for_is_bad_input(query: str) -> None:
    with pytest.raises(BadInput, match="no word to look for"):
        by(query)
