"""Recorded graphs: what a crawl found, or a file holds, to crawl it again in other orders.

Files are those of LAW, K. Massey and SNAP, and edge lists of names, packed or not.
"""

from __future__ import annotations

import codecs
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from webcrawler import urls
from webcrawler.archive.catalog import NOT_FETCHED, Catalog
from webcrawler.errors import BadInput, BadUrl
from webcrawler.linkgraph import Graph
from webcrawler.records import FORM_AND_LINK, Document, Text

MADE_UP = "http://graph.example/"  # prefix of the URLs of pages without one
KINDS = ("catalog.sqlite", "*.graph-txt*", "*.dat*", "links.tsv*", "*.edgelist*", "*.tsv*", "*.txt*")
AT_ONCE = 10_000  # rows of a query
HOPS = 20  # of redirects


@dataclass(frozen=True)
class Recorded:
    """A graph whose pages have URLs; anchors and texts, too, if it comes from a catalog."""

    graph: Graph
    labels: NDArray[np.int64]  # what the file calls each page
    urls: Sequence[str]  # canonical, each once
    anchors: Sequence[str] = ()  # of each link, beside graph.targets; none are known where empty
    texts: Callable[[Sequence[int]], dict[int, Text]] | None = None  # of pages by label; None: it has none

    def page(self, start: str = "") -> int:
        """The page of this name, URL or number; without one, the first page with links.

        Raises:
            BadInput: there is no such page.
        """
        if not start:
            return int(np.flatnonzero(np.diff(self.graph.starts))[0])
        spellings, number = _spellings(start), as_number(start)
        found = [page for page, url in enumerate(self.urls) if url in spellings]
        if not found and number is not None:
            found = np.flatnonzero(self.labels == number).tolist()
        if found:
            return found[0]
        pages = f"{self.urls[0]} and {len(self.urls) - 1:,} more"
        if self.urls[0].startswith(MADE_UP):
            pages = f"pages {self.labels[0]} to {self.labels[-1]}"
        raise BadInput(f"--start: the graph has no page {start[:200]!r}; it has {pages}")

    def reachable(self, start: int) -> Recorded:
        """The part that can be reached from a page; nothing else counts (Cho 1998, section 6).

        Raises:
            BadInput: the page has no links.
        """
        graph = self.graph
        reached = np.zeros(graph.pages, bool)
        reached[breadth_first_order(graph.matrix(), start, return_predecessors=False)] = True
        if reached.sum() < 2:
            raise BadInput(f"--start: page {self.labels[start]} links to no other page; choose another")
        kept = reached[graph.sources]
        number = np.cumsum(reached) - 1
        pages = np.flatnonzero(reached)
        return replace(
            self,
            graph=Graph.of(number[graph.sources[kept]], number[graph.targets[kept]], len(pages)),
            labels=self.labels[pages],
            urls=[self.urls[page] for page in pages.tolist()],
            anchors=[self.anchors[link] for link in np.flatnonzero(kept).tolist()] if self.anchors else (),
        )


def as_number(start: str) -> int | None:
    """The number, if the text is one that can be a page number."""
    return int(start) if start.isdecimal() and len(start) <= DIGITS_MAX else None


def _spellings(start: str) -> set[str]:
    found = set()
    for url in (start, f"http://{start}", MADE_UP + quote(start, safe="%/")):
        with suppress(BadUrl):
            found.add(urls.canonical(url))
    return found


def read(path: Path | str) -> Recorded:
    """Read a graph file, a folder with one, or the data folder of a crawl.

    Raises:
        BadInput: there is no graph, or it is damaged; the message names file and line.
    """
    path = Path(path)
    file = _chosen(path) if path.is_dir() else path
    if not file.exists():
        raise BadInput(f"there is no graph at {file}")
    if file.is_file() and _begins_with(file, b"SQLite format 3\0"):
        return from_catalog(file)
    if ".graph-txt" in file.name:
        graph, labels, _ = adjacency(file)
        return Recorded(graph, labels, [f"{MADE_UP}{label}" for label in labels])
    lists = [file.with_name(name) for name in ("links.dat", "links.dat.gz") if ".dat" in file.name]
    if url_list := next(filter(Path.exists, lists), None):  # links.dat beside hollins.dat
        by_label = page_urls(url_list)
        graph, labels, _ = edges(file, list(by_label))
        spelled = [by_label.get(label, "") for label in labels.tolist()]
    else:
        graph, labels, names = edges(file)
        spelled = [_url_of(name) for name in names] or [""] * len(labels)
    return Recorded(graph, labels, _distinct(spelled, labels))


