"""Which characters are these bytes, where labels are rare, or nothing says it? And how are links sent there?

Labels are those of the Encoding Standard, 4.2; links are read as the HTML Standard has it, 2.4.2.
"""

from __future__ import annotations

import pytest
from webencodings.labels import LABELS

from webcrawler.parsing import parse, parse_sitemap
from webcrawler.parsing.encoding import declared_encoding, encoding_of

URL = "http://a.example/dir/page"
RUSSIAN = "Привет, мир. Это обычная страница о погоде и о новостях города."
GERMAN = "Die Tür fällt nach außen auf, und der Wind weht über die Höhe."
READABLE = sorted(label for label, name in LABELS.items() if name != "replacement")


def text(body: bytes, content_type: str = "") -> str:
    return parse(body, URL, content_type).text


@pytest.mark.parametrize("label", READABLE)
def test_labels_mean_the_same_in_the_header_and_in_the_page(label: str) -> None:
    header = declared_encoding(b"", f"text/html; charset={label.upper()}")
    meta = declared_encoding(b"<meta charset=%s>" % label.encode())

    assert header
    assert meta == ("utf-8" if header.startswith("utf-16") else header)


@pytest.mark.parametrize(
    "content_type",
    [
        "text/html; charset='windows-1251'",
        "text/html; charset = windows-1251",
        'text/html;CHARSET="x-cp1251"',
        'text/html; title="a; charset=koi8-r"; charset=cp1251',
        "charset=windows-1251",
        "text/html charset=windows-1251",
        'text/html; charset="windows-1251',
        "text/html; charset='windows-1251",
    ],
)
def test_charset_of_a_header_may_be_quoted_and_stand_alone(content_type: str) -> None:
    assert declared_encoding(b"", content_type) == "cp1251"


@pytest.mark.parametrize("label", ["x-cp1251", "'windows-1251'"])
def test_sitemap_is_read_in_the_encoding_that_its_label_means(label: str) -> None:
    body = "<urlset><url><loc>http://a.example/мир</loc></url></urlset>".encode("cp1251")

    read = parse_sitemap(body, URL, f"text/xml; charset={label}")

    assert read and [link.url for link in read.links] == ["http://a.example/%D0%BC%D0%B8%D1%80"]


@pytest.mark.parametrize(
    ("codec", "words"),
    [
        ("cp1251", RUSSIAN),
        ("koi8-r", RUSSIAN),
        ("cp866", RUSSIAN),
        ("euc_jp", "これは日本語のページです。東京の天気予報とお知らせ。"),
        ("cp932", "これは日本語のページです。東京の天気予報とお知らせ。"),
        ("iso2022_jp", "これは日本語のページです。"),
        ("gb18030", "这是一个中文网页，介绍北京的天气和新闻。"),
        ("cp949", "이것은 한국어 페이지입니다. 서울의 날씨와 뉴스."),
        ("cp1253", "Αυτή είναι μια ελληνική σελίδα για τον καιρό και τα νέα."),
        ("cp1255", "זהו דף בעברית על מזג האוויר ועל החדשות בעיר."),
        ("cp1256", "هذه صفحة عربية عن الطقس والأخبار في المدينة."),
        ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy, říká učitelka dětem ve škole o příštím týdnu."),
        ("cp874", "ภาษาไทยเป็นภาษาราชการของประเทศไทย"),
        ("koi8_u", "Привіт світ, їжак, ґанок: це Україна."),
        ("iso8859_2", "Příští žluťoučký šťastný kůň."),
        ("iso8859_5", "Привет мир это погода"),
        ("iso8859_6", "هذه صفحة عربية عن الطقس والأخبار"),
        ("big5", "這是一個中文網頁介紹北京的天氣和新聞"),
        ("cp1250", "Szkoła, do której chodzą dzieci."),
        ("cp1250", "Aceasta este o pagină şi o ştire."),
        ("cp1257", "Šiandien žmonės kalba apie orą."),
        ("cp1252", GERMAN),
        ("cp1252", "Œuvre complète de l’été, déjà à l’hôtel où naît le garçon."),
    ],
)
def test_page_that_does_not_say_its_encoding_is_read_by_its_letters(codec: str, words: str) -> None:
    assert text(b"<title>t</title><p>" + words.encode(codec)) == words


