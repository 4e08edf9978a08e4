"""The context graph: Diligenti 2000. Layers and words on graphs made by hand, and against a search."""

from __future__ import annotations

from collections import Counter, deque

import pytest
import redis
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from learning import Web, crawl, lease_of, link, seen, text, told

from webcrawler.errors import BadInput
from webcrawler.frontier import Source, ordering
from webcrawler.orderings.base import PRIORITY_MAX
from webcrawler.orderings.context import ENGLISH, OWN, WORDS, LayerModel, Layers, words_of_page
from webcrawler.orderings.words import FULL
from webcrawler.text import english

A = "http://a.test/"
GENES = "gene " * 20 + "genome of a cell"
HUB = "links to laboratories, institutes and departments of universities"
WEATHER = "rain and wind from the west, and snow in the mountains"
URLS = [f"http://s{n % 4}.test/{n}" for n in range(12)]


# ---- layers


def test_pages_are_in_the_layer_of_their_distance_from_the_topic() -> None:
    """1 → 2 → 3 on the topic; 4 links to 1, 5 to 6 alone."""
    layers = Layers(depth=2)
    for page, links in {1: [2], 2: [3], 3: [], 4: [1], 5: [6], 6: []}.items():
        layers.add(page, links, is_wanted=page == 3)

    assert [layers.of(page) for page in range(1, 6)] == [2, 1, 0, 3, 3]


def test_a_page_none_of_whose_links_was_fetched_is_in_no_layer() -> None:
    layers = Layers(depth=2)
    layers.add(1, [2, 3], is_wanted=False)
    assert layers.of(1) is None

    changed = layers.add(2, [], is_wanted=False)

    assert layers.of(1) == layers.far
    assert layers.of(2) is None
    assert changed == {1, 2}


def test_what_is_found_later_moves_pages_nearer() -> None:
    layers = Layers(depth=3)
    for page in (1, 2, 3):
        layers.add(page, [page + 1], is_wanted=False)

    changed = layers.add(4, [], is_wanted=True)

    assert [layers.of(page) for page in (1, 2, 3, 4)] == [3, 2, 1, 0]
    assert changed == {1, 2, 3, 4}


def test_what_links_to_a_redirect_links_to_its_target() -> None:
    before, after = Layers(depth=2), Layers(depth=2)
    before.add(1, [8], is_wanted=False)
    before.redirect(8, 9)
    before.add(9, [], is_wanted=True)
    after.add(9, [], is_wanted=True)
    after.add(1, [8], is_wanted=False)
    after.redirect(8, 9)

    assert before.of(1) == after.of(1) == 1


@pytest.mark.parametrize("chain", [[(8, 8)], [(8, 9), (9, 8)], [(8, 9), (9, 7), (7, 8)]])
def test_redirects_in_a_circle_end(chain: list[tuple[int, int]]) -> None:
    layers = Layers(depth=2)
    layers.add(1, [8], is_wanted=False)
    for url, target in chain:
        layers.redirect(url, target)

    assert layers.add(2, [7, 8, 9, 1], is_wanted=True) >= {2}


steps = st.lists(
    st.tuples(st.integers(0, 9), st.sets(st.integers(0, 9), max_size=4), st.booleans()),
    unique_by=lambda step: step[0],
)


@given(steps, st.integers(1, 4))
def test_layers_are_those_of_a_search_backwards_over_all_pages_fetched(
    pages: list[tuple[int, set[int], bool]], depth: int
) -> None:
    """Whatever the order in which they were fetched."""
    layers = Layers(depth)
    for page, links, is_wanted in pages:
        layers.add(page, links, is_wanted)

    distance = {page: 0 for page, _, is_wanted in pages if is_wanted}
    waiting = deque(distance)
    while waiting:
        nearer = waiting.popleft()
        for page, links, _ in pages:
            if nearer in links and page not in distance:
                distance[page] = distance[nearer] + 1
                waiting.append(page)
    fetched = {page for page, _, _ in pages}
    for page, links, _ in pages:
        expected: int | None = min(distance.get(page, depth + 1), depth + 1)
        if expected == depth + 1 and not fetched & (links - {page}):
            expected = None
        assert layers.of(page) == expected


# ---- words


def test_a_page_is_described_by_its_weightiest_stems() -> None:
    found = words_of_page(text(" ".join(f"quokka{n}" for n in range(60)) + " the gene gene gene gene gene"))

    assert len(found) == WORDS
    assert "gene" in found
    assert words_of_page(text("")) == ()


def test_an_unknown_word_speaks_for_no_layer() -> None:
    model = LayerModel(3)
    model.add(["gene"] * 5, 0)
    for _ in range(20):
        model.add(["rain", "snow"], 2)

    assert model.chances(["quokka"]) == pytest.approx([0.5, 0, 0.5])


def test_where_nothing_was_learnt_a_page_is_far() -> None:
    assert LayerModel(5).distance(["gene"]) == 4
    assert LayerModel(5).chances([]) == [0, 0, 0, 0, 1]


documents = st.lists(
    st.tuples(st.lists(st.sampled_from(["gene", "cell", "rain", "quokka"]), min_size=1), st.integers(0, 3)),
    min_size=1,
    max_size=8,
)


