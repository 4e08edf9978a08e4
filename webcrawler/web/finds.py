"""/api/pages: takes in what searches on other machines have found (WC, "Future Work").

Off unless the owner sets a token, which senders show as `Authorization: Bearer TOKEN`. One request at a time
is taken in, in a thread; the answer comes when its pages are durable.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.errors import BadInput, TooLarge, Unavailable
from webcrawler.web.config import Config
from webcrawler.web.render import json_answer, log_fault
from webcrawler.web.security import HANDING_OVER, check_sender

WARC = "application/warc"
BODY_SECONDS = 120.0  # for a body to come, as it keeps others waiting
WORK_SECONDS = 300.0  # for what is in a body
OFF = "this server takes in no pages (SERVE_PAGES_TOKEN)"
BUSY = "others are handing pages over: try again in a moment"
NOT_NOW = "pages cannot be taken in right now; the operator finds more in the log"
SLOW = "that takes too long: send it again, as what was taken in until now is known, or send less"


class Finds:
    def __init__(self, config: Config) -> None:
        self._token, self._take_in = config.pages_token, config.take_in
        self._thread = ThreadPoolExecutor(1, "finds")
        self._is_busy = self._is_ending = False

    def routes(self) -> list[Route]:
        return [Route(HANDING_OVER, self._receive, methods=["POST"])]

    def close(self) -> None:
        """End what is under way: what was taken in so far stays, and its sender sends it again."""
        self._is_ending = True
        self._thread.shutdown(wait=False)

    async def _receive(self, request: Request) -> Response:
        self._check(request)
        if self._is_busy:
            raise HTTPException(503, BUSY, {"Retry-After": "2"})
        self._is_busy = True
        try:
            async with asyncio.timeout(BODY_SECONDS):
                warc = await request.body()
            loop = asyncio.get_running_loop()
            return json_answer(await loop.run_in_executor(self._thread, self._counts, warc), cache="no-store")
        except TimeoutError:
            raise HTTPException(408, SLOW) from None
        except BadInput as error:
            raise HTTPException(413 if isinstance(error, TooLarge) else 422, str(error)) from None
        except (Unavailable, OSError, sqlite3.Error) as error:
            log_fault(f"pages that were handed over are not taken in: {error}")
            line = SLOW if isinstance(error, _TooSlow) else NOT_NOW
            raise HTTPException(503, line, {"Retry-After": "10"}) from None
        finally:
            self._is_busy = False

    def _check(self, request: Request) -> None:
        """Before anything of the body is read."""
        check_sender(request, self._token if self._take_in else "", OFF)
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != WARC or request.headers.get("content-encoding", "identity").lower() != "identity":
            raise HTTPException(415, f"send a WARC file, compressed record by record, as {WARC}")

    def _counts(self, warc: bytes) -> dict[str, object]:
        assert self._take_in is not None
        ends = time.monotonic() + WORK_SECONDS

        def go_on() -> None:
            if self._is_ending or time.monotonic() > ends:
                raise _TooSlow(SLOW)

        found = self._take_in(warc, go_on)._asdict()
        return {name: found[name] for name in ("fetches", "documents", "known", "left_out")}


class _TooSlow(Unavailable):
    """Raised when the pages of a request take too long, or the server ends."""
