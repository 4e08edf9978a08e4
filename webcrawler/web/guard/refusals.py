"""What middlewares answer themselves: one line, before there is a page to show it on."""

from __future__ import annotations

from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Scope

from webcrawler.web.failures import FOR_PROGRAMS


def refusal(scope: Scope, status: int, line: str, **headers: str) -> Response:
    """As JSON for programs; a header's name is written with _ for -."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if scope["path"].startswith(FOR_PROGRAMS):
        return JSONResponse({"error": line}, status, named)
    return PlainTextResponse(line, status, named)
