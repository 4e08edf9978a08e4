"""Pages that are hard to read."""

from __future__ import annotations

import random

from zoo.exchange import Exchange, page
from zoo.server import Kind

hostile = Kind()
READ = "done/document"
MIB = 2**20
START = "<!doctype html><title>{}</title><body>"
LAST = '<p>at the end <a href="/found">found</a>'


async def tell(it: Exchange, title: str, *parts: str, kind: str = "text/html; charset=utf-8") -> None:
    await it.answer(START.format(title) + "".join(parts) + LAST, kind=kind)


hostile.each("C1", READ, finds=["/found"])(
    three_hundred_levels=lambda it: tell(it, "Three hundred levels", "<div>" * 300, "deep", "</div>" * 300),
    ten_thousand_levels=lambda it: tell(
        it, "Ten thousand levels", "<div>" * 10_000, "deep", "</div>" * 10_000
    ),
    a_million_levels_never_closed=lambda it: tell(it, "A million levels", "<b>" * 1_000_000, "deep"),
    levels_that_are_closed_in_the_wrong_order=lambda it: tell(
        it, "Wrong order", "<b><i><p><a href=/found?x>" * 40_000, "</b></p></i></a>" * 40_000
    ),
    a_million_end_tags_of_nothing=lambda it: tell(
        it, "End tags", "<div>" * 900, "</table></q></u>" * 300_000
    ),
)


@hostile("C2", READ)
async def a_million_links(it: Exchange) -> None:
    """All to files that are never fetched: what is tried here is the page."""
    links = "".join(f'<a href="/{number}.zip">' for number in range(400_000))
    await it.answer(START.format("A million links") + links[: 10 * MIB - 100])


hostile.each("C2", READ, finds=["/found"])(
    a_million_links_to_one_page=lambda it: tell(it, "One page", '<a href="/found">x</a>' * 400_000),
    a_million_attributes=lambda it: tell(
        it, "Attributes", "<p ", " ".join(f"a{number}=1" for number in range(800_000)), ">"
    ),
    an_attribute_of_nine_megabytes=lambda it: tell(it, "An attribute", '<p title="', "a" * 9 * MIB, '">'),
    a_link_of_nine_megabytes=lambda it: tell(it, "A link", '<a href="/', "a" * 9 * MIB, '">long</a>'),
    a_text_of_nine_megabytes=lambda it: tell(it, "A text", "word " * (9 * MIB // 5)),
    a_title_of_nine_megabytes=lambda it: it.answer(f"<title>{'title ' * (9 * MIB // 6)}</title>{LAST}"),
)
hostile.each("C3", READ)(
    unterminated_comments=lambda it: tell(it, "Comments", "<!--" * 500_000),
    unterminated_declarations=lambda it: tell(it, "Declarations", "<!DOCTYPE " * 300_000),
    unterminated_character_data=lambda it: tell(it, "Character data", "<![CDATA[" * 300_000),
    unterminated_scripts=lambda it: tell(it, "Scripts", "<script><!--<script>" * 200_000),
    unterminated_tags=lambda it: tell(it, "Tags", "<a " * 1_000_000),
)


@hostile("C3", READ, finds=["/found"])
async def a_million_entities(it: Exchange) -> None:
    await tell(it, "Entities", "&lt;&#x10ffff;&CounterClockwiseContourIntegral;&unknown" * 100_000)


@hostile("C4", READ, finds=["/found"])
async def a_billion_laughs(it: Exchange) -> None:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    doctype = f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY l0 "ha">{entities}]>'
    await it.answer(f"{doctype}<html><title>Laughs</title>&l9;{LAST}</html>", kind="application/xhtml+xml")


@hostile("C4", READ, finds=["/found"])
async def an_entity_from_a_file(it: Exchange) -> None:
    doctype = '<!DOCTYPE html [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    await it.answer(f"{doctype}<html><title>A file</title>&f;{LAST}</html>", kind="application/xhtml+xml")


@hostile("C7", READ, finds=["/found"])
async def a_base_of_javascript(it: Exchange) -> None:
    await tell(it, "Base", '<base href="javascript:alert(1)">')


hostile.each("C8", READ, finds=["/found"])(
    a_refresh_to_javascript=lambda it: tell(
        it, "Refresh", '<meta http-equiv=refresh content="0; url=javascript:alert(1)">'
    ),
    a_refresh_to_itself=lambda it: tell(
        it, "Refresh", '<meta http-equiv=refresh content="0;/"><meta http-equiv=refresh content=0>'
    ),
)


@hostile("C9", READ, finds=["/found"])
async def links_that_are_no_urls(it: Exchange) -> None:
    bad = ["http://[bad", "http://a:99999/", "http://a\0b/", "//", "http://", "http://%zz/", "http://a b/"]
    bad += ["file:///etc/passwd", "ftp://127.0.0.1/", "javascript:x", "view-source:/", "?" * 70_000]
    await tell(it, "Bad links", *(f'<a href="{href}">bad</a>' for href in bad))


hostile.each("C10", READ, finds=["/found"])(
    a_term_of_a_megabyte=lambda it: tell(it, "A term", "a" * MIB),
    a_million_terms=lambda it: tell(it, "Terms", " ".join(f"t{number:x}" for number in range(1_000_000))),
    one_term_two_million_times=lambda it: tell(it, "One term", "spam " * 2_000_000),
)
hostile.each("C11", "failed/not-indexable")(
    a_pdf_called_html=lambda it: it.answer(b"%PDF-1.7\n" + random.Random(1).randbytes(50_000)),
    a_zip_that_is_also_html=lambda it: it.answer(b"PK\x03\x04" + page("A polyglot").encode()),
)
hostile.each("C2", READ, finds=["/found"])(
    half_a_million_cells=lambda it: tell(it, "Cells", "<table>", "<tr><td>c" * 500_000),
    emphasis_on_every_letter=lambda it: tell(it, "Emphasis", "<b>b</b><i>i</i><h1>h</h1>" * 200_000),
)
