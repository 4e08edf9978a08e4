"""The classifier: the survey of crawler types, "Focused Crawler"."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from zlib import crc32

import numpy as np
import pytest
import redis
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from learning import Web, crawl, lease_of, link, seen, text, told

from webcrawler.errors import BadInput
from webcrawler.frontier import Ordering, Seen, Source, ordering
from webcrawler.orderings.base import BAND, PRIORITY_MAX
from webcrawler.orderings.topic import weight
from webcrawler.text.analysis import terms

pytest.importorskip("sklearn", reason="the extra `classifier` is not installed")

from webcrawler.orderings.classifier import EXAMPLES, FEATURES, OTHERS, background, row, row_of, train

A = "http://a.test/"
SEED = A + "seed"
GENES = "a gene is a part of the genome: cells read genes, and genomes have many of them"
CELLS = "the cell divides, its genome is copied, and each of the two cells has all the genes"
TREES = "oak and beech are trees of the wood; their leaves fall in autumn"
SHIPS = "a ship of the line sails with the wind, and a harbour is where ships are safe"
STOCKS = "shares and bonds are bought and sold at the market, where prices rise and fall"
URLS = [f"http://s{n % 4}.test/{n}" for n in range(12)]


def by(*seeds: str, **arguments: object) -> Ordering:
    words = "&".join(f"{name}={value}" for name, value in arguments.items())
    found = ordering(f"classifier?{words}")
    for url in seeds:
        assert found.first_priority(link(url)) == PRIORITY_MAX
    return found


def on_genes(*seeds: str, **arguments: object) -> Ordering:
    """Of these seeds and one that is about genes, which was fetched."""
    strategy = by(SEED, *seeds, **arguments)
    told(strategy, seen(SEED, GENES))
    return strategy


def score(strategy: Ordering, body: str) -> float:
    """Of a page that is near a page on the topic, so that its links are followed."""
    return (strategy.page_note(text(body), lease_of(A, note=9)) % BAND) / (BAND - 1)


# ---- rows


def test_a_row_is_tf_times_rarity_in_general_english_hashed_and_of_length_1() -> None:
    stems = ["gene", "gene", "cell"]

    places, weights = row(Counter(stems))

    expected = np.array([math.log(3) * weight("gene"), math.log(2) * weight("cell")])
    assert places.tolist() == [crc32(stem.encode()) % FEATURES for stem in ("gene", "cell")]
    assert weights == pytest.approx(expected / np.linalg.norm(expected))


@given(st.text())
def test_any_text_makes_a_row(body: str) -> None:
    places, weights = row_of(text(body))

    assert len(places) == len(weights) == len(set(terms(body)))
    assert np.linalg.norm(weights) == pytest.approx(1 if terms(body) else 0)
    assert all(0 <= place < FEATURES for place in places)


# ---- the model


def test_a_page_is_scored_as_logistic_regression_scores_it() -> None:
    """Against scikit-learn's own arithmetic, over rows made by hand."""
    from sklearn.linear_model import LogisticRegression

    def dense(body: str) -> np.ndarray:
        found = np.zeros(FEATURES)
        places, weights = row_of(text(body))
        np.add.at(found, places, weights)
        return found

    unlike = np.zeros((len(background()), FEATURES))
    for one, (places, weights) in zip(unlike, background(), strict=True):
        np.add.at(one, places, weights)
    rows = [dense(GENES), dense(CELLS), *unlike, dense(TREES)]
    reference = LogisticRegression(C=10, class_weight="balanced", solver="liblinear", random_state=0)
    reference.fit(np.array(rows), [1, 1] + [0] * (len(rows) - 2))

    model = train([row_of(text(body)) for body in (GENES, CELLS)], [row_of(text(TREES))])

    for body in (GENES, SHIPS, "gene and tree", ""):
        expected = reference.predict_proba(dense(body)[None, :])[0, 1]
        assert model.score(row_of(text(body))) == pytest.approx(expected, abs=1e-6)


def test_of_other_pages_the_half_least_like_the_examples_is_what_is_not_wanted() -> None:
    """Else the pages on the topic that a crawl finds would teach it to avoid them."""
    found = [row_of(text(body)) for body in (CELLS, TREES, SHIPS, "genes of cells " + CELLS)]

    model = train([row_of(text(GENES))], found)

    assert model.score(found[0]) > 0.3 > 0.1 > model.score(found[1])


# ---- what is learnt from


def test_pages_like_the_seeds_are_better_than_others_before_any_other_page_was_seen() -> None:
    strategy = on_genes()

    assert score(strategy, CELLS) > 2 * max(score(strategy, body) for body in (TREES, SHIPS, STOCKS))


