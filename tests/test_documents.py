"""What documents beyond HTML say and link to, and which kind of document a body is."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from papers import RELATIONS, TYPES, docx, epub, opened, owls, pdf, pdf_page, pptx, xlsx, zipped

from webcrawler.errors import Unreadable
from webcrawler.parsing import declared_kind, kind_of, parse, readable_kinds, unread_endings
from webcrawler.parsing.documents import KINDS, packages, sheets_and_slides
from webcrawler.parsing.documents import pdf as pdf_reader
from webcrawler.records import Page
from webcrawler.settings import WORDS

URL = "http://a.test/dir/x"
OCTETS = "application/octet-stream"
ANTIWORD = pytest.mark.skipif(not shutil.which("antiword"), reason="antiword is not installed")
SHEETS, SLIDES = ("xlsx", "ods"), ("pptx", "odp")
ALL = [pytest.param(ending, marks=ANTIWORD) if ending == "doc" else ending for ending in TYPES]


def page(ending: str) -> Page:
    return parse(owls(ending), URL, TYPES[ending])


# ---- what people's programs write


@pytest.mark.parametrize("ending", ALL)
def test_a_document_has_its_title_and_all_of_its_words(ending: str) -> None:
    found = page(ending)

    assert found.title == "The lives of owls"
    for words in ("Snowy owls hunt lemmings by day", "naïve visitors — and foxes", "page is about voles"):
        assert words in found.text


@pytest.mark.parametrize("ending", [one for one in ALL if one not in ("rtf", *SHEETS, *SLIDES)])
def test_headings_are_those_of_the_document_and_larger_than_its_text(ending: str) -> None:
    found = page(ending)
    sizes = {found.text[start:end]: size for start, end, size in found.emphasis}

    assert [heading for heading in found.headings if heading != found.title] == ["Owls of the north", "Nests"]
    assert sizes["Owls of the north"] > sizes["Nests"] > 1


@pytest.mark.parametrize("ending", [*SHEETS, *SLIDES])
def test_sheets_stand_under_their_names_and_slides_under_their_titles_and_hidden_ones_are_not_read(
    ending: str,
) -> None:
    found = page(ending)
    sizes = {found.text[start:end]: size for start, end, size in found.emphasis}

    assert found.headings == ("Owls of the north", "Nests")
    assert sizes["Owls of the north"] == sizes["Nests"] > 1
    assert "agles" not in found.text  # of a hidden one, and of what a speaker reads


@pytest.mark.parametrize("ending", [one for one in ALL if one not in ("pdf", "rtf", *SHEETS)])
def test_bold_words_are_emphasis(ending: str) -> None:
    found = page(ending)

    assert "lemmings" in [found.text[start:end] for start, end, size in found.emphasis if size == 1]


@pytest.mark.parametrize(
    ("ending", "anchor"),
    [
        ("pdf", "more on snowy · owls"),  # over two lines, a link each
        ("docx", "more on snowy owls"),
        ("odt", "more on snowy owls"),
        *((ending, "more on snowy owls") for ending in (*SHEETS, *SLIDES)),
        ("rtf", ""),
        ("epub", "more on snowy owls"),
        ("md", "more on snowy owls"),
    ],
)
def test_links_lead_where_those_of_the_document_do(ending: str, anchor: str) -> None:
    assert [(link.url, link.anchor) for link in page(ending).links] == [
        ("http://birds.test/snowy.html", anchor)
    ]


@pytest.mark.parametrize("ending", ["docx", "odt", *SHEETS, *SLIDES])
def test_a_document_has_its_description_and_keywords(ending: str) -> None:
    found = page(ending)

    assert found.description == "Where owls live"
    assert found.keywords.replace(",", "") == "owls nests"


# ---- each format's own


def test_plain_text_has_paragraphs_and_its_urls_are_links() -> None:
    text = (
        b"One\nline (see http://b.test/a_(b).) and\r\n\r\n  the other:\nhttp://b.test/c, <http://b.test/d>\n"
    )

    found = parse(text, URL, "text/plain")

    assert found.text == (
        "One line (see http://b.test/a_(b).) and\nthe other: http://b.test/c, <http://b.test/d>"
    )
    assert [link.url for link in found.links] == ["http://b.test/a_(b", "http://b.test/c", "http://b.test/d"]


def test_relative_links_of_markdown_lead_on_and_those_of_a_book_stay_within_it() -> None:
    chapter = '<a href="c2.xhtml">next</a> <a href="http://b.test/">out</a>'

    markdown = parse(b"[x](y.md)\n\n<base href='http://c.test/'>", URL, "text/markdown")
    assert [link.url for link in markdown.links] == ["http://a.test/dir/y.md"]
    assert [link.url for link in parse(epub(chapter), URL, OCTETS).links] == ["http://b.test/"]


def test_chapters_of_a_book_come_in_the_order_of_its_spine_and_each_once() -> None:
    assert parse(epub("<p>one", "<p>two<title>no</title>"), URL, OCTETS).text == "one\ntwo"


def test_deleted_text_of_a_document_is_not_read() -> None:
    deleted = "<w:p><w:r><w:t>kept</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"

    assert parse(docx(deleted), URL, OCTETS).text == "kept"


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ('<c t="s"><v>1</v></c>', "two"),
        ('<c t="s"><v>2</v></c>', ""),  # no such text
        ('<c t="s"><v>-1</v></c>', ""),
        pytest.param(f'<c t="s"><v>{"9" * 5_000}</v></c>', "", id="a number without an end"),
        ('<c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r><rPh><t>said</t></rPh></is></c>', "inline"),
        ('<c t="str"><f>A1</f><v>computed</v></c>', "computed"),
        ("<c><v>1.5</v></c>", "1.5"),
        ('<c t="b"><v>1</v></c>', ""),
        ('<c t="e"><v>#REF!</v></c>', ""),
    ],
)
def test_a_cell_says_what_it_shows(cell: str, said: str) -> None:
    shared = "<sst><si><t>one</t></si><si><t>two</t></si></sst>"

    text = parse(xlsx(f"<row>{cell}</row>", **{"xl/SharedStrings.xml": shared}), URL, OCTETS).text

    assert text == f"S\n{said}".strip()


def test_of_a_workbook_so_many_rows_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets_and_slides, "MAX_ROWS", 2)

    assert parse(xlsx("<row><c><v>7</v></c></row>" * 3), URL, OCTETS).text == "S\n7\n7"


def test_a_long_text_that_many_cells_share_is_read_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets_and_slides, "MAX_CHARACTERS", 10)
    shared = {"xl/SharedStrings.xml": "<sst><si><t>word</t></si></sst>"}

    found = parse(xlsx('<row><c t="s"><v>0</v></c></row>' * 9, **shared), URL, OCTETS)

    assert found.text == "S\nword\nword"


def test_a_link_of_several_cells_is_that_of_the_first() -> None:
    rows = '<row><c r="A1"><v>7</v></c><c r="B1"><v>8</v></c></row>'
    link = f'<hyperlink xmlns:r="{RELATIONS}" ref="A1:B1" r:id="h"/>'
    relation = '<Relationship Id="h" Type="x/hyperlink" TargetMode="External" Target="http://b.test/"/>'

    found = parse(xlsx(rows + link, **{"xl/one/_rels/1.xml.rels": f"<all>{relation}</all>"}), URL, OCTETS)

    assert [(link.url, link.anchor) for link in found.links] == [("http://b.test/", "7")]


TITLE = '<nvSpPr><nvPr><ph type="title"/></nvPr></nvSpPr>'
PARAGRAPHS = "<p><r><t>Owls of</t></r></p><p><r><t>the north</t></r></p>"


@pytest.mark.parametrize(
    "body",
    [
        pptx(f"<sp>{TITLE}{PARAGRAPHS}</sp>"),
        opened("odp", '<page><frame class="title"><p>Owls of</p><p>the north</p></frame></page>'),
    ],
)
def test_a_title_of_several_paragraphs_is_one_heading(body: bytes) -> None:
    assert parse(body, URL, OCTETS).headings == ("Owls of the north",)


def test_a_table_in_a_cell_is_read_once_and_none_in_a_hidden_sheet() -> None:
    hidden = '<style name="h"><table-properties display="false"/></style>'
    inner = '<table name="I"><table-row><table-cell><p>inside</p></table-cell></table-row></table>'
    sheet = f'<table name="S"><table-row><table-cell>{inner}</table-cell></table-row></table>'
    unseen = sheet.replace('name="S"', 'name="H" style-name="h"').replace("inside", "hidden")

    found = parse(opened("ods", f"{hidden}<spreadsheet>{sheet}{unseen}</spreadsheet>"), URL, OCTETS)

    assert found.text == "S\ninside"


def test_what_is_embedded_in_a_document_does_not_tell_its_kind() -> None:
    embedded = xlsx("")
    slides = zipped({"embedded.xlsx": embedded, "ppt/presentation.xml": ""})

    assert kind_of(OCTETS, slides, URL) == "pptx"


def test_a_word_that_a_pdf_divides_is_one_word() -> None:
    content = "BT /F 12 Tf 50 700 Td (exam-) Tj 0 -14 Td (ple) Tj ET"

    assert parse(pdf(*pdf_page(content)), URL, OCTETS).text == "example"


def test_of_a_pdf_so_many_pages_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_reader, "MAX_PAGES", 1)

    found = page("pdf")

    assert "lemmings" in found.text
    assert "voles" not in found.text


def test_of_an_archive_so_many_bytes_are_inflated(monkeypatch: pytest.MonkeyPatch) -> None:
    paragraphs = "".join(f"<w:p><w:r><w:t>word{number}</w:t></w:r></w:p>" for number in range(1_000))
    monkeypatch.setattr(packages, "MAX_BYTES", 10_000)

    words = parse(docx(paragraphs), URL, OCTETS).text.split()

    assert words[0] == "word0"
    assert 100 < len(words) < 500


# ---- what cannot be read

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
BOMB = f'<!DOCTYPE d [<!ENTITY l0 "ha">{LAUGHS}]><w:document>&l9;</w:document>'
NULLS = "00" * 32
LOCKED = f"/Root 1 0 R/ID[<00><00>]/Encrypt <</Filter/Standard/V 1/R 2/O <{NULLS}>/U <{NULLS}>/P -4>>"
ENCRYPTED = {"META-INF/manifest.xml": "<manifest:encryption-data/>", "content.xml": "x"}
CIPHERED = {"META-INF/encryption.xml": '<e><CipherReference URI="OPS/c0.xhtml"/></e>'}
UNREADABLE = {
    "a PDF that is cut": ("application/pdf", owls("pdf")[:500]),
    "a PDF without pages": ("application/pdf", pdf("<</Type/Catalog>>")),
    "a PDF with a password": ("application/pdf", pdf(*pdf_page(""), trailer=LOCKED)),
    "an archive that is cut": (TYPES["docx"], owls("docx")[:-500]),
    "an archive with a wrong checksum": (TYPES["odt"], owls("odt").replace(b"PK\x01\x02", b"PK\x01\x03")),
    "an entity that grows": (TYPES["docx"], zipped({"a": "", "word/document.xml": BOMB})),
    "a text that is encrypted": (TYPES["odt"], zipped({"mimetype": TYPES["odt"]} | ENCRYPTED)),
    "slides that are cut": (TYPES["pptx"], owls("pptx")[:-500]),
    "a book that is encrypted": (TYPES["epub"], epub("x", files=CIPHERED)),
    "a book without chapters": (TYPES["epub"], epub()),
}


@pytest.mark.parametrize(("kind", "body"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_damaged_or_encrypted_says_that_it_cannot_be_read(kind: str, body: bytes) -> None:
    assert kind_of(kind, body, URL)

    with pytest.raises(Unreadable):
        parse(body, URL, kind)


MAKERS: dict[str, Callable[[bytes], bytes]] = {
    "pdf": lambda noise: b"%PDF-1.7\n" + noise,
    "rtf": lambda noise: b"{\\rtf1 " + noise,
    "md": lambda noise: noise,
    "docx": lambda noise: docx(noise.decode("latin-1")),
    "xlsx": lambda noise: xlsx(noise.decode("latin-1")),
    "pptx": lambda noise: pptx(noise.decode("latin-1")),
    "ods": lambda noise: opened("ods", f"<spreadsheet><table>{noise.decode('latin-1')}"),
    "odp": lambda noise: opened("odp", f"<page>{noise.decode('latin-1')}"),
    "epub": lambda noise: epub(noise.decode("latin-1")),
}


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(sorted(MAKERS)), st.binary(max_size=300))
def test_any_bytes_are_a_page_or_cannot_be_read(ending: str, noise: bytes) -> None:
    try:
        parse(MAKERS[ending](noise), URL, TYPES[ending])
    except Unreadable as error:
        assert str(error)


@settings(max_examples=examples(40), deadline=None)
@given(st.sampled_from(["pdf", "docx", "odt", *SHEETS, *SLIDES, "rtf", "epub"]), st.data())
def test_a_document_with_a_changed_byte_is_a_page_or_cannot_be_read(ending: str, data: st.DataObject) -> None:
    body = bytearray(owls(ending))
    body[data.draw(st.integers(0, len(body) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        parse(bytes(body), URL, TYPES[ending])
    except Unreadable as error:
        assert str(error)


# ---- which kind it is


@pytest.mark.parametrize("ending", TYPES)
@pytest.mark.parametrize("vague", ["", OCTETS, "application/x-download", "text/plain"])
def test_what_a_server_does_not_name_is_told_by_its_bytes_and_its_ending(vague: str, ending: str) -> None:
    kind = {"md": "markdown"}.get(ending, ending)
    url = f"{URL}.{ending}"

    assert kind_of(vague, owls(ending), url) == kind == declared_kind(vague, url)
    assert kind_of(TYPES[ending], owls(ending), URL) == kind == declared_kind(TYPES[ending], URL)


@pytest.mark.parametrize(
    ("kind", "body", "url"),
    [
        ("application/pdf", b"<html>an error page", URL),
        ("application/msword", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 Workbook", URL),  # Excel's
        (OCTETS, b"PK\x03\x04 a program", f"{URL}.zip"),
        (OCTETS, b"words", f"{URL}.bin"),
        ("text/plain", b"\x89PNG\r\n", f"{URL}.txt"),
        ("text/markdown", bytes(range(256)), URL),
        ("application/json", owls("pdf"), f"{URL}.pdf"),
        ("text/html", owls("pdf"), f"{URL}.pdf"),
    ],
)
def test_what_is_no_document_is_of_no_kind(kind: str, body: bytes, url: str) -> None:
    assert kind_of(kind, body, url) == ""


def test_what_has_no_reader_here_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webcrawler.parsing.documents.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")

    assert readable_kinds(["pdf", "doc", "docx", "text"]) == {"html", "docx", "text"}


def test_settings_know_the_kinds() -> None:
    assert WORDS["DOCUMENT_TYPES"] == KINDS.keys()
    assert unread_endings(KINDS) == frozenset()
    assert unread_endings([*KINDS.keys() - {"doc", "markdown"}]) == {"doc", "dot"}  # pages may be called x.md
