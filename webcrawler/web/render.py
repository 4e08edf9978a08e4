"""Renders templates, and serves their styles, scripts and icon.

All text is escaped: no template may say `safe`. Static files have a hash of their content in their address,
so that browsers may keep them for a year.
"""

from __future__ import annotations

from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from mimetypes import guess_type
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FunctionLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from webcrawler.search.rankings import DEFAULT
from webcrawler.web.config import Config
from webcrawler.web.readable import FILTERS, without_controls

BOX = "/static/box.js"  # the search box for pages of other sites: named in them, so its address stays
FOR_A_YEAR = "public, max-age=31536000, immutable"
OURS = "webcrawler/"  # before the name of a template: ours, also where the owner has one of that name
OWN_STYLE = "own.css"  # of the owner, linked after ours
FRESH = "private, no-cache"  # answers are for one person, and change with the next crawl


def page(request: Request, template: str, status: int = 200, **values: object) -> HTMLResponse:
    """The template with these values. Templates extend `base.html`."""
    text = rendered(request.app.state.config, template, **values)
    return HTMLResponse(text, status, {"Cache-Control": FRESH})


def rendered(config: Config, template: str, **values: object) -> str:
    found = environment(config.templates, config.root).get_template(template)
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
def environment(folder: Path | None = None, root: str = "") -> Environment:
    """What renders pages: the owner's templates and static files in a folder come before ours.

    Theirs may extend ours as `webcrawler/base.html`. Links begin with `root`, that of `Config`.
    """
    made = Environment(
        loader=FunctionLoader(partial(_source, folder)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "root": root,
        "static_url": lambda name: root + assets(folder)[name].path,
        "has_own_style": OWN_STYLE in assets(folder),
        "default_ranking": DEFAULT,
    }
    made.filters |= FILTERS
    # once: importing macros in each page costs as much as a result
    made.globals |= {
        name: made.get_template(f"_{name}.html").module for name in ("hit_parts", "judge_buttons")
    }
    return made


def _source(folder: Path | None, name: str) -> tuple[str, str, None] | None:
    ours = files("webcrawler.web") / "templates" / name.removeprefix(OURS)
    own = folder / name if folder else None
    found = own if own and own.is_file() and not name.startswith(OURS) else ours
    return (found.read_text("utf-8"), str(found), None) if found.is_file() else None


class Asset(NamedTuple):
    path: str
    body: bytes
    media_type: str


@cache
def assets(folder: Path | None = None) -> dict[str, Asset]:
    """By file name; those in `static` of the owner's folder before ours."""
    found = {}
    own = [file for file in (folder / "static").glob("*.*") if file.is_file()] if folder else []
    for file in (*(files("webcrawler.web") / "static").iterdir(), *own):
        body, (stem, _, ending) = file.read_bytes(), file.name.rpartition(".")
        path = f"/static/{stem}.{sha256(body).hexdigest()[:12]}.{ending}"
        found[file.name] = Asset(path, body, guess_type(file.name)[0] or "application/octet-stream")
    return found


async def _static(request: Request) -> Response:
    for asset in assets(request.app.state.config.templates).values():
        if asset.path == request.scope["path"]:
            return Response(asset.body, media_type=asset.media_type, headers={"Cache-Control": FOR_A_YEAR})
    raise HTTPException(404)


async def _box(request: Request) -> Response:
    box = assets(request.app.state.config.templates)["box.js"]
    return Response(box.body, media_type=box.media_type, headers={"Cache-Control": "public, max-age=3600"})


async def _robots(request: Request) -> Response:
    """Only the first page may be crawled: following results never ends."""
    return PlainTextResponse("User-agent: *\nAllow: /$\nDisallow: /\n")


async def _icon(request: Request) -> Response:
    """Browsers ask for it where no page names an icon, for example with JSON."""
    return Response(assets(request.app.state.config.templates)["icon.svg"].body, media_type="image/svg+xml")


ROUTES = [
    Route("/favicon.ico", _icon),
    Route(BOX, _box),
    Route("/static/{name}", _static),
    Route("/robots.txt", _robots),
]
