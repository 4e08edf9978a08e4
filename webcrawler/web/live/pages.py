"""/live: the form and the searches; /live/JOB: one of them, as it grows; POST starts and stops."""

from __future__ import annotations

import secrets
from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from webcrawler.errors import BadInput
from webcrawler.web.config import Config
from webcrawler.web.failures import NotNow
from webcrawler.web.guard import CLIENT, KEY_BYTES, Tokens, is_foreign
from webcrawler.web.live.access import Access
from webcrawler.web.live.api import Api
from webcrawler.web.live.request import read_form, read_live_request
from webcrawler.web.live.searches import OneAtATime, Searches
from webcrawler.web.live.streams import Snapshot, Streams
from webcrawler.web.live.view import LiveForm, Running, labelled, results_url, state, typed, values, version
from webcrawler.web.live.watch import is_over
from webcrawler.web.parameters import Parameters, read
from webcrawler.web.render import page, rendered

START = "start"  # what the token of a form is for
REFRESH_SECONDS = 3  # of the page without scripts
STILL = "still"  # a parameter: the page does not reload itself (WCAG 2.2, 2.2.2)
STALE = "this form was not sent from our page, or is too old: go back, load the page anew, and send it again"
RUNNING = "Your last search of the web is still running: wait for its end, or stop it."


class Live:
    """The pages, the API and the searches of one application.

    Raises:
        BadInput: a proxy, a host or the Scrapyd of the settings is not valid.
    """

    def __init__(self, config: Config) -> None:
        self._config, self.searches = config, Searches(config)
        self._access = Access(config, self.searches)
        self._streams = Streams(self._snapshot)
        self._tokens = Tokens(secrets.token_bytes(KEY_BYTES))  # after a restart, forms have to be loaded anew
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
        """What the button needs; None if this client may not search the web."""
        return LiveForm(self._token(request, START)) if self._access.admits(request) else None

    async def enter(self) -> None:
        await run_in_threadpool(self.searches.tidy)

    def leave_streams(self) -> None:
        """End all streams: a server that is told to end waits for its answers."""
        self._streams.leave()

    async def leave(self) -> None:
        self._streams.leave()
        await self.searches.leave()

    async def _home(self, request: Request) -> Response:
        self._access.check(request)
        return await self._form_page(request, read(request))

    async def _start(self, request: Request) -> Response:
        self._access.check(request)
        form, client = await read_form(request), request.scope[CLIENT]
        self._check(request, form.fields.one("token"), START)
        try:
            job = await self.searches.start(partial(read_live_request, form, self._config), client)
        except OneAtATime as error:
            running = Running(error.job, self._token(request, error.job))
            return await self._form_page(request, form.fields, 409, RUNNING, running)
        except BadInput as error:
            return await self._form_page(request, form.fields, 400, labelled(str(error)))
        except NotNow as error:
            return await self._form_page(request, form.fields, 503, str(error))
        return RedirectResponse(f"/live/{job}", 303)

    async def _form_page(
        self,
        request: Request,
        given: Parameters,
        status: int = 200,
        line: str = "",
        running: Running | None = None,
    ) -> Response:
        """The form, filled with what was given."""
        client = self._access.client(request)
        listed = [(one, state(one)) for one in await run_in_threadpool(self.searches.recent, client)]
        fields = typed(given, self._config)
        told = {"line": line, "running": running, "here": client is None, "searches": listed}
        shown = {"q": fields["q"], "form": self.form(request), "typed": fields, **told}
        answer = page(request, "live.html", status, **shown)
        if status == 503:
            answer.headers["Retry-After"] = "10"
        return answer

    async def _show(self, request: Request) -> Response:
        now = await self._access.known(request)
        job = now["job"]
        answer = page(
            request,
            "live_job.html",
            200,
            q=now["query"],
            results_url=results_url(now),
            may_stop=self._access.may_stop(request, job),
            stop_token=self._token(request, job),
            stopping=self.searches.is_stopping(job),
            still=STILL in request.query_params,
            refresh_seconds=REFRESH_SECONDS,
            **values(now, self.searches.is_stopping(job)),
        )
        answer.headers["Cache-Control"] = "private, no-cache" if is_over(now) else "no-store"
        return answer

    async def _events(self, request: Request) -> Response:
        now = await self._access.known(request)
        if is_over(now) and request.headers.get("last-event-id") == version(now):
            return Response(status_code=204)  # tells a browser not to come again
        return self._streams.open(request, now["job"])

    async def _stop(self, request: Request) -> Response:
        job = (await self._access.known(request))["job"]
        self._check(request, (await read_form(request)).fields.one("token"), job)
        self._access.check_stop(request, job)
        await self.searches.stop(job)
        return RedirectResponse(f"/live/{job}", 303)

    def _token(self, request: Request, what: str) -> str:
        return self._tokens.give(request.scope[CLIENT], what)

    def _check(self, request: Request, token: str, what: str) -> None:
        if is_foreign(request) or not self._tokens.is_good(token, request.scope[CLIENT], what):
            raise HTTPException(403, STALE)

    def _snapshot(self, job: str) -> Snapshot:
        """What those who watch the search are sent."""
        now = self.searches.look(job)
        if now is None:
            return Snapshot("", "", True)
        shown = values(now, self.searches.is_stopping(job))
        return Snapshot(version(now), rendered("_live.html", **shown), is_over(now))