def _url_of(name: str) -> str:
    return name if name.startswith(("http://", "https://")) else MADE_UP + quote(name, safe="%/")


def _begins_with(file: Path, magic: bytes) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(magic)) == magic
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from None


def _chosen(folder: Path) -> Path:
    for kind in KINDS:
        found = [file for file in sorted(folder.glob(kind)) if not file.name.startswith("links.dat")]
        if len(found) == 1:
            return found[0]
        if found:
            raise BadInput(f"{folder} holds several graphs; name one: {', '.join(map(str, found[:3]))}")
    raise BadInput(f"{folder} holds no graph: neither a catalog.sqlite of a crawl nor a file of links")


def _distinct(spelled: Sequence[str], labels: NDArray[np.int64]) -> list[str]:
    """Canonical URLs, each once; a page without a URL of its own gets a made-up one."""
    found: dict[str, None] = {}
    for url, label in zip(spelled, labels.tolist(), strict=True):
        chosen = made_up = f"{MADE_UP}{label}"
        with suppress(BadUrl):
            chosen = urls.canonical(url) if url else made_up
        for other in (made_up, f"{made_up}/{len(found)}"):
            chosen = other if chosen in found else chosen
        found[chosen] = None
    return list(found)


def from_catalog(file: Path) -> Recorded:
    """The documents of a crawl and the links between them; URLs that were never fetched are left out.

    A link to a redirect counts as a link to its target. Links with nofollow do not count, as in a crawl.

    Raises:
        BadInput: the file is not a catalog, or has no links between documents.
    """
    catalog = Catalog(file, readonly=True)
    url_of = dict(catalog.urls.all())
    labels = sorted(number for number, _ in documents(catalog))
    rows = list(catalog.links.all())
    leads_to = {row.source: row.target for row in rows if row.rel == "redirect"}
    page_of = {label: page for page, label in enumerate(labels)}

    def page(label: int) -> int:
        for _ in range(HOPS):
            if label in page_of:
                return page_of[label]
            label = leads_to.get(label, 0)
        return -1

    anchors: dict[tuple[int, int], list[str]] = {}  # several where redirects lead to one page
    for row in rows:
        source, target = page_of.get(row.source, -1), page(row.target)
        if row.rel in ("", FORM_AND_LINK) and source >= 0 and target >= 0 and source != target:
            anchors.setdefault((source, target), []).append(row.anchor)
    if not anchors:
        raise BadInput(f"{file} has no link between two documents: crawl more, then compare orderings")
    links = sorted(anchors)
    ends = np.array(links, np.int64)
    return Recorded(
        Graph.of(ends[:, 0], ends[:, 1], len(labels)),
        np.array(labels, np.int64),
        [url_of[label] for label in labels],
        [" ".join(anchors[link]) for link in links],
        texts=catalog.texts,
    )


def documents(catalog: Catalog) -> Iterator[tuple[int, Document]]:
    """All documents of a crawl by page number."""
    for start in range(1, catalog.urls.count() + 1, AT_ONCE):
        yield from catalog.documents(range(start, start + AT_ONCE)).items()


# ---- files

DIGITS_MAX = 18  # fit 64 bits
NO_NUMBER = re.compile(rb"(?<!\S)(?!\d{1,18}(?!\S))\S+")
# "#" SNAP; "%" Matrix Market, KONECT, but not the name "%C3%81edan".
COMMENTS = re.compile(rb"(?m)^[ \t]*(?:#|%(?![0-9A-Fa-f]{2})).*$")
HEADER = re.compile(rb"\A\s*[A-Za-z_]+[ \t,]+[A-Za-z_]+[ \t]*(?=\s+\d+\s+\d+(\s|$))")
FIRST = re.compile(rb"\S.*")

Listed = tuple[
    Graph, NDArray[np.int64], list[str]
]  # with the numbers of its pages, or their names if it has them


