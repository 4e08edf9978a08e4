"""Best-first and SharkSearch: each against a reference with a heap, one request at a time."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable

import pytest
import redis
from conftest import MakeFrontier, examples
from frontiers import links, visit_all
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from learning import lease_of, text

from webcrawler.errors import BadInput
from webcrawler.frontier import Done, Frontier, Politeness, Source, ordering
from webcrawler.orderings.base import PRIORITY_MAX
from webcrawler.orderings.words import COMMONEST
from webcrawler.records import Link
from webcrawler.text.analysis import terms

URLS = [f"http://s{n % 4}.test/{n}" for n in range(12)]
TEXTS = ["", "a tree in a wood", "gene", "the gene of a cell", "gene gene cell", "a cell in a wood " * 3]
WORDS = ["", "more", "gene", "the gene and the cell", "cell wood"]
LEASE = lease_of(URLS[0])
FULL = 2**19 - 1  # the priority of a score of 1
STEPS = 2**20 - 1  # of an inherited score

Outlink = tuple[str, str, str]  # URL, anchor, words around it
Web = dict[str, tuple[str, list[Outlink]]]  # URL -> its text, its links
outlinks = st.tuples(st.sampled_from(URLS), st.sampled_from(WORDS), st.sampled_from(WORDS))
pages = st.tuples(st.sampled_from(TEXTS), st.lists(outlinks, max_size=5, unique_by=lambda link: link[0]))
webs = st.fixed_dictionaries(dict.fromkeys(URLS, pages))
of_small_webs = settings(max_examples=examples(80), deadline=None, suppress_health_check=list(HealthCheck))


def link(url: str, anchor: str = "", context: str = "", rel: str = "") -> Link:
    return links(url)[0]._replace(anchor=anchor, context=context, rel=rel)


def crawl(client: redis.Redis, mode: str, web: Web) -> list[str]:
    """One request at a time from URLS[0], to the end."""
    client.flushdb()
    frontier = Frontier(client, ordering(mode), politeness=Politeness(delay=0.0))
    frontier.open(mode)
    frontier.discover(links(URLS[0]))
    order, found = [], frontier.lease(1)
    while found.leases:
        (one,) = found.leases
        order.append(one.url)
        body, outlinks = web[one.url]
        followed = [link(*out) for out in outlinks if out[0] != one.url]
        note = frontier.ordering.page_note(text(body), one)
        _, found = frontier.complete_and_lease([Done(one, "document", True, followed, note=note)], 1)
    return order


def cosine(one: str, other: str) -> float:
    a, b = Counter(one.split()), Counter(other.split())
    product = sum(a[word] * b[word] for word in a)
    return product / math.sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()) or 1)


def best_score_first(web: Web, scores_of: Callable[[str], dict[str, float]]) -> list[str]:
    """A heap of (score, time of discovery); a better score for a URL that waits is another entry."""
    heap, found, order = [(-math.inf, 0, URLS[0])], {URLS[0]: 0}, list[str]()
    while heap:
        _, _, url = heapq.heappop(heap)
        if url in order:
            continue
        order.append(url)
        for target, score in scores_of(url).items():
            if target != url and target not in order:
                found.setdefault(target, len(found))
                heapq.heappush(heap, (-round(score * FULL), found[target], target))
    return order


# ---- best-first: Mengozzi, "Naive Best-First crawler"


@given(webs)
@of_small_webs
def test_best_first_visits_the_links_of_the_page_most_like_the_query(client: redis.Redis, web: Web) -> None:
    def scores_of(url: str) -> dict[str, float]:
        return {target: cosine("gene cell", web[url][0]) for target, _, _ in web[url][1]}

    assert crawl(client, "best-first?query=gene+cell", web) == best_score_first(web, scores_of)


@pytest.mark.parametrize(
    "title, body, score",
    [
        ("", "gene", 1 / math.sqrt(2)),
        ("Gene", "CELL", 1.0),  # title and body, in any case
        ("", "gene gene cell", 3 / math.sqrt(2 * 5)),
        ("", "the gene of the cell", 2 / math.sqrt(2 * (1 + 1 + 1 + 4))),  # no stop list
        ("", "genes", 0.0),  # no stemming
        ("", "", 0.0),
    ],
)
def test_a_page_is_as_good_as_the_cosine_of_its_term_frequencies(title: str, body: str, score: float) -> None:
    assert ordering("best-first?query=gene+cell").page_note(text(body, title), LEASE) == round(score * FULL)


# ---- shark: Mengozzi, SharkSearch(d, gamma, delta, beta)


def shark_search(web: Web, d: int, gamma: float, delta: float, beta: float) -> list[str]:
    """Formulas as printed. A URL inherits from the page with fewest pages without a query word before it."""
    query = "gene cell"
    inherited: dict[str, tuple[int, float]] = {URLS[0]: (d, 0.0)}

    def scores_of(url: str) -> dict[str, float]:
        depth, own = inherited[url]
        found = cosine(query, web[url][0])
        to, score = (d, delta * found) if found > 0 else (max(0, depth - 1), delta * own)
        passed = to, round(score * STEPS) / STEPS
        scores = {}
        for target, words, around in web[url][1]:
            inherited[target] = max(passed, inherited.get(target, passed))
            anchor = cosine(query, words)
            context = 1 if anchor > 0 else cosine(query, around)
            neighborhood = beta * anchor + (1 - beta) * context
            score = gamma * passed[1] + (1 - gamma) * neighborhood
            scores[target] = score if passed[0] else score - 2**19 / FULL
        return scores

    return best_score_first(web, scores_of)


@pytest.mark.slow
@given(webs, st.integers(1, 3), *[st.sampled_from([0.0, 0.25, 0.5, 0.875])] * 3)
@of_small_webs
def test_shark_visits_as_its_formulas_say(
    client: redis.Redis, web: Web, d: int, gamma: float, delta: float, beta: float
) -> None:
    mode = f"shark?query=gene+cell&d={d}&gamma={gamma}&delta={delta}&beta={beta}"

    assert crawl(client, mode, web) == shark_search(web, d, gamma, delta, beta)


def test_shark_has_the_constants_of_the_literature() -> None:
    """Hersovici 1998: delta .5, beta .8, gamma .8. By hand, for a page that is the query and nothing else."""
    shark = ordering("shark?query=gene")
    source = Source(note=shark.page_note(text("gene"), LEASE))

    scores = [
        shark.first_priority(link(URLS[1], *words), source) / FULL
        for words in [("gene", ""), ("the gene", "gene"), ("more", "gene"), ("more", "less")]
    ]

    inherited, half = 0.8 * 0.5, 1 / math.sqrt(2)
    hand = [inherited + 0.2, inherited + 0.2 * (0.8 * half + 0.2), inherited + 0.2 * 0.2, inherited]
    assert scores == pytest.approx(hand, abs=1e-5)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_links_of_the_last_of_d_pages_without_a_query_word_go_behind_all_others(d: int) -> None:
    shark = ordering(f"shark?query=gene&d={d}")
    note, priorities = 0, []
    for _ in range(d + 1):
        note = shark.page_note(text("a tree"), LEASE._replace(note=note))
        priorities.append(shark.first_priority(link(URLS[1], "gene"), Source(note=note)))

    assert [priority >= 0 for priority in priorities] == [True] * (d - 1) + [False] * 2
    assert shark.page_note(text("gene"), LEASE._replace(note=note)) == shark.page_note(text("gene"), LEASE)


# ---- both


@pytest.mark.parametrize("mode", ["best-first?query=gene", "shark?query=gene"])
def test_what_a_redirect_leads_to_takes_its_place(make_frontier: MakeFrontier, mode: str) -> None:
    frontier = make_frontier(mode)
    frontier.discover(links(URLS[0], URLS[1]))
    (one,) = frontier.lease(1).leases
    note = frontier.ordering.page_note(None, one)
    frontier.complete([Done(one, "redirect", False, [link(URLS[2], rel="redirect")], note=note)])

    assert visit_all(frontier) == [URLS[1], URLS[2]]
    assert frontier.ordering.page_note(None, one._replace(note=7)) in (0, 7)


@given(
    st.sampled_from(["best-first?query=gene", "shark?query=gene", "shark?query=gene&d=1000&gamma=0&beta=0"]),
    st.lists(st.tuples(st.sampled_from([*TEXTS, None]), *[st.sampled_from(WORDS)] * 2), max_size=8),
    st.integers(-(2**20), PRIORITY_MAX),
    st.sampled_from(["", "redirect"]),
)
def test_priorities_stay_within_their_bounds(
    mode: str, path: list[tuple[str | None, str, str]], priority: int, rel: str
) -> None:
    by, note = ordering(mode), 0
    for body, anchor, context in path:
        note = by.page_note(None if body is None else text(body), lease_of(URLS[0], priority, note))
        source = Source(priority, note)

        assert abs(by.first_priority(link(URLS[1], anchor, context, rel), source)) <= PRIORITY_MAX
        assert 0 <= by.note(link(URLS[1]), source) < 2**40
        note = by.note(link(URLS[1]), source)


@pytest.mark.parametrize(
    "mode, message",
    [
        ("best-first", "needs a query"),
        ("shark?query=", "needs a query"),
        ("shark?query=%21%21", "needs a query"),
        ("shark?query=of+the", "other ones than articles"),
        ("shark?query=gene&d=0", "d=0 is not a whole number from 1 to 1,000"),
        ("shark?query=gene&d=1.5", "d=1.5 is not a whole number"),
        ("shark?query=gene&d=1001", "d=1001 is not a whole number"),
        ("shark?query=gene&gamma=1", "gamma=1 is not a number from 0 to below 1"),
        ("shark?query=gene&delta=-0.1", "delta=-0.1 is not a number"),
        ("shark?query=gene&beta=nan", "beta=nan is not a number"),
        ("shark?query=gene&beta=much", "beta=much is not a number"),
        ("best-first?query=gene&d=3", "it takes query"),
    ],
)
def test_wrong_arguments_get_one_clear_line(mode: str, message: str) -> None:
    with pytest.raises(BadInput, match=message) as found:
        ordering(mode)

    assert "\n" not in str(found.value)


def test_words_that_alone_ask_for_nothing_are_stop_words_of_the_index() -> None:
    assert terms(COMMONEST) == []
    assert ordering("best-first?query=the+gene").page_note(text("gene"), LEASE) > 0
