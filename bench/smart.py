"""Cranfield, CACM and ADI, from the archives of the SMART system to folders that `scrapy judge` reads.

    python bench/smart.py cranfield|cacm|adi ARCHIVE FOLDER

In their files `.I 17` begins a record, `.T` (title), `.W` (words), … a field of it. Oddities:
- Cranfield's judgments count the queries from 1, whatever their `.I` says, and the last has lost a line feed.
- Cranfield's codes run from 1, a complete answer, to 4, of minimum interest: as gains they would stand upside
  down. So 1 to 4 are all relevant, with grade 1; -1, of no interest, stays -1.
- CACM's links (`.X`, type 5) have no direction: the later of two documents is taken to cite the earlier.
"""

from __future__ import annotations

import argparse
import json
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

RECORD = re.compile(r"(?m)^\.I +(\d+)\s*$")
FIELD = re.compile(r"(?m)^\.([A-Z])[ \t]*$")
LINK = "5"  # "documents X and Y are linked if X cites Y, Y cites X, or X == Y" (cite.info)

Fields = defaultdict[str, str]


class Files(NamedTuple):
    """Of one archive; the columns of its judgments are those of query, document and grade."""

    documents: str
    queries: str
    judgments: str
    grade: int | None = None  # None: all that are listed are relevant
    counted: bool = False  # judgments count the queries


COLLECTIONS = {
    "cranfield": Files("cran.all.1400", "cran.qry", "cranqrel", grade=2, counted=True),
    "cacm": Files("cacm.all", "query.text", "qrels.text"),
    "adi": Files("ADI.ALL", "ADI.QRY", "ADI.REL"),
}


def convert(name: str, archive: Path, folder: Path) -> None:
    """Write docs.jsonl, queries.tsv and qrels.txt of a collection.

    A document's text is its words, then its keywords; queries that nobody judged are left out.
    """
    files = COLLECTIONS[name]
    texts = _texts(archive)
    folder.mkdir(parents=True, exist_ok=True)
    documents = [_document(number, fields) for number, fields in _records(texts[files.documents])]
    _write(folder / "docs.jsonl", map(json.dumps, documents))
    judgments = list(_judgments(texts[files.judgments], files.grade))
    judged = {query for query, _, _ in judgments}
    queries = {
        str(place if files.counted else int(number)): " ".join(fields["W"].split())
        for place, (number, fields) in enumerate(_records(texts[files.queries]), 1)
    }
    _write(
        folder / "queries.tsv", (f"{number}\t{text}" for number, text in queries.items() if number in judged)
    )
    _write(folder / "qrels.txt", (f"{query} 0 {document} {grade}" for query, document, grade in judgments))


def _texts(archive: Path) -> dict[str, str]:
    """The files of an archive by name."""
    with tarfile.open(archive) as members:
        files = ((member.name, members.extractfile(member)) for member in members)
        return {name: file.read().decode("latin-1").replace("\r\n", "\n") for name, file in files if file}


def _records(text: str) -> Iterator[tuple[str, Fields]]:
    parts = RECORD.split(text)
    for number, body in zip(parts[1::2], parts[2::2], strict=True):
        pieces = FIELD.split(body)
        fields: Fields = defaultdict(str)
        for name, content in zip(pieces[1::2], pieces[2::2], strict=True):
            fields[name] += content
        yield number, fields


def _document(number: str, fields: Fields) -> dict[str, Any]:
    text = "\n".join(part.strip() for part in (fields["W"], fields["K"]) if part.strip())
    linked = (line.split() for line in fields["X"].splitlines())
    cited = {int(row[0]) for row in linked if row[1:2] == [LINK] and int(row[0]) < int(number)}
    return {
        "id": str(int(number)),
        "title": " ".join(fields["T"].split()),
        "text": text,
        "links": [str(other) for other in sorted(cited)],
    }


def _judgments(text: str, grade: int | None) -> Iterator[tuple[str, str, int]]:
    for row in map(str.split, text.splitlines()):
        if len(row) > 1:
            relevant = grade is None or not row[grade].startswith("-")
            yield str(int(row[0])), str(int(row[1])), 1 if relevant else -1


def _write(file: Path, lines: Iterable[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("name", choices=COLLECTIONS)
    parser.add_argument("archive", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    convert(arguments.name, arguments.archive, arguments.folder)


if __name__ == "__main__":
    main()
