"""Bulk writes with a verdict for each document.

What is there, or is newer there, is done. What the cluster is too busy for is sent again, in smaller bulks
and after a pause, without end. What it refuses is set aside. A crash repeats writes, and changes nothing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from webcrawler import clock
from webcrawler.errors import BadInput, Unavailable
from webcrawler.opensearch import buckets
from webcrawler.opensearch.client import PASSING, Cluster, line, reason
from webcrawler.opensearch.documents import Source
from webcrawler.opensearch.refused import Refused

DOCUMENTS = 200
BYTES = 4 << 20
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 60.0
BLOCK_PAUSE = 5.0
LARGE = 1 << 20  # a document of so many bytes may be too large for a node
CUTS = 3  # tries of a large one alone, until its body is left out
OF_BODY = ("body", "around", "part", "text", "vector", "sections")
ASKED = "filter_path=items.*.status,items.*.error.type,items.*.error.reason"


class Write(NamedTuple):
    into: str  # the index
    id: str
    url: str
    version: int
    source: Source

    def lines(self) -> bytes:
        head = {"_index": self.into, "_id": self.id, "version": self.version, "version_type": "external_gte"}
        return line({"index": head}) + line(self.source)

    def cut(self) -> Write:
        """Without its body: it is found by its title, its anchors and its address."""
        source: Source = {
            name: buckets.without(value, OF_BODY) if name in buckets.BUCKETS else value
            for name, value in self.source.items()
            if name not in OF_BODY
        }
        source["lengths"] = {key: n for key, n in source["lengths"].items() if key not in OF_BODY}
        return self._replace(source=source)

    @property
    def is_cut(self) -> bool:
        return "body" not in self.source


class Part(NamedTuple):
    """Some writes of a bulk."""

    writes: list[Write]
    lines: list[bytes]

    def some(self, places: Iterable[int]) -> Part:
        chosen = list(places)
        return Part([self.writes[n] for n in chosen], [self.lines[n] for n in chosen])

    def halves(self) -> list[Part]:
        size = len(self.writes)
        return [self.some(range(size // 2)), self.some(range(size // 2, size))] if size > 1 else [self]


class Bulk:
    """Sends writes to a cluster.

    Args:
        pause: waits for so many seconds; may raise, and so end it.
        tell: is told in words what keeps the cluster from taking anything, "" once it does.
    """

    def __init__(
        self, cluster: Cluster, refused: Refused, pause: Callable[[float], None], tell: Callable[[str], None]
    ) -> None:
        self._cluster, self._refused, self._pause, self._tell = cluster, refused, pause, tell
        self.counts = Counter[str]()

    def write(self, writes: Iterable[Write]) -> None:
        """Returns once each is there, is older than what is there, or was set aside."""
        for part in _parts(writes):
            self._deliver(part)

    def _deliver(self, whole: Part) -> None:
        parts, longest, failures = deque([whole]), FIRST_PAUSE, 0
        while parts:
            part = parts.popleft()
            left, why = self._send(part)
            if not left.writes:
                self._tell("")
                longest, failures = FIRST_PAUSE, 0
                continue
            failures += 1
            if len(left.writes) == 1 and len(left.lines[0]) > LARGE and failures > CUTS:
                left = self._cut(left.writes[0], why)
            parts.extendleft(reversed(left.halves() if left.writes else []))
            self._tell(why)
            self.counts["again"] += len(left.writes)
            self._pause(BLOCK_PAUSE if "block" in why else clock.draws.uniform(0, longest))
            longest = min(LONGEST_PAUSE, 2 * longest)

    def _send(self, part: Part) -> tuple[Part, str]:
        """Send it once; returns what is to be sent again, and why."""
        try:
            status, said = self._cluster.send("POST", f"/_bulk?{ASKED}", b"".join(part.lines))
        except Unavailable as error:
            return part, str(error)
        if status in PASSING or status == 413 or status == 403:
            return part, f"{status}, {reason(said)}"
        if status >= 300:
            raise BadInput(f"the cluster refuses what is written: {status}, {reason(said)}")
        items = [next(iter(item.values())) for item in said["items"]]
        busy = [place for place, item in enumerate(items) if self._is_busy(part.writes[place], item)]
        both = zip(part.writes, items, strict=True)
        self._refused.discard((write.url, write.into) for write, item in both if item["status"] < 300)
        return part.some(busy), reason(items[busy[0]]) if busy else ""

    def _is_busy(self, write: Write, item: dict[str, Any]) -> bool:
        status, kind = item["status"], item.get("error", {}).get("type", "")
        if status in PASSING or kind == "cluster_block_exception":
            return True
        if kind == "index_not_found_exception":
            raise Unavailable(f"{write.into} is gone")
        if status < 300 or status == 409:
            self.counts["written" if status < 300 else "newer there"] += 1
        else:
            self.counts["refused"] += 1
            self._refused.add(write.url, write.into, reason(item))
        return False

    def _cut(self, write: Write, why: str) -> Part:
        """What is sent in place of one that is too large; nothing where that was tried."""
        if write.is_cut:
            self._refused.add(write.url, write.into, f"too large: {why}")
            return Part([], [])
        self._refused.add(write.url, write.into, f"written without its body: {why}")
        short = write.cut()
        return Part([short], [short.lines()])


def _parts(writes: Iterable[Write]) -> Iterator[Part]:
    part, size = Part([], []), 0
    for write in writes:
        lines = write.lines()
        if part.writes and (len(part.writes) >= DOCUMENTS or size + len(lines) > BYTES):
            yield part
            part, size = Part([], []), 0
        part.writes.append(write)
        part.lines.append(lines)
        size += len(lines)
    if part.writes:
        yield part
