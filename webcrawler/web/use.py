"""/used: which results are opened. Off unless QUERY_LOG_DAYS is set; then the page says so.

Every result page has a random id of its own, which is shown nowhere else. Browsers report with it what was
opened: by `ping` of the links, without scripts, or by a beacon where they send no pings. Nothing leads
elsewhere from here, and nothing is kept of who asked; who says by Sec-GPC or DNT that nothing is to be kept,
is not logged at all.
"""

from __future__ import annotations

import re
import sqlite3
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Semaphore
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.errors import BadInput
from webcrawler.search import Results
from webcrawler.usage import NAME, QueryLog, Shown, new_id, one_line, today
from webcrawler.web.config import Config
from webcrawler.web.parameters import MAX_NUMBER, SearchRequest, read
from webcrawler.web.render import log_fault
from webcrawler.web.security import USED, is_foreign, origins

MAX_WAITING = 1_000  # result pages and clicks to be written; with more, new ones are not logged
MAX_TYPED = 1_000  # result pages that were fetched while somebody typed, and may not have been looked at
UNWANTED = ("sec-gpc", "dnt")  # headers of those who do not want to be counted
TYPED = "x-typed"  # header of the script that fetches result pages while somebody types
_ID = re.compile("[0-7][0-9a-f]{15}")  # 63 bits, as SQLite's integers


class PageOfLog(NamedTuple):
    """What a template needs to have the use of a result page reported."""

    id: str
    start: int  # hits before this page
    is_typed: bool

    def ping(self, place: int) -> str:
        """The address that is told when a hit is opened; `place` counts from 1 on the page."""
        return f"{USED}?answer={self.id}&rank={self.start + place}"


class Use:
    """Takes what is to be logged, on the event loop; a thread writes it, and nobody waits for that."""

    def __init__(self, config: Config) -> None:
        self._path, self._days = config.crawl_dir / NAME, config.query_log_days
        self._thread = ThreadPoolExecutor(1, "query log")
        self._room = Semaphore(MAX_WAITING)
        self._origins = frozenset(origins(config.origins))  # of pages with our box
        self._typed: OrderedDict[int, Shown] = OrderedDict()

    def routes(self) -> list[Route]:
        return [Route(USED, self._used, methods=["POST"])] if self._days else []

    def start(self) -> None:
        """Days that are over go, also where nobody asks anything."""
        if self._days:
            self._add()

    def close(self) -> None:
        self._thread.shutdown()

    def shown(
        self, request: Request, wanted: SearchRequest, results: Results, is_typed: bool
    ) -> PageOfLog | None:
        """Log a result page; None: nothing is logged of it.

        What is fetched while somebody types counts once the box was left, or a hit opened.
        """
        if not self._days or any(request.headers.get(name) == "1" for name in UNWANTED):
            return None
        if "prefetch" in request.headers.get("sec-purpose", ""):
            return None
        plain = wanted == SearchRequest(
            wanted.q, wanted.page, wanted.limit, wanted.ranking, language=wanted.language
        )
        urls = tuple(hit.url for hit in results.hits)
        one = Shown(new_id(), today(), one_line(wanted.q), results.total, wanted.start, plain, urls)
        if is_typed:
            self._typed[one.id] = one
            if len(self._typed) > MAX_TYPED:
                self._typed.popitem(last=False)
        else:
            self._add(shown=[one])
        return PageOfLog(f"{one.id:016x}", wanted.start, is_typed)

    async def _used(self, request: Request) -> Response:
        """Without a rank: the page was looked at."""
        given = read(request)
        answer, rank = given.one("answer"), given.whole("rank", 0, 0, MAX_NUMBER)
        if not _ID.fullmatch(answer):
            raise BadInput("answer must be the id of a result page")
        if is_foreign(request) and request.headers.get("origin") not in self._origins:
            raise HTTPException(403, "that was not sent from our page")
        id = int(answer, 16)
        if looked_at := self._typed.pop(id, None):
            self._add(shown=[looked_at])
        if rank:
            self._add(clicks=[(id, rank)])
        return Response(status_code=204)

    def _add(self, shown: Sequence[Shown] = (), clicks: Sequence[tuple[int, int]] = ()) -> None:
        if self._room.acquire(blocking=False):
            self._thread.submit(self._write, shown, clicks)

    def _write(self, shown: Sequence[Shown], clicks: Sequence[tuple[int, int]]) -> None:
        try:
            with closing(QueryLog(self._path, self._days)) as log:
                log.write(shown, clicks, today())
        except (OSError, sqlite3.Error) as error:
            log_fault(f"queries are not logged: {self._path}: {error}")
        finally:
            self._room.release()
