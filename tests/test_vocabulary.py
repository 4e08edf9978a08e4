"""The words of a crawl: typos are mended, related words found, queries completed; a view like others."""

from __future__ import annotations

import os
import random
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sparse
from crawled import crawled, fetched, link
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from webcrawler.archive.catalog import Catalog
from webcrawler.records import Text
from webcrawler.search.vocabulary import Vocabulary, load, make
from webcrawler.search.vocabulary.completions import Completions, Phrases, as_query, places_of, suggested
from webcrawler.search.vocabulary.documents import Collected, distinct_titles, names_of, phrases_of
from webcrawler.search.vocabulary.stored import NAME, Lists, Words, stored_seq
from webcrawler.search.vocabulary.thesaurus import Thesaurus, likelihood_ratio, related

# Spelling


def best(known: Vocabulary, word: str) -> str:
    return next((one.word for one in known.corrections(word)), "")


def spelling(english: str = "", **documents: int) -> Vocabulary:
    words = sorted({*documents, *english.split()})
    counts = np.array([documents.get(word, 0) for word in words], np.int32)
    known = Words(words, counts, np.array([word in english.split() for word in words], bool))
    none = np.zeros(0, np.int32)
    related = Thesaurus([], [], np.zeros(1, np.int32), none, none.astype(np.float32))
    return Vocabulary(Lists(known, related, Phrases([], [], none.astype(np.float32), places_of([]))), 1)


CRAWL = spelling(
    english="kernel kernels colonel language there their",
    kernel=900,
    kernels=200,
    python=20_000,
    unicode=400,
    encryption=300,
    unichar=5_000,
    gunichar=30,
    langauge=2,
    language=3_000,
    pythons=3,
    utf8=500,
    initrd=4,
    café=50,
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("kernal", "kernel"),  # replaced
        ("kerrnel", "kernel"),  # inserted
        ("kernl", "kernel"),  # deleted
        ("kenrel", "kernel"),  # swapped: one edit
        ("ython", "python"),  # also at the first letter
        ("encripton", "encryption"),  # two edits
        ("langauge", "language"),  # some documents have the typo, far more the word
        ("caffé", "café"),
    ],
)
def test_a_typo_gets_the_word(typed: str, meant: str) -> None:
    assert best(CRAWL, typed) == meant


@pytest.mark.parametrize(
    "word",
    [
        "kernel",
        "colonel",  # of general English, though the crawl has it nowhere
        "gunichar",  # in documents enough: a name
        "utf9",  # identifiers with digits are what they are
        "x86",
        "uni",  # short
        "zzzzzzzz",  # near to nothing
        "pythn’s",
        "",
        "q" * 500,
    ],
)
def test_a_right_word_gets_none_nor_does_what_cannot_be_told(word: str) -> None:
    assert best(CRAWL, word) == ""


def test_a_correction_that_finds_the_same_is_none() -> None:
    assert best(spelling(existence=300), "existance") == ""  # one stem: the same documents


def test_the_more_frequent_of_two_words_as_near_is_taken() -> None:
    assert best(spelling(parser=40, parsed=4_000), "parsec") == "parsed"


def test_one_edit_comes_before_two_where_that_word_is_not_far_more_frequent() -> None:
    assert best(spelling(thread=50, threads=1, tread=2, reads=900), "thraed") == "thread"


def test_frequency_is_of_the_word_as_it_is_spelled() -> None:
    assert (CRAWL.frequency("kernels"), CRAWL.frequency("kern"), CRAWL.frequency("colonel")) == (200, 0, 0)


NONE = np.zeros(0, np.int32)
NO_THESAURUS = Thesaurus([], [], np.zeros(1, np.int32), NONE, NONE.astype(np.float32))
EMPTY = Vocabulary(
    Lists(
        Words([], NONE, NONE.astype(bool)),
        NO_THESAURUS,
        Phrases([], [], NONE.astype(np.float32), places_of([])),
    ),
    0,
)


@given(st.text(max_size=60))
def test_no_text_makes_it_fail(text: str) -> None:
    assert best(CRAWL, text) == "" or CRAWL.frequency(best(CRAWL, text))
    assert best(EMPTY, text) == "" and EMPTY.completions(text) == []
    assert EMPTY.related(text) == [] and EMPTY.frequency(text) == 0


# What goes together


def passages(*texts: str) -> tuple[sparse.csr_array, list[str]]:
    words = sorted({word for text in texts for word in text.split()})
    rows = [[float(word in text.split()) for word in words] for text in texts]
    return sparse.csr_array(np.array(rows, np.float32)), words


