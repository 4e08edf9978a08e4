"""Simhash: what most shingles say, bit by bit."""

from __future__ import annotations

import random
import subprocess
import sys
from hashlib import blake2b
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.parsing import parse
from webcrawler.text import content
from webcrawler.text.content import (
    MAX_CHARACTERS,
    MIN_DIFFERENT,
    MIN_WORDS,
    NEAR,
    distance,
    simhash,
)

VALUE = -7023180789945072876  # of the numbers from 0 to 99, by the definition below
WORDS = [f"word{n}" for n in range(2000)]


def prose(number: int, seed: int = 1) -> list[str]:
    return random.Random(seed).choices(WORDS, k=number)


def fingerprint(words: list[str]) -> int:
    return simhash(" ".join(words))


# By hand, and by the definition


@pytest.mark.parametrize(
    ("hashes", "number"),
    [
        ([0b1100_0001 << 56, 0b1010_0001 << 56, 0b1001_0000 << 56], (0b1000_0001 << 56) - 2**64),  # signed
        ([0b11, 0b01], 0b01),  # half is not more than half
        ([0x0201, 0x0201], 0x0201),  # the lowest byte is the lowest of the number
    ],
)
def test_a_bit_is_set_where_more_than_half_of_the_hashes_have_it(hashes: list[int], number: int) -> None:
    assert content._majority(np.array(hashes, np.uint64)) == number


def by_definition(text: str) -> int:
    """Charikar's rounding with a vector of 64 counters, a shingle and a bit at a time."""
    factors = (0x278DDE6E5FD29E45, 0x30AEF4CB4F4BB53D, 0x165667B19E3779F9)
    digests = [blake2b(word.encode(), digest_size=8).digest() for word in text.lower().split()]
    hashes = [int.from_bytes(digest, "little") for digest in digests]
    counters = [0] * 64
    for shingle in zip(hashes, hashes[1:], hashes[2:], strict=False):
        hashed = sum(factor * word for factor, word in zip(factors, shingle, strict=True)) >> 32
        for bit in range(64):
            counters[bit] += 1 if hashed >> bit & 1 else -1
    number = sum(1 << bit for bit, counter in enumerate(counters) if counter > 0)
    return number - 2**64 if number >= 2**63 else number


@given(st.lists(st.sampled_from(WORDS) | st.text(min_size=1, max_size=5), min_size=60, max_size=90))
def test_bulk_arithmetic_gives_what_the_definition_gives(words: list[str]) -> None:
    text = " ".join(words)
    if len(text.split()) >= MIN_WORDS and len(set(text.lower().split())) >= MIN_DIFFERENT:
        assert simhash(text) == by_definition(text)


def test_the_value_is_the_same_in_every_process_and_version() -> None:
    """Catalogs outlive both."""
    code = "from webcrawler.text.content import simhash; print(simhash(' '.join(map(str, range(100)))))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert int(printed.stdout) == simhash(" ".join(map(str, range(100)))) == VALUE


# What has one

LINE = " ".join(map(str, range(MIN_DIFFERENT - 1)))


@pytest.mark.parametrize("text", ["", " \n", " ".join(map(str, range(MIN_WORDS - 1))), f"{LINE} " * 9])
def test_texts_that_are_short_or_say_a_short_line_over_and_over_have_none(text: str) -> None:
    assert simhash(text) == 0


def test_what_stands_behind_a_million_characters_does_not_count() -> None:
    text = f"{LINE} more " * (MAX_CHARACTERS // len(LINE))

    assert simhash(text[:MAX_CHARACTERS] + " and more") == simhash(text[:MAX_CHARACTERS]) != 0


def test_words_without_an_end_are_cut_before_they_are_remembered() -> None:
    long = [f"{n}{'x' * 100}" for n in range(100)]

    assert fingerprint(long) == fingerprint([word[:64] for word in long])


# What is near


@pytest.mark.parametrize(
    ("one", "other", "bits"), [(0, 0, 0), (0b101, 0b011, 2), (-1, 0, 64), (-(2**63), 0, 1)]
)
def test_distance_counts_the_bits_that_differ(one: int, other: int, bits: int) -> None:
    assert distance(one, other) == distance(other, one) == bits


@given(st.integers(0, 10_000), st.integers(0, 999), st.text(min_size=1, max_size=20))
def test_an_edit_of_one_word_in_a_thousand_moves_few_bits(seed: int, place: int, word: str) -> None:
    """Three shingles of 998 change; that a counter comes to zero by it is rare."""
    words = prose(1000, seed)
    edited = [*words[:place], word, *words[place + 1 :]]

    assert distance(fingerprint(words), fingerprint(edited)) <= 12


def test_most_edits_of_one_word_in_a_thousand_leave_a_near_duplicate() -> None:
    near = 0
    for seed in range(200):
        words = prose(1000, seed)
        near += distance(fingerprint(words), fingerprint([*words[:500], "edit", *words[501:]])) <= NEAR

    assert near >= 150


def test_strangers_are_far_from_each_other() -> None:
    fingerprints = [fingerprint(prose(300, seed)) for seed in range(100)]

    distances = [distance(one, other) for one, other in combinations(fingerprints, 2)]

    assert min(distances) > NEAR
    assert 31 < sum(distances) / len(distances) < 33


# Of pages


def manual(version: str, words: list[str]) -> bytes:
    """A page as manuals are made: navigation, a text, the version here and there."""
    menu = "".join(f"<li><a href=/{n}>Chapter {n}</a></li>" for n in range(10))
    text = f"<h1>Chapter</h1><p>{' '.join(words)}</p><p>Version {version}</p>"
    return f"<title>Manual {version}</title><ul>{menu}</ul>{text}".encode()


def test_the_same_page_of_two_versions_of_a_manual_is_near_and_its_neighbour_is_not() -> None:
    old, new, neighbour = (
        parse(manual(version, prose(400, seed)), "http://a.test/").simhash
        for version, seed in (("3.1", 1), ("3.2", 1), ("3.1", 2))
    )

    assert distance(old, new) <= NEAR < distance(old, neighbour)
