"""Graphs in text files, compressed or not, in the formats of LAW, K. Massey and SNAP."""

from __future__ import annotations

import codecs
import gzip
import lzma
import re
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.archive.catalog import NOT_FETCHED
from webcrawler.errors import BadInput
from webcrawler.linkgraph import Graph, distinct

DIGITS_MAX = 18  # fit 64 bits
AT_ONCE = 2**24  # bytes: the arrays of one step take ten times as much
BLANK = 32  # and below: blanks, tabs, line ends


def numbers(text: bytes, file: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All numbers in the text, and how many each line has; the last line may lack its line end.

    Raises:
        BadInput: the text contains anything else; the message names the line.
    """
    values, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    start, line = 0, 1
    while start < len(text):
        end = text.find(b"\n", start + AT_ONCE) + 1 or len(text)
        found, in_lines = _numbers(text[start:end], file, line)
        values.append(found)
        counts.append(in_lines)
        start, line = end, line + len(in_lines)
    return np.concatenate(values), np.concatenate(counts)


def _numbers(text: bytes, file: Path, line: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same of some whole lines, the first of which has the number `line`."""
    characters = np.frombuffer(text, np.uint8)
    within = characters > BLANK
    bounds = np.flatnonzero(np.diff(within, prepend=False, append=False))
    starts, ends = bounds[::2], bounds[1::2]
    wrong = np.flatnonzero(within & ((characters < ord("0")) | (characters > ord("9"))))
    too_long = starts[ends - starts > DIGITS_MAX]
    if wrong.size or too_long.size:
        at = int(min([*wrong[:1], *too_long[:1]]))
        before = re.split(rb"\s", text[max(0, at - 40) : at])[-1]
        word = (before + re.split(rb"\s", text[at : at + 40])[0]).decode("utf-8", "replace")
        line += text.count(b"\n", 0, at)
        raise BadInput(f"{file}, line {line}: {word!r} is not a page number; they are 0, 1, 2, …")
    newlines = np.flatnonzero(characters == ord("\n"))
    if not text.endswith(b"\n"):
        newlines = np.append(newlines, len(text))
    counts = np.diff(np.searchsorted(starts, newlines), prepend=0)
    return np.fromstring(text, np.int64, sep=" ") if starts.size else np.empty(0, np.int64), counts


# "#" SNAP; "%" Matrix Market, KONECT, but not the name "%C3%81edan".
COMMENTS = re.compile(rb"(?m)^[ \t]*(?:#|%(?![0-9A-Fa-f]{2})).*$")
HEADER = re.compile(rb"\A\s*([A-Za-z_]+)[ \t,]+([A-Za-z_]+)[ \t]*\r?$", re.MULTILINE)
FIRST = re.compile(rb"\S.*")
SOME_PAIR = re.compile(rb"\s*\d+\s+\d+(\s|$)")


class Listed(NamedTuple):
    """A graph, with the numbers or names of its pages in the file."""

    graph: Graph
    labels: NDArray[np.int64]  # shape (pages,), ascending
    names: list[str]  # empty if pages have numbers


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
    return Listed(_graph(sources, targets, pages, file), np.arange(pages), [])


def edges(file: Path, pages: NDArray[np.int64] | None = None) -> Listed:
    """An edge list: two page numbers or names a line; lines with # or % are skipped.

    A header of two words above numbers is skipped, too; above names it counts as a link. Further numbers in a
    line are weights, which are ignored.

    Args:
        pages: numbers of pages that exist even without links.
    """
    text = COMMENTS.sub(b"", unpacked(file))
    if (header := HEADER.match(text)) and SOME_PAIR.match(text, header.end()):
        text = b"\n" * text.count(b"\n", 0, header.end()) + text[header.end() :]
    first = FIRST.search(text)
    if first and not first[0][:1].isdigit() and first[0][:1] != b"-":
        return _named_edges(text, file)
    values, counts = numbers(text, file)
    lines = np.flatnonzero(counts)
    short = lines[counts[lines] < 2]
    if short.size:
        raise BadInput(f"{file}, line {short[0] + 1}: two page numbers should stand here, from and to")
    at = np.concatenate(([0], np.cumsum(counts)))[lines]
    both = np.concatenate((values[at], values[at + 1]))
    labels = distinct(both if pages is None else np.concatenate((both, pages)))
    sources, targets = np.split(_dense(both, labels), 2)
    return Listed(_graph(sources, targets, len(labels), file), labels, [])


def _dense(values: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The index of each value in the ascending labels; looked up in a table unless that would be too long."""
    if not labels.size or labels[-1] > 8 * values.size:
        return np.searchsorted(labels, values)
    table = np.zeros(labels[-1] + 1, np.int64)
    table[labels] = np.arange(len(labels))
    return table[values]


def _named_edges(text: bytes, file: Path) -> Listed:
    """An edge list of names, separated by a tab, or by blanks if a line has no tab.

    Pages that the list says were not fetched, as `scrapy graph export` does, are left out: nobody knows their
    links.
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
    return Listed(_graph(sources, targets, len(names), file), np.arange(len(names)), names)


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