@pytest.mark.parametrize("word", ["£20", "naïve", "café", "© 2004", "«prev", "±5 µm", "¡hola!", "Ærø"])
def test_one_foreign_word_on_a_page_in_english_is_western(word: str) -> None:
    words = f"the owl is a bird {word} of the night"

    assert text(words.encode("cp1252")) == words


@pytest.mark.parametrize(
    "body",
    [
        RUSSIAN.encode() + b" \x96 " + RUSSIAN.encode(),
        RUSSIAN.encode()[:-2],
        GERMAN.encode() + b" caf\xe9",
    ],
)
def test_utf_8_with_a_damaged_byte_is_still_utf_8(body: bytes) -> None:
    assert encoding_of(body) == "utf-8"


@pytest.mark.parametrize("words", [RUSSIAN, GERMAN])
@pytest.mark.parametrize("padding", [b"<p>" * 100_000, b"x" * 1_000_000])
def test_letters_are_found_wherever_they_stand(words: str, padding: bytes) -> None:
    codec = "cp1251" if words == RUSSIAN else "cp1252"

    assert words in text(padding + b" " + words.encode(codec))


LINKS = [
    ("<a href='?q=мир'>", "/dir/page?q=%EC%E8%F0"),
    ("<area href='/мир?q=мир#мир'>", "/%D0%BC%D0%B8%D1%80?q=%EC%E8%F0"),
    ("<frameset><frame src='f?мир'></frameset>", "/dir/f?%EC%E8%F0"),
    ("<iframe src='f?a=1&b=мир'></iframe>", "/dir/f?a=1&b=%EC%E8%F0"),
    ("<meta http-equiv=refresh content='0; url=/r?q=мир'>", "/r?q=%EC%E8%F0"),
    ("<base href='/b?мир'><a href='#top'>", "/b?%EC%E8%F0"),
    ("<a href='/x?q=日'>", "/x?q=%26%2326085%3B"),  # not in the encoding: as forms send it
    ("<a href='/x#?мир'>", "/x"),
    ("<a href='/x?q=%D0%BC'>", "/x?q=%D0%BC"),
]


@pytest.mark.parametrize(("html", "wanted"), LINKS)
def test_query_of_a_link_is_in_the_encoding_of_its_page(html: str, wanted: str) -> None:
    body = html.encode("cp1251", "xmlcharrefreplace")

    (link,) = parse(body, URL, "text/html; charset=windows-1251").links

    assert link.spelling == f"http://a.example{wanted}"


def test_canonical_url_has_its_query_in_the_encoding_of_the_page() -> None:
    body = "<link rel=canonical href='/c?q=мир'>".encode("koi8-r")

    assert parse(body, URL, "text/html; charset=koi8-r").canonical == "http://a.example/c?q=%CD%C9%D2"


@pytest.mark.parametrize("codec", ["utf-8", "utf-16le", "utf-16be"])
def test_query_is_in_utf_8_on_a_page_in_unicode(codec: str) -> None:
    (link,) = parse("<a href='/?мир'>".encode(codec), URL, f"text/html; charset={codec}").links

    assert link.spelling == "http://a.example/?%D0%BC%D0%B8%D1%80"


@pytest.mark.parametrize(
    ("attribute", "value"), [("", "%EC%E8%F0"), ("accept-charset='nonsense utf-8'", "%D0%BC%D0%B8%D1%80")]
)
def test_form_is_sent_in_the_encoding_of_its_page_unless_it_says_otherwise(
    attribute: str, value: str
) -> None:
    body = f"<form action=/s {attribute}><input type=hidden name=in value=мир><input name=q></form>".encode(
        "cp1251"
    )

    (link,) = parse(body, URL, "text/html; charset=windows-1251", forms=True).links

    assert link.spelling == f"http://a.example/s?in={value}&q="
