"""Pages that people judged good for a query on the search page: CRAWL_DIR/feedback/, in TREC's formats."""

from __future__ import annotations

from pathlib import Path

from webcrawler.errors import BadInput
from webcrawler.realtime.bookmarks import fetchable

MARK = "@feedback"  # in place of URLs


def judged_good(folder: Path, query: str) -> tuple[str, ...]:
    """Their URLs, in the order judged; queries are the same in any case and spacing.

    Raises:
        BadInput: there is none, or the files cannot be read.
    """
    said = [line.partition("\t") for line in _lines(folder / "queries.tsv")]
    same = {id for id, _, text in said if _folded(text) == _folded(query)}
    grades = {url: grade for id, url, grade in map(_judged, _lines(folder / "qrels.txt")) if id in same}
    good = tuple(fetched for url, grade in grades.items() if grade > 0 and (fetched := fetchable(url)))
    if not good:
        raise BadInput(f"no page was judged good for {query[:100]!r} in {folder}: name some, -a examples=URL")
    return good


def _judged(line: str) -> tuple[str, str, int]:
    """Query, URL, grade; of several judgments of a page the last holds."""
    try:
        id, _, url, grade = line.split()
        return id, url, int(grade)
    except ValueError:
        raise BadInput(f"expected `query 0 URL grade` in qrels.txt, not {line[:100]!r}") from None


def _lines(file: Path) -> list[str]:
    try:
        return [line for line in file.read_text("utf-8-sig").splitlines() if line.strip()]
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {file}: {error}") from None


def _folded(query: str) -> str:
    return " ".join(query.split()).casefold()
