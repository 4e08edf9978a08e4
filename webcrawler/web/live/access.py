"""Who may start searches of the web? They fetch in this machine's name, so by default only its own users."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request

from webcrawler.realtime import Journal
from webcrawler.web.config import Config
from webcrawler.web.hosts import client_of, host_of, is_local, is_loopback, known_hosts
from webcrawler.web.live.searches import Searches

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
