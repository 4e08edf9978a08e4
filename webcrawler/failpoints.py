"""Where can a crawl be struck? Named places on a URL's way, at which it can be told to die.

    FAILPOINTS=catalog.before-commit:kill:3      at the third time that a process comes by

Several are parted by commas. Actions: `kill` (SIGKILL to itself), `exit` (at once, status 70), `enospc` (an
OSError as of a full disk), `unavailable` (as of a part that is away), or a number of seconds to sleep. With
FAILPOINTS_ONCE=FOLDER each of them strikes once among all processes that name this folder, and leaves a
file of its name there. Unarmed, a failpoint costs about 40 ns. For tests: bench/faults.py comes by all.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from webcrawler.errors import BadInput, Unavailable

EXIT_STATUS = 70

# Where each stands, and what has happened by then: in the order of a URL's way. A test holds it to the code.
FAILPOINTS: dict[str, tuple[str, str]] = {
    # seen, queued
    "redis.starting": ("webcrawler/connection/server.py", "the embedded server is not there"),
    "redis.launched": ("webcrawler/connection/server.py", "it runs, its process id is not written down"),
    "redis.started": ("webcrawler/connection/server.py", "it answers"),
    "discover.before": ("webcrawler/extensions/stores.py", "seeds are read, none is taken in"),
    "discover.after": ("webcrawler/extensions/stores.py", "seeds are in the frontier, nothing is leased"),
    "heartbeat.before": ("webcrawler/extensions/heartbeat.py", "the worker is about to say that it lives"),
    "heartbeat.after": ("webcrawler/extensions/heartbeat.py", "leases of the dead are back"),
    # leased
    "lease.before": ("webcrawler/extensions/worker.py", "downloads are over, and not reported"),
    "lease.after": ("webcrawler/extensions/worker.py", "leased in Redis, nobody here knows"),
    "lease.known": ("webcrawler/extensions/worker.py", "known here, not yet handed to the scheduler"),
    "lease.request": ("webcrawler/scheduler.py", "a lease becomes a request"),
    # fetched
    "robots.asking": ("webcrawler/middlewares/robots.py", "robots.txt is not in Redis"),
    "robots.fetched": ("webcrawler/middlewares/robots.py", "robots.txt is here, and not in Redis"),
    "robots.stored": ("webcrawler/middlewares/robots.py", "in Redis, its Crawl-delay is not"),
    "robots.told": ("webcrawler/middlewares/robots.py", "the frontier knows of the Crawl-delay"),
    "download.before": ("webcrawler/middlewares/outcome.py", "permitted, not connected"),
    "download.after": ("webcrawler/middlewares/outcome.py", "an answer is here"),
    "download.failed": ("webcrawler/middlewares/outcome.py", "none is"),
    # parsed
    "parse.before": ("webcrawler/extensions/crawl.py", "a document, no parser has it"),
    "parser.before": ("webcrawler/parserpool.py", "in the parser's process: it has a page"),
    "parser.after": ("webcrawler/parserpool.py", "in the parser's process: parsed, not handed over"),
    "parse.after": ("spiders/index.py", "the page is back"),
    "duplicates.hinted": ("pipelines/duplicates.py", "its digest is remembered here, no row has it"),
    "release.before": ("webcrawler/extensions/crawl.py", "a lease is to be given back"),
    "release.after": ("webcrawler/extensions/crawl.py", "it is queued again, and still in hand here"),
    # batched
    "batch.before-put": ("webcrawler/batch.py", "decided, in no batch"),
    "batch.after-put": ("webcrawler/batch.py", "in the batch's queue"),
    "batch.gathered": ("webcrawler/batch.py", "a batch is complete, nothing of it is written"),
    # pages
    "pages.new-file": ("webcrawler/pages/_store.py", "a WARC file is made, its name may not last"),
    "pages.before-append": ("webcrawler/pages/_store.py", "a record is not yet in the file's buffer"),
    "pages.after-append": ("webcrawler/pages/_store.py", "it is"),
    "pages.before-write": ("webcrawler/pages/_store.py", "all records are in the buffer"),
    "pages.before-fsync": ("webcrawler/pages/_store.py", "written, not synced"),
    "pages.after-fsync": ("webcrawler/pages/_store.py", "synced"),
    "batch.stored": ("webcrawler/batch.py", "pages are durable, the catalog knows of none"),
    # catalog
    "catalog.before-begin": ("webcrawler/catalog/_writer.py", "no transaction"),
    "catalog.after-begin": ("webcrawler/catalog/_writer.py", "an empty transaction"),
    "catalog.numbered": ("webcrawler/catalog/_writer.py", "URLs have numbers"),
    "catalog.linked": ("webcrawler/catalog/_writer.py", "links are rows, their pages are not"),
    "catalog.statement": ("webcrawler/catalog/_writer.py", "after each statement of apply.sql"),
    "catalog.history": ("webcrawler/catalog/_writer.py", "documents are rows, and some of the fetches"),
    "catalog.after-verdict": ("webcrawler/catalog/_writer.py", "duplicates are told, rows not committed"),
    "catalog.before-commit": ("webcrawler/catalog/_writer.py", "all rows, uncommitted"),
    "catalog.after-commit": ("webcrawler/catalog/_writer.py", "committed"),
    "batch.catalogued": ("webcrawler/batch.py", "durable, the frontier knows of nothing"),
    # completed
    "complete.before": ("webcrawler/batch.py", "as that, some of the batch may be decided"),
    "complete.after": ("webcrawler/batch.py", "decided, outlinks are in the frontier"),
    "decide.between": ("webcrawler/batch.py", "some of the batch is decided, some is not"),
    "fail.before": ("webcrawler/batch.py", "failures are durable, the frontier knows of none"),
    "fail.after": ("webcrawler/batch.py", "the frontier does"),
    "batch.settled": ("webcrawler/batch.py", "all is decided, the worker has not heard"),
    # indexed
    "index.locked": ("webcrawler/index/follower.py", "a follower has the lock"),
    "index.read": ("webcrawler/index/following.py", "changes are read"),
    "index.added": ("webcrawler/index/whooshengine.py", "documents are added, nothing is written"),
    "index.written": ("webcrawler/index/writer.py", "a segment is written, no table of contents has it"),
    "index.merging": ("webcrawler/index/merging.py", "old segments are read into a new one"),
    "index.committed": ("webcrawler/index/whooshengine.py", "committed with its seq, not remembered here"),
    "index.applied": ("webcrawler/index/following.py", "remembered"),
    "anchors.read": ("webcrawler/index/anchors.py", "whose anchors changed is known"),
    "anchors.committed": ("webcrawler/index/whooshengine.py", "anchors of some pages are committed"),
    "index.optimizing": ("webcrawler/index/whooshengine.py", "all is applied, segments are to become one"),
    # the end
    "close.before": ("webcrawler/extensions/worker.py", "nothing is in flight, the last reports are here"),
    "close.after": (
        "webcrawler/extensions/worker.py",
        "they are in Redis, the last batch may not be written",
    ),
    "leave.before": ("webcrawler/extensions/member.py", "the worker still holds what it has not used"),
    "leave.after": ("webcrawler/extensions/member.py", "it holds nothing, its connections are open"),
}

_armed: dict[str, _Armed] = {}


def reach(name: str) -> None:
    """A process comes by."""
    if _armed and name in _armed:
        _armed[name].pass_by(name)


def arm(environment: Mapping[str, str]) -> None:
    """As FAILPOINTS says; counts go on where it says what it said before.

    Raises:
        BadInput: there is no such failpoint or action.
    """
    once = environment.get("FAILPOINTS_ONCE")
    wanted = [
        _Armed.read(text, once) for text in environment.get("FAILPOINTS", "").split(",") if text.strip()
    ]
    for name, armed in wanted:
        if name not in _armed or _armed[name].text != armed.text:
            _armed[name] = armed
    for name in _armed.keys() - dict(wanted).keys():
        del _armed[name]


class _Armed:
    """What happens, and at which passing."""

    def __init__(self, text: str, action: str, passing: int, once: Path | None) -> None:
        self.text, self._action, self._passing, self._once = text, action, passing, once
        self._passings = count(1)  # `next` is atomic: threads come by too

    @classmethod
    def read(cls, text: str, once: str | None) -> tuple[str, _Armed]:
        name, _, rest = text.strip().partition(":")
        action, _, passing = rest.partition(":")
        if name not in FAILPOINTS:
            raise BadInput(
                f"FAILPOINTS={text}: there is no failpoint {name!r}; webcrawler/failpoints.py has all"
            )
        if not (_is_action(action) and (passing or "1").isdecimal() and int(passing or 1) > 0):
            wanted = "NAME:ACTION[:PASSING], ACTION one of kill, exit, enospc, unavailable, or seconds"
            raise BadInput(f"FAILPOINTS={text}: say {wanted}")
        return name, cls(text.strip(), action, int(passing or 1), Path(once) if once else None)

    def pass_by(self, name: str) -> None:
        if next(self._passings) == self._passing and self._is_first(name):
            _strike(self._action)

    def _is_first(self, name: str) -> bool:
        if self._once is None:
            return True
        try:
            (self._once / name).open("x").close()
        except FileExistsError:
            return False
        return True


def _is_action(action: str) -> bool:
    return action in ("kill", "exit", "enospc", "unavailable") or action.replace(".", "", 1).isdecimal()


def _strike(action: str) -> None:
    match action:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(EXIT_STATUS)
        case "enospc":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        case "unavailable":
            raise Unavailable("a failpoint says so")
        case _:
            time.sleep(float(action))
