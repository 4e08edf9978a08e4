"""A page is similar to examples if it is as much like them as they are like one another."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testdata import archive

from webcrawler.orderings.topic import LEAST_ALIKE, OF_A_KIND, SHARE, SIMILAR, Likeness, vector
from webcrawler.parsing import parse
from webcrawler.records import Text
from webcrawler.text import english, terms

WORDS = ("quokka", "zither", "gene", "harbour", "lattice", "the")


def text(body: str) -> Text:
    return Text("", "", "", "", body)


def learnt(*examples: str) -> Likeness:
    likeness = Likeness()
    for example in examples:
        likeness.add(text(example))
    return likeness


def cosine(one: str, other: str) -> float:
    """An implementation of its own: log(1 + tf) by rarity, as docs/explanation/focused-crawling.md has it."""

    def weights(body: str) -> dict[str, float]:
        counts = Counter(stem for stem in terms(body) if stem)
        rarity = {stem: max(1.0, math.log(1e-3 / english().frequency(stem))) for stem in counts}
        return {stem: math.log(1 + n) * rarity[stem] for stem, n in counts.items()}

    a, b = weights(one), weights(other)
    dot = sum(a[stem] * b[stem] for stem in a.keys() & b.keys())
    return dot / math.sqrt(sum(x * x for x in a.values()) * sum(x * x for x in b.values()))


def test_a_page_less_like_a_single_example_than_pages_of_one_kind_is_not_similar() -> None:
    example, page = "quokka gene harbour", "harbour lattice zither"
    mean = cosine(example, page)
    enough = SHARE * OF_A_KIND
    assert mean < enough

    assert learnt(example).score(text(page)) == pytest.approx(0.5 * mean / enough)


def test_several_examples_say_how_much_alike_pages_of_their_kind_are() -> None:
    examples, page = ("quokka gene", "quokka harbour", "quokka gene lattice"), "quokka quokka zither"
    pairs = [cosine(examples[a], examples[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    enough = SHARE * (OF_A_KIND + 3 * sum(pairs) / 3) / 4
    mean = sum(cosine(example, page) for example in examples) / 3
    assert mean > enough > LEAST_ALIKE

    expected = 0.5 + 0.5 * (mean - enough) / (1 - enough)
    assert learnt(*examples).score(text(page)) == pytest.approx(expected)


def test_examples_without_a_word_in_common_let_no_page_pass_that_is_like_none() -> None:
    likeness = learnt("quokka " * 9, "zither " * 9, "harbour " * 9)

    assert likeness.score(text("quokka")) >= SIMILAR
    assert likeness.score(text("gene lattice quokka gene lattice gene lattice")) < SIMILAR


@pytest.mark.parametrize(
    ("examples", "page", "score"),
    [
        (("quokka gene",), "quokka gene", 1.0),
        (("quokka gene",), "harbour lattice", 0.0),
        (("quokka gene",), "", 0.0),
        ((), "quokka gene", 0.0),
        (("",), "quokka gene", 0.0),  # nothing was learnt
        (("the of and",), "the of and", 0.0),  # stop words
        (("quokka gene", ""), "quokka gene", 1.0),
    ],
)
def test_likeness_of(examples: tuple[str, ...], page: str, score: float) -> None:
    assert learnt(*examples).score(text(page)) == pytest.approx(score)


SAID = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


@given(examples=st.lists(SAID, max_size=6), page=SAID, seed=st.integers())
def test_likeness_is_a_share_and_no_matter_of_order(examples: list[str], page: str, seed: int) -> None:
    shuffled = random.Random(seed).sample(examples, len(examples))
    score = learnt(*examples).score(text(page))

    assert 0 <= score <= 1
    assert learnt(*shuffled).score(text(page)) == pytest.approx(score)


@given(body=SAID)
def test_vectors_have_length_one_or_nothing(body: str) -> None:
    found = vector(Counter(terms(body)))

    assert sum(part * part for part in found.values()) == pytest.approx(1 if found else 0)


@pytest.mark.slow
def test_articles_of_other_hosts_are_hardly_ever_similar() -> None:
    """Real articles of 126 hosts: any two are as good as random."""
    pages = [
        parse(body, "http://a.test/", "text/html", frozenset({"http"}))
        for name, body in archive("html-articles/pages.tar.xz")
        if name.endswith(".html") and int.from_bytes(name[-6:-5].encode()) % 4 == 0
    ]
    texts = [Text(page.title, "", "", "", page.text) for page in pages]
    for_one, for_three = Likeness(), Likeness()
    for_one.add(texts[0])
    for one in texts[1:4]:
        for_three.add(one)

    similar = [likeness.score(one) >= SIMILAR for one in texts[4:] for likeness in (for_one, for_three)]
    assert len(similar) > 40
    assert sum(similar) <= 0.05 * len(similar)
