"""From bytes to a page."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from webcrawler.parsing import documents
from webcrawler.parsing.around import around, merged
from webcrawler.parsing.encoding import encoding_of
from webcrawler.parsing.forms import search_forms, with_forms
from webcrawler.parsing.language import declared, language, subtag
from webcrawler.parsing.links import base_url, canonical_url, merge, permalinks
from webcrawler.parsing.markup import feed, markup
from webcrawler.parsing.reader import Reader
from webcrawler.parsing.robots import directives
from webcrawler.records import Page, Section, Text
from webcrawler.text import content, simhash

# Header that a crawl adds to what it has fetched with a login: the page is for nobody else.
PRIVATE = "X-Webcrawler-Private"


def parse(
    body: bytes,
    url: str,
    content_type: str = "",
    protocols: Collection[str] = ("http", "https"),
    forms: bool = False,
    robot: str = "",
) -> Page:
    """Return what a document says and links to.

    HTML takes about 2 ms for 60 KB, a PDF about 1 ms a page. Time and memory grow with the number of bytes.
    What is no kind of document (`documents.kind_of`) is read as HTML.

    Args:
        url: where it was fetched, canonical or not: what relative links are relative to.
        content_type: the HTTP header.
        protocols: links to others of http and https are kept, marked as refused.
        robot: name by which pages address this crawler, lower case: their directives for it are obeyed as
            those for all robots are.
        forms: are search forms looked for, too? Each is a link, behind the others (`search_forms`).
    Raises:
        Unreadable: it is not HTML, and is encrypted or damaged, or its reader is not installed.
        MemoryError: the process met its memory limit.

    Weakness: CDATA sections of XHTML are taken for comments, as browsers do in HTML.
    """
    kind = documents.kind_of(content_type, body, url) or documents.HTML
    encoding = encoding_of(body, content_type) if kind == documents.HTML else "utf-8"
    reader = Reader(encoding, robot)
    html = ""
    if kind == documents.HTML:
        html = markup(body, content_type, encoding)
        reader.language = declared(html)
        feed(html, reader)
    else:
        documents.read(kind, body, content_type, reader)
    if not reader.is_complete:  # out of memory, libxml2 stops in the middle and may not say so
        raise MemoryError
    flow, text = reader.flow, reader.flow.text
    spans, sections = _parts(reader, text) if kind == documents.HTML else ((), ())
    base = base_url(reader.base, url)
    links, refused = merge(reader.outlinks, text, base, protocols)
    if forms and (found := search_forms(html, base, protocols, encoding)):
        links = with_forms(links, found)
    if reader.links_left_out:
        refused["too-many"] = reader.links_left_out
    return Page(
        title=reader.title,
        description=reader.description,
        keywords=reader.keywords,
        headings=tuple(" ".join(text[start:end].split()) for start, end in flow.headings),
        text=text,
        emphasis=tuple(flow.spans),
        links=links,
        refused=dict(refused),
        noindex=not reader.robots.isdisjoint(("noindex", "none")),
        nofollow=not reader.robots.isdisjoint(("nofollow", "none")),
        simhash=simhash(text),
        canonical=canonical_url(reader.canonical, base),
        language=language(content.outside(text, spans), reader.language),
        around=spans,
        sections=sections,
    )


def _parts(reader: Reader, text: str) -> tuple[tuple[tuple[int, int], ...], tuple[Section, ...]]:
    """The spans around the main content, and the sections."""
    outline = reader.outline
    spans = around(reader.blocks.all, len(text), reader.linked, outline.headings, outline.lines)
    signs = sorted(permalinks(reader.outlinks, text))
    sections = outline.sections(text, signs, spans)
    everything = merged([*spans, *signs])
    if content.outside(text, everything).strip():
        spans = everything
    return tuple(spans), sections


def with_headers(page: Page, headers: Iterable[tuple[str, str]], robot: str = "") -> Page:
    """The page with what its headers say of it; all that a PDF can say to robots is said by these.

    X-Robots-Tag is obeyed where it is for all robots or for this one; Content-Language is believed where
    neither the page nor its words tell the language. A private page is as one that says noindex, and its
    links lose their words.
    """
    headers = tuple(headers)
    if is_private(headers):
        links = tuple(link._replace(anchor="", context="") for link in page.links)
        page = page._replace(noindex=True, links=links)
    values: dict[str, list[str]] = {"x-robots-tag": [], "content-language": []}
    for name, value in headers:
        values.get(name.lower(), []).append(value)
    words = {word for value in values["x-robots-tag"] for word in directives(value, robot)}
    noindex, nofollow = ({word, "none"} & words for word in ("noindex", "nofollow"))
    return page._replace(
        noindex=page.noindex or bool(noindex),
        nofollow=page.nofollow or bool(nofollow),
        language=page.language or subtag(",".join(values["content-language"])),
    )


def is_private(headers: Iterable[tuple[str, str]]) -> bool:
    """Was it fetched with a login, by somebody who has not said that all may see it?"""
    return any(name.lower() == PRIVATE.lower() for name, _ in headers)


def index_text(page: Page) -> Text:
    """What of a page is searched."""
    headings = "\n".join(page.headings)
    said = (page.title, headings, page.description, page.keywords, page.text)
    return Text(*said, page.emphasis, page.language, page.around, page.sections)
