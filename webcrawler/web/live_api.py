"""Who may start searches of the web, and the same for programs, as JSON.

They fetch in this machine's name, so by default only its own users may. A body must be declared as JSON,
which no form can do.
"""

from __future__ import annotations

from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.realtime import Journal
from webcrawler.web.config import Config
from webcrawler.web.hosts import client_of, host_of, is_local, is_loopback, known_hosts
from webcrawler.web.live_request import from_json, read_live_request
from webcrawler.web.live_searches import OneAtATime, Searches
from webcrawler.web.render import json_answer
from webcrawler.web.security import is_foreign

NOBODY = "this server does not search the web for anybody (SERVE_LIVE)"
NOT_YOU = "searching the web is only possible from the machine that runs this server (SERVE_LIVE)"
NOT_YOURS = "only the client that started a search may stop it"
UNKNOWN = "there is no such search of the web; the oldest are forgotten"


class Access:
    """Decides about each request.

    Raises:
        BadInput: a host of the settings is not valid.
    """

    def __init__(self, config: Config, searches: Searches) -> None:
        self._who, self._searches = config.live, searches
        self._is_public = not all(map(is_loopback, known_hosts(config)))

    def admits(self, request: Request) -> bool:
        return self._who == "all" or (self._who == "loopback" and self.is_here(request))

    def check(self, request: Request) -> None:
        if not self.admits(request):
            raise HTTPException(403, NOBODY if self._who == "off" else NOT_YOU)

    def is_here(self, request: Request) -> bool:
        """True if it certainly comes from this machine.

        A proxy on this machine forwards requests of others. It can be seen by its headers, or by the host
        name of the request; but visitors choose that name. So if a public name is configured we assume a
        proxy, and nobody counts as here.
        """
        asked_for = host_of(request.headers.get("host", ""))
        return not self._is_public and is_local(request) and is_loopback(asked_for)

    def client(self, request: Request) -> str | None:
        """The client whose searches this request may see and stop; None for all, "" for none."""
        return None if self.is_here(request) else client_of(request)

    async def known(self, request: Request) -> Journal:
        """The search that the URL names. Names are hard to guess."""
        self.check(request)
        found = await run_in_threadpool(self._searches.look, request.path_params["job"])
        if found is None:
            raise HTTPException(404, UNKNOWN)
        return found

    def may_stop(self, request: Request, job: str) -> bool:
        return self._searches.is_of(job, self.client(request))

    def check_stop(self, request: Request, job: str) -> None:
        if not self.may_stop(request, job):
            raise HTTPException(403, NOT_YOURS)


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
        await run_in_threadpool(self._searches.stop, job)
        return json_answer(await run_in_threadpool(self._searches.look, job), 202, "no-store")

    def _check(self, request: Request) -> None:
        self._access.check(request)
        if is_foreign(request):
            raise HTTPException(403, FOREIGN)
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            raise HTTPException(415, f"send it as {JSON}")
