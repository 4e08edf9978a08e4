"""Style, script and icon: under a URL that holds a hash of what is in them, kept by browsers for a year."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files
from mimetypes import guess_type
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

FOR_A_YEAR = "public, max-age=31536000, immutable"


class Asset(NamedTuple):
    path: str
    body: bytes
    media_type: str


@cache
def assets() -> dict[str, Asset]:
    """By file name."""
    folder = files("webcrawler.web") / "static"
    return {file.name: _asset(file.name, file.read_bytes()) for file in folder.iterdir() if file.is_file()}


def static_url(name: str) -> str:
    return assets()[name].path


async def static(request: Request) -> Response:
    for asset in assets().values():
        if asset.path == request.scope["path"]:
            return Response(asset.body, media_type=asset.media_type, headers={"Cache-Control": FOR_A_YEAR})
    raise HTTPException(404)


def _asset(name: str, body: bytes) -> Asset:
    stem, _, ending = name.rpartition(".")
    path = f"/static/{stem}.{sha256(body).hexdigest()[:12]}.{ending}"
    return Asset(path, body, guess_type(name)[0] or "application/octet-stream")


async def robots(request: Request) -> Response:
    """Answers are no pages: a crawler that follows them never ends."""
    return PlainTextResponse("User-agent: *\nAllow: /$\nDisallow: /\n")


async def icon(request: Request) -> Response:
    """Browsers ask for it where they show no page of ours: a status as JSON."""
    return Response(assets()["icon.svg"].body, media_type="image/svg+xml")


ROUTES = [Route("/favicon.ico", icon), Route("/static/{name}", static), Route("/robots.txt", robots)]
