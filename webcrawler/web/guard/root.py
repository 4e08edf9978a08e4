"""The page below a path of a host that has other pages as well: `SERVE_URL=https://example.org/find/`.

Links begin with that path (`root` in templates). Proxies take it off or leave it: both are served.
"""

from __future__ import annotations

from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from webcrawler.web.config import Config


class BelowRoot:
    """Takes the path off, so that nothing else needs to know it."""

    def __init__(self, app: ASGIApp, config: Config) -> None:
        self._app = app
        self._root = unquote(config.root)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._root and scope["type"] == "http" and scope["path"].startswith(f"{self._root}/"):
            scope = {**scope, "path": scope["path"].removeprefix(self._root)}
        await self._app(scope, receive, send)