@given(documents, st.lists(st.sampled_from(["gene", "rain", "quokka", "zebra"]), max_size=6))
def test_chances_are_those_of_bayes_rule(found: list[tuple[list[str], int]], page: list[str]) -> None:
    """Against the product of probabilities, without logarithms."""
    model = LayerModel(4)
    for words, layer in found:
        model.add(words, layer)
    all_words = Counter(word for words, _ in found for word in words)
    joint = []
    for layer in range(4):
        own = Counter(word for words, of in found if of == layer for word in words)
        if not own and layer < 3:
            joint.append(0.0)
            continue
        chance = 1.0
        for word in page:
            usual = (all_words[word] + ENGLISH * english().frequency(word)) / (all_words.total() + ENGLISH)
            chance *= OWN * own[word] / own.total() + (1 - OWN) * usual if own else usual
        joint.append(chance)

    assert model.chances(page) == pytest.approx([one / sum(joint) for one in joint])
    assert model.distance(page) == pytest.approx(sum(n * one / sum(joint) for n, one in enumerate(joint)))


@given(documents)
def test_a_page_that_is_taken_away_was_never_there(found: list[tuple[list[str], int]]) -> None:
    model, other = LayerModel(4), LayerModel(4)
    other.add(["gene"], 0)
    for words, layer in found:
        model.add(words, layer)
    model.add(["gene"], 0)
    for words, layer in found:
        model.add(words, layer, times=-1)

    assert (model._counts, model._totals, model._all) == (other._counts, other._totals, other._all)


# ---- the ordering


def test_pages_like_one_that_led_to_the_topic_come_before_others() -> None:
    by = ordering("context-graph?query=gene")

    given = told(
        by,
        seen(A, f"{HUB} directory", link(A + "genes")),
        seen(A + "weather", WEATHER, link(A + "rain")),
        seen(A + "rain", WEATHER, link(A + "snow")),
        seen(A + "genes", GENES),
        seen(A + "other", f"{HUB} hospitals", link(A + "1")),
        seen(A + "west", f"{WEATHER} and sun", link(A + "2")),
    )

    assert given[A + "1"] > given[A + "2"]


def test_links_that_wait_are_told_what_was_learnt_since() -> None:
    by = ordering("context-graph?query=gene")
    before = told(by, seen(A, HUB, link(A + "genes"), link(A + "1")))

    after = told(by, seen(A + "genes", GENES))

    assert after[A + "1"] > before[A + "1"]
    assert by.plan() == ([], [])


def test_without_a_query_what_is_like_the_seeds_is_on_the_topic() -> None:
    by = ordering("context-graph")
    assert by.first_priority(link(A)) == PRIORITY_MAX

    given = told(
        by,
        seen(A, GENES, link(A + "1")),
        seen(A + "x", WEATHER, link(A + "y")),
        seen(A + "y", WEATHER + " today", link(A + "2")),
    )

    assert given[A + "1"] > given[A + "2"]


def test_the_target_of_a_redirect_takes_its_place() -> None:
    assert ordering("context-graph?query=gene").first_priority(link(A, rel="redirect"), Source(7)) == 7


@given(st.lists(st.tuples(st.sampled_from(URLS), st.sampled_from([GENES, HUB, "", None])), max_size=8))
@settings(max_examples=examples(25))
def test_priorities_stay_within_their_bounds(found: list[tuple[str, str | None]]) -> None:
    given = told(ordering("context-graph?query=gene"), *(seen(url, body, link(A)) for url, body in found))

    assert all(0 <= priority <= FULL for priority in given.values())


pages = st.tuples(
    st.sampled_from([GENES, HUB, WEATHER, ""]),
    st.lists(st.sampled_from(URLS).map(lambda url: (url, "")), max_size=5, unique=True),
)


@given(st.fixed_dictionaries(dict.fromkeys(URLS, pages)), st.integers(1, 3))
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
def test_nothing_that_is_found_is_lost(client: redis.Redis, web: Web, layers: int) -> None:
    reached = [URLS[0]]
    for url in reached:
        reached += [found for found, _ in web[url][1] if found not in reached]

    order = crawl(client, f"context-graph?query=gene&layers={layers}", web, URLS[0])

    assert sorted(order) == sorted(reached)


def test_a_page_without_text_hands_on_the_priority_that_it_had() -> None:
    assert ordering("context-graph?query=gene").page_note(None, lease_of(A, priority=1_000)) == 1_000


@pytest.mark.parametrize(
    "mode, message",
    [
        ("context-graph?layers=0", "layers=0 is not a whole number from 1 to 10"),
        ("context-graph?layers=11", "layers=11 is not a whole number from 1 to 10"),
        ("context-graph?layers=x", "layers=x is not a whole number"),
        ("context-graph?query=the", "no word to look for"),
        ("context-graph?d=2", "it takes query, layers"),
    ],
)
def test_wrong_arguments_get_one_clear_line(mode: str, message: str) -> None:
    with pytest.raises(BadInput, match=message) as found:
        ordering(mode)

    assert "\n" not in str(found.value)