def unpacked(file: Path) -> bytes:
    """The content of a text file, without gzip, xz and byte order mark; lines end with a line feed.

    Raises:
        BadInput: the file cannot be read, or is damaged.
    """
    try:
        data = file.read_bytes()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        elif data.startswith(b"\xfd7zXZ\0"):
            data = lzma.decompress(data)
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError):
        raise BadInput(f"{file} is damaged or incomplete: unpacking it fails; fetch it again") from None
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from None
    data = data.removeprefix(codecs.BOM_UTF8)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def numbers(text: bytes, file: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All numbers in the text, and how many each line has; the last line may lack its line end.

    Raises:
        BadInput: the text contains anything else; the message names the line.
    """
    if wrong := NO_NUMBER.search(text):
        line, word = text.count(b"\n", 0, wrong.start()) + 1, wrong[0][:60].decode("utf-8", "replace")
        raise BadInput(f"{file}, line {line}: {word!r} is not a page number; they are 0, 1, 2, …")
    counts = np.array([len(line.split()) for line in text.splitlines()], np.int64)
    return np.array(text.split(), np.int64), counts


def adjacency(file: Path) -> Listed:
    """`*.graph-txt`: the number of pages, then for each page from 0 a line with the targets of its links."""
    text = unpacked(file)
    values, counts = numbers(text, file)
    if not values.size or counts[0] != 1:
        raise BadInput(f"{file}, line 1: the number of pages should stand here, alone")
    pages, targets, counts = int(values[0]), values[1:], counts[1:]
    written = int(np.flatnonzero(counts)[-1]) + 1 if targets.size else 0
    if len(counts) < pages or written > pages:
        raise BadInput(f"{file} has {len(counts):,} lines of links for {pages:,} pages: fetch it again")
    wrong = np.flatnonzero(targets >= pages)
    if wrong.size:
        line = int(np.searchsorted(np.cumsum(counts), wrong[0], side="right")) + 2
        raise BadInput(
            f"{file}, line {line}: there is no page {targets[wrong[0]]}; the last of {pages:,} is {pages - 1}"
        )
    sources = np.repeat(np.arange(len(counts)), counts)
    return _graph(sources, targets, pages, file), np.arange(pages), []


def edges(file: Path, pages: Sequence[int] = ()) -> Listed:
    """An edge list: two page numbers or names a line; lines with # or % are skipped.

    A header of two words above numbers is skipped, too; above names it counts as a link. Further numbers in a
    line are weights, which are ignored.

    Args:
        pages: numbers of pages that exist even without links.
    """
    text = HEADER.sub(b"", COMMENTS.sub(b"", unpacked(file)))
    first = FIRST.search(text)
    if first and not first[0][:1].isdigit() and first[0][:1] != b"-":
        return _named_edges(text, file)
    values, counts = numbers(text, file)
    lines = np.flatnonzero(counts)
    short = lines[counts[lines] < 2]
    if short.size:
        raise BadInput(f"{file}, line {short[0] + 1}: two page numbers should stand here, from and to")
    at = np.concatenate(([0], np.cumsum(counts)))[lines]
    ends = np.concatenate((values[at], values[at + 1], np.array(pages, np.int64)))
    labels, dense = np.unique(ends, return_inverse=True)
    sources, targets = dense[: len(at)], dense[len(at) : 2 * len(at)]
    return _graph(sources, targets, len(labels), file), labels, []


def _named_edges(text: bytes, file: Path) -> Listed:
    """An edge list of names, separated by a tab, or by blanks if a line has no tab.

    Pages that the list says were not fetched, as `webcrawler graph export` does, are left out: nobody knows
    their links.
    """
    try:
        content = text.decode()
    except UnicodeDecodeError:
        content = "\0"
    if "\0" in content:
        raise BadInput(f"{file} is not text, so not a list of links")
    rows = []
    for number, line in enumerate(content.split("\n"), 1):
        cells = line.strip().split("\t")
        if NOT_FETCHED in cells[2:3]:
            continue
        # After a second tab there may be a weight.
        row = cells[:2] if "\t" in line else line.split()
        if len(row) == 2 and all(row):
            rows.append(row)
        elif line.strip():
            raise BadInput(f"{file}, line {number}: two pages should stand here, from and to")
    names = sorted({name for row in rows for name in row})
    number_of = {name: number for number, name in enumerate(names)}
    sources = np.array([number_of[source] for source, _ in rows], np.int64)
    targets = np.array([number_of[target] for _, target in rows], np.int64)
    return _graph(sources, targets, len(names), file), np.arange(len(names)), names


def page_urls(file: Path) -> dict[int, str]:
    """The URLs by page number, from a file with a header and lines of `number URL`."""
    found: dict[int, str] = {}
    for line, row in enumerate(unpacked(file).decode("utf-8", "replace").splitlines()[1:], 2):
        number, _, url = row.strip().partition(" ")
        if number and not (number.isdecimal() and len(number) < 18 and url):
            raise BadInput(f"{file}, line {line}: a page number and its URL should stand here")
        if number:
            found[int(number)] = url.strip()
    return found


def _graph(sources: NDArray[np.int64], targets: NDArray[np.int64], pages: int, file: Path) -> Graph:
    graph = Graph.of(sources, targets, pages)
    if not graph.links:
        raise BadInput(f"{file} holds no link between two pages")
    return graph
