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


@hostile("C1", READ, finds=["/found"])
async def three_hundred_levels(it: Exchange) -> None:
    await tell(it, "Three hundred levels", "<div>" * 300, "deep", "</div>" * 300)


@hostile("C1", READ, finds=["/found"])
async def ten_thousand_levels(it: Exchange) -> None:
    await tell(it, "Ten thousand levels", "<div>" * 10_000, "deep", "</div>" * 10_000)


@hostile("C1", READ, finds=["/found"])
async def a_million_levels_never_closed(it: Exchange) -> None:
    await tell(it, "A million levels", "<b>" * 1_000_000, "deep")


@hostile("C1", READ, finds=["/found"])
async def levels_that_are_closed_in_the_wrong_order(it: Exchange) -> None:
    await tell(it, "Wrong order", "<b><i><p><a href=/found?x>" * 40_000, "</b></p></i></a>" * 40_000)


@hostile("C1", READ, finds=["/found"])
async def a_million_end_tags_of_nothing(it: Exchange) -> None:
    await tell(it, "End tags", "<div>" * 900, "</table></q></u>" * 300_000)


@hostile("C2", READ)
async def a_million_links(it: Exchange) -> None:
    """All to files that are never fetched: what is tried here is the page."""
    links = "".join(f'<a href="/{number}.zip">' for number in range(400_000))
    await it.answer(START.format("A million links") + links[: 10 * MIB - 100])


@hostile("C2", READ, finds=["/found"])
async def a_million_links_to_one_page(it: Exchange) -> None:
    await tell(it, "One page", '<a href="/found">x</a>' * 400_000)


@hostile("C2", READ, finds=["/found"])
async def a_million_attributes(it: Exchange) -> None:
    await tell(it, "Attributes", "<p ", " ".join(f"a{number}=1" for number in range(800_000)), ">")


@hostile("C2", READ, finds=["/found"])
async def an_attribute_of_nine_megabytes(it: Exchange) -> None:
    await tell(it, "An attribute", '<p title="', "a" * 9 * MIB, '">')


@hostile("C2", READ, finds=["/found"])
async def a_link_of_nine_megabytes(it: Exchange) -> None:
    await tell(it, "A link", '<a href="/', "a" * 9 * MIB, '">long</a>')


@hostile("C2", READ, finds=["/found"])
async def a_text_of_nine_megabytes(it: Exchange) -> None:
    await tell(it, "A text", "word " * (9 * MIB // 5))


@hostile("C2", READ, finds=["/found"])
async def a_title_of_nine_megabytes(it: Exchange) -> None:
    await it.answer(f"<title>{'title ' * (9 * MIB // 6)}</title>{LAST}")


@hostile("C3", READ)
async def unterminated_comments(it: Exchange) -> None:
    await tell(it, "Comments", "<!--" * 500_000)


@hostile("C3", READ)
async def unterminated_declarations(it: Exchange) -> None:
    await tell(it, "Declarations", "<!DOCTYPE " * 300_000)


@hostile("C3", READ)
async def unterminated_character_data(it: Exchange) -> None:
    await tell(it, "Character data", "<![CDATA[" * 300_000)


@hostile("C3", READ)
async def unterminated_scripts(it: Exchange) -> None:
    await tell(it, "Scripts", "<script><!--<script>" * 200_000)


@hostile("C3", READ)
async def unterminated_tags(it: Exchange) -> None:
    await tell(it, "Tags", "<a " * 1_000_000)


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


@hostile("C8", READ, finds=["/found"])
async def a_refresh_to_javascript(it: Exchange) -> None:
    await tell(it, "Refresh", '<meta http-equiv=refresh content="0; url=javascript:alert(1)">')


@hostile("C8", READ, finds=["/found"])
async def a_refresh_to_itself(it: Exchange) -> None:
    await tell(it, "Refresh", '<meta http-equiv=refresh content="0;/"><meta http-equiv=refresh content=0>')


@hostile("C9", READ, finds=["/found"])
async def links_that_are_no_urls(it: Exchange) -> None:
    bad = ["http://[bad", "http://a:99999/", "http://a\0b/", "//", "http://", "http://%zz/", "http://a b/"]
    bad += ["file:///etc/passwd", "ftp://127.0.0.1/", "javascript:x", "view-source:/", "?" * 70_000]
    await tell(it, "Bad links", *(f'<a href="{href}">bad</a>' for href in bad))


@hostile("C10", READ, finds=["/found"])
async def a_term_of_a_megabyte(it: Exchange) -> None:
    await tell(it, "A term", "a" * MIB)


@hostile("C10", READ, finds=["/found"])
async def a_million_terms(it: Exchange) -> None:
    await tell(it, "Terms", " ".join(f"t{number:x}" for number in range(1_000_000)))


@hostile("C10", READ, finds=["/found"])
async def one_term_two_million_times(it: Exchange) -> None:
    await tell(it, "One term", "spam " * 2_000_000)


@hostile("C11", "failed/not-indexable")
async def a_pdf_called_html(it: Exchange) -> None:
    await it.answer(b"%PDF-1.7\n" + random.Random(1).randbytes(50_000))


@hostile("C11", "failed/not-indexable")
async def a_zip_that_is_also_html(it: Exchange) -> None:
    await it.answer(b"PK\x03\x04" + page("A polyglot").encode())


@hostile("C2", READ, finds=["/found"])
async def half_a_million_cells(it: Exchange) -> None:
    await tell(it, "Cells", "<table>", "<tr><td>c" * 500_000)


@hostile("C2", READ, finds=["/found"])
async def emphasis_on_every_letter(it: Exchange) -> None:
    await tell(it, "Emphasis", "<b>b</b><i>i</i><h1>h</h1>" * 200_000)
