"""Documents for others: a WARC file of them, or handed over to a main index on another machine.

The main index is a `webcrawler serve` (WC, "Future Work").
"""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha1
from http.client import HTTPException
from io import BytesIO
from math import inf
from pathlib import Path
from shlex import quote
from typing import IO, Any, BinaryIO, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import WarcFile, raw_at, record_at
from webcrawler.errors import BadInput, StoreAway, TooLarge, Unavailable, WebcrawlerError
from webcrawler.parsing import is_private
from webcrawler.settings import complaint

SOME = 500  # documents looked up at a time
SENT_AT_A_TIME = 100  # documents: some MB
ANSWER_SECONDS = 60.0
PATIENCE_SECONDS = 60.0  # with an index that is busy
SEARCH_SECONDS = 30.0  # at the end of a search, for which a person waits
PAUSE_SECONDS = 5.0  # between two tries
MAX_ANSWER_BYTES = 65_536
BUSY = (429, 503)
logger = logging.getLogger(__name__)
Progress = Callable[[str, int, int | None], None]


class Exported(NamedTuple):
    """What an export has written."""

    documents: int
    missing: int  # documents whose records cannot be read
    private: int = 0  # documents that were fetched with a login: they are for nobody else


def export(
    crawl_dir: Path, file: BinaryIO, name: str, numbers: Sequence[int], catalog: Catalog, progress: Progress
) -> Exported:
    """Write the newest answer of each of these documents as a `response` record.

    Args:
        name: of the file, which its first record tells.
        numbers: page numbers, in the order in which they are written.
    Raises:
        StoreAway: the store that has a record does not answer.
    """
    pages, out, missing, private = crawl_dir / "pages", WarcFile(file, name), 0, 0
    for start in range(0, len(numbers), SOME):
        progress("documents", start, len(numbers))
        some = numbers[start : start + SOME]
        for document in map(catalog.documents(some).get, some):
            try:
                if document is None or document.place is None:
                    missing += 1
                    continue
                if document.noindex and is_private(record_at(pages, document.place).response.headers):
                    private += 1
                    continue
                raw = raw_at(pages, document.place)
                if raw.field("WARC-Type") == "response":
                    out.copy(raw)
                    continue
                first = catalog.first_with_bytes_of(document.number)
                place = catalog.documents([first])[first].place
                body = record_at(pages, place).response.body if place else b""
                if sha1(body, usedforsecurity=False).digest() != document.digest:
                    missing += 1  # the page that had these bytes has others by now, or has gone
                    continue
                out.write(raw.as_response(body))
            except StoreAway:
                raise
            except (Unavailable, KeyError):
                missing += 1
    return Exported(len(numbers) - missing - private, missing, private)


class HandedOver(NamedTuple):
    """What became of documents that were handed over."""

    documents: int  # that were sent
    missing: int  # whose records cannot be read here
    taken: int  # there
    known: int  # there before, from the same fetch
    left_out: dict[str, int]  # there, by reason


class MainIndex:
    """Takes pages at URL/api/pages, from those who have its token.

    Raises:
        BadInput: the URL or the token is missing, or not valid.
    """

    def __init__(self, url: str, token: str) -> None:
        try:
            parts = urlsplit(url)
            is_good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # of brackets or a port
            is_good = False
        if not is_good or "@" in parts.netloc:  # not shown: it may have a password
            raise BadInput(
                "SHARE_URL or --to is not the URL of a main index: write https://search.example.org"
            )
        if not token:
            raise BadInput(f"{parts.netloc} wants a token: set SHARE_TOKEN in the environment")
        self.name = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/warc"}
        # Not through the proxy of the environment, which is for crawls; and no redirect gets the token.
        self._open = build_opener(ProxyHandler({}), _NoRedirects()).open

    def take(self, warc: bytes, ends: float = inf) -> dict[str, Any]:
        """Send one WARC file; returns what was taken, known and left out, once that is durable there.

        Args:
            ends: the time, by `time.monotonic`, from which on nothing is waited for.
        Raises:
            TooLarge: it takes less at a time.
            Unavailable: it does not answer, or is busy for too long.
            WebcrawlerError: it refuses.
        """
        request = Request(f"{self.name}/api/pages", warc, self._headers)
        patience_ends = time.monotonic() + PATIENCE_SECONDS
        while True:
            if (left := min(ends - time.monotonic(), ANSWER_SECONDS)) <= 0:
                raise Unavailable(f"{self.name} takes too long")
            try:
                with self._open(request, timeout=left) as answer:
                    told = _json(answer)
                    break
            except HTTPError as error:
                with error:
                    if error.code not in BUSY or time.monotonic() > patience_ends:
                        kind = {413: TooLarge, **dict.fromkeys(BUSY, Unavailable)}
                        why = " ".join(str(_json(error).get("error", "") or error.reason).split())[:200]
                        line = f"{self.name} answered {error.code}: {why}"
                        raise kind.get(error.code, WebcrawlerError)(line) from None
            except (OSError, HTTPException, UnicodeError) as error:
                raise Unavailable(f"{self.name} does not answer: {getattr(error, 'reason', error)}") from None
            time.sleep(PAUSE_SECONDS)
        taken, known, left_out = told.get("documents"), told.get("known"), told.get("left_out")
        if not (isinstance(taken, int) and isinstance(known, int) and isinstance(left_out, dict)):
            raise WebcrawlerError(f"{self.name} is no main index: its answer has no counts")
        counted = {str(why): count for why, count in left_out.items() if isinstance(count, int)}
        return {"taken": taken, "known": known, "left_out": counted}


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _json(answer: IO[bytes]) -> dict[str, Any]:
    """What it holds; nothing where it is no JSON object, as that of a proxy between."""
    try:
        found = json.loads(answer.read(MAX_ANSWER_BYTES))
    except (ValueError, RecursionError, OSError, HTTPException):
        found = None
    return found if isinstance(found, dict) else {}