def test_other_pages_tell_what_the_examples_have_in_common_with_them() -> None:
    boilerplate = "home about contact imprint search "
    strategy = by(SEED)
    told(strategy, seen(SEED, boilerplate + GENES))
    before = score(strategy, boilerplate + SHIPS)

    told(strategy, *(seen(f"{A}{n}", boilerplate + body) for n, body in enumerate([TREES, STOCKS] * 9)))

    assert score(strategy, boilerplate + SHIPS) < before
    assert score(strategy, boilerplate + CELLS) > 2 * score(strategy, boilerplate + SHIPS)


def test_what_a_seed_redirects_to_is_an_example() -> None:
    strategy = by(SEED)
    told(strategy, seen(SEED, None, link(A, rel="redirect")), seen(A, GENES))

    assert score(strategy, CELLS) > 2 * score(strategy, SHIPS)
    assert strategy.first_priority(link(A, rel="redirect"), Source(7)) == 7


def test_a_query_alone_is_an_example_and_so_are_pages_that_are_similar_to_it() -> None:
    strategy = by(query="gene")
    told(strategy, seen(A, TREES))
    before = score(strategy, "the genome of each cell")

    told(strategy, seen(A + "1", "gene " * 20 + CELLS), seen(A + "2", "genes " * 20 + CELLS))

    assert score(strategy, "gene") > 2 * score(strategy, "ship")
    assert score(strategy, "the genome of each cell") > 2 * before


def test_with_a_query_a_seed_without_a_word_of_it_is_no_example() -> None:
    with_query, without = by(SEED, query="gene"), by(SEED)
    for strategy in (with_query, without):
        told(strategy, seen(SEED, TREES))

    assert score(without, TREES) > 0.5 > score(with_query, TREES)


def test_without_an_example_links_inherit_the_priority_of_their_page() -> None:
    strategy = by()
    strategy.learn([seen(A, TREES)])

    note = strategy.page_note(text(TREES), lease_of(A, priority=1_000))

    assert strategy.first_priority(link(A + "1"), Source(note=note)) == 1_000


def test_no_more_documents_are_kept_than_there_is_room_for() -> None:
    strategy = by(query="gene")
    strategy.learn([seen(f"{A}{n}", f"{TREES} {n}") for n in range(OTHERS + 200)])
    strategy.learn([seen(f"{A}g{n}", f"gene {n} " * 20) for n in range(EXAMPLES + 200)])

    kept = strategy._training.documents()  # type: ignore[attr-defined]

    assert len(kept) == EXAMPLES + OTHERS


def test_the_same_pages_give_the_same_scores() -> None:
    pages = [seen(f"{A}{n}", [TREES, SHIPS, STOCKS, CELLS][n % 4] + f" {n}") for n in range(400)]
    scores = []
    for _ in range(2):
        strategy = on_genes()
        told(strategy, *pages)
        scores.append([score(strategy, body) for body in (CELLS, TREES, SHIPS)])

    assert scores[0] == scores[1]


def test_a_model_is_trained_anew_ever_more_rarely() -> None:
    strategy, models = on_genes(), []
    for n in range(200):
        strategy.learn([seen(f"{A}{n}", TREES)])
        models.append(strategy._model)  # type: ignore[attr-defined]

    assert 8 <= len({id(model) for model in models}) <= 16


# ---- degree and depth


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_so_many_off_topic_pages_in_a_row_are_tunnelled_through(depth: int) -> None:
    strategy = on_genes(depth=depth)
    source = Source(note=strategy.page_note(text(GENES), lease_of(SEED)))
    priorities = []
    for _ in range(depth + 2):
        note = strategy.page_note(text(TREES), lease_of(A, note=strategy.note(link(A), source)))
        source = Source(note=note)
        priorities.append(strategy.first_priority(link(A + "1"), source))

    assert [priority >= 0 for priority in priorities] == [True] * depth + [False] * 2

    back = strategy.page_note(text(GENES), lease_of(A, note=strategy.note(link(A), source)))
    first = strategy.page_note(text(GENES), lease_of(SEED))
    assert strategy.note(link(A), Source(note=back)) == strategy.note(link(A), Source(note=first))


@pytest.mark.parametrize("degree, is_followed", [(0.001, True), (0.9999, False)])
def test_a_page_is_on_topic_from_the_degree_of_relatedness_on(degree: float, is_followed: bool) -> None:
    strategy = on_genes(degree=degree, depth=0)

    note = strategy.page_note(text(CELLS), lease_of(A))

    assert (strategy.first_priority(link(A + "1"), Source(note=note)) >= 0) == is_followed


