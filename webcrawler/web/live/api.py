"""Searches of the web for programs, as JSON. A body must be declared as JSON, which no form can do."""

from __future__ import annotations

from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.web.config import Config
from webcrawler.web.hosts import client_of
from webcrawler.web.live.access import Access
from webcrawler.web.live.request import from_json, read_live_request
from webcrawler.web.live.searches import OneAtATime, Searches
from webcrawler.web.render import json_answer
from webcrawler.web.tokens import is_foreign

JSON = "application/json"
FOREIGN = "another site's page may not do that"


class Api:
    def __init__(self, config: Config, access: Access, searches: Searches) -> None:
        self._config, self._access, self._searches = config, access, searches

    def routes(self) -> list[Route]:
        return [
            Route("/api/live", self._list),
            Route("/api/live", self._start, methods=["POST"]),
            Route("/api/live/{job}", self._show),
            Route("/api/live/{job}/stop", self._stop, methods=["POST"]),
        ]

    async def _list(self, request: Request) -> Response:
        self._access.check(request)
        known = await run_in_threadpool(self._searches.recent, self._access.client(request))
        rows = [{name: value for name, value in one.items() if name != "hits"} for one in known]
        return json_answer({"searches": rows}, cache="no-store")

    async def _show(self, request: Request) -> Response:
        return json_answer(await self._access.known(request), cache="no-store")

    async def _start(self, request: Request) -> Response:
        self._check(request)
        form, client = from_json(await request.body()), client_of(request)
        try:
            job = await self._searches.start(partial(read_live_request, form, self._config), client)
        except OneAtATime as error:
            raise HTTPException(409, f"your search {error.job} is still running: wait, or stop it") from None
        answer = json_answer(await run_in_threadpool(self._searches.look, job), 202, "no-store")
        answer.headers["Location"] = f"{self._config.root}/api/live/{job}"
        return answer

    async def _stop(self, request: Request) -> Response:
        self._check(request)
        job = (await self._access.known(request))["job"]
        self._access.check_stop(request, job)
        await self._searches.stop(job)
        return json_answer(await run_in_threadpool(self._searches.look, job), 202, "no-store")

    def _check(self, request: Request) -> None:
        self._access.check(request)
        if is_foreign(request):
            raise HTTPException(403, FOREIGN)
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            raise HTTPException(415, f"send it as {JSON}")
