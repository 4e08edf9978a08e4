"""/live: the form and the searches; /live/JOB: one of them, as it grows; POST starts and stops."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from webcrawler.archive import discard_left_over
from webcrawler.errors import BadInput
from webcrawler.realtime import ENOUGH, Journal
from webcrawler.search import Snippets
from webcrawler.text.query import parse
from webcrawler.web.config import Config
from webcrawler.web.hosts import client_of
from webcrawler.web.live_api import Access, Api
from webcrawler.web.live_request import DEFAULT, MAX_ENOUGH, STRATEGIES, read_form, read_live_request
from webcrawler.web.live_searches import OneAtATime, Searches, is_over
from webcrawler.web.parameters import Parameters, read
from webcrawler.web.render import NotNow, page
from webcrawler.web.security import Tokens

# What stays in the index, as the form offers it.
KEEPS = {
    "similar": "similar pages",
    "yes": "all pages",
    "no": "no page",
}
MOST = 100  # hits that are listed
ENDS = {
    "enough": "enough similar pages were found",
    "max_pages": "the limit of pages was reached",
    "max_time": "time is up",
    "nothing_left": "nothing promising is left to follow",
    "stopped": "it was stopped",
    "failed": "it broke off",
}
START = "start"  # what the token of the form that starts a search is for
REFRESH_SECONDS = 3  # of the page without scripts
STILL = "still"  # a parameter, with which the page does not reload itself (WCAG 2.2, 2.2.2)
RUNNING = "Your last search of the web is still running: wait for its end, or stop it."


class Agent(NamedTuple):
    """A search as the status page lists it."""

    now: Journal
    state: str
    stop_token: str


class LivePages:
    """The pages, the API and the searches of one application.

    Raises:
        BadInput: a host of the settings is not valid.
    """

    def __init__(self, config: Config) -> None:
        self._config, self.searches = config, Searches(config)
        self._access = Access(config, self.searches)
        self._tokens = Tokens()
        self._api = Api(config, self._access, self.searches)

    def routes(self) -> list[Route]:
        return [
            Route("/live", self._home),
            Route("/live", self._start, methods=["POST"]),
            Route("/live/{job}", self._show),
            Route("/live/{job}/stop", self._stop, methods=["POST"]),
            *self._api.routes(),
        ]

    def token(self, request: Request) -> str:
        """What the form that starts a search has to hold; "" if this client may not search the web."""
        return self._token(request, START) if self._access.admits(request) else ""

    async def agents(self, request: Request) -> list[Agent]:
        """The searches that run and that this client may see, the newest first; none if it may not search."""
        if not self._access.admits(request):
            return []
        client = self._access.client(request)
        running = [one for one in await run_in_threadpool(self.searches.recent, client) if not is_over(one)]
        return [
            Agent(one, state(one, self.searches.is_stopping(one["job"])), self._token(request, one["job"]))
            for one in running
        ]

    async def enter(self) -> None:
        await run_in_threadpool(discard_left_over, self._config.crawl_dir)  # of a search that was killed

    async def leave(self) -> None:
        self.searches.leave()

    async def _home(self, request: Request) -> Response:
        self._access.check(request)
        return await self._form_page(request, read(request))

    async def _start(self, request: Request) -> Response:
        self._access.check(request)
        form, client = await read_form(request), client_of(request)
        self._tokens.check(request, form.fields.one("token"), START)
        try:
            job = await self.searches.start(partial(read_live_request, form, self._config), client)
        except OneAtATime as error:
            return await self._form_page(request, form.fields, 409, RUNNING, error.job)
        except BadInput as error:
            return await self._form_page(request, form.fields, 400, str(error))
        except NotNow as error:
            return await self._form_page(request, form.fields, 503, str(error))
        return RedirectResponse(f"{self._config.root}/live/{job}", 303)

    async def _form_page(
        self, request: Request, given: Parameters, status: int = 200, line: str = "", running: str = ""
    ) -> Response:
        """The form, filled with what was given.

        Args:
            line: why no search was started.
            running: the search of this client that has to end first.
        """
        client = self._access.client(request)
        listed = [(one, state(one)) for one in await run_in_threadpool(self.searches.recent, client)]
        fields = typed(given, self._config)
        answer = page(
            request,
            "live.html",
            status,
            q=fields["q"],
            token=self.token(request),
            strategies=STRATEGIES,
            keeps=KEEPS,
            max_enough=MAX_ENOUGH,
            typed=fields,
            line=line,
            running=running,
            stop_token=self._token(request, running),
            here=client is None,
            searches=listed,
        )
        if status == 503:
            answer.headers["Retry-After"] = "10"
        return answer

    async def _show(self, request: Request) -> Response:
        now = await self._access.known(request)
        job, words = now["job"], now["query"].strip()
        is_stopping = self.searches.is_stopping(job)
        answer = await run_in_threadpool(  # a hundred hits take some 20 ms to render
            page,
            request,
            "live_job.html",
            q=now["query"],
            results_url=f"/search?{urlencode({'q': words})}" if words else "",
            may_stop=self._access.may_stop(request, job),
            stop_token=self._token(request, job),
            stopping=is_stopping,
            still=STILL in request.query_params,
            again_url=f"/live?{urlencode({'q': now['query'], 'strategy': now['strategy'], 'again': 'yes'})}",
            refresh_seconds=REFRESH_SECONDS,
            **values(now, is_stopping),
        )
        answer.headers["Cache-Control"] = "private, no-cache" if is_over(now) else "no-store"
        return answer

    async def _stop(self, request: Request) -> Response:
        job = (await self._access.known(request))["job"]
        self._tokens.check(request, (await read_form(request)).fields.one("token"), job)
        self._access.check_stop(request, job)
        await run_in_threadpool(self.searches.stop, job)
        return RedirectResponse(f"{self._config.root}/live/{job}", 303)

    def _token(self, request: Request, what: str) -> str:
        return self._tokens.give(client_of(request), what)


def typed(given: Parameters, config: Config) -> dict[str, str]:
    """What was typed into each field, to be shown again; the default for fields not given, or given twice."""
    most = {"max_pages": str(config.live_pages), "max_time": str(config.live_seconds)}
    texts = dict.fromkeys(("q", "examples", "seeds", "domains", "keep", "again"), "")
    fields = texts | {"strategy": DEFAULT, "enough": str(ENOUGH)} | most
    for name, at_first in fields.items():
        with suppress(BadInput):
            fields[name] = given.one(name, at_first)
    return fields


def state(journal: Journal, is_stopping: bool = False) -> str:
    """The state of a search, in one sentence."""
    match journal["state"]:
        case "finished":
            return f"Ended: {ENDS.get(journal['reason'], 'nobody knows why')}."
        case _ if is_stopping:
            return "Stopping."
        case "starting":
            return "Starting."
    return "Searching the web."


def values(journal: Journal, is_stopping: bool) -> dict[str, Any]:
    """For the template `_live.html`."""
    query = journal["query"]
    words = [one.term for one in parse(query).terms] if query.strip() else []
    return {
        "now": journal,
        "hits": journal["hits"][:MOST],
        "snippets": Snippets(words),
        "state": state(journal, is_stopping),
        "over": is_over(journal),
    }
