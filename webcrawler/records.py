"""What travels from room to room: small frozen records, and no behaviour.

Times are seconds since 1970, UTC. Ids are signed 64-bit integers. Texts are valid Unicode.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

# `rel` of what a search form asks for when nothing is typed in: no link leads there, or one does as well.
FORM, FORM_AND_LINK = "form", "form-and-link"


class Link(NamedTuple):
    """An outlink as the parser saw it; one per (page, target)."""

    url: str  # the target's canonical URL
    id: int  # its URL id
    spelling: str  # the target as this page spells it, resolved, without fragment: what is fetched
    anchor: str = ""  # anchor text, img alt included
    context: str = ""  # the words around the link, anchor left out
    # "", "nofollow", "redirect", FORM, FORM_AND_LINK; "sitemap": named by a sitemap or a feed, no page
    rel: str = ""
    refused: str = ""  # why it is not worth fetching ("scheme", "extension", …), or ""
    request: str = ""  # JSON of what is special about its fetch; "": a plain GET of `spelling`
    modified: float = 0.0  # when the target changed, as a sitemap says; 0: it does not


class Section(NamedTuple):
    """A part of a page that a link can lead to. It ends where the next one begins."""

    start: int  # offset into the text, in characters
    fragment: str  # what stands behind the "#", as the page has it: not encoded
    heading: str


class Page(NamedTuple):
    """What a document says and links to; `emphasis` holds (start, end, size) spans of `text`."""

    title: str
    description: str  # meta description
    keywords: str  # meta keywords
    headings: tuple[str, ...]
    text: str  # all visible text, uncut; blocks end with a newline
    emphasis: tuple[tuple[int, int, int], ...]  # size: -1 small … 0 plain … 1 bold, em … 6 h1
    links: tuple[Link, ...]
    refused: dict[str, int]  # links that are no record (mailto:, javascript:, malformed), by reason
    noindex: bool = False
    nofollow: bool = False
    simhash: int = 0  # of the text, signed; 0 where that is too short
    canonical: str = ""  # the canonical URL of what it says is its own (rel=canonical); "": it says nothing
    language: str = ""  # ISO 639, "de"; "" where it is not known
    around: tuple[tuple[int, int], ...] = ()  # spans of `text` around the main content, ascending
    sections: tuple[Section, ...] = ()  # ascending


class Sitemap(NamedTuple):
    """What a sitemap or a feed names."""

    is_index: bool  # it names other sitemaps
    links: tuple[Link, ...]
    refused: dict[str, int]  # entries that are no record, by reason


class Lease(NamedTuple):
    """A URL handed to one worker until a time."""

    id: int
    url: str  # canonical
    spelling: str  # what is fetched
    server: str  # "http://a.example:8080"
    token: int  # fencing: only the newest token of a URL may report on it
    tries: int = 0  # failed fetches before this one
    request: str = ""  # as the link's
    doubtful: bool = False  # its server did not answer in time, or has not been asked yet
    priority: int = 0  # that it was leased with
    note: int = 0  # number that the ordering stored with this URL
    was: str = ""  # of a check: what the URL was decided as before, "done/document"


@dataclass(frozen=True, slots=True)
class Fetch:
    """One download and what it came to; state and reason are those of the table of states."""

    lease: Lease
    state: str  # "done", "failed" or "quarantined"
    reason: str  # "document", "redirect", "not-found", "robots-disallowed", …
    fetched: float  # when the answer was complete
    seconds: float = 0.0  # how long the download took
    status: int = 0  # HTTP status, 0 without an answer
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""  # decoded (no content-encoding)
    retry: bool = False  # worth another try, if tries are left
    target: Link | None = None  # of a redirect
    error: str = ""  # what went wrong, for people
    excused: bool = False  # its server is to blame: another try follows, and this was none


class Text(NamedTuple):
    """The index document: what of a page is searched. Spans and sections are those of Page, in `body`."""

    title: str
    headings: str  # one a line
    description: str
    keywords: str
    body: str
    emphasis: tuple[tuple[int, int, int], ...] = ()
    language: str = ""
    around: tuple[tuple[int, int], ...] = ()
    sections: tuple[Section, ...] = ()


class Place(NamedTuple):
    """Where a WARC record stands."""

    file: str  # name within pages/
    offset: int  # of its gzip member, bytes


class Original(NamedTuple):
    """An earlier, durable fetch that brought the same bytes."""

    url: str  # as it was fetched
    fetched: float


@dataclass(frozen=True, slots=True)
class Entry:
    """One fetch on its way into a batch, with what the pipelines have added so far."""

    fetch: Fetch
    digest: bytes = b""  # SHA-1 of the body; empty where there is none
    original: Original | None = None  # a hint: the body is kept there; the catalog decides on duplicates
    links: tuple[Link, ...] = ()
    text: Text | None = None
    noindex: bool = False
    refused: dict[str, int] = field(default_factory=dict)
    archive: bool = False  # keep the response in a WARC file
    simhash: int = 0  # as the page's
    canonical: int = 0  # id of the URL that the page says is its own; 0: it says nothing


class Change(NamedTuple):
    """One step in the catalog's history of documents."""

    seq: int
    number: int  # the document's page number
    kind: str  # "insert", "update", "delete"; "links": a URL that is not a document has, or had, outlinks


class Document(NamedTuple):
    """A row of the catalog that was answered 200 with HTML or XHTML."""

    number: int  # dense page number, also the node in the link graph
    id: int
    url: str  # canonical
    server: str
    fetched: float
    status: int
    content_type: str
    digest: bytes
    word_count: int
    duplicate_of: int  # page number of the original, 0 for one itself
    noindex: bool
    place: Place | None


class HitSection(NamedTuple):
    """A section of a page that answers a query."""

    heading: str
    url: str  # the page's, with the fragment of the section
    snippet: str


class Hit(NamedTuple):
    """A page that answers a query."""

    url: str
    title: str  # title, else first heading, else what links to it say, else URL
    relevance: int  # 1000 for the best hit, the others in proportion
    server: str
    fetched: float  # 0: never, only links to it are known
    snippet: str
    number: int = 0  # its page number
    near_duplicates: int = 0  # further hits that say nearly the same, folded into this one
    from_server: int = 0  # further hits of its server that stand behind those of others
    cached: bool = False  # is there a copy of it as it was fetched?
    checked: float = 0.0  # last known to be current; 0: never
    changed: float = 0.0  # since when it says what it says, as far as is known; 0: not known
    missing_since: float = 0.0  # since when fetches find nothing, or fail; 0: they do not
    language: str = ""  # ISO 639, "de"; "" where it is not known
    sections: tuple[HitSection, ...] = ()  # that answer best, best first
    href: str = ""  # where its title leads: the best section, else the page
