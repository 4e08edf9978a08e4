"""Errors as visitors see them: one clear line, on a page or as JSON for programs, never a traceback."""

from __future__ import annotations

import logging
import time
from http import HTTPStatus
from threading import Lock

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Scope

from webcrawler.errors import BadInput, Unavailable
from webcrawler.web.parameters import read
from webcrawler.web.render import json_answer, page

FOR_PROGRAMS = ("/api/", "/suggest", "/healthz", "/metrics")
UNREADABLE = "the index cannot be read right now; the operator finds more in the log"
OURS = "something is wrong here; it was logged"
LINES = {404: "there is no such page", 405: "that cannot be done with this page"}
MINUTE_SECONDS = 60

_log = logging.getLogger(__name__)
_logged: dict[str, float] = {}  # when, of the lines of the last minute
_logging = Lock()


class NotNow(Unavailable):
    """Raised with a line for visitors. Messages of other rooms may name files, and only go to the log."""


def log_fault(line: str) -> None:
    """Log a fault unless the same line was logged in the last minute: every request may meet it."""
    now = time.monotonic()
    with _logging:
        for old in [old for old, since in _logged.items() if now - since >= MINUTE_SECONDS]:
            del _logged[old]
        if line in _logged:
            return
        _logged[line] = now
    _log.error("%s", line)


def refusal(scope: Scope, status: int, line: str, **headers: str) -> Response:
    """The answer of a middleware: one line, or JSON for programs. Names of headers have _ in place of -."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if scope["path"].startswith(FOR_PROGRAMS):
        return JSONResponse({"error": line}, status, named)
    return PlainTextResponse(line, status, named)


def error_answer(request: Request, status: int, line: str, headers: dict[str, str] | None = None) -> Response:
    """A page that keeps what was typed, or JSON for programs."""
    if request.scope["path"].startswith(FOR_PROGRAMS):
        answer: Response = json_answer({"error": line}, status)
    else:
        try:
            query = read(request).one("q")
        except BadInput:
            query = ""
        answer = page(request, "error.html", status, line=line, code=status, q=query)
    answer.headers.update(headers or {})
    return answer


async def _bad_input(request: Request, error: Exception) -> Response:
    return error_answer(request, 400, str(error))


async def _unavailable(request: Request, error: Exception) -> Response:
    line = str(error)
    if not isinstance(error, NotNow):
        log_fault(line)
        line = UNREADABLE
    return error_answer(request, 503, line, {"Retry-After": "1"})


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    phrase = HTTPStatus(error.status_code).phrase
    line = error.detail if error.detail != phrase else LINES.get(error.status_code, phrase)
    return error_answer(request, error.status_code, line, dict(error.headers or {}))


async def _left(request: Request, error: Exception) -> Response:
    """Before its body had come."""
    return Response(status_code=400)  # nobody reads it


HANDLERS = {
    BadInput: _bad_input,
    Unavailable: _unavailable,
    HTTPException: _http_error,
    ClientDisconnect: _left,
}
