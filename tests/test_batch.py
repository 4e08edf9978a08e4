"""When is it safe? Durable before acknowledged, and the same thing twice is done once.

With the real page store, catalog and frontier; a crash is an `os._exit` between two steps of a real process.
"""

from __future__ import annotations

import errno
import os
import queue
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import MakeFrontier
from frontiers import lease_one, let_pass, links, next_due_ms, page
from waiting import PATIENCE_SECONDS, until

from webcrawler.archive.batch import Batch
from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import PageStore, record_at, records
from webcrawler.clock import now
from webcrawler.connection import connect
from webcrawler.frontier import (
    Done,
    Frontier,
    Ordering,
    Politeness,
    Report,
    Reports,
    Seen,
    Source,
    inspect,
    maintenance,
    ordering,
)
from webcrawler.records import Entry, Fetch, Lease, Link, Place

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
FOREVER = 3600.0  # seconds: only what the test does makes the batch write
Settled = queue.Queue[Sequence[tuple[Lease, str]]]  # what came of each lease, batch by batch


def failure(lease: Lease, reason: str, state: str = "failed", retry: bool = False) -> Entry:
    return Entry(Fetch(lease, state, reason, now(), retry=retry), archive=True)


def redirect(lease: Lease, target: Link) -> Entry:
    fetch = Fetch(lease, "done", "redirect", now(), 0.1, 301, target=target._replace(rel="redirect"))
    return Entry(fetch, archive=True)