def strengths(texts: list[str], servers: list[int]) -> dict[str, dict[str, float]]:
    """How strongly which other words are related to each."""
    matrix, words = passages(*texts)
    found = related(matrix, np.array(servers, np.int32))
    rows = zip(found.of.tolist(), found.words.tolist(), found.strengths.tolist(), strict=True)
    by_word: dict[str, dict[str, float]] = {word: {} for word in words}
    for one, other, strength in rows:
        by_word[words[one]][words[other]] = strength
    return by_word


CIPHERS = ["encrypt cipher key", "encrypt cipher page", "encrypt cipher secret key page"] * 4
BREAD = ["bread flour oven", "bread flour page", "bread oven flour yeast page"] * 4


def test_words_of_the_same_passages_are_related_and_those_that_stand_everywhere_are_not() -> None:
    found = strengths(CIPHERS + BREAD, [0] * 24)

    assert found["encrypt"].keys() == {"cipher", "key"}
    assert found["bread"].keys() == {"flour", "oven"}
    assert found["page"] == {}


def test_what_several_servers_say_is_trusted_more_than_what_one_says() -> None:
    several = [*range(12), *([12] * 12)]  # each text on ciphers has a server of its own

    found = strengths(CIPHERS + BREAD, several)

    assert found["encrypt"]["cipher"] > 1.3 * found["bread"]["flour"]


def test_strengths_are_between_0_and_1_strongest_first() -> None:
    chance = random.Random(5)
    texts = [" ".join(chance.sample("abcdefghijkl", 4)) for _ in range(60)] + ["a b"] * 20
    matrix, _ = passages(*texts)

    found = related(matrix, np.zeros(80, np.int32))

    assert ((found.strengths > 0) & (found.strengths <= 1)).all()
    assert list(found.of) == sorted(found.of)
    order = np.lexsort((found.words, -found.strengths, found.of))
    assert order.tolist() == list(range(len(order)))


def test_nothing_is_related_where_nothing_is_said() -> None:
    assert len(related(sparse.csr_array((0, 0), dtype=np.float32), np.zeros(0, np.int32)).of) == 0
    assert len(related(sparse.csr_array((3, 2), dtype=np.float32), np.zeros(3, np.int32)).of) == 0


@pytest.mark.parametrize(("both", "n", "m", "size"), [(10, 20, 30, 200), (3, 3, 3, 50), (35, 40, 60, 90)])
def test_likelihood_ratio_is_that_of_scipy(both: int, n: int, m: int, size: int) -> None:
    table = [[both, n - both], [m - both, size - n - m + both]]
    wanted = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic

    found = likelihood_ratio(np.array([both], float), n, np.array([m], float), size)

    assert found == pytest.approx([wanted])


# Completions


def completions(**weights: float) -> Completions:
    texts = [text.replace("_", " ") for text in weights]
    keys = [text.lower() for text in texts]
    values = np.array(list(weights.values()), np.float32)
    return Completions(Phrases(texts, keys, values, places_of(keys)))


TYPED = completions(
    Regular_Expression_HOWTO=3,
    regular_expressions_library=2,
    regular_expression=5,
    regularity=1,
    Perl_regular_grammar=9,
    python=6,
    thread_safety=4,
)


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("py", ["python"]),
        ("PY", ["python"]),
        ("regular ex", ["regular expression", "Regular Expression HOWTO", "regular expressions library"]),
        ("lib", ["regular expressions library"]),  # at the start of any word
        ("egular", []),  # but nowhere else
        ("thread  sa", ["thread safety"]),
        ("regular ", ["Perl regular grammar", "regular expression", "Regular Expression HOWTO"]),
        ("grammar perl", ["Perl regular grammar"]),  # all words, in another order
        ("howto reg", ["Regular Expression HOWTO"]),
        ("regularity reg", []),  # one word is not two
        ("anything py", []),  # nothing is made up
        ("", []),
        (" ?! ", []),
    ],
)
def test_completions_have_what_is_typed_at_the_start_of_a_word_likely_ones_first(
    typed: str, wanted: list[str]
) -> None:
    assert TYPED.of(typed, 3) == wanted


def test_a_phrase_that_begins_so_comes_before_one_that_has_it_further_on() -> None:
    assert completions(tree_view=2, binary_tree=3).of("tree", 8) == ["tree view", "binary tree"]


