"""Are the records there that the catalog knows? In a copy made amid a crawl they may not be."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha1
from itertools import groupby
from pathlib import Path

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import records_from
from webcrawler.errors import BadInput
from webcrawler.records import Place

MENDED = (
    "put the files back from a backup; without one, `webcrawler rebuild`, then `webcrawler frontier rebuild` "
    "let a crawl fetch them again"
)


def refuse_lost_records(folder: Path, catalog: Catalog, is_deep: bool = False) -> None:
    """Look whether the newest record of each file that the catalog knows is there, or all of them.

    Raises:
        BadInput: one is not there, is torn, or has another digest than was stored.
    """
    lost = list[Place]()
    for name, places in groupby(catalog.known_places(newest=not is_deep), lambda known: known[0].file):
        left = dict(places)
        with suppress(OSError), (folder / name).open("rb") as file:
            for record in records_from(file, name, next(iter(left)).offset):
                digests = {record.digest, left.get(record.place)} - {b"", None}
                if is_deep and record.kind == "response":  # what gzip finds whole was written so
                    digests.add(sha1(record.response.body).digest())
                if len(digests) < 2:
                    left.pop(record.place, None)
                if not left:
                    break
        lost += left
    if lost:
        where = f"the first in {folder / lost[0].file} at {lost[0].offset:,}"
        raise BadInput(
            f"{len(lost):,} records that the catalog knows are not there as stored, {where}: {MENDED}"
        )
