"""Words of many languages: which terms the index has of them, and what a query finds by them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import wordfreq
from hypothesis import given
from hypothesis import strategies as st
from searched import entry, publish
from starlette.testclient import TestClient

from webcrawler.archive.catalog import Catalog
from webcrawler.index import Live
from webcrawler.index.follower import Follower
from webcrawler.index.hits import hit_lists
from webcrawler.search import Searcher
from webcrawler.search.snippets import Snippets
from webcrawler.text import (
    MAX_TERM_CHARACTERS,
    Lexicon,
    Reference,
    analysed,
    general,
    indexed_words,
    overlapping,
    symbols,
    unaccented,
)
from webcrawler.text.analysis import has_stemmer
from webcrawler.text.lexicon import telling
from webcrawler.text.query import parse
from webcrawler.web import Config, make_app

LISTED = sorted(filter(has_stemmer, wordfreq.available_languages("small")))


@pytest.mark.parametrize("language", LISTED)
def test_a_word_is_marked_where_its_term_is_asked_for(language: str) -> None:
    """Whatever a stemmer does to its beginning: 2,000 words of each language."""
    words = [word for word in wordfreq.top_n_list(language, 2_000, "small") if indexed_words(word) == [word]]
    terms = [term for term, _ in analysed(words, language)]

    assert len(words) > 1_500
    for word, term in zip(words, terms, strict=True):
        assert Snippets([f"{language}:{term}"]).holds(word), word


# Terms


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "databases", "database"),
        ("", "databases", "database"),  # of an unknown language: as English
        ("vi", "databases", "database"),  # of one without a stemmer
        ("de", "Häuser", "Haus"),
        ("de", "über", "uber"),  # as people type it
        ("de", "Straße", "strasse"),
        ("fr", "bibliothèques", "bibliotheque"),
        ("fr", "l'homme", "homme"),
        ("fr", "qu’il", "il"),
        ("it", "dell'arte", "arte"),
        ("ca", "d'aigua", "aigua"),
        ("es", "configuraciones", "configuración"),
        ("tr", "modülleri", "modüller"),
        ("pl", "łódź", "lodz"),
        ("ru", "модули", "модуль"),
        ("ru", "databases", "database"),  # Latin letters among others: as English
        ("el", "διδάσκω", "διδασκω"),
        ("ja", "ﾃﾞｰﾀ", "データ"),  # of half width
        ("ja", "Ａｐａｃｈｅ", "apache"),
    ],
)
def test_two_spellings_have_the_same_terms(language: str, one: str, other: str) -> None:
    assert terms_of(one, language) == terms_of(other, language)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京都のApache 2", ["東京", "京都", "都の", "の", "apach", "2"]),
        ("水", ["水"]),
        ("モジュール", ["モジ", "ジュ", "ュー", "ール", "ル"]),
        ("数据库", ["数据", "据库", "库"]),
        ("설치 방법을", ["설치", "치", "방법", "법을", "을"]),  # within words
        ("ที่ดี", ["ที่ดี", "ดี"]),  # signs belong to their letter
        ("हिन्दी", ["हिन्द"]),
    ],
)
def test_scripts_without_spaces_have_pairs_of_characters(text: str, expected: list[str]) -> None:
    assert terms_of(text, "hi") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hoch\u00adspannungs\u00adnetz", ["Hochspannungsnetz"]),  # soft hyphens,
        ("auf\u200clage fi\u200dx co\u2060op \ufeffstart\ufeffed", ["auflage", "fix", "coop", "started"]),
        ("a\u200eb\u200fc", ["abc"]),  # marks of direction,
        ("क्\u200dष", ["क्ष"]),  # and joiners of letters: nobody sees them
        ("Donau\u200bdampf", ["Donau", "dampf"]),  # a space of no width
        ("می\u200cخواهم", ["می", "خواهم"]),  # which others write with a space
        ("O‘Reilly O’Reilly O＇Reilly Oʼ\u00adReilly", ["O'Reilly"] * 4),
        ("комп\u02bcютер Hawai\u02bbi geht´s", ["комп'ютер", "Hawai'i", "geht's"]),
        ("пʹять geht`s O′Reilly Մխիթար՚ի צ׳יפס", ["п'ять", "geht's", "O'Reilly", "Մխիթար'ի", "צ'יפס"]),
        ("‘quoted’ `code` 5′ ʻokina ’tis", ["quoted", "code", "5", "okina", "tis"]),
    ],
)
def test_what_nobody_sees_parts_no_word_and_apostrophes_are_one(text: str, expected: list[str]) -> None:
    assert indexed_words(text) == expected


def terms_of(text: str, language: str) -> list[str]:
    return [term for term, _ in analysed(indexed_words(text), language)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gcc -Wall -std=c++17", ["-wall", "-std", "c++"]),
        ("(-fsanitize=address)", ["-fsanitize"]),
        ("git commit --no-verify", ["--no-verify"]),
        ("C#, F# and g++", ["c#", "f#", "g++"]),
        ("non-stop a - b -- c 5 -1 x_-y", []),
        ("Installation# a#b a+b +c", []),  # the first leads to a heading
    ],
)
def test_options_and_names_with_signs_are_terms_as_well(text: str, expected: list[str]) -> None:
    assert [term for _, _, term in symbols(text)] == expected


def test_option_stands_where_its_first_word_stands() -> None:
    positions = {term: [hit >> 4 for hit in hits] for term, hits in hit_lists("use --no-verify here").items()}
    assert positions == {"use": [0], "no": [1], "--no-verify": [1], "verifi": [2], "here": [3]}


_PIECES = [
    *("東京", "ที่", "-Wall", "c++", "l'homme", "हि", "\u0301", "ﷺ"),
    *("İ", "한글", "--", "_", "’", "|", ":", " "),
]
_TEXTS = st.text(max_size=80) | st.lists(st.sampled_from(_PIECES)).map("".join)


@given(_TEXTS, st.sampled_from(["", "de", "fr", "hi", "ja", "tr", "xx"]))
def test_any_text_has_short_terms_at_ascending_positions(text: str, language: str) -> None:
    for term, hits in hit_lists(text, language).items():
        assert 0 < len(term) <= MAX_TERM_CHARACTERS
        assert not {"|", ":"} & set(term)
        assert hits == sorted(set(hits))


# Queries


PAGES = {
    "en": ("News", "The news of new databases, c++ and --onto. die hard"),
    "de": ("Häuser", "Die Häuser über dem Fluss und die Datenbanken"),
    "fr": ("Nouvelles", "Le nouveau guide de l'homme, news"),
    "tr": ("Modüller", "Apache modülleri"),
    "ja": ("東京都", "データベースの設定。水"),
    "ko": ("설치", "데이터베이스를 설치하기"),
    "zh": ("数据库", "数据库 管理"),
    "th": ("ภาษาไทย", "การติดตั้งฐานข้อมูล"),
}


def write(crawl_dir: Path, pages: dict[str, tuple[str, str]]) -> None:
    entries = []
    for language, (title, body) in pages.items():
        one = entry((f"http://a.test/{language}", title, body))
        assert one.text
        entries.append((replace(one, text=one.text._replace(language=language)), None))
    with closing(Catalog(crawl_dir / "catalog.sqlite")) as catalog:
        catalog.write(entries)
    with closing(Follower(crawl_dir)) as follower:
        follower.catch_up()


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder = tmp_path_factory.mktemp("languages")
    write(folder, PAGES)
    return Searcher(folder, deadline_seconds=60)


ACCENTED = {
    "en": ("Beyoncé", "Send a résumé"),
    "fr": ("Sécurité", "L'été à l'université"),
    "pt": ("Informações", "A educação e a informação"),
    "ro": ("Educație", "și siguranță"),
    "ca": ("Informació", "però"),
    "it": ("Qualità", "la responsabilità"),
    "es": ("Canción", "después"),
    "hu": ("Adatbázis", "az első"),
    "pl": ("Łódź", "został"),
    "cs": ("Člověk", "můžete"),
    "tr": ("Çocuk", "olduğunu artık"),
    "lt": ("Kodėl", "visiškai"),
    "nb": ("Nivå", "også"),
    "ru": ("Молоко\u0301", "ёлка"),
    "el": ("Προϊόντα", "όταν"),
    "vi": ("Kỹ thuật", "phần mềm"),
    "": ("Straße", "Þór"),
}


@pytest.fixture(scope="module")
def accented(tmp_path_factory: pytest.TempPathFactory) -> tuple[Searcher, Searcher]:
    """Pages with accents, and the same ones without."""
    made = []
    for pages in (ACCENTED, {name: tuple(map(without, texts)) for name, texts in ACCENTED.items()}):
        folder = tmp_path_factory.mktemp("accented")
        write(folder, pages)
        made.append(Searcher(folder, deadline_seconds=60))
    return made[0], made[1]


def without(text: str) -> str:
    return unaccented(text.replace("Þ", "Th").replace("Ł", "L"))


@pytest.mark.parametrize("language", ACCENTED)
def test_accents_never_matter(accented: tuple[Searcher, Searcher], language: str) -> None:
    for word in " ".join(ACCENTED[language]).split():
        for searcher in accented:
            assert language in found(searcher, f"+{word}", expand=False), word
            assert language in found(searcher, f"+{without(word)}", expand=False), word
            assert language in found(searcher, f"+{word.upper()}", expand=False), word


def test_word_with_accents_counts_once(tmp_path: Path) -> None:
    write(tmp_path, {"fr": ("Une université", "deux"), "en": ("No université", "two")})
    reading = Live(tmp_path).reading()
    assert reading

    posted = reading.posted("title", "universit|fr:univers|fr:universit")

    assert posted.counts.tolist() == [1, 1]
    assert posted.values.flat().positions.tolist() == [1, 1]


def test_snippet_begins_where_the_word_with_accents_stands() -> None:
    text = "filler " * 50 + "\nla sécurité"

    assert Snippets(["securit"]).cut(text) == "… la sécurité"


def test_letters_with_accents_before_a_word_do_not_move_it() -> None:
    letters = "".join(filter(str.isalpha, map(chr, range(0xC0, 0x2000))))

    assert Snippets(["securit"]).cut(f"{letters} {'filler ' * 50}\nla sécurité") == "… la sécurité"


def test_words_that_visitors_ask_for_do_not_fill_the_memory() -> None:
    assert overlapping.cache_info().maxsize


@pytest.mark.parametrize(
    ("words", "text", "marked"),
    [
        (["京都"], "古い京都の町。東京都庁", ["京都", "京都"]),
        (["デー", "ータ", "タベ", "ベー", "ース"], "このデータベースの設定", ["データベース"]),
        (["デー", "ータ"], "ﾃﾞｰﾀの", ["ﾃﾞｰﾀ"]),
        (["설치"], "설치하기", ["설치"]),
        (["水"], "水道と水", ["水"]),
        (["apach", "設定"], "Apacheの設定", ["Apache", "設定"]),
        (["de:tragwerksplan"], "Trag\u00adwerks\u00adplanung", ["Trag\u00adwerks\u00adplanung"]),
        (["o'reilli"], "O‘Reilly", ["O‘Reilly"]),
        (["fr:univers", "fr:universit"], "université, universite", ["université", "universite"]),
        (["خواهم"], "می\u200cخواهم", ["خواهم"]),
    ],
)
def test_marked_is_the_word_in_any_script(words: list[str], text: str, marked: list[str]) -> None:
    assert [piece for piece, is_marked in Snippets(words).mark(text) if is_marked] == marked


def test_a_part_of_a_word_is_marked_in_languages_that_write_compounds() -> None:
    snippets = Snippets(["datei"])

    assert [snippets.holds("Konfigurationsdatei", language) for language in ("de", "en", "")] == [
        True,
        False,
        False,
    ]


def test_snippet_begins_at_a_word_within_a_clause() -> None:
    assert "設定の" in Snippets(["設定"]).cut("長い文章。" * 200 + "これは設定の説明。")


@pytest.mark.parametrize("unseen", ["\u00ad", "\u2060\u00ad", "\u200c", "\u200d", "\ufeff", "\u200e"])
def test_snippet_begins_at_a_word_with_what_nobody_sees_and_leaves_that_out(unseen: str) -> None:
    text = "filler " * 50 + f"\n{unseen}Das {unseen}Trag{unseen}werk"

    assert Snippets(["tragwerk"]).cut(text) == "… Das Tragwerk"


@pytest.mark.parametrize("text", ["👨\u200d👩\u200d👧 photo", "क्\u200dष photo", "می\u200cخواهم photo"])
def test_snippet_keeps_the_joiners_of_letters_and_emoji(text: str) -> None:
    assert Snippets(["photo"]).cut(text) == text


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("京都", "kyoto"),  # which also is in 東京都, where it is no word
        ("東京都", "tokyo"),
        ("東京 京都", "tokyo"),
        ("大学", "school"),
    ],
)
def test_page_with_the_word_itself_comes_before_one_where_two_others_meet(
    tmp_path: Path, query: str, first: str
) -> None:
    pages = {
        "tokyo": "東京都 東京都の観光。東京都の人口",
        "kyoto": "日本の町。" * 30 + "京都の寺",
        "school": "東京大学",
    }
    crawled = [(f"http://a.test/{name}", body[:3], body) for name, body in pages.items()]
    publish(tmp_path, map(entry, crawled))

    hits = Searcher(tmp_path, deadline_seconds=60).search(query, expand=False).hits

    assert hits[0].url == f"http://a.test/{first}"


def found(searcher: Searcher, query: str, **options: Any) -> set[str]:
    return {hit.url.rpartition("/")[2] for hit in searcher.search(query, **options).hits}


def test_words_that_are_added_are_read_in_the_languages_of_the_collection(searcher: Searcher) -> None:
    # which the English stemmer does not take to "haus"
    assert found(searcher, "hard", add=["Häuser"]) == {"en", "de"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("haus", {"de"}),
        ("haüser", {"de"}),
        ("uber", {"de"}),
        ("title:haus", {"de"}),
        ('"hauser uber"', {"de"}),
        ("homme", {"fr"}),
        ("modüller", {"tr"}),
        ("news", {"en", "fr"}),  # "new" is the French stem of it, and only in French pages
        ("news -title:nouvelle", {"en"}),
        ("東京", {"ja"}),
        ("データベース", {"ja"}),
        ("水", {"ja"}),
        ("設", {"ja"}),  # within a word,
        ("定", {"ja"}),  # and at its end
        ("+設", {"ja"}),
        ('"の設定"', {"ja"}),
        ("데이터베이스", {"ko"}),
        ("数据库", {"zh"}),
        ("ฐานข้อมูล", {"th"}),
        ("+ภาษา", {"th"}),
        ('"--onto"', {"en"}),
        ("c++", {"en"}),
        ("onto -c++", set()),
    ],
)
def test_query_is_read_in_the_languages_of_the_collection(
    searcher: Searcher, query: str, expected: set[str]
) -> None:
    assert found(searcher, query, expand=False) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "first"), [("ja", "ja"), ("ko", "ko"), ("en", "en"), ("xx", "en"), ("", "en")]
)
def test_of_translations_the_one_in_the_language_of_the_asker_is_first(
    tmp_path: Path, language: str, first: str
) -> None:
    write(tmp_path, {name: ("mod_alias", f"mod_alias {name}") for name in ("en", "ja", "ko")})
    write(tmp_path, {"": ("mod_alias", "where it says so little that nobody knows its language")})
    searcher = Searcher(tmp_path, deadline_seconds=60)

    hits = searcher.search("mod_alias", language=language, explain=True)

    assert hits.hits[0].url == f"http://a.test/{first}"
    assert len(hits.hits) == 4
    lowered = [any(part.what == "language" for part in parts) for parts in hits.explanations]
    assert lowered.count(True) == (2 if language in ("en", "ja", "ko") else 0)  # not of an unknown language
    for hit, parts in zip(hits.hits, hits.explanations, strict=True):
        assert searcher.explain("mod_alias", hit.number, language=language) == parts


@pytest.mark.parametrize(
    ("header", "first"), [("ko-KR,ko;q=0.9,en;q=0.8", "ko"), ("EN", "en"), ("*", "en"), ("?", "en")]
)
def test_browser_says_the_language_of_the_asker(tmp_path: Path, header: str, first: str) -> None:
    write(tmp_path, {name: ("mod_alias", f"mod_alias {name}") for name in ("en", "ko")})

    with TestClient(make_app(Config(tmp_path, deadline_seconds=60)), "http://localhost") as client:
        answer = client.get("/api/search?q=mod_alias", headers={"Accept-Language": header})
        page = client.get("/search?q=mod_alias", headers={"Accept-Language": header})
        told = client.get(f"/api/search?q=mod_alias&lang={first}", headers={"Accept-Language": "de"})

    assert told.json()["hits"][0]["url"] == f"http://a.test/{first}"  # the parameter comes before the header
    assert answer.json()["hits"][0]["url"] == f"http://a.test/{first}"
    assert "language=" not in page.text


# What is frequent in general


@pytest.mark.parametrize(
    ("language", "frequent", "rare"),
    [("en", "house", "genom"), ("de", "haus", "datenbank"), ("fr", "maison", "bibliothequ")],
)
def test_general_frequencies_are_those_of_a_language(language: str, frequent: str, rare: str) -> None:
    reference = general(language)

    assert reference and reference.frequency(frequent) > reference.frequency(rare) > 0


@pytest.mark.parametrize("language", ["ja", "zh", "ko", "xx"])
def test_general_frequencies_are_not_known_of_every_language(language: str) -> None:
    assert general(language) is None


def test_of_terms_in_several_languages_the_one_of_the_reference_counts() -> None:
    german = Reference([("Häuser", 0.25), ("selten", 0.125)], language="de")

    assert german.frequency("hauser|de:haus|fr:x") == german.frequency("haus") == 0.25
    assert german.frequency("news|fr:new") == 0.125  # not listed


def test_where_they_are_not_known_the_collection_tells(tmp_path: Path) -> None:
    write(tmp_path, {"ja": ("設定", "設定 設定 水 水 水 水 山"), "ko": ("", "水 山")})
    searcher = Searcher(tmp_path, deadline_seconds=60)

    def worth(text: str) -> float:
        hits = searcher.search(text, ranking="peculiarity", explain=True)
        return next(sum(part.contribution for part in parts) for parts in hits.explanations)

    assert worth("山") > worth("水") > 0


@pytest.mark.parametrize(("skipped", "expected"), [("en", ["die", "hart"]), ("de", ["hart"])])
def test_function_words_are_those_of_the_main_languages(skipped: str, expected: list[str]) -> None:
    lexicon = Lexicon(("en", "de"), (skipped,))

    assert [one.spelled for one in parse("die hart", lexicon=lexicon).terms] == expected


@pytest.mark.parametrize(
    ("word", "language", "least", "most"),
    [
        ("The", "en", 0, 0),
        ("should", "en", 0.1, 0.9),  # of a question, not of its subject
        ("database", "en", 1, 1),
        ("gahter", "en", 1, 1),
        ("die", "de", 0, 0),
        ("die", "en", 0.1, 1),
        ("kwa", "sw", 1, 1),  # of a language whose frequencies nobody has counted
    ],
)
def test_how_much_a_word_says_follows_its_frequency_in_general_language(
    word: str, language: str, least: float, most: float
) -> None:
    assert least <= telling(word, language) <= most


def test_word_says_as_much_as_in_the_main_language_where_it_says_least() -> None:
    lexicon = Lexicon(("en", "de"), ("en", "de"))

    assert [lexicon.telling(word) for word in ("die", "hart", "Paket")] == [0, telling("hart", "de"), 1]


def test_word_is_looked_up_by_its_terms_in_each_language() -> None:
    lexicon = Lexicon(("en", "de", "fr", "xx"), holds=lambda term: term != "hauser")

    assert lexicon.read("Häuser news") == [("hauser|de:haus|fr:haus", "Häuser"), ("news|fr:new", "news")]