def test_a_name_in_code_is_completed_as_it_is_typed() -> None:
    texts = ["write all", "write_all", "rewrite::all"]
    keys = ["write all", "write all", "rewrite all"]
    known = Completions(Phrases(texts, keys, np.array([3, 2, 9], np.float32), places_of(keys)))

    assert known.of("write_a", 8) == ["write_all", "write all"]
    assert known.of("write a", 8) == ["write all", "write_all"]
    assert known.of("rewrite::", 8) == ["rewrite::all"]
    assert known.of("writ::", 8) == []  # a word ends there


@pytest.mark.parametrize("typed", ["securite", "sécurité", "SECURITÉ", "se\u00adcurite"])
def test_completions_are_those_of_words_with_other_accents_too(tmp_path: Path, typed: str) -> None:
    text = Text("Sécu\u00adrité des données", "", "", "", "")
    crawled(tmp_path, *(replace(fetched(f"http://{n}.test/"), text=text) for n in range(3)))

    assert "sécurité des données" in made(tmp_path).completions(typed)


def test_word_without_its_accents_is_right() -> None:
    known = spelling(sécurité=50, securitas=5_000, élève=50, relève=9_000, eleven=9_000)

    assert [best(known, word) for word in ("securite", "eleve", "elève")] == ["", "", ""]


def test_singular_and_plural_are_one_completion() -> None:
    assert completions(thread_pools=2, thread_pool=3).of("thread", 8) == ["thread pool"]


@given(
    st.lists(st.text("abc ", min_size=1, max_size=8).filter(str.strip), max_size=20),
    st.text("abc ", max_size=4),
)
def test_completions_are_those_that_a_search_through_all_finds(texts: list[str], typed: str) -> None:
    keys = sorted({" ".join(text.split()) for text in texts})
    found = Completions(Phrases(keys, keys, np.ones(len(keys), np.float32), places_of(keys))).of(typed, 100)

    wanted = " ".join(typed.split())
    if wanted and any(f" {wanted}" in f" {key}" for key in keys) and not typed.endswith(" "):
        assert found and all(f" {wanted}" in f" {key}" for key in found)


# What becomes a suggestion


def test_phrases_begin_and_end_with_words_that_say_something() -> None:
    assert set(phrases_of(["The art of war games, memories - A Book"])) == {"art of war", "war games"}


def test_words_that_code_joins_are_a_name_and_no_phrase() -> None:
    lines = ["std::vector_of(war_games)", "virDomainCreate", "e.g. 3.11, Mr. Owl, SQLite"]

    assert set(phrases_of(lines)) == set()
    assert set(names_of(lines)) == {"std::vector_of", "war_games", "virDomainCreate", "e.g"}


def test_what_all_titles_of_a_server_have_is_no_part_of_them() -> None:
    titles = [(n, f"Page number {n} — The Manual | Example") for n in range(9)]

    assert distinct_titles(titles)[:2] == [(0, "Page number 0"), (1, "Page number 1")]
    assert distinct_titles([(1, "Example"), (2, "Example"), (3, "Example")]) == []
    assert distinct_titles([(1, "Only — one")]) == [(1, "Only"), (1, "one")]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ('The "best" (of) all* -days', "The best of all days"),
        ("git-commit(1)", "git-commit"),
        ("Chapter 30. Reliability ¶", "Reliability"),
        ("20.5. Write-Ahead Log (WAL)", "Write-Ahead Log"),
        ("generate_password_hash", "generate_password_hash"),
        ("a_b, a_c", ""),  # two names
        ("C++ templates", "C++ templates"),
        ("the", ""),
        ("2024", ""),
        ("https://a.example/b", ""),
        ("word " * 9, ""),
        ("x" * 90, ""),
    ],
)
def test_a_suggestion_says_nothing_that_the_query_language_obeys(text: str, query: str) -> None:
    assert as_query(text) == query


# The whole, of a small crawl


CIPHER_WORDS = "Encryption turns plaintext into ciphertext with a cipher and a secret key."
OVEN_WORDS = "Bread wants flour, yeast and an oven that is hot."


def small_crawl(folder: Path) -> Path:
    """Ten pages on two themes; all have the same menu, and link to one page and to the next."""
    pages = []
    for n in range(10):
        theme, words = ("Ciphers", CIPHER_WORDS) if n < 5 else ("Baking", OVEN_WORDS)
        body = f"copyright next previous\n{words} Number {'abcdefghij'[n] * 4}."
        links = link("http://a.test/", "Baking at home"), link(f"http://a.test/{(n + 1) % 10}", "Turn over")
        text = Text(f"{theme} {n} | A Test", "", "", "", body)
        pages.append(replace(fetched(f"http://a.test/{n}", *links), text=text))
    return crawled(folder, *pages)


