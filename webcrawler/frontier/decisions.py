"""Why each URL was added, refused, leased, fetched, tried again or set aside: a line of JSON for each.

For people who ask why a crawl does what it does; nothing reads it again. A thread of its own writes, so that
neither the crawl nor its event loop waits for a disk or a pipe: what comes faster than it can be written is
left out, and counted.
"""

from __future__ import annotations

import fcntl
import json
import os
import queue
import re
import sys
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from webcrawler import clock, urls
from webcrawler.errors import BadInput
from webcrawler.frontier.wire import PRIORITY_STEP
from webcrawler.records import Fetch, Lease

STDOUT = "-"
ROWS_WAITING = 100_000  # some 50 MB; more are left out
REFUSED_KNOWN = 100_000  # refusals remembered: a link that stands on each page is told of once
END_SECONDS = 10.0  # for the rest, at the end
BEHIND = 2**52  # as in _1_names.lua
BY = {  # what decides, by reason; else the server, by its answer
    **dict.fromkeys(("robots-disallowed", "robots-unreachable"), "robots.txt"),
    **dict.fromkeys(("noindex", "nofollow"), "page"),
    **dict.fromkeys(("duplicate", "explored", "discarded"), "catalog"),
    **dict.fromkeys(("scope", "removed"), "scope"),
    **dict.fromkeys(("unparsable", "not-indexable", "quarantined", "too-many"), "parser"),
    **dict.fromkeys(("length", "repeats", "depth", "parameters", "nested", "malformed"), "urls"),
    "unreachable": "network",
    "blocked": "owner",
    "ignored": "middleware",
    "foreign": "sitemap",
    "timeout": "DOWNLOAD_TIMEOUT",
    "too-large": "DOWNLOAD_MAXSIZE",
    "address-refused": "ADDRESSES_ALLOWED",
    "scheme": "PROTOCOLS",
    "extension": "DOCUMENT_TYPES",
    "location": "TRAP_PATHS",
    "form": "FORMS",
    "domain": "domains",
    "budget-server": "BUDGET_SERVER",
    "budget-domain": "BUDGET_DOMAIN",
    "budget-prefix": "BUDGET_PREFIX",
    "budget-domain-servers": "BUDGET_DOMAIN_SERVERS",
    "budget-share": "BUDGET_DOMAIN_SHARE",
    "full": "FRONTIER_MAX_URLS",
}
NAMED = {"retry": "retried", "failed": "failed", "quarantined": "quarantined", "checked": "checked"}
HIDDEN = "***"
_SECRET = re.compile(
    r"token|secret|passw|signature|session|credential|api_?key|access_?key|auth"
    r"|^(pwd|pass|key|sig|sid|code|jwt|otp|ticket|hmac|state|nonce)$",
    re.IGNORECASE,
)
_LONG = re.compile(r"(?=.*\d)[\w.~+/=%-]{32,}")  # a value that nobody has typed
_USER = re.compile(r"(?<=//)[^/?#@]*@")


class Row(NamedTuple):
    """A decision, as it is handed to the thread that writes."""

    time: float
    decision: str
    url: str
    reason: str
    by: str
    priority: int | None = None
    more: dict[str, Any] = {}


