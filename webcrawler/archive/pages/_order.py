"""Records of many files in the order in which they were stored, as far as their times tell."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from heapq import heappop, heappush
from pathlib import Path

from webcrawler.archive.pages._records import Record, records_from
from webcrawler.records import Place

EARLY_SECONDS = 3600.0  # by which the first fetch of a file may be older than the file
_NAME = re.compile(r"(\d{8}T\d{6})-")


def in_order(folder: Path, unreadable: Callable[[Place], object] = lambda place: None) -> Iterator[Record]:
    """All records of all files: those of one file as they stand, files merged by the times of the fetches.

    Several workers write at the same time, each to a file of its own. A file is opened when its time comes,
    as after years of nightly crawls there are more than a process may open.

    Args:
        unreadable: is told of each record that is damaged, or none of ours, and of what is no file, such as a
            pipe, which would be waited for; a torn record ends its file.
    """
    waiting = deque(sorted(folder.glob("*.warc.gz"), key=_begun))
    # Time up to now, number of the file, record, the rest of the file.
    heap: list[tuple[float, int, Record, Iterator[Record]]] = []
    opened = 0
    while heap or waiting:
        while waiting and (not heap or _begun(waiting[0]) - EARLY_SECONDS <= heap[0][0]):
            opened += 1
            _push(heap, 0.0, opened, _records(waiting.popleft(), unreadable))
        if heap:
            time, number, record, rest = heappop(heap)
            yield record
            _push(heap, time, number, rest)


def _push(
    heap: list[tuple[float, int, Record, Iterator[Record]]], time: float, number: int, rest: Iterator[Record]
) -> None:
    if (record := next(rest, None)) is not None:
        heappush(heap, (max(time, record.fetched), number, record, rest))


def _records(path: Path, unreadable: Callable[[Place], object]) -> Iterator[Record]:
    if not path.is_file():
        unreadable(Place(path.name, 0))
        return
    with path.open("rb") as file:
        yield from records_from(file, path.name, 0, lambda offset: unreadable(Place(path.name, offset)))


def _begun(path: Path) -> float:
    """When the file was begun, by its name; 0 for names that are not ours."""
    found = _NAME.match(path.name)
    return datetime.strptime(found[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC).timestamp() if found else 0.0
