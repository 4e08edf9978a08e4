"""Compounds are found by their parts, and what is no compound stays whole."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from test_languages import write

from webcrawler.index.hits import field
from webcrawler.search import Searcher
from webcrawler.text import analysed, compound

FOLDER = Path(__file__).parent / "fixtures" / "compounds"


def test_most_parts_are_those_that_people_see_and_words_that_are_none_stay_whole() -> None:
    right, found, wanted = defaultdict[str, int](int), defaultdict[str, int](int), defaultdict[str, int](int)

    for line in (FOLDER / "words.tsv").read_text("utf-8").splitlines():
        language, word, parts = line.split("\t")
        expected = {term for term, _ in analysed(parts.split(), language)}
        terms = set(compound(word, language))
        assert parts or not terms, word
        right[language] += len(terms & expected)
        found[language] += len(terms)
        wanted[language] += len(expected)

    for language, least in (("de", 0.85), ("nl", 0.75), ("sv", 0.7)):
        assert right[language] >= 0.93 * found[language]
        assert right[language] >= least * wanted[language]


@pytest.mark.parametrize(
    ("word", "language", "parts"),
    [
        ("Konfigurationsdateien", "de", ("konfiguration", "datei")),  # a linking s, a plural
        ("Netzwerkkarte", "de", ("netzwerk", "kart")),  # as few parts as will do
        ("Krankenhaus", "de", ()),  # is frequent itself
        ("herunterladen", "de", ()),  # no noun
        ("Snapshot", "de", ()),  # English
        ("Dateisystem2", "de", ()),
        ("säkerhetskopia", "sv", ("saker", "kopi")),
        ("Webserver", "en", ()),
        ("", "de", ()),
    ],
)
def test_compound_is_split_by_the_frequency_of_its_parts(
    word: str, language: str, parts: tuple[str, ...]
) -> None:
    assert compound(word, language) == parts


def test_parts_stand_where_their_compounds_do() -> None:
    made = field("Die Konfigurationsdatei, eine Textdatei", "de")

    assert {term: [hit >> 4 for hit in hits] for term, hits in made.parts.items()} == {
        "konfiguration": [1],
        "datei": [1, 3],
        "text": [3],
    }
    assert "datei" not in made.terms
    assert not field("Konfigurationsdatei", "en").parts


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder = tmp_path_factory.mktemp("compounds")
    german = "Hier steht die Konfigurationsdatei des Dateisystems."
    swedish = "Ett felmeddelande och en säkerhetskopia"
    write(
        folder, {"de": ("Handbuch", german), "nl": ("Gids", "Een netwerkverbinding"), "sv": ("Bok", swedish)}
    )
    return Searcher(folder, deadline_seconds=60)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Konfiguration", {"de"}),
        ("+dateien", {"de"}),
        ("Konfigurations-Datei", {"de"}),
        ("konfigurationssystem", {"de"}),  # no page has it whole: its parts are looked for
        ("konfigurationsbaum", set()),  # no page has all of its parts
        ("verbinding", {"nl"}),
        ("kopia", {"sv"}),
        ('"konfiguration datei"', set()),  # a phrase is what stands there
        ("title:datei", set()),
        ("handbuch NOT datei", {"de"}),  # only the word itself excludes
    ],
)
def test_page_is_found_by_parts_of_its_compounds(searcher: Searcher, query: str, expected: set[str]) -> None:
    assert {hit.url.rpartition("/")[2] for hit in searcher.search(query).hits} == expected


def test_compound_is_marked_for_its_part(searcher: Searcher) -> None:
    results = searcher.search("Datei")
    hit = results.hits[0]

    marked = [piece for piece, is_marked in results.snippets.mark(hit.snippet, hit.language) if is_marked]
    assert marked == ["Konfigurationsdatei", "Dateisystems"]


def test_whole_word_comes_before_a_part_of_a_word(tmp_path: Path) -> None:
    write(tmp_path, {"de": ("Handbuch", "Hier steht eine Textdatei"), "nl": ("Gids", "Hier steht een datei")})

    hits = Searcher(tmp_path).search("Datei", language="").hits

    assert [hit.url.rpartition("/")[2] for hit in hits] == ["nl", "de"]
