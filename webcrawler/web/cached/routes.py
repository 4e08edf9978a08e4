"""/cached: a page as it was fetched, sanitised, under a banner that says whose it is and of when."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.search import Snippets
from webcrawler.text.query import parse
from webcrawler.web.cached.archived import NoCopy, archived
from webcrawler.web.cached.simplifier import Marks
from webcrawler.web.config import Config
from webcrawler.web.failures import NotNow
from webcrawler.web.parameters import MAX_NUMBER, read
from webcrawler.web.render import page

THREADS = 2
MAX_WAITING = 50  # requests; a copy takes some milliseconds, of the worst page half a second
# Nothing runs here, also if the sanitiser should ever let something through. Without `allow-same-origin` the
# page could not load our own style sheet; without `allow-scripts` it cannot do anything with that.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; sandbox allow-same-origin allow-forms allow-popups "
    "allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
)
HEADERS = {"Content-Security-Policy": POLICY, "X-Robots-Tag": "noindex, nofollow, noarchive"}


def routes(config: Config) -> list[Route]:
    return [Route("/cached", _Copies(config).show)]


class _Copies:
    def __init__(self, config: Config) -> None:
        self._crawl_dir = config.crawl_dir
        self._threads = ThreadPoolExecutor(THREADS, "cached")
        self._waiting = 0

    async def show(self, request: Request) -> Response:
        given = read(request)
        number, query = given.whole("number", None, 1, MAX_NUMBER), given.one("q")
        if self._waiting >= MAX_WAITING:
            raise NotNow("too many copies are asked for: try again in a moment")
        self._waiting += 1
        try:
            work = partial(archived, self._crawl_dir, number, _marks(query))
            found = await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except NoCopy as error:
            raise HTTPException(error.status, str(error), HEADERS) from None
        finally:
            self._waiting -= 1
        answer = page(request, "cached.html", found=found, query=query)
        answer.headers.update(HEADERS)
        return answer


def _marks(query: str) -> Marks | None:
    words = [asked.term for asked in parse(query).asked] if query.strip() else []
    return Snippets(words).mark if words else None
