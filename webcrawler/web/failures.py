"""What goes wrong is told in one clear line, on a page or as JSON for programs; never with a trace."""

from __future__ import annotations

import logging
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webcrawler.errors import BadInput
from webcrawler.web.errors import UNREADABLE, NotNow, note
from webcrawler.web.parameters import read
from webcrawler.web.render import json_answer, page

log = logging.getLogger(__name__)
FOR_PROGRAMS = ("/api/", "/suggest", "/openapi.json", "/healthz", "/metrics")
OURS = "something is wrong here; it was noted"
LINES = {404: "there is no such page", 405: "that cannot be done with this page"}


async def asked_wrongly(request: Request, error: Exception) -> Response:
    return _told(request, 400, str(error))


async def unavailable(request: Request, error: Exception) -> Response:
    if isinstance(error, NotNow):
        return _told(request, 503, str(error), {"Retry-After": "1"})
    note(str(error))
    return _told(request, 503, UNREADABLE, {"Retry-After": "1"})


async def refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = error.detail if error.detail != HTTPStatus(error.status_code).phrase else ""
    line = said or LINES.get(error.status_code, HTTPStatus(error.status_code).phrase)
    return _told(request, error.status_code, line, dict(error.headers or {}))


class LastResort:
    """Whatever nobody expected: logged with its trace, answered without."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def noticing(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, noticing)
        except Exception:
            log.exception("%s failed", scope.get("path", ""))
            if started or scope["type"] != "http":
                raise
            await _told(Request(scope), 500, OURS)(scope, receive, send)


def _query(request: Request) -> str:
    """What was typed, so that nobody has to type it again."""
    try:
        return read(request).one("q")
    except BadInput:
        return ""


def _told(request: Request, status: int, line: str, headers: dict[str, str] | None = None) -> Response:
    if request.scope["path"].startswith(FOR_PROGRAMS):
        response: Response = json_answer({"error": line}, status)
    else:
        response = page(request, "error.html", status, line=line, code=status, q=_query(request))
    response.headers.update(headers or {})
    return response
