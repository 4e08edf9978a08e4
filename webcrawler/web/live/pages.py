"""/live: the form and the searches; /live/JOB: one of them, as it grows; POST starts and stops."""

from __future__ import annotations

import secrets
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from webcrawler.errors import BadInput
from webcrawler.realtime.job import ENOUGH
from webcrawler.realtime.journal import Journal
from webcrawler.web.config import Config
from webcrawler.web.errors import NotNow
from webcrawler.web.limits import CLIENT
from webcrawler.web.live.access import Access
from webcrawler.web.live.api import Api
from webcrawler.web.live.asking import MAX_ENOUGH, asked
from webcrawler.web.live.forms import read_form
from webcrawler.web.live.searches import OneAtATime, Searches
from webcrawler.web.live.shown import is_over, results_url, shown, state
from webcrawler.web.live.strategies import DEFAULT, STRATEGIES
from webcrawler.web.live.streaming import Look, Streams
from webcrawler.web.parameters import Parameters, read
from webcrawler.web.rendering import page, rendered
from webcrawler.web.tokens import KEY_BYTES, Tokens, is_foreign

START = "start"  # what the token of a form is for
REFRESH_SECONDS = 3  # of the page without scripts
LISTED = 25
STALE = "this form was not sent from our page, or is too old: go back, load the page anew, and send it again"
RUNNING = "your last search of the web is still running: wait for its end, or stop it"
UNKNOWN = "there is no such search of the web; the oldest are forgotten"


class LiveForm(NamedTuple):
    """What the forms that start a search need."""

    token: str
    strategies: dict[str, str] = STRATEGIES
    max_enough: int = MAX_ENOUGH


class Live:
    """Raises BadInput: a proxy or the Scrapyd of the settings cannot be understood."""

    def __init__(self, config: Config) -> None:
        self._config, self._access = config, Access(config)
        self.searches = Searches(config)
        self._streams = Streams(self._look)
        self._tokens = Tokens(secrets.token_bytes(KEY_BYTES))  # a server that starts anew asks for forms anew
        self._api = Api(config, self._access, self.searches)

    def routes(self) -> list[Route]:
        return [
            Route("/live", self._home),
            Route("/live", self._start, methods=["POST"]),
            Route("/live/{job}", self._show),
            Route("/live/{job}/events", self._events),
            Route("/live/{job}/stop", self._stop, methods=["POST"]),
            *self._api.routes(),
        ]

    def form(self, request: Request) -> LiveForm | None:
        """For the button; None where this client may not search the web."""
        if not self._access.admits(request):
            return None
        return LiveForm(self._tokens.give(request.scope[CLIENT], START))

    def leave_streams(self) -> None:
        """The server is told to end: it waits for all that is being answered."""
        self._streams.leave()

    async def leave(self) -> None:
        self._streams.leave()
        await self.searches.leave()

    async def _home(self, request: Request) -> Response:
        self._access.check(request)
        return await self._asking(request, read(request))

    async def _start(self, request: Request) -> Response:
        self._access.check(request)
        form = await read_form(request)
        self._check(request, form.fields.one("token"), START)
        try:
            job = await self.searches.start(partial(asked, form, self._config), request.scope[CLIENT])
        except OneAtATime as error:
            return await self._asking(request, form.fields, 409, RUNNING, error.job)
        except BadInput as error:
            return await self._asking(request, form.fields, 400, str(error))
        except NotNow as error:
            return await self._asking(request, form.fields, 503, str(error))
        return RedirectResponse(f"/live/{job}", 303)

    async def _asking(
        self, request: Request, given: Parameters, status: int = 200, line: str = "", running: str = ""
    ) -> Response:
        """The form, with what was given: nobody has to type it again."""
        here = self._access.is_here(request)
        known = await run_in_threadpool(self.searches.recent, "" if here else request.scope[CLIENT])
        listed = [(one, state(one)) for one in known[:LISTED]]
        typed = self._typed(given)
        values = {"q": typed["q"], "line": line, "running": running, "here": here, "searches": listed}
        answer = page(request, "live.html", status, form=self.form(request), typed=typed, **values)
        if status == 503:
            answer.headers["Retry-After"] = "10"
        return answer

    def _typed(self, given: Parameters) -> dict[str, str]:
        """What the fields hold; what was not given, or twice, is as at first."""
        most = {"max_pages": str(self._config.live_pages), "max_time": str(self._config.live_seconds)}
        typed = {"q": "", "examples": "", "seeds": "", "strategy": DEFAULT, "enough": str(ENOUGH)} | most
        for name, at_first in typed.items():
            with suppress(BadInput):
                typed[name] = given.one(name, at_first)
        return typed

    async def _show(self, request: Request) -> Response:
        now = await self._known(request)
        job, over = now["job"], is_over(now)
        answer = page(
            request,
            "live_job.html",
            200,
            q=now["query"],
            results_url=results_url(now),
            may_stop=self._may_stop(request, job),
            stop_token=self._tokens.give(request.scope[CLIENT], job),
            stopping=self.searches.is_stopping(job),
            refresh_seconds=REFRESH_SECONDS,
            **self._values(now),
        )
        answer.headers["Cache-Control"] = "private, no-cache" if over else "no-store"
        return answer

    async def _events(self, request: Request) -> Response:
        now = await self._known(request)
        if is_over(now) and request.headers.get("last-event-id") == _version(now):
            return Response(status_code=204)  # tells a browser not to come again
        return self._streams.open(request, now["job"])

    async def _stop(self, request: Request) -> Response:
        now = await self._known(request)
        self._check(request, (await read_form(request)).fields.one("token"), now["job"])
        if not self._may_stop(request, now["job"]):
            raise HTTPException(403, "only who has started a search may stop it")
        await self.searches.stop(now["job"])
        return RedirectResponse(f"/live/{now['job']}", 303)

    async def _known(self, request: Request) -> Journal:
        self._access.check(request)
        now = await run_in_threadpool(self.searches.look, request.path_params["job"])
        if now is None:
            raise HTTPException(404, UNKNOWN)
        return now

    def _may_stop(self, request: Request, job: str) -> bool:
        return self._access.is_here(request) or self.searches.is_of(job, request.scope[CLIENT])

    def _check(self, request: Request, token: str, what: str) -> None:
        if is_foreign(request) or not self._tokens.is_good(token, request.scope[CLIENT], what):
            raise HTTPException(403, STALE)

    def _look(self, job: str) -> Look:
        """For those who watch it."""
        now = self.searches.look(job)
        if now is None:
            return Look("", "", True)
        return Look(_version(now), rendered("_live.html", **self._values(now)), is_over(now))

    def _values(self, now: Journal) -> dict[str, object]:
        """Of the template `_live.html`."""
        said = state(now, self.searches.is_stopping(now["job"]))
        return {"now": now, "shown": shown(now), "state": said, "over": is_over(now)}


def _version(now: Journal) -> str:
    return f"{now['state']}-{now['updated']:.3f}-{now['seconds']:.0f}"
