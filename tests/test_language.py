"""The language of a page: what it says of itself, unless its words say otherwise."""

from __future__ import annotations

import pytest

from webcrawler.parsing import ParserPool, parse, with_headers
from webcrawler.parsing.language import LEAST_CHARACTERS, language, subtag

URL = "http://a.example/"
TEXTS = {
    "en": "The library opens every morning, and whoever wants to read may stay until the evening. ",
    "de": "Die Bücherei öffnet jeden Morgen, und wer lesen möchte, darf bis zum Abend bleiben. ",
    "fr": "La bibliothèque ouvre chaque matin, et ceux qui veulent lire peuvent rester jusqu'au soir. ",
    "tr": "Kütüphane her sabah açılır ve okumak isteyen herkes akşama kadar kalabilir. ",
    "ja": "図書館は毎朝開いていて、本を読みたい人は夕方までいることができます。",
    "zh": "图书馆每天早上开门，想看书的人可以一直待到晚上。",
    "ko": "도서관은 매일 아침 문을 열고, 책을 읽고 싶은 사람은 저녁까지 머물 수 있습니다. ",
    "th": "ห้องสมุดเปิดทุกเช้า และใครที่อยากอ่านหนังสือก็อยู่ได้จนถึงเย็น ",
}
ENGLISH, GERMAN = TEXTS["en"] * 10, TEXTS["de"] * 10
CODE = "for (int i = 0; i < n; i++) { v[i] = f(x, y[i]) << 2; } // 0x7f 0x80 " * 10


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("de", "de"),
        ("de-AT", "de"),
        ("ZH_cn", "zh"),
        (" zh-Hant-TW ", "zh"),
        ("haw", "haw"),
        ("iw", "he"),  # as it was before 1989
        ("jp", "ja"),  # a country
        ("", ""),
        ("english", ""),
        ("de,en", ""),
        ("x-default", ""),
        ("und", ""),
    ],
)
def test_the_code_of_a_language_is_the_beginning_of_its_tag(tag: str, code: str) -> None:
    assert subtag(tag) == code


@pytest.mark.parametrize("code", TEXTS)
def test_the_words_of_a_page_tell_its_language_where_it_says_none(code: str) -> None:
    assert parse(f"<p>{TEXTS[code] * 20}".encode(), URL).language == code


@pytest.mark.parametrize(
    ("text", "declared", "is_in"),
    [
        (ENGLISH, "en", "en"),
        (GERMAN, "en", "de"),  # the words contradict
        (GERMAN[: LEAST_CHARACTERS - 1], "en", "en"),  # too few to do so
        (GERMAN[: LEAST_CHARACTERS - 1], "", ""),
        (CODE, "en", "en"),  # they tell nothing
        (CODE, "", ""),
        (ENGLISH, "haw", "haw"),  # nobody can tell
        ("", "fr", "fr"),
        (CODE + GERMAN * 20 + CODE, "", "de"),  # what most of it is in
    ],
)
def test_what_a_page_says_counts_unless_enough_words_contradict(text: str, declared: str, is_in: str) -> None:
    assert language(text, declared) == is_in


@pytest.mark.parametrize(
    ("html", "declared"),
    [
        ("<html lang=de-AT>x", "de"),
        ("<html xml:lang=de>x", "de"),
        ("<html lang=de xml:lang=en>x", "de"),
        ("<body lang=de>x", "de"),
        ("<meta http-equiv=Content-Language content=de>x", "de"),
        ("<html lang=de><meta http-equiv=Content-Language content=en>x", "de"),
        ("<html lang=''>x", ""),
        ("<p lang=de>x", ""),  # a part of it
    ],
)
def test_a_page_declares_its_language_in_its_outermost_elements(html: str, declared: str) -> None:
    assert parse(html.encode(), URL).language == declared


@pytest.mark.parametrize(
    ("html", "header", "is_in"),
    [
        ("x", "de", "de"),
        ("x", "de-CH", "de"),
        ("x", "de, en", ""),  # for whom it is meant, not what it is in
        ("x", "de-AT, en", ""),
        ("<html lang=fr>x", "de", "fr"),
        (ENGLISH, "de", "en"),
    ],
)
def test_the_header_is_believed_where_the_page_tells_nothing(html: str, header: str, is_in: str) -> None:
    page = with_headers(parse(html.encode(), URL), [("Content-Language", header)])

    assert page.language == is_in


def test_documents_that_are_not_html_have_a_language_too() -> None:
    assert parse(GERMAN.encode(), URL, "text/plain; charset=utf-8").language == "de"


@pytest.mark.slow
def test_the_memory_of_the_detector_is_not_a_page_s() -> None:
    """It takes more than this page may, and than a worker may keep of its pages."""
    pool = ParserPool(1, memory_mb=100)
    try:
        pages = [pool.parse((GERMAN * 1_000).encode(), URL).result() for _ in range(3)]
    finally:
        pool.close()

    assert [page.language for page in pages] == ["de"] * 3