def test_a_page_without_text_is_as_if_it_were_not_there() -> None:
    strategy = by(SEED, depth=1)
    note = strategy.page_note(text(TREES), lease_of(A))
    without = strategy.page_note(None, lease_of(A))

    assert strategy.note(link(A), Source(note=strategy.page_note(None, lease_of(A, note=2)))) == 2
    assert strategy.note(link(A), Source(note=note)) == strategy.note(link(A), Source(note=without))


# ---- the crawl


def test_what_was_judged_by_an_early_model_is_judged_again_by_the_next() -> None:
    strategy = on_genes(OTHER := A + "other")
    before = told(strategy, seen(A, SHIPS, link(A + "1"), link(A + "2")))

    after = told(strategy, seen(OTHER, SHIPS))

    assert after.keys() >= {A + "1", A + "2"}
    assert after[A + "1"] > before[A + "1"] + BAND // 10
    assert strategy.plan() == ([], [])


def test_a_page_that_is_told_again_keeps_the_links_that_it_had() -> None:
    strategy = on_genes(OTHER := A + "other")
    told(strategy, seen(A, SHIPS, link(A + "1")), seen(A, SHIPS, link(A + "2"), relevance=0.5))

    after = told(strategy, seen(OTHER, SHIPS))

    assert after.keys() >= {A + "1", A + "2"}


WEB_OF_TWO = {
    SEED: (GENES, [(A + "w0", ""), (A + "g0", "")]),
    **{f"{A}w{n}": (f"{TREES} {SHIPS} {n}", [(f"{A}w{n + 1}", "")]) for n in range(12)},
    f"{A}w12": (TREES, []),
    **{f"{A}g{n}": (f"{CELLS} {n}", [(f"{A}g{n + 1}", "")]) for n in range(6)},
    f"{A}g6": (GENES, []),
}


def test_a_crawl_stays_on_the_topic_of_its_seed(client: redis.Redis) -> None:
    order = crawl(client, "classifier", WEB_OF_TWO, SEED)

    assert order[:9] == [SEED, A + "w0", *(f"{A}g{n}" for n in range(7))]
    assert len(order) == len(WEB_OF_TWO)


pages = st.tuples(
    st.sampled_from([GENES, CELLS, TREES, SHIPS, "", "gene"]),
    st.lists(st.sampled_from(URLS).map(lambda url: (url, "")), max_size=5, unique=True),
)


@given(st.fixed_dictionaries(dict.fromkeys(URLS, pages)), st.integers(0, 2))
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
def test_nothing_that_is_found_is_lost(client: redis.Redis, web: Web, depth: int) -> None:
    reached = [URLS[0]]
    for url in reached:
        reached += [found for found, _ in web[url][1] if found not in reached]

    assert sorted(crawl(client, f"classifier?depth={depth}", web, URLS[0])) == sorted(reached)


@given(
    st.lists(st.tuples(st.sampled_from([*URLS, SEED]), st.sampled_from([GENES, TREES, "", None])), max_size=8)
)
@settings(max_examples=examples(25))
def test_priorities_stay_within_their_bounds(found: list[tuple[str, str | None]]) -> None:
    pages: list[Seen] = [seen(url, body, link(A + "1"), link(SEED)) for url, body in found]

    given = told(by(SEED, depth=0), *pages)

    assert all(abs(priority) <= PRIORITY_MAX for priority in given.values())


# ---- arguments


@pytest.mark.parametrize(
    "mode, message",
    [
        ("classifier?degree=0", "degree=0 is not a number above 0 and up to 1"),
        ("classifier?degree=1.1", "degree=1.1 is not a number"),
        ("classifier?degree=nan", "degree=nan is not a number"),
        ("classifier?degree=much", "degree=much is not a number"),
        ("classifier?depth=-1", "depth=-1 is not a whole number from 0 to 1,000"),
        ("classifier?depth=2.5", "depth=2.5 is not a whole number"),
        ("classifier?depth=1001", "depth=1001 is not a whole number"),
        ("classifier?query=the", "no word to look for"),
        ("classifier?d=2", "it takes query, degree, depth"),
    ],
)
def test_wrong_arguments_get_one_clear_line(mode: str, message: str) -> None:
    with pytest.raises(BadInput, match=message) as found:
        ordering(mode)

    assert "\n" not in str(found.value)


def test_without_the_extra_one_line_names_it() -> None:
    script = """if True:
        import sys
        sys.modules["sklearn"] = None
        from webcrawler.frontier import ordering
        ordering("classifier")"""

    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)

    line = ended.stderr.splitlines()[-1]
    assert line.endswith('mode=classifier needs sklearn: pip install "scrapy-webcrawler[classifier]"')
