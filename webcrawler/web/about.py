"""/about, for webmasters: who crawls their site, why, what is kept, and how to be left alone."""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.web.config import Config
from webcrawler.web.guard import Proxies
from webcrawler.web.render import page

ADDRESS = re.compile(r"[^\s@:/?#]+@[^\s@:/?#]+")
WEB = re.compile(r"https?://[^\s]+")


def routes(config: Config) -> list[Route]:
    proxies = Proxies(config.trusted_proxies)

    async def about(request: Request) -> Response:
        visitor = proxies.visitor(request.scope)
        is_owner = visitor is not None and visitor.is_loopback
        link = href_of(config.contact)
        return page(request, "about.html", crawler=config.crawler, link=link, is_owner=is_owner)

    return [Route("/about", about)]


def href_of(contact: str) -> str:
    """Where a contact leads; "" for one that is neither an e-mail address nor a page."""
    if WEB.fullmatch(contact):
        return contact
    return f"mailto:{contact}" if ADDRESS.fullmatch(contact) else ""
