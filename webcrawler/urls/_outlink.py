"""Where does a link lead, and is that worth a request?

Traps are URLs that look made by a program that never ends: a table of rules, by name. Each is made so that
honest URLs pass; what it misses is left to the budgets of docs/explanation/traps.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import NamedTuple

from webcrawler.urls._canonical import canonical_of, url_id
from webcrawler.urls._resolve import DEFAULT_PORTS, UnfetchableUrl, resolve, split

LOCATIONS = ("/cgi-bin/",)  # UO 5.1: programs, infinite sets of pages, and votes cast by a crawler
MAX_SEGMENTS = 24  # Heritrix 20; the longest honest one of 24,000 URLs found in the wild has 21
MAX_REPEATS = 3  # Heritrix 2; `/photos/0/0/0/1` is honest
MAX_PARAMETERS = 20
MAX_NESTED = 2  # an archive's copy of a page that redirects to a URL has two

_LOCATED = re.compile("|".join(map(re.escape, LOCATIONS))).search
# Two or more segments, three times in a row. The rule before it bounds the work: 24 segments.
_PERIODIC = re.compile(r"((?:/[^/]*){2,}?)\1\1(?=/|$)")
_NESTED = re.compile(r"(?::|%3A)(?:/|%2F){1,2}")

# Item types of Gopher (RFC 1436, 3.8, and later use): text, menus, HTML, PDF and other documents, and binary
# files, which are judged as those of http are. Not searches, which ask for words, nor pictures and sounds.
GOPHER_TYPES = frozenset("01hdP59")
MAX_LENGTH = 2_083  # characters; what browsers once took, and the cap

# Endings of documents that a crawl reads or not (DOCUMENT_TYPES): left to its rules.
_DOCUMENTS = """pdf doc dot docx dotx xlsx xltx xlsm pptx ppsx potx odt ott ods ots odp otp rtf epub
    txt text"""
DOCUMENTS = frozenset(_DOCUMENTS.split())
# Endings of files that cannot be indexed. Any other ending is fetched and judged by its type. Left out
# because pages have them: php, asp, cgi, jsp, pl, xml, md, com, ai, so, z, numbers, and those of code and of
# data (articles on Node.js, tags, views of source files).
_ENDINGS = {
    "pictures": """png apng jpg jpeg jpe jfif gif svg svgz bmp ico tif tiff webp avif heic psd
        xcf xpm xbm pnm pbm pgm ppm""",
    "sounds and films": """mp3 m4a aac ogg oga opus flac wav wma mid midi aif aiff ra ram m3u pls
        mp4 m4v mkv webm avi mov qt mpg mpeg mpe wmv flv ogv 3gp swf srt vtt""",
    "archives and programs": """zip gz tgz tar bz2 tbz tbz2 xz txz lz lzma zst 7z rar jar war
        ear cab arj lha lzh cpio iso img dmg deb rpm apk msi exe dll
        dylib bin pkg whl egg gem pyc wasm torrent""",
    "paper and office": """ps eps dvi djvu xls ppt pps odg sxw mobi azw azw3 chm vsd mdb""",
    "other forms of a page": "rss atom rdf bib ics vcf",
    "fonts and data": """ttf otf woff woff2 eot asc sig gpg pgp md5 sha1 sha256 sqlite db dat dmp
        pcap""",
}
UNINDEXABLE = frozenset(ending for endings in _ENDINGS.values() for ending in endings.split())
# Pages about files: of a wiki (`/wiki/Svchost.exe`, `File:Map.png`, in each language another word), and views
# of what a repository holds.
_IS_ABOUT_A_FILE = re.compile(r"/wiki/[^/]*$|/blob/|:[^/]*$", re.IGNORECASE).search
NAMED = frozenset(("sitemap", "redirect", "import"))  # by these `rel`s a page is named, however its URL ends


class Target(NamedTuple):
    """Where a link leads; the first four fields of a `Link`, by name."""

    url: str  # canonical
    id: int
    spelling: str
    refused: str  # why it is not worth fetching, or ""


def outlink(href: str, base: str, protocols: Collection[str] = DEFAULT_PORTS, rel: str = "") -> Target:
    """Return where `href` on the page `base` leads.

    About 3 µs for one of the last 16,384 targets (pages repeat their navigation), 9 µs for another.

    Args:
        rel: of the link; what is `NAMED` is not refused by its ending.
    Raises:
        UnfetchableUrl: as `resolve`, and for FTP and Gopher where `protocols` do not have them.
    """
    spelling = resolve(href, base)
    if not spelling.startswith("http") and spelling.partition(":")[0] not in protocols:
        raise UnfetchableUrl(href, "scheme")
    target = _target(spelling, frozenset(protocols))
    is_page = target.refused == "extension" and rel in NAMED
    return target._replace(refused="") if is_page else target


@lru_cache(maxsize=16_384)
def _target(spelling: str, protocols: frozenset[str]) -> Target:
    url = canonical_of(spelling)
    refused = refusal(url, protocols) or ("length" if len(spelling) > MAX_LENGTH else "")
    return Target(url, url_id(url), spelling, refused)


def refusal(url: str, protocols: Collection[str]) -> str:
    """Return why a canonical URL is not worth taking in: "scheme", "extension", "length" or a trap, else "".

    Args:
        protocols: those that are fetched, lower case.
    """
    scheme = url[: url.index(":")]
    if scheme not in protocols:
        return "scheme"
    if len(url) > MAX_LENGTH:
        return "length"
    if scheme == "gopher" and gopher_item(url)[0] not in GOPHER_TYPES:
        return "extension"
    return trap(url) or ("extension" if ending(url) in UNINDEXABLE else "")


def gopher_item(url: str) -> tuple[str, str]:
    """Return type and selector, percent-encoded, of the item at a resolved URL of Gopher (RFC 4266, 2.1).

    A URL without a path is the server's menu.
    """
    path = split(url)[1][1:]
    return path[:1] or "1", path[1:]


def ending(url: str) -> str:
    """Return how the name of the file at a resolved URL ends, lower case.

    "" for none, also of `.zip`, and of `/wiki/Map.zip`, which looks like a page about a file.
    """
    path = url.partition("?")[0]
    stem, _, extension = path[path.rindex("/") + 1 :].rpartition(".")
    return extension.lower() if stem and not _IS_ABOUT_A_FILE(path) else ""


def is_at(url: str, locations: Collection[str]) -> bool:
    """Tell whether the path of a resolved URL holds one of these lower-case texts, in any case."""
    path = split(url)[1].partition("?")[0].lower()
    return any(location in path for location in locations)


def _repeats(path: str, query: str) -> bool:
    """Tell whether a segment (/a/a/a/a), some in turn (/a/b/a/b/a/b) or a parameter comes again and again."""
    segments, parameters = path.removesuffix("/").split("/")[1:], query.split("&")
    return _most(segments) > MAX_REPEATS or _most(parameters) > MAX_REPEATS or bool(_PERIODIC.search(path))


def _is_nested(path: str, query: str) -> bool:
    """URLs in a URL; `%2525` is what was encoded three times, each time by another page about to return."""
    return len(_NESTED.findall(path + query)) > MAX_NESTED or "%2525" in path + query


def _most(parts: list[str]) -> int:
    return max(Counter(parts).values()) if len(parts) > MAX_REPEATS else 0


TRAPS: dict[str, Callable[[str, str], bool]] = {
    "depth": lambda path, query: path.count("/") > MAX_SEGMENTS,
    "repeats": _repeats,
    "parameters": lambda path, query: query.count("&") >= MAX_PARAMETERS,
    "nested": _is_nested,
}


def trap(url: str) -> str:
    """Return the name of the first rule that a canonical URL breaks, or "".

    0.4 µs for most URLs, 1 µs with four segments or more, 10 to 30 µs for the few that are suspicious.
    """
    if _LOCATED(url.lower()) and is_at(url, LOCATIONS):
        return "location"
    if not _is_suspicious(url):
        return ""
    path, _, query = split(url)[1].partition("?")
    return next((name for name, breaks in TRAPS.items() if breaks(path, query)), "")


def _is_suspicious(url: str) -> bool:
    """Tell quickly whether a URL may break a rule; only a yes can be wrong."""
    if url.count("&") >= MAX_REPEATS or "%25" in url or "%2F" in url or "%3A/" in url:
        return True
    slashes = url.count("/")  # two of them before the host
    if slashes < MAX_REPEATS + 3:
        return False
    again = slashes + 1 - len(set(url.split("/")))  # a query may hide one
    return again >= MAX_REPEATS - 1 or slashes > MAX_SEGMENTS + 2 or url.count(":/") > MAX_NESTED + 1