class Room:
    """A data folder with a frontier, and batches on it."""

    def __init__(self, folder: Path, frontier: Frontier) -> None:
        self.folder, self.frontier = folder, frontier
        self.settled: Settled = queue.Queue()
        self.batches: list[Batch] = []

    def lease(self, *urls: str) -> list[Lease]:
        self.frontier.discover(links(*urls))
        return [lease_one(self.frontier) for _ in urls]

    def batch(self, **options: object) -> Batch:
        options = {"seconds": FOREVER, "entries": 1000, **options}
        store = PageStore(self.folder / "pages")
        batch = Batch(store, self.catalog, self.frontier, self.settled.put, **options)  # type: ignore[arg-type]
        self.batches.append(batch)
        return batch

    def decide(self, *entries: Entry, **options: object) -> None:
        """Have a batch write and decide all of these."""
        batch = self.batch(**options)
        for entry in entries:
            batch.put(entry)
        batch.close()

    def catalog(self) -> Catalog:
        return Catalog(self.folder / "catalog.sqlite")

    def wait(self) -> Sequence[tuple[Lease, str]]:
        """What came of the leases of the next batch that is decided."""
        return self.settled.get()

    def documents(self) -> list[str]:
        with closing(self.catalog()) as catalog:
            urls = dict(catalog.urls.all())
            return sorted(document.url for document in catalog.documents(list(urls)).values())

    def archived(self) -> list[str]:
        return [record.response.url for record in records(self.folder / "pages")]

    def reasons(self) -> dict[str, int]:
        return dict(inspect.stats(self.frontier)["reasons"])

    def lock_catalog(self) -> sqlite3.Connection:
        """Another process is in the middle of a transaction."""
        self.catalog().close()
        other = sqlite3.connect(self.folder / "catalog.sqlite", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        return other


@pytest.fixture
def room(tmp_path: Path, make_frontier: MakeFrontier) -> Iterator[Room]:
    room = Room(tmp_path, make_frontier(backoff=1.0, tries=2))
    yield room
    for batch in room.batches:
        batch.close()


# ---- durable before acknowledged


def test_a_page_is_in_warc_catalog_and_frontier_when_it_is_settled(room: Room) -> None:
    (lease,) = room.lease(A)
    batch = room.batch()

    batch.put(page(lease, *links(B), body=b"<title>as it came</title>"))
    batch.flush()
    room.wait()

    assert room.archived() == room.documents() == [A]
    assert room.reasons() == {"document": 1}
    assert inspect.peek(room.frontier, 9) == [B]
    (document,) = room.catalog().documents([1]).values()
    assert document.place is not None
    assert record_at(room.folder / "pages", document.place).response.body == b"<title>as it came</title>"


def test_a_lease_is_not_completed_before_the_catalog_has_its_page(room: Room) -> None:
    (lease,) = room.lease(A)
    other = room.lock_catalog()
    batch = room.batch()
    batch.put(page(lease, *links(B)))
    batch.flush()

    until(room.archived, "the response, which is kept first")
    assert room.settled.empty()
    assert (inspect.stats(room.frontier)["leased"], room.reasons()) == (1, {})

    other.execute("ROLLBACK")
    room.wait()
    assert room.reasons() == {"document": 1}


def test_the_disk_has_a_page_before_the_catalog_or_the_frontier_knows_of_it(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which a process that is killed cannot show: the system keeps what it has written."""
    order: list[str] = []
    lasting: dict[int, int] = {}  # bytes of each file, whenever the disk had them
    fsync, write, complete = os.fsync, Catalog.write, Frontier.complete

    def synced(descriptor: int) -> None:
        fsync(descriptor)
        lasting[os.fstat(descriptor).st_ino] = os.fstat(descriptor).st_size

    def written(catalog: Catalog, arrivals: Sequence[tuple[Entry, Place | None]]) -> object:
        ((_, place),) = arrivals
        assert place
        file = (room.folder / "pages" / place.file).stat()
        order.append("disk" if lasting.get(file.st_ino) == file.st_size > place.offset else "not on the disk")
        verdict = write(catalog, arrivals)
        order.append("catalog")
        return verdict

    def completed(frontier: Frontier, done: Sequence[Done]) -> list[int]:
        order.append("frontier")
        return complete(frontier, done)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Catalog, "write", written)
    monkeypatch.setattr(Frontier, "complete", completed)
    batch = room.batch()

    for lease in room.lease(A, B):  # the second one is appended to a file that is there
        batch.put(page(lease))
        batch.flush()
        room.wait()

    assert order == ["disk", "catalog", "frontier"] * 2


def test_a_transaction_of_the_catalog_waits_for_the_disk(room: Room) -> None:
    with closing(room.catalog()) as catalog:
        assert catalog._db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL, which holds for its log


def test_nothing_is_acknowledged_in_a_file_whose_name_was_never_synced(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lease,) = room.lease(A)
    pages, fsync = room.folder / "pages", os.fsync
    lasting: list[set[str]] = []  # the names in the folder, whenever it was synced

    def flaky(descriptor: int) -> None:
        if os.path.samestat(os.fstat(descriptor), pages.stat()):
            lasting.append({path.name for path in pages.iterdir()})
            if len(lasting) == 1:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", flaky)

    room.decide(page(lease))

    (document,) = room.catalog().documents([1]).values()
    assert document.place and document.place.file in set().union(*lasting[1:])
    assert room.archived() == [A]
    assert {path.name for path in pages.iterdir()} == {document.place.file}


# ---- killed between two steps

CRASH = """
import os, sys, time
from pathlib import Path
import redis
from webcrawler.archive.batch import Batch
from webcrawler.archive.catalog import Catalog
from webcrawler.frontier import Frontier, ordering
from webcrawler.archive.pages import PageStore
sys.path.insert(0, "tests")
from frontiers import lease_one, links, page

folder, socket, step = Path(sys.argv[1]), sys.argv[2], sys.argv[3]

def dies_after(cls, method):
    class Dying(cls):
        pass
    def act(self, *arguments):
        getattr(cls, method)(self, *arguments)
        os._exit(9)
    if step == method:
        setattr(Dying, method, act)
    return Dying

client = redis.Redis(unix_socket_path=socket)
frontier = dies_after(Frontier, "complete")(client, ordering("fifo"), worker="victim")
frontier.expire(alive_seconds=5)
store = dies_after(PageStore, "sync")(folder / "pages")
catalog = dies_after(Catalog, "write")
batch = Batch(store, lambda: catalog(folder / "catalog.sqlite"), frontier, lambda settled: None)
batch.put(page(lease_one(frontier), *links("http://b.test/")))
batch.close()
"""


@pytest.mark.parametrize(
    ("step", "decided"), [("sync", 0), ("write", 0), ("complete", 1)], ids=["WARC", "catalog", "frontier"]
)
def test_a_worker_killed_after_a_step_has_lost_nothing_and_nothing_is_done_twice(
    room: Room, step: str, decided: int
) -> None:
    room.frontier.discover(links(A))
    socket = room.frontier.client.get_connection_kwargs()["path"]
    killed = subprocess.run([sys.executable, "-c", CRASH, str(room.folder), socket, step], check=False)
    assert killed.returncode == 9
    assert room.reasons() == ({"document": 1} if decided else {})

    let_pass(room.frontier, 10)
    assert room.frontier.expire() == 1 - decided
    batch = room.batch()
    for found in iter(lambda: room.frontier.lease(1).leases, []):
        batch.put(page(found[0], *links(B) if found[0].url == A else ()))
        batch.flush()
        room.wait()

    assert room.documents() == [A, B]
    stats = inspect.stats(room.frontier)
    assert (stats["seen"], stats["done"], stats["reasons"]) == (2, 2, {"document": 2})
    catalog = room.catalog()
    assert len(list(catalog.links.all())) == 1
    kinds = [change.kind for change in catalog.changes(0, 9)]
    assert kinds.count("insert") == 2


def test_a_redis_that_dies_is_revived_and_the_batch_goes_on(tmp_path: Path) -> None:
    with connect(None, tmp_path, "always") as connection:
        frontier = Frontier(connection.client, ordering("fifo"), politeness=Politeness(delay=0.0))
        frontier.open("fifo")
        room = Room(tmp_path, frontier)
        leases = room.lease(A, C)
        connection.client.shutdown(nosave=True)

        room.decide(*(page(lease, *links(B)) for lease in leases), revive=connection.revive)

        assert room.documents() == [A, C]
        assert inspect.stats(frontier)["reasons"] == {"document": 2}
        assert inspect.peek(frontier, 9) == [B]


def test_a_page_that_cannot_be_stored_fails_alone(room: Room) -> None:
    """Tried again while tries are left; the pages beside it are written, and the crawl goes on."""
    good, bad = room.lease(A, B)

    room.decide(page(bad, links(C)[0]._replace(anchor="\ud800")), page(good))  # what no database takes

    assert room.documents() == [A]
    assert room.reasons() == {"document": 1}
    assert inspect.explain(room.frontier, B)["tries"] == 1


def test_an_error_of_ours_ends_the_batch_and_says_so(room: Room) -> None:
    """Not in silence: nothing would be decided any more, and the crawl would never end."""

    class Broken(queue.Queue):  # type: ignore[type-arg]
        def put(self, *_: object, **__: object) -> None:
            raise RuntimeError("on purpose")

    told = threading.Event()
    room.settled = Broken()

    room.decide(*map(page, room.lease(A)), broken=lambda error: told.set())

    assert told.wait(PATIENCE_SECONDS)


# ---- when a batch is written


def test_a_batch_is_written_at_so_many_entries(room: Room) -> None:
    batch = room.batch(entries=3)

    for lease in room.lease(A, B, C):
        batch.put(page(lease))

    assert len(room.wait()) == 3


def test_a_batch_is_written_so_long_after_its_first_entry(room: Room) -> None:
    (lease,) = room.lease(A)

    room.batch(seconds=0.01).put(page(lease))

    assert len(room.wait()) == 1


def test_a_batch_is_written_when_somebody_waits_for_it(room: Room) -> None:
    batch = room.batch()
    for url in (A, B, C):  # and each time anew
        batch.put(page(room.lease(url)[0]))
        batch.flush()
        assert [lease.url for lease, _ in room.wait()] == [url]


def test_flush_of_an_empty_batch_does_nothing(room: Room) -> None:
    batch = room.batch()
    for _ in range(3):
        batch.flush()
    batch.put(page(room.lease(A)[0]))
    batch.flush()

    assert len(room.wait()) == 1


def test_close_gives_up_on_a_disk_that_does_not_come_back(room: Room) -> None:
    other = room.lock_catalog()
    batch = room.batch()
    batch.put(page(room.lease(A)[0]))

    batch.close(seconds=0.05)

    assert inspect.stats(room.frontier)["leased"] == 1  # it goes back when the worker leaves or dies
    other.execute("ROLLBACK")


def test_put_never_waits_and_full_says_that_the_disk_is_behind(room: Room) -> None:
    leases = room.lease(*(f"{A}{n}" for n in range(30)))
    other = room.lock_catalog()
    batch = room.batch(entries=5)
    assert not batch.full
    for lease in leases[:6]:
        batch.put(page(lease))
    until(room.archived, "the first batch to begin")  # five of the six are out of the queue
    for lease in leases[6:]:
        batch.put(page(lease))
    assert batch.full

    other.execute("ROLLBACK")
    until(lambda: not batch.full, "the disk to catch up")


def test_entries_are_settled_in_the_order_in_which_they_came_and_close_writes_the_rest(room: Room) -> None:
    urls = [f"{A}{n}" for n in range(25)]

    room.decide(*map(page, room.lease(*urls)), entries=10)

    assert [lease.url for batch in room.settled.queue for lease, _ in batch] == urls


# ---- what is decided


def test_good_and_bad_ends_of_one_batch_are_each_decided(room: Room) -> None:
    a, b, c, d, e = room.lease(*(f"{A}{n}" for n in range(5)))

    room.decide(
        page(a),
        failure(b, "not-found"),
        redirect(c, links(B)[0]),
        failure(d, "timeout", retry=True),
        failure(e, "", state="quarantined"),
    )

    outcomes = ["done/document", "failed/not-found", "done/redirect", "retry/timeout", "quarantined"]
    assert [outcome for _, outcome in room.wait()] == outcomes
    stats = inspect.stats(room.frontier)
    assert stats["reasons"] == {"document": 1, "redirect": 1, "not-found": 1}
    assert (stats["quarantined"], stats["queued"]) == (1, 2)  # one to try again, one found


def test_a_redirect_is_an_edge_and_a_new_url(room: Room) -> None:
    (lease,) = room.lease(A)

    room.decide(redirect(lease, links(B)[0]))

    catalog = room.catalog()
    urls = dict(catalog.urls.all())
    assert [(urls[s], urls[t], rel) for s, t, _, rel in catalog.links.all()] == [(A, B, "redirect")]
    assert lease_one(room.frontier).url == B


def test_the_catalog_decides_which_page_is_the_duplicate(room: Room) -> None:
    a, b = room.lease(A, B)

    room.decide(page(a, body=b"twins"), page(b, body=b"twins"))

    assert room.reasons() == {"document": 1, "duplicate": 1}
    original, twin = map(room.catalog().find, (A, B))
    assert original and twin and twin.duplicate_of == original.number


def test_a_noindex_page_is_a_document_without_a_text(room: Room) -> None:
    (lease,) = room.lease(A)

    room.decide(page(lease, *links(B), noindex=True))

    assert room.reasons() == {"noindex": 1}
    assert room.catalog().texts([1]) == {}
    assert inspect.peek(room.frontier, 9) == [B]  # it is followed


def test_refused_and_nofollow_links_are_recorded_and_counted_and_not_followed(room: Room) -> None:
    (lease,) = room.lease(A)
    plain, nofollow, archive, itself = links(B, C, A + "x.zip", A)
    outlinks = (plain, nofollow._replace(rel="nofollow"), archive._replace(refused="extension"), itself)

    room.decide(replace(page(lease, *outlinks), refused={"mailto": 2}))

    stats = inspect.stats(room.frontier)
    assert stats["refused"] == {"nofollow": 1, "extension": 1, "mailto": 2}
    assert inspect.peek(room.frontier, 9) == [B]
    assert {url for _, url in room.catalog().urls.all()} == {A, B, C, A + "x.zip"}


def test_what_somebody_else_holds_by_now_is_kept_and_not_decided(room: Room) -> None:
    """A worker that was away for too long comes back with a page."""
    (old,) = room.lease(A)
    let_pass(room.frontier, 10_000)
    room.frontier.expire()
    new = lease_one(room.frontier)

    room.decide(page(old, *links(B)))

    assert room.wait() == [(old, "stale")]
    assert inspect.stats(room.frontier)["leased"] == 1
    assert inspect.peek(room.frontier, 9) == []
    assert room.frontier.release([new]) == 1


def test_a_worker_that_wakes_up_after_its_lease_overwrites_nothing(
    room: Room, make_frontier: MakeFrontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its clock ran on meanwhile: what it fetched looks newer than what the other one did."""
    (old,) = room.lease(A)
    let_pass(room.frontier, 10_000)
    room.frontier.expire()
    other = Room(room.folder, make_frontier(worker="bob"))
    new = lease_one(other.frontier)
    other.decide(page(new, *links(B), body=b"what bob found"))
    catalog = room.catalog()
    known, seq = catalog.find(A), catalog.last_seq()
    answers: list[int] = []
    complete = room.frontier.complete
    monkeypatch.setattr(
        room.frontier, "complete", lambda done: answers.extend(found := complete(done)) or found
    )

    room.decide(page(old, *links(C), body=b"what ann found"))

    assert answers == [-1]
    assert known is not None and catalog.find(A) == known
    assert catalog.last_seq() == seq
    urls = dict(catalog.urls.all())
    assert [urls[link.target] for link in catalog.links.all()] == [B]
    assert room.reasons() == {"document": 1}
    assert inspect.peek(room.frontier, 9) == [B]


def test_the_frontier_is_told_what_says_the_same_as_another(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, twin, near, far = room.lease(*(f"{A}{n}" for n in range(4)))
    bodies = {first: (b"same", 0b1111), twin: (b"same", 0b1111), near: (b"near", 0b1110), far: (b"far", -1)}
    entries = [replace(page(lease, body=body), simhash=bits) for lease, (body, bits) in bodies.items()]
    told: list[Done] = []
    complete = room.frontier.complete
    monkeypatch.setattr(room.frontier, "complete", lambda done: told.extend(done) or complete(done))

    room.decide(*entries)

    assert [done.reason for done in told] == ["document", "duplicate", "document", "document"]
    assert [done.repeats for done in told] == [False, True, True, False]


def test_a_server_that_asked_for_rest_gets_it_though_its_page_is_decided_first(room: Room) -> None:
    """The scheduler tells of downloads by a connection of its own, which may be slow."""
    (lease,) = room.lease(A)
    reports = Reports()
    reports.put(Report(lease, 0.1, slow_down=True, retry_after=3600.0))

    room.decide(page(lease), reports=reports)

    assert next_due_ms(room.frontier, "http://a.test") > 3_500_000
    assert reports.take() == []


# ---- orderings that learn


class Learning(Ordering):
    """Notes what it is told, and wants one URL first."""

    learns = True

    def __init__(self, wanted: Link) -> None:
        self.told: list[Seen] = []
        self.known_then: list[list[int]] = []
        self._wanted = wanted

    def learn(self, seen: Sequence[Seen]) -> None:
        self.told += seen

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        self.known_then.append([one.id for one in self.told])
        return 0

    def plan(self) -> tuple[list[Link], list[int]]:
        return [self._wanted], [1]


@pytest.fixture
def learning(room: Room) -> Learning:
    """The ordering of the frontier, which wants C first."""
    learning = Learning(*links(C))
    room.frontier.order_by(learning)
    return learning


def test_an_ordering_that_learns_is_told_of_pages_before_their_links_are_taken_in(
    room: Room, learning: Learning
) -> None:
    (lease,) = room.lease(A)

    room.decide(page(lease, *links(B, C)))

    (told,) = learning.told
    assert (told.url, told.text and told.text.body) == (A, "some words")
    assert [link.url for link in told.links] == [B, C]
    assert learning.known_then == [[], [lease.id], [lease.id]]  # for A, B and C


@pytest.mark.usefixtures("learning")
def test_what_it_plans_is_leased_in_that_order(room: Room) -> None:
    (lease,) = room.lease(A)

    room.decide(page(lease, *links(B, C)))

    assert [lease_one(room.frontier).url for _ in range(2)] == [C, B]


def test_it_is_told_of_failures_and_redirects_as_pages_without_text(room: Room, learning: Learning) -> None:
    failed, moved = room.lease(A, B)

    room.decide(failure(failed, "not-found"), redirect(moved, *links(C)))

    told = [(one.url, one.text, [link.url for link in one.links]) for one in learning.told]
    assert told == [(B, None, [C]), (A, None, [])]


def test_what_is_tried_again_tells_nothing_yet(room: Room, learning: Learning) -> None:
    (lease,) = room.lease(A)

    room.decide(failure(lease, "unreachable", retry=True))

    assert learning.told == []


# ---- searches


@pytest.fixture
def searching(room: Room) -> Lease:
    """The lease of B in a search, which knows nothing yet; the catalog has A."""
    room.decide(*map(page, room.lease(A)))
    maintenance.clear(room.frontier)
    room.frontier.intake.forget()
    (lease,) = room.lease(B)
    return lease


def test_a_search_follows_nothing_that_the_catalog_has(room: Room, searching: Lease) -> None:
    room.decide(page(searching, *links(A, C)), only_new=True)

    assert [lease_one(room.frontier).url] == [C]
    assert inspect.stats(room.frontier)["refused"] == {"explored": 1}


def test_a_search_follows_a_redirect_to_what_the_catalog_has(room: Room, searching: Lease) -> None:
    """The page that was asked for may be a seed, or the best hit."""
    room.decide(redirect(searching, *links(A)), only_new=True)

    assert lease_one(room.frontier).url == A
