"""/about, for webmasters: who crawls their site, why, what is kept, and how to be left alone."""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.web.config import Config
from webcrawler.web.hosts import is_local
from webcrawler.web.render import page

ADDRESS = re.compile(r"[^\s@:/?#]+@[^\s@:/?#]+")
WEB = re.compile(r"https?://[^\s]+")


def routes(config: Config) -> list[Route]:
    async def about(request: Request) -> Response:
        link = href_of(config.contact)
        return page(request, "about.html", crawler=config.crawler, link=link, is_owner=is_local(request))

    return [Route("/about", about)]


def href_of(contact: str) -> str:
    """Where a contact leads; "" for one that is neither an e-mail address nor a page."""
    if WEB.fullmatch(contact):
        return contact
    return f"mailto:{contact}" if ADDRESS.fullmatch(contact) else ""
