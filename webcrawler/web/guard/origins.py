"""The sites whose pages may search here: browsers let their scripts read answers of the search API (CORS)."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webcrawler.errors import BadInput
from webcrawler.urls import UnfetchableUrl, resolve, server
from webcrawler.web.config import Config
from webcrawler.web.guard.security import USED
from webcrawler.web.render import BOX

SEARCHES = ("/api/search", "/api/suggest", USED)


class AllowedOrigins:
    """Lets scripts of allowed origins read searches, refusals too, and use the box. None is the default.

    No cookie or token is involved, so what they read is what anybody may read who reaches this server.
    """

    def __init__(self, app: ASGIApp, config: Config) -> None:
        self._app = app
        self._allowed = frozenset(origins(config.origins))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._allowed or scope["type"] != "http" or scope["path"] not in (*SEARCHES, BOX):
            return await self._app(scope, receive, send)
        given = {value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.add_vary_header("Origin")
                if scope["path"] == BOX:  # browsers send no Origin with a script
                    headers["Cross-Origin-Resource-Policy"] = "cross-origin"
                elif len(given) == 1 and given <= self._allowed:
                    headers["Access-Control-Allow-Origin"] = given.pop()
            await send(message)

        await self._app(scope, receive, send_with_headers)


def origins(names: Iterable[str]) -> list[str]:
    """Scheme, host and port, as browsers send them. Raises BadInput: one is no http or https URL."""
    found = []
    for name in names:
        try:
            found.append(server(resolve(name)))
        except UnfetchableUrl:
            found.append("")
        if not found[-1].startswith("http"):
            raise BadInput(f"SERVE_ORIGINS: {name!r} names no site; write https://docs.example.org")
    return found
