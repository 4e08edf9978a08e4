"""POST /api/live/JOB/report: how a search on another machine stands, as its agent reports it.

For those who may hand pages over, with the same token. The answer says whether the search is to end.
"""

from __future__ import annotations

import json
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.errors import BadInput
from webcrawler.realtime import reports
from webcrawler.web.config import Config
from webcrawler.web.failures import NotNow, log_fault
from webcrawler.web.guard import check_sender
from webcrawler.web.render import json_answer

OFF = "this server takes in no reports (SERVE_PAGES_TOKEN)"
NOT_KEPT = "the report cannot be kept right now; the operator finds more in the log"


class Reports:
    def __init__(self, config: Config) -> None:
        self._config = config

    def routes(self) -> list[Route]:
        return [Route("/api/live/{job}/report", self._receive, methods=["POST"])]

    async def _receive(self, request: Request) -> Response:
        if self._config.folders:
            raise HTTPException(403, OFF)
        check_sender(request, self._config.pages_token, OFF)
        try:
            given = json.loads(await request.body(), parse_constant=_no_number)
        except (ValueError, RecursionError):
            raise HTTPException(400, "the body is not JSON") from None
        try:
            is_to_end = await run_in_threadpool(
                reports.take_in, self._config.crawl_dir, request.path_params["job"], given
            )
        except BadInput as error:
            raise HTTPException(409 if isinstance(error, reports.NameTaken) else 422, str(error)) from None
        except OSError as error:
            log_fault(f"a report of a search is not kept: {error}")
            raise NotNow(NOT_KEPT) from None
        return json_answer({"stop": is_to_end}, cache="no-store")


def _no_number(word: str) -> Any:
    raise ValueError(word)  # NaN, Infinity: not JSON
