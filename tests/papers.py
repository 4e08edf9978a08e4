"""Documents that are not HTML: good ones, which programs of people made, and small ones made here."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

FIXTURES = Path(__file__).parent / "fixtures" / "documents"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = {
    "pdf": "application/pdf",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
    "md": "text/markdown",
}


def owls(ending: str) -> bytes:
    return (FIXTURES / f"owls.{ending}").read_bytes()


def zipped(parts: Mapping[str, bytes | str]) -> bytes:
    """A zip archive with these parts, in their order; the first is not compressed."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (name, content) in enumerate(parts.items()):
            archive.writestr(name, content, zipfile.ZIP_DEFLATED if number else zipfile.ZIP_STORED)
    return file.getvalue()


def docx(inside: str, **parts: bytes | str) -> bytes:
    """A document of Word with this in its body."""
    xml = f'<w:document xmlns:w="{WORD}"><w:body>{inside}</w:body></w:document>'
    return zipped({"[Content_Types].xml": "", "word/document.xml": xml, **parts})


def xlsx(rows: str, **parts: bytes | str) -> bytes:
    """A workbook of Excel with one sheet, "S", that has this in it."""
    return _office("xl/workbook.xml", "sheet", f"<worksheet>{rows}</worksheet>", parts)


def pptx(inside: str, **parts: bytes | str) -> bytes:
    """A presentation of PowerPoint with one slide that has this in it."""
    return _office("ppt/presentation.xml", "sldId", f"<sld>{inside}</sld>", parts)


def _office(main: str, named: str, xml: str, parts: Mapping[str, bytes | str]) -> bytes:
    folder, name = main.split("/")
    own = {
        main: f'<main xmlns:r="{RELATIONS}"><{named} name="S" r:id="r1"/></main>',
        f"{folder}/_rels/{name}.rels": '<all><Relationship Id="r1" Type="x" Target="one/1.xml"/>'
        '<Relationship Id="r2" Type="x/sharedStrings" Target="SharedStrings.xml"/></all>',
        f"{folder}/one/1.xml": xml,
    }
    return zipped({"[Content_Types].xml": "", **own, **parts})


def opened(ending: str, inside: str) -> bytes:
    """A document of OpenDocument with this in its body."""
    content = f"<document-content><body>{inside}</body></document-content>"
    return zipped({"mimetype": TYPES[ending], "content.xml": content})


def epub(*chapters: str, files: Mapping[str, str] | None = None) -> bytes:
    """A book with these chapters, and other files beside."""
    items = "".join(f'<item id="c{n}" href="c{n}.xhtml"/>' for n in range(len(chapters)))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="OPS/book.opf"/></container>',
            "OPS/book.opf": f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"OPS/c{n}.xhtml": chapter for n, chapter in enumerate(chapters)},
            **(files or {}),
        }
    )


def pdf(*objects: str, trailer: str = "/Root 1 0 R") -> bytes:
    """A PDF of these objects, numbered from 1, without a table of where they stand: readers look for them."""
    numbered = "".join(f"{n} 0 obj\n{text}\nendobj\n" for n, text in enumerate(objects, 1))
    return f"%PDF-1.7\n{numbered}trailer\n<<{trailer}>>\n%%EOF\n".encode("latin-1")


def pdf_page(content: str) -> tuple[str, ...]:
    """The objects of a PDF with one page that shows this."""
    font = "<</Font <</F <</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    return (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources {font}>>",
        f"<</Length {len(content)}>>\nstream\n{content}\nendstream",
    )
