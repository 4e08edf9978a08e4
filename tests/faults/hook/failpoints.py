"""Named places on a URL's way at which a process can be told to die.

    FAILPOINTS=catalog.before-commit:kill:3      the third time that a process gets there

The product announces each place as an audit event, `sys.audit("webcrawler.catalog.before-commit")`. That
costs about 40 ns where nobody listens. `environment` makes a child process listen: `sitecustomize.py` arms it
before its first import.

Several failpoints are separated by commas. Actions: `kill` (SIGKILL to itself), `stop` (SIGSTOP to itself),
`exit` (at once, status 70), `enospc` (an OSError as of a full disk), `unavailable` (as of a part that is
away), or a number of seconds to sleep. With FAILPOINTS_ONCE=FOLDER each of them strikes once among all
processes that name this folder, and leaves a file of its name there.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path

EXIT_STATUS = 70
ACTIONS = ("kill", "stop", "exit", "enospc", "unavailable")
PREFIX = "webcrawler."
HOOK = Path(__file__).parent

# Where each stands, and what has happened by then, in the order of a URL's way. A test checks it.
FAILPOINTS: dict[str, tuple[str, str]] = {
    # seen, queued
    "redis.starting": ("webcrawler/connection/server.py", "the embedded server is not there"),
    "redis.launched": ("webcrawler/connection/server.py", "it runs, its process id is not written down"),
    "redis.started": ("webcrawler/connection/server.py", "it answers"),
    "discover.before": ("webcrawler/crawl/run/stores.py", "seeds are read, none is taken in"),
    "discover.after": ("webcrawler/crawl/run/stores.py", "seeds are in the frontier, nothing is leased"),
    "heartbeat.before": ("webcrawler/crawl/membership.py", "the worker is about to say that it lives"),
    "heartbeat.after": ("webcrawler/crawl/membership.py", "leases of the dead are back"),
    # leased
    "lease.before": ("webcrawler/crawl/base.py", "downloads are over, and not reported"),
    "lease.after": ("webcrawler/crawl/base.py", "leased in Redis, nobody here knows"),
    "lease.known": ("webcrawler/crawl/base.py", "known here, not yet handed to the scheduler"),
    "lease.request": ("webcrawler/scheduler.py", "a lease becomes a request"),
    # fetched
    "robots.asking": ("webcrawler/crawl/robots.py", "robots.txt is not in Redis"),
    "robots.fetched": ("webcrawler/crawl/robots.py", "robots.txt is here, and not in Redis"),
    "robots.stored": ("webcrawler/crawl/robots.py", "in Redis, its Crawl-delay is not"),
    "robots.told": ("webcrawler/crawl/robots.py", "the frontier knows of the Crawl-delay"),
    "download.before": ("webcrawler/crawl/middlewares.py", "permitted, not connected"),
    "download.after": ("webcrawler/crawl/middlewares.py", "an answer is here"),
    "download.failed": ("webcrawler/crawl/run/outcomes.py", "none is"),
    # parsed
    "parse.before": ("spiders/index.py", "a document, no parser has it"),
    "parser.before": ("webcrawler/parsing/pool.py", "in the parser's process: it has a page"),
    "parser.after": ("webcrawler/parsing/pool.py", "in the parser's process: parsed, not handed over"),
    "parse.after": ("spiders/index.py", "the page is back"),
    "duplicates.hinted": ("pipelines/duplicates.py", "its digest is remembered here, no row has it"),
    "release.before": ("webcrawler/crawl/run/outcomes.py", "a lease is to be given back"),
    "release.after": ("webcrawler/crawl/run/outcomes.py", "it is queued again, and still in hand here"),
    # batched
    "batch.before-put": ("webcrawler/archive/batch.py", "decided, in no batch"),
    "batch.after-put": ("webcrawler/archive/batch.py", "in the batch's queue"),
    "batch.gathered": ("webcrawler/archive/batch.py", "a batch is complete, nothing of it is written"),
    # pages
    "pages.new-file": ("webcrawler/archive/pages/__init__.py", "a WARC file is made, its name may not last"),
    "pages.before-append": (
        "webcrawler/archive/pages/__init__.py",
        "a record is not yet in the file's buffer",
    ),
    "pages.after-append": ("webcrawler/archive/pages/__init__.py", "it is"),
    "pages.before-write": ("webcrawler/archive/pages/__init__.py", "all records are in the buffer"),
    "pages.before-fsync": ("webcrawler/archive/pages/__init__.py", "written, not synced"),
    "pages.after-fsync": ("webcrawler/archive/pages/__init__.py", "synced"),
    "batch.stored": ("webcrawler/archive/batch.py", "pages are durable, the catalog knows of none"),
    # catalog
    "catalog.before-begin": ("webcrawler/archive/catalog/_writer.py", "no transaction"),
    "catalog.after-begin": ("webcrawler/archive/catalog/_writer.py", "an empty transaction"),
    "catalog.numbered": ("webcrawler/archive/catalog/_writer.py", "URLs have numbers"),
    "catalog.checked": ("webcrawler/archive/catalog/_writer.py", "checks are told apart"),
    "catalog.linked": ("webcrawler/archive/catalog/_writer.py", "links are rows, their pages are not"),
    "catalog.sitemap": ("webcrawler/archive/catalog/_writer.py", "some of what a sitemap names is rows"),
    "catalog.statement": ("webcrawler/archive/catalog/_writer.py", "after each statement of apply.sql"),
    "catalog.history": (
        "webcrawler/archive/catalog/_writer.py",
        "documents are rows, and some of the fetches",
    ),
    "catalog.after-verdict": (
        "webcrawler/archive/catalog/_writer.py",
        "duplicates are told, rows not committed",
    ),
    "catalog.before-commit": ("webcrawler/archive/catalog/_writer.py", "all rows, uncommitted"),
    "catalog.after-commit": ("webcrawler/archive/catalog/_writer.py", "committed"),
    "batch.catalogued": ("webcrawler/archive/batch.py", "durable, the frontier knows of nothing"),
    # completed
    "complete.before": ("webcrawler/archive/batch.py", "as that, some of the batch may be decided"),
    "complete.after": ("webcrawler/archive/batch.py", "decided, outlinks are in the frontier"),
    "decide.between": ("webcrawler/archive/batch.py", "some of the batch is decided, some is not"),
    "fail.before": ("webcrawler/archive/batch.py", "failures are durable, the frontier knows of none"),
    "fail.after": ("webcrawler/archive/batch.py", "the frontier does"),
    "batch.settled": ("webcrawler/archive/batch.py", "all is decided, the worker has not heard"),
    # indexed
    "views.locked": ("webcrawler/views.py", "a process has the lock"),
    "index.read": ("webcrawler/index/follower.py", "changes are read"),
    "index.added": ("webcrawler/index/writer.py", "documents are added, nothing is written"),
    "index.written": (
        "webcrawler/index/writer.py",
        "a segment is written, no table of contents has it",
    ),
    "index.merging": ("webcrawler/index/writer.py", "old segments are read into a new one"),
    "index.committed": ("webcrawler/index/writer.py", "committed with its seq, not remembered here"),
    "index.applied": ("webcrawler/index/follower.py", "remembered"),
    "anchors.read": ("webcrawler/index/follower.py", "whose anchors changed is known"),
    "anchors.committed": ("webcrawler/index/writer.py", "anchors of some pages are committed"),
    "index.optimizing": ("webcrawler/index/writer.py", "all is applied, segments are to become one"),
    # exported
    "dataset.read": ("webcrawler/dataset/export.py", "rows are in memory"),
    "dataset.part": ("webcrawler/dataset/export.py", "a part is there, no manifest has it"),
    "dataset.manifest": ("webcrawler/dataset/export.py", "a manifest has all, what is old is there"),
    # all folders together
    "graph.step": ("webcrawler/dataset/jobs.py", "the tables of the steps before are made"),
    "graph.written": ("webcrawler/dataset/jobs.py", "a result is there, and not in force"),
    "graph.complete": ("webcrawler/dataset/jobs.py", "all are"),
    "graph.ranked": ("webcrawler/dataset/results.py", "the ranks of a run are taken, its anchors are not"),
    "graph.taken": ("webcrawler/dataset/results.py", "both are, the index does not follow yet"),
    # purged
    "purge.before-write": ("webcrawler/archive/stored.py", "a WARC file is to be written anew"),
    "purge.written": (
        "webcrawler/archive/stored.py",
        "the new file is durable, places are in the old one",
    ),
    "purge.moved": ("webcrawler/archive/stored.py", "the catalog knows the new file, the old one is there"),
    "purge.swapped": ("webcrawler/archive/stored.py", "the old file is gone"),
    "purge.forgotten": (
        "webcrawler/archive/stored.py",
        "links and digests are deleted, their bytes are not",
    ),
    "purge.compacted": ("webcrawler/archive/stored.py", "nothing of it is in the catalog, the index has it"),
    # put elsewhere
    "elsewhere.before-put": ("webcrawler/archive/putting.py", "a file is complete, no store has it"),
    "elsewhere.there": ("webcrawler/archive/pages/_copies.py", "it has it, and nobody knows"),
    "elsewhere.listed-there": ("webcrawler/archive/pages/_copies.py", "it knows it itself"),
    "elsewhere.put": ("webcrawler/archive/putting.py", "the list here says so"),
    "elsewhere.only-there": ("webcrawler/archive/putting.py", "it is not here any more"),
    # the end
    "close.before": ("webcrawler/crawl/base.py", "nothing is in flight, the last reports are here"),
    "close.after": (
        "webcrawler/crawl/base.py",
        "they are in Redis, the last batch may not be written",
    ),
    "leave.before": ("webcrawler/crawl/membership.py", "the worker still holds what it has not used"),
    "leave.after": ("webcrawler/crawl/membership.py", "it holds nothing, its connections are open"),
}

# No crawl of the fault driver comes by these; test_sitemaps, test_purge, test_pages_elsewhere,
# test_dataset_killed and test_graph_jobs kill there.
ELSEWHERE = ("catalog.sitemap", "dataset.", "elsewhere.", "graph.", "purge.")
OF_CRAWLS = [name for name in FAILPOINTS if not name.startswith(ELSEWHERE)]

_armed: dict[str, _Armed] = {}  # by audit event
_hooked = False


def environment(failpoints: str, once: Path | None = None) -> dict[str, str]:
    """What to add to the environment of a child process, so that it is armed.

    Raises:
        ValueError: there is no such failpoint or action.
    """
    path = os.pathsep.join([str(HOOK), *filter(None, [os.environ.get("PYTHONPATH")])])
    armed = {"FAILPOINTS": failpoints, "FAILPOINTS_ONCE": str(once or ""), "PYTHONPATH": path}
    _read(armed)
    return armed


def arm(environment: Mapping[str, str]) -> None:
    """Arms this process as FAILPOINTS says, in place of what was armed before.

    Raises:
        ValueError: there is no such failpoint or action.
    """
    global _hooked
    armed = _read(environment)
    _armed.clear()
    _armed.update(armed)
    if _armed and not _hooked:
        _hooked = True  # an audit hook cannot be taken out again
        sys.addaudithook(_announced)


def _announced(event: str, args: tuple[object, ...]) -> None:
    if event in _armed:
        _armed[event].pass_by(event.removeprefix(PREFIX))


def _read(environment: Mapping[str, str]) -> dict[str, _Armed]:
    once = environment.get("FAILPOINTS_ONCE")
    texts = environment.get("FAILPOINTS", "").split(",")
    return dict(_Armed.read(text, once) for text in texts if text.strip())


class _Armed:
    """What happens, and at which passing."""

    def __init__(self, action: str, passing: int, once: Path | None) -> None:
        self._action, self._passing, self._once = action, passing, once
        self._passings = count(1)  # `next` is atomic: threads come by too

    @classmethod
    def read(cls, text: str, once: str | None) -> tuple[str, _Armed]:
        name, _, rest = text.strip().partition(":")
        action, _, passing = rest.partition(":")
        if name not in FAILPOINTS:
            raise ValueError(
                f"FAILPOINTS={text}: there is no failpoint {name!r}; tests/faults/hook/failpoints.py has all"
            )
        if not (_is_action(action) and (passing or "1").isdecimal() and int(passing or 1) > 0):
            wanted = f"NAME:ACTION[:PASSING], ACTION one of {', '.join(ACTIONS)}, or seconds"
            raise ValueError(f"FAILPOINTS={text}: say {wanted}")
        return PREFIX + name, cls(action, int(passing or 1), Path(once) if once else None)

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
    return action in ACTIONS or action.replace(".", "", 1).isdecimal()


def _strike(action: str) -> None:
    match action:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "stop":
            # To this thread: of a process, another thread may take it while this one goes on.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
        case "exit":
            os._exit(EXIT_STATUS)
        case "enospc":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        case "unavailable":
            from webcrawler.errors import Unavailable  # the hook is loaded before anything else

            raise Unavailable("a failpoint says so")
        case _:
            time.sleep(float(action))