class Decisions:
    """A log of decisions, for several threads; other processes may write the same file.

    Args:
        target: a file, or "-" for standard output.
        max_bytes: of the file; then it becomes FILE.1, in place of an older one.
        mode: of the crawl.
    Raises:
        BadInput: the file cannot be written.
    """

    def __init__(self, target: str, max_bytes: int, mode: str) -> None:
        self._path, self._max_bytes, self._mode = target, max_bytes, mode.partition("?")[0]
        self._queue: queue.SimpleQueue[list[Row] | None] = queue.SimpleQueue()
        self._in = self._out = self._lost = 0  # rows
        self._refused: set[tuple[str, str]] = set()
        check_log(target)
        self._thread = threading.Thread(target=self._run, name="decisions", daemon=True)
        self._thread.start()

    # ---- what is decided

    def leased(self, leases: Sequence[Lease]) -> None:
        def reason(lease: Lease) -> str:
            return "check" if lease.was else "retry" if lease.tries else "due"

        now = clock.now()
        self._put(
            Row(now, "leased", one.url, reason(one), self._by_order(one), one.priority, {"tries": one.tries})
            for one in leases
        )

    def taken_in(self, added: Sequence[bytes], refused: Sequence[bytes], page: str) -> None:
        """What became of links, as _4_intake.lua tells: URLs with scores, and with reasons."""
        now, where = clock.now(), {"page": without_secrets(page)} if page else {}
        rows = []
        for url, score in zip(added[::2], added[1::2], strict=True):
            number = int(float(score))
            kind = "behind" if number >= BEHIND else "link" if page else "seed"
            priority = None if number >= BEHIND else -(number // PRIORITY_STEP)
            rows.append(Row(now, "added", url.decode(), kind, self._mode, priority, where))
        self._put(rows)
        self.refused([(url.decode(), why.decode()) for url, why in _pairs(refused)], page)

    def refused(self, links: Iterable[tuple[str, str]], page: str) -> None:
        """Links that are not followed, and why; each is told of once while it is remembered."""
        now, where = clock.now(), {"page": without_secrets(page)} if page else {}
        if len(self._refused) > REFUSED_KNOWN:
            self._refused.clear()
        new = [one for one in dict.fromkeys(links) if one not in self._refused]
        self._refused.update(new)
        self._put(Row(now, "refused", url, why, by(why), None, where) for url, why in new)

    def decided(self, fetches: Iterable[tuple[Fetch, str]]) -> None:
        """Fetches, and what came of each as the batch tells: "done/document", "retry/timeout", …."""
        self._put(_fetched(fetch, outcome) for fetch, outcome in fetches if outcome != "stale")

    def _by_order(self, lease: Lease) -> str:
        return "refresher" if lease.was else self._mode

    # ---- how it is written

    def _put(self, rows: Iterable[Row]) -> None:
        some = list(rows)
        if self._in - self._out > ROWS_WAITING:
            self._lost += len(some)
        elif some:
            self._in += len(some)
            self._queue.put(some)

    def close(self) -> None:
        """Write the rest; blocks for some seconds at most."""
        self._queue.put(None)
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        while (rows := self._queue.get()) is not None:
            while not self._queue.empty() and len(rows) < 1000:
                more = self._queue.get()
                if more is None:
                    self._queue.put(None)
                    break
                rows = rows + more
            lost, self._lost = self._lost, 0
            told = list(map(_line, rows))
            if lost:
                told.append(_told(rows[-1].time, decision="lost", number=lost))
            with suppress(OSError):  # the disk is full, or nobody reads any more
                self._write("".join(told).encode())
            self._out += len(rows)

    def _write(self, text: bytes) -> None:
        if self._path == STDOUT:
            _write_all(sys.stdout.fileno(), text)
            return
        file = _opened(self._path)
        try:
            _write_all(file, text)
            if os.fstat(file).st_size >= self._max_bytes:
                Path(self._path).replace(f"{self._path}.1")
        finally:
            os.close(file)


def check_log(target: str) -> None:
    """Raises BadInput: the file cannot be written, or is a pipe that nobody reads."""
    try:
        if target not in ("", STDOUT):
            os.close(os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o600))
    except OSError as error:
        raise BadInput(f"DECISION_LOG: cannot write {target}: {error.strerror}; name a file, or -") from None


def by(reason: str) -> str:
    """What decides for this reason."""
    return "certificate" if reason.startswith("certificate-") else BY.get(reason, "server")


def without_secrets(url: str) -> str:
    """The URL without user and password, and without what looks like a secret in its query."""
    address, mark, query = _USER.sub("", url).partition("?")
    return address + mark + "&".join(map(_harmless, query.split("&"))) if mark else address


def _harmless(part: str) -> str:
    name, _, value = part.partition("=")
    if value and (_SECRET.search(name) or _LONG.fullmatch(value)):
        return f"{name}={HIDDEN}"
    return HIDDEN if _LONG.fullmatch(part) else part


def _fetched(fetch: Fetch, outcome: str) -> Row:
    state, _, reason = outcome.partition("/")
    decision = "duplicate" if reason == "duplicate" else NAMED.get(state, "fetched")
    lease, reason = fetch.lease, reason or state
    decides = by(fetch.reason if state == "checked" else reason)
    more = {"status": fetch.status, "seconds": round(fetch.seconds, 3), "tries": lease.tries + 1}
    return Row(clock.now(), decision, lease.url, reason, decides, lease.priority, more)


def _line(row: Row) -> str:
    url = without_secrets(row.url)
    server = urls.split(url)[0]
    decided = {"decision": row.decision, "url": url, "server": server, "reason": row.reason, "by": row.by}
    return _told(row.time, **decided, priority=row.priority, **row.more)


def _told(when: float, **values: Any) -> str:
    moment = datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds")
    return json.dumps({"time": moment.replace("+00:00", "Z"), **values}, ensure_ascii=False) + "\n"


def _pairs(flat: Sequence[bytes]) -> Iterable[tuple[bytes, bytes]]:
    return zip(flat[::2], flat[1::2], strict=True)


def _opened(path: str) -> int:
    """The file for appending, which no other process writes or moves until it is closed."""
    while True:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        with suppress(OSError):
            if os.path.samestat(os.fstat(file), Path(path).stat()):
                return file
        os.close(file)  # it has become the older one meanwhile


def _write_all(file: int, text: bytes) -> None:
    while text:
        text = text[os.write(file, text) :]
