"""Who may have the web searched? It fetches pages in this machine's name, so by default who sits at it."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request

from webcrawler.web.config import Config
from webcrawler.web.limits import Proxies
from webcrawler.web.rebinding import host_of, is_loopback

NOBODY = "this server does not search the web for anybody (SERVE_LIVE)"
NOT_YOU = "this server searches the web only for who sits at its machine (SERVE_LIVE)"


class Access:
    """Raises BadInput: a proxy of the settings is no network."""

    def __init__(self, config: Config) -> None:
        self._who = config.live
        self._proxies = Proxies(config.trusted_proxies)

    def admits(self, request: Request) -> bool:
        return self._who == "all" or (self._who == "loopback" and self.is_here(request))

    def check(self, request: Request) -> None:
        if not self.admits(request):
            raise HTTPException(403, NOBODY if self._who == "off" else NOT_YOU)

    def is_here(self, request: Request) -> bool:
        """Does it come from this machine for certain?

        A proxy of this machine speaks for others: it is known by its headers, or by the name that it was
        asked for. One that hides both is not; SERVE_LIVE=off is for those.
        """
        visitor = self._proxies.visitor(request.scope)
        asked_for = host_of(request.headers.get("host", ""))
        return visitor is not None and visitor.is_loopback and is_loopback(asked_for)
