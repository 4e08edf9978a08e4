"""Pages to learn from: listed, kept as bookmarks, or judged good by people; and the words typical of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import islice
from math import log
from pathlib import Path

from webcrawler.errors import BadInput, BadUrl
from webcrawler.job import read_seeds, seed_link
from webcrawler.records import Text
from webcrawler.text import english, tokens_of, words
from webcrawler.urls import resolve

MAX_BYTES = 10 * 2**20  # of a file of bookmarks
MAX_URLS = 1_000
# By an expression, not a parser of HTML: in this format no element is closed, so the tree would be as deep as
# the file is long.
_LINK = re.compile(r"""<a\s(?:[^<>]*?\s)?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
BOOKMARKS_START = "<!doctype netscape-bookmark-file"
JUDGED = "@feedback"  # written in place of URLs: the pages judged good for the query
TYPICAL_WORDS = 6
CHARACTERS = 20_000  # of each text
HALF = 10  # occurrences with which a word has half of its greatest weight


def read_urls(text: str) -> tuple[str, ...]:
    """From `URL,URL`, or from `@FILE`: bookmarks, or one URL a line.

    Raises:
        BadInput: there is no such file, no URL, or one that is none.
    """
    if not text.startswith("@"):
        return read_seeds(text)
    file = Path(text[1:])
    try:
        if file.stat().st_size > MAX_BYTES:
            raise BadInput(f"{file} is larger than {MAX_BYTES >> 20} MiB")
        content = file.read_text("utf-8", errors="replace")
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}; write @FILE") from None
    start = content.lstrip("\ufeff \r\n\t")[:5000].lower()
    if start.startswith(BOOKMARKS_START) or "<dt><a href=" in start or "<!doctype html" in start:
        return urls_of(content)
    return read_seeds(text)


def urls_of(bookmarks: str) -> tuple[str, ...]:
    """The http and https URLs of an exported bookmarks file (Netscape's format), the first 1,000.

    Raises:
        BadInput: there is none.
    """
    found = dict.fromkeys(islice(filter(None, map(fetchable, _hrefs(bookmarks))), MAX_URLS))
    if not found:
        raise BadInput("there is no http or https URL in these bookmarks: export them as HTML")
    return tuple(found)


def _hrefs(bookmarks: str) -> Iterator[str]:
    """Each once. A generator, as reading all of a large file takes seconds."""
    known: set[str] = set()
    for link in _LINK.finditer(bookmarks):
        href = unescape(link[1] or link[2] or link[3] or "").strip()
        if href not in known:
            known.add(href)
            yield href


def fetchable(href: str) -> str:
    """The URL as it is fetched; "" for what is not a web page (places of the browser, scripts, files)."""
    try:
        return resolve(href) if href.startswith(("http://", "https://")) and seed_link(href).url else ""
    except BadUrl:
        return ""


def judged_good(folder: Path, query: str) -> tuple[str, ...]:
    """URLs that people judged good for a query on the search page, in the order judged.

    Args:
        folder: CRAWL_DIR/feedback, with queries and judgments in the formats of TREC.
        query: in any case and spacing.
    Raises:
        BadInput: there is none, or the files cannot be read.
    """
    wanted = query.casefold().split()
    queries = [line.partition("\t") for line in _lines(folder / "queries.tsv")]
    same = {id for id, _, text in queries if text.casefold().split() == wanted}
    grades: dict[str, int] = {}  # of several judgments of a page the last one holds
    for line in _lines(folder / "qrels.txt"):
        try:
            id, _, url, grade = line.split()
            number = int(grade)
        except ValueError:
            raise BadInput(f"expected `query 0 URL grade` in qrels.txt, not {line[:100]!r}") from None
        if id in same:
            grades[url] = number
    good = tuple(fetched for url, grade in grades.items() if grade > 0 and (fetched := fetchable(url)))
    if not good:
        raise BadInput(f"no page was judged good for {query[:100]!r} in {folder}: name some, -a examples=URL")
    return good


def _lines(file: Path) -> list[str]:
    try:
        return [line for line in file.read_text("utf-8-sig").splitlines() if line.strip()]
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {file}: {error}") from None


def typical_words(texts: Sequence[Text], limit: int = TYPICAL_WORDS) -> str:
    """The words most typical of these texts: frequent there, rare in general English. "" without texts."""
    counts, spelled = Counter[str](), dict[str, Counter[str]]()
    for text in texts:
        found = words(f"{text.title} {text.title} {text.body[:CHARACTERS]}")
        for (stem, _), word in zip(tokens_of(found), found, strict=True):
            if stem and not stem.isdecimal():
                counts[stem] += 1
                spelled.setdefault(stem, Counter())[word] += 1
    reference = english()
    weights = {stem: n / (n + HALF) * max(0.0, -log(reference.frequency(stem))) for stem, n in counts.items()}
    best = sorted(weights, key=lambda stem: (-weights[stem], stem))[:limit]
    return " ".join(spelled[stem].most_common(1)[0][0] for stem in best)