def made(folder: Path) -> Vocabulary:
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        make(catalog, folder / "vocabulary")
        vocabulary = load(folder / "vocabulary", catalog.identity)
    assert vocabulary is not None
    return vocabulary


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_crawl(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def vocabulary(folder: Path) -> Vocabulary:
    return made(folder)


def test_a_crawl_knows_how_many_documents_have_a_word(vocabulary: Vocabulary) -> None:
    for word, documents in {"Cipher": 5, "flour": 5, "copyright": 10, "nowhere": 0}.items():
        assert vocabulary.frequency(word) == documents, word


def test_a_typo_gets_the_word_of_the_crawl(vocabulary: Vocabulary) -> None:
    assert best(vocabulary, "cipertext") == "ciphertext"
    assert best(vocabulary, "encryption") == ""


def test_related_words_are_told_as_they_are_spelled(vocabulary: Vocabulary) -> None:
    found = vocabulary.related("encrypt", 20)

    assert ("ciphertext", "ciphertext") in [(stem, spelled) for stem, spelled, _ in found]
    assert {"secret", "ciphers"} <= {spelled for _, spelled, _ in found}
    assert not {"flour", "oven", "copyright", "next", "previous"} & {spelled for _, spelled, _ in found}
    assert len(vocabulary.related("encrypt", 2)) == 2
    assert vocabulary.related("copyright") == vocabulary.related("previous") == []


def test_pages_that_come_while_documents_are_read_do_not_matter_to_titles(tmp_path: Path) -> None:
    page = fetched("http://a.test/", title="The Manual")
    path = crawled(tmp_path, page) / "catalog.sqlite"
    with closing(Catalog(path, readonly=True)) as catalog:
        collected = Collected(catalog, catalog.last_seq())
        before = suggested(collected, {}, catalog)

        crawled(tmp_path, fetched("http://later.test/", link("http://a.test/"), title="Later"))

        assert suggested(collected, {}, catalog).texts == before.texts == ["The Manual"]


def test_titles_and_words_complete_and_texts_of_links_do_not(vocabulary: Vocabulary) -> None:
    assert vocabulary.completions("baking 7") == ["Baking 7"]
    assert vocabulary.completions("baking at") == vocabulary.completions("turn over") == []
    assert vocabulary.completions("ciph")[0].lower().startswith("cipher")


def test_headings_and_names_in_code_complete_as_they_are_spelled(tmp_path: Path) -> None:
    text = Text("Owls", "Keeping owls at night\nSee also\nSee also", "", "", "call keep_owl\nand keep_owl()")
    crawled(tmp_path, *(replace(fetched(f"http://{n}.test/"), text=text) for n in range(3)))

    found = made(tmp_path)

    assert "Keeping owls at night" in found.completions("keeping")
    assert found.completions("keep_") == ["keep_owl"]


def test_a_vocabulary_is_of_one_catalog(folder: Path, vocabulary: Vocabulary) -> None:
    assert load(folder / "vocabulary", "another") is None
    assert load(folder / "nowhere", "another") is None
    assert stored_seq(folder / "vocabulary", "another") == 0


def test_thrown_away_and_made_again_it_says_the_same(tmp_path: Path) -> None:
    small_crawl(tmp_path)
    before = made(tmp_path)
    (tmp_path / "vocabulary" / NAME).unlink()

    after = made(tmp_path)

    assert after.related("encrypt") == before.related("encrypt") != []
    assert after.completions("b") == before.completions("b") != []
    assert after.seq == before.seq


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "pickle"])
def test_a_torn_file_is_as_none(tmp_path: Path, damage: str) -> None:
    small_crawl(tmp_path)
    made(tmp_path)
    path = tmp_path / "vocabulary" / NAME
    if damage == "pickle":
        np.savez(path, of=np.array([print], dtype=object), allow_pickle=True)
    elif damage == "flipped":
        content = bytearray(path.read_bytes())
        content[content.index(b"ciphertext")] ^= 1
        path.write_bytes(content)
    else:
        os.truncate(path, 0 if damage == "empty" else path.stat().st_size // 2)

    with closing(Catalog(tmp_path / "catalog.sqlite", readonly=True)) as catalog:
        assert load(tmp_path / "vocabulary", catalog.identity) is None
    assert made(tmp_path).related("encrypt") != []


def test_a_crawl_without_documents_has_a_vocabulary_of_english(tmp_path: Path) -> None:
    crawled(tmp_path, fetched("http://a.test/", reason="redirect", target="http://a.test/b"))

    vocabulary = made(tmp_path)

    assert vocabulary.completions("a") == vocabulary.related("b") == []
    assert best(vocabulary, "kernal") == ""
