"""What a download of a spider's request came to, in the words of the table of states."""

from __future__ import annotations

import time
from typing import NamedTuple

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError

from webcrawler.crawl.worker import SLOW_DOWN, Refused, reason_of, reason_of_error, retry_after_seconds
from webcrawler.frontier import Report
from webcrawler.records import Lease


class Failure(NamedTuple):
    """Why a lease comes to nothing, and whether another try makes sense."""

    reason: str
    retry: bool


BROKE = Failure(reason="unparsable", retry=True)  # a callback or a pipeline did


def failure_of(error: BaseException, request: Request, lease: Lease) -> Failure:
    """Of a download that the spider's callback did not get to see.

    What Scrapy's RetryMiddleware has tried in vain is not tried again.
    """
    retry_is_left = "retry_times" not in request.meta
    match error:
        case HttpError():
            _, reason, retry = reason_of(error.response, None, lease)
            return Failure(reason, retry and retry_is_left)
        case Refused():
            return Failure(error.reason, error.retry)
        case IgnoreRequest() if "redirect_times" in request.meta:
            return Failure(reason="redirect-loop", retry=False)
        case IgnoreRequest():
            return Failure(reason="ignored", retry=False)
    reason, retry, _ = reason_of_error(error)
    return Failure(reason, retry and retry_is_left)


def report_of(lease: Lease, request: Request, result: Response | BaseException) -> Report:
    """The end of a download, for the politeness of its server."""
    seconds: float = request.meta.get("download_latency", 0.0)
    response = result.response if isinstance(result, HttpError) else result
    if isinstance(response, Response):
        slow_down = response.status in SLOW_DOWN
        wait = retry_after_seconds(response.headers.get("Retry-After"), time.time()) if slow_down else 0.0
        return Report(lease, seconds, slow_down, wait, downloaded="cached" not in response.flags)
    if isinstance(response, IgnoreRequest):
        return Report(lease, seconds, downloaded=False)
    return Report(lease, seconds, slow_down=reason_of_error(response)[2])
