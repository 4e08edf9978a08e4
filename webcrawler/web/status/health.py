"""/healthz: can a search be answered? For load balancers and monitors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from webcrawler.errors import Unavailable
from webcrawler.search import Searcher
from webcrawler.web.failures import UNREADABLE, NotNow, log_fault

WAIT_SECONDS = 5.0  # for a search thread

Check = Callable[[Searcher], None]


class Health:
    """Asks a search thread whether the index can be read.

    Requests that come while one check runs share its answer, since no rate limit holds for this path.
    """

    def __init__(self, ask: Callable[[Check], Coroutine[Any, Any, None]]) -> None:
        self._ask = ask
        self._check: asyncio.Task[None] | None = None

    def routes(self) -> list[Route]:
        return [Route("/healthz", self._show)]

    async def _show(self, request: Request) -> Response:
        reason = await self._fault()
        health = {"status": "unwell", "reason": reason} if reason else {"status": "ok"}
        return JSONResponse(health, 503 if reason else 200, {"Cache-Control": "no-store"})

    async def _fault(self) -> str:
        """Why no search can be answered; "" if one can, or if nothing is indexed yet."""
        check = self._check
        if check is None or check.done():
            self._check = check = asyncio.create_task(self._ask(Searcher.check))
            check.add_done_callback(lambda check: check.cancelled() or check.exception())
        done, _ = await asyncio.wait([check], timeout=WAIT_SECONDS)
        if not done:
            return "no search thread is free"
        try:
            check.result()
            return ""
        except NotNow as error:
            return str(error)
        except Unavailable as error:
            log_fault(str(error))
            return UNREADABLE