def main_index(settings: BaseSettings) -> MainIndex | None:
    """That of SHARE_URL; None where it is empty. Raises as `MainIndex` and `token_of`."""
    url = str(settings["SHARE_URL"]).strip()
    return MainIndex(url, token_of(settings, "SHARE_TOKEN")) if url else None


def token_of(settings: BaseSettings, name: str) -> str:
    """The token that this setting has; "" where it has none.

    Raises:
        BadInput: it is not valid, or was given where every user of the machine sees it.
    """
    if token := str(settings.get(name) or ""):
        if (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["cmdline"]:
            raise BadInput(f"{name} is for the environment: everybody can read a command line")
        if why := complaint(name, token):
            raise BadInput(why)
    return token


def hand_over(
    crawl_dir: Path,
    numbers: Sequence[int],
    catalog: Catalog,
    index: MainIndex,
    progress: Progress,
    ends: float = inf,
) -> HandedOver:
    """Send the newest answer of each of these documents, some at a time. May be repeated.

    Args:
        numbers: page numbers, in the order in which they are sent.
        ends: as for `MainIndex.take`.
    Raises:
        WebcrawlerError: as `MainIndex.take`; what was sent before stays there.
    """
    counts, left_out = Counter[str](), Counter[str]()

    def send(some: Sequence[int]) -> None:
        file = BytesIO()
        made = export(crawl_dir, file, "finds.warc.gz", some, catalog, lambda step, done, total: None)
        try:
            told = index.take(file.getvalue(), ends) if made.documents else {}
        except TooLarge:
            if len(some) == 1:
                told = {"left_out": {"too-large": 1}}
            else:
                send(some[: len(some) // 2])
                return send(some[len(some) // 2 :])
        left_out.update(told.pop("left_out", {}))
        counts.update(made._asdict() | told)

    for start in range(0, len(numbers), SENT_AT_A_TIME):
        progress("documents", start, len(numbers))
        send(numbers[start : start + SENT_AT_A_TIME])
    sent, missing, taken, known = (counts[name] for name in ("documents", "missing", "taken", "known"))
    return HandedOver(sent, missing, taken, known, dict(left_out))


def share_finds(crawl_dir: Path, index: MainIndex, since: float, found: Collection[str]) -> str:
    """Hand over the documents at these canonical URLs; returns what became of them, in a line for visitors.

    The log names the main index and what is wrong with it.

    Args:
        since: when the search began, for a later try.
    """
    try:
        with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
            numbers = [document.number for url in found if (document := catalog.find(url))]
            ends = time.monotonic() + SEARCH_SECONDS
            sent = hand_over(crawl_dir, numbers, catalog, index, lambda step, done, total: None, ends)
    except (WebcrawlerError, OSError, sqlite3.Error) as error:
        start = datetime.fromtimestamp(since, UTC).isoformat(timespec="seconds").removesuffix("+00:00")
        later = f"webcrawler export --to {quote(index.name)} --since {start}"
        logger.warning("the main index does not have what was kept: %s; later: %s", error, later)
        return "the main index does not have what was kept: the log says why, and how to send it later"
    left_out = ", ".join(f"{count:,} {why}" for why, count in sent.left_out.items())
    told = f"the main index took {sent.taken:,} of {sent.documents:,} pages, and knew {sent.known:,}"
    return f"{told}; left out: {left_out}" if left_out else told
