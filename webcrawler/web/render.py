"""Renders templates, errors too, and serves their styles, scripts and icon.

All text is escaped: no template may say `safe`. Static files have a hash of their content in their address,
so that browsers may keep them for a year. Visitors see an error as one clear line, on a page or as JSON for
programs, never a traceback.
"""

from __future__ import annotations

import logging
import time
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from importlib.resources import files
from mimetypes import guess_type
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from webcrawler.errors import BadInput, Unavailable
from webcrawler.search.rankings import DEFAULT
from webcrawler.web.config import Config
from webcrawler.web.parameters import read
from webcrawler.web.readable import FILTERS, without_controls

BOX = "/static/box.js"  # the search box for pages of other sites: named in them, so its address stays
FOR_A_YEAR = "public, max-age=31536000, immutable"
FRESH = "private, no-cache"  # answers are for one person, and change with the next crawl


def page(request: Request, template: str, status: int = 200, **values: object) -> HTMLResponse:
    """The template with these values. Templates extend `base.html`."""
    text = rendered(request.app.state.config, template, **values)
    return HTMLResponse(text, status, {"Cache-Control": FRESH})


def rendered(config: Config, template: str, **values: object) -> str:
    found = environment(config.root).get_template(template)
    return without_controls(found.render(config=config, **values))


def json_answer(answer: Any, status: int = 200, cache: str = FRESH) -> JSONResponse:
    """An answer for programs, without control characters: their terminals would obey them."""
    return JSONResponse(_cleaned(answer), status, {"Cache-Control": cache})


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return without_controls(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(one) for one in value]
    return value


@cache
def environment(root: str = "") -> Environment:
    """What renders pages. Links begin with `root`, that of `Config`."""
    made = Environment(
        loader=PackageLoader("webcrawler.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "root": root,
        "static_url": lambda name: root + assets()[name].path,
        "default_ranking": DEFAULT,
    }
    made.filters |= FILTERS
    # once: importing macros in each page costs as much as a result
    made.globals |= {
        name: made.get_template(f"_{name}.html").module for name in ("hit_parts", "judge_buttons")
    }
    return made


class Asset(NamedTuple):
    path: str
    body: bytes
    media_type: str


@cache
def assets() -> dict[str, Asset]:
    """By file name."""
    found = {}
    for file in (files("webcrawler.web") / "static").iterdir():
        body, (stem, _, ending) = file.read_bytes(), file.name.rpartition(".")
        path = f"/static/{stem}.{sha256(body).hexdigest()[:12]}.{ending}"
        found[file.name] = Asset(path, body, guess_type(file.name)[0] or "application/octet-stream")
    return found


async def _static(request: Request) -> Response:
    for asset in assets().values():
        if asset.path == request.scope["path"]:
            return Response(asset.body, media_type=asset.media_type, headers={"Cache-Control": FOR_A_YEAR})
    raise HTTPException(404)


async def _box(request: Request) -> Response:
    box = assets()["box.js"]
    return Response(box.body, media_type=box.media_type, headers={"Cache-Control": "public, max-age=3600"})


async def _robots(request: Request) -> Response:
    """Only the first page may be crawled: following results never ends."""
    return PlainTextResponse("User-agent: *\nAllow: /$\nDisallow: /\n")


async def _icon(request: Request) -> Response:
    """Browsers ask for it where no page names an icon, for example with JSON."""
    return Response(assets()["icon.svg"].body, media_type="image/svg+xml")


ROUTES = [
    Route("/favicon.ico", _icon),
    Route(BOX, _box),
    Route("/static/{name}", _static),
    Route("/robots.txt", _robots),
]


FOR_PROGRAMS = ("/api/", "/suggest", "/healthz", "/metrics")
UNREADABLE = "the index cannot be read right now; the operator finds more in the log"
OURS = "something is wrong here; it was logged"
LINES = {404: "there is no such page", 405: "that cannot be done with this page"}
MINUTE_SECONDS = 60

_log = logging.getLogger(__name__)
_logged: dict[str, float] = {}  # when, of the lines of the last minute


class NotNow(Unavailable):
    """Raised with a line for visitors. Messages of other rooms may name files, and only go to the log."""


def log_fault(line: str) -> None:
    """Log a fault unless the same line was logged in the last minute: every request may meet it."""
    now = time.monotonic()
    for old in [old for old, since in list(_logged.items()) if now - since >= MINUTE_SECONDS]:
        _logged.pop(old, None)
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
