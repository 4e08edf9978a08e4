"""Documents beyond HTML that are hard to read.

All are below a MiB, as larger bodies wait for each other (`crawl/open_leases.py`).
"""

from __future__ import annotations

import random
import zlib

from papers import TYPES, docx, epub, owls, pdf, pdf_page, zipped

from zoo.exchange import Exchange
from zoo.server import Kind

hostile = Kind()
READ, UNREADABLE, KILLED = "done/document", "failed/not-indexable", "quarantined/"
MIB = 2**20
EMPTY = "<</Type/Page/Parent 2 0 R>>"


async def typed(it: Exchange, name: str, document: bytes) -> None:
    await it.answer(document, kind=TYPES[name])


hostile.each("C12", READ)(
    a_zip_that_grows_a_thousand_times=lambda it: typed(
        it, "docx", docx("<w:p><w:r><w:t>grows</w:t></w:r></w:p>" + " " * 64 * MIB)
    ),
    a_book_of_six_thousand_chapters=lambda it: typed(it, "epub", epub(*["<p>a chapter</p>"] * 6_000)),
    a_million_levels_in_a_document=lambda it: typed(it, "docx", docx("<w:p>" * 1_000_000)),
)


@hostile("C12", READ)
async def an_archive_of_ten_thousand_files(it: Exchange) -> None:
    files = {f"f{number}": "" for number in range(10_000)}
    await typed(it, "docx", docx("<w:p><w:r><w:t>one of many</w:t></w:r></w:p>", **files))


hostile.each("C12", UNREADABLE)(an_archive_that_is_cut=lambda it: typed(it, "odt", owls("odt")[:8_000]))


@hostile("C12", UNREADABLE)
async def a_billion_laughs_in_a_document(it: Exchange) -> None:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    xml = f'<!DOCTYPE d [<!ENTITY l0 "ha">{entities}]><d>&l9;</d>'
    await typed(it, "docx", zipped({"a": "", "word/document.xml": xml}))


hostile.each("C13", UNREADABLE)(
    a_pdf_that_is_cut=lambda it: typed(it, "pdf", owls("pdf")[:1_000]),
    a_pdf_of_noise=lambda it: typed(it, "pdf", b"%PDF-1.7\n" + random.Random(1).randbytes(MIB // 2)),
)


@hostile("C13", UNREADABLE)
async def a_pdf_with_a_password(it: Exchange) -> None:
    nulls = "00" * 32
    locked = f"/Root 1 0 R/ID[<00><00>]/Encrypt <</Filter/Standard/V 1/R 2/O <{nulls}>/U <{nulls}>/P -4>>"
    await typed(it, "pdf", pdf(*pdf_page(""), trailer=locked))


@hostile("C13", UNREADABLE, READ)
async def a_pdf_whose_pages_are_their_own_parents(it: Exchange) -> None:
    looped = pdf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2/Parent 2 0 R>>")
    await typed(it, "pdf", looped)


@hostile("C13", UNREADABLE, READ)
async def a_pdf_of_a_billion_pages(it: Exchange) -> None:
    objects = ("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1000000000>>", EMPTY)
    await typed(it, "pdf", pdf(*objects))


@hostile("C13", READ)
async def a_pdf_of_ten_thousand_pages(it: Exchange) -> None:
    kids = "3 0 R " * 10_000
    objects = ("<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count 10000>>", EMPTY)
    await typed(it, "pdf", pdf(*objects))


@hostile("C13", READ, KILLED)
async def a_pdf_whose_drawing_draws_itself(it: Exchange) -> None:
    catalog, pages, _, _ = pdf_page("")
    first = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources <</XObject <</X 5 0 R>>>>>>"
    itself = "<</Subtype/Form/BBox[0 0 9 9]/Resources <</XObject <</X 5 0 R>>>>/Length 11>>"
    form = f"{itself}\nstream\n/X Do /X Do\nendstream"
    drawing = "<</Length 5>>\nstream\n/X Do\nendstream"
    await typed(it, "pdf", pdf(catalog, pages, first, drawing, form))


@hostile("C13", READ, KILLED)
async def a_pdf_that_grows_three_hundred_times(it: Exchange) -> None:
    text = b"BT /F 12 Tf (grows and grows) Tj ET\n" * (64 * MIB // 36)
    deflated = zlib.compress(text, 9)
    catalog, pages, first, _ = pdf_page("")
    head = pdf(catalog, pages, first).partition(b"trailer")[0]
    begun = b"4 0 obj\n<</Filter/FlateDecode/Length %d>>\nstream\n" % len(deflated)
    stream = begun + deflated + b"\nendstream\nendobj\n"
    await typed(it, "pdf", head + stream + b"trailer\n<</Root 1 0 R>>\n%%EOF\n")


hostile.each("C14", READ, KILLED)(
    a_hundred_kilobytes_of_markdown=lambda it: typed(it, "md", b"*a [b](c `d` _e\n\n" * (MIB // 8 // 17)),
    a_hundred_thousand_groups_of_rtf=lambda it: typed(it, "rtf", b"{\\rtf1 " + b"{\\b x" * 100_000),
)
