"""Headers for every answer, bounds for every request, the sites that may read some answers, and tokens.

Tokens of forms show that our own page was sent, by the client that loaded it; others are of senders of pages.
"""

from __future__ import annotations

import hmac
import logging
import re
import secrets
from collections.abc import Container, Iterable
from hashlib import sha256

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webcrawler import clock
from webcrawler.errors import BadInput
from webcrawler.urls import UnfetchableUrl, resolve, server
from webcrawler.web.config import Config
from webcrawler.web.hosts import client_of
from webcrawler.web.render import BOX, OURS, error_answer, refusal

MAX_URL_BYTES = 24_576  # 2,000 characters of any script, each as up to 12 bytes
MAX_HEADERS = 100
MAX_HEADER_BYTES = 16_384
MAX_BODY_BYTES = 16_384
MAX_UPLOAD_BYTES = 2**20  # a form with bookmarks
JUDGING = "/judge"
USED = "/used"
SEARCHES = ("/api/search", "/api/suggest", USED)  # what scripts of allowed origins may read
STARTING = ("/live", "/api/live")
HANDING_OVER = "/api/pages"
MAX_WARC_BYTES = 32 * 2**20
STOPPING = re.compile(r"(/api)?/live/[^/]+/stop")
READ, POST = ("GET", "HEAD"), ("POST",)
DAY_SECONDS = 86_400
STALE = "this form was not sent from our page, or is too old: go back, load the page anew, and send it again"
NOT_YOU = "that needs the token of this server: Authorization: Bearer TOKEN"
TOO_LARGE = "the body is too large: {:,} bytes at most"

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # no site learns from a click what was searched
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
}
NOT_TO_BE_INDEXED = "noindex, nofollow"  # a crawler would never come to an end
_log = logging.getLogger(__name__)


class SecurityHeaders:
    """Security headers on every answer, errors included. An exception of ours is logged, never shown."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)  # a page may have a stricter policy of its own
                if scope["path"] != "/":
                    headers.setdefault("X-Robots-Tag", NOT_TO_BE_INDEXED)
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception:
            _log.exception("%s failed", scope["path"])
            if started:  # the connection breaks: half an answer must not pass for a whole one
                raise
            await error_answer(Request(scope), 500, OURS)(scope, receive, send_with_headers)


class RequestBounds:
    """Refuses requests that are too large, and methods that do not exist for a path."""

    def __init__(self, app: ASGIApp, posted_to: Container[str]) -> None:
        """
        Args:
            posted_to: which of JUDGING and USED are on.
        """
        self._app = app
        self._posted_to = posted_to

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        methods, most = self._bounds(scope["path"])
        if refused := self._refusal(scope, methods, most):
            return await refused(scope, receive, send)
        if scope["method"] != "POST":
            return await self._app(scope, receive, send)
        read = 0

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                raise HTTPException(413, TOO_LARGE.format(most))
            return message

        await self._app(scope, bounded, send)

    def _bounds(self, path: str) -> tuple[tuple[str, ...], int]:
        """The methods of a path, and the bytes that a body may have."""
        if path in STARTING:
            return READ + POST, MAX_UPLOAD_BYTES
        if path == HANDING_OVER:
            return POST, MAX_WARC_BYTES
        is_posted_to = STOPPING.fullmatch(path) or path in self._posted_to
        return POST if is_posted_to else READ, MAX_BODY_BYTES

    @staticmethod
    def _refusal(scope: Scope, methods: tuple[str, ...], most: int) -> Response | None:
        path, headers = scope["path"], scope["headers"]
        if len(scope.get("raw_path") or path) + len(scope["query_string"]) > MAX_URL_BYTES:
            return refusal(scope, 414, f"the address is too long: {MAX_URL_BYTES:,} bytes at most")
        if len(headers) > MAX_HEADERS or sum(len(n) + len(v) for n, v in headers) > MAX_HEADER_BYTES:
            return refusal(scope, 431, "there are too many headers")
        if not path.isprintable():
            return refusal(scope, 400, "the address has control characters in it")
        if scope["method"] not in methods:
            return refusal(scope, 405, "that cannot be done with this page", Allow=", ".join(methods))
        lengths = [value for name, value in headers if name == b"content-length"]
        if any(not value.isdigit() or len(value) > 9 or int(value) > most for value in lengths):
            return refusal(scope, 413, TOO_LARGE.format(most))
        return None


class AllowedOrigins:
    """Lets scripts of allowed origins read searches, refusals too, and use the box. None is the default.

    No cookie or token is involved, so what they read is what anybody may read who reaches this server.
    """

    def __init__(self, app: ASGIApp, config: Config) -> None:
        self._app = app
        self._allowed = frozenset(origins(config.origins))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._allowed or scope["type"] != "http" or scope["path"] not in (*SEARCHES, BOX):
            return await self._app(scope, receive, send)
        given = {value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.add_vary_header("Origin")
                if scope["path"] == BOX:  # browsers send no Origin with a script
                    headers["Cross-Origin-Resource-Policy"] = "cross-origin"
                elif len(given) == 1 and given <= self._allowed:
                    headers["Access-Control-Allow-Origin"] = given.pop()
            await send(message)

        await self._app(scope, receive, send_with_headers)


def origins(names: Iterable[str]) -> list[str]:
    """Scheme, host and port, as browsers send them. Raises BadInput: one is no http or https URL."""
    found = []
    for name in names:
        try:
            found.append(server(resolve(name)))
        except UnfetchableUrl:
            found.append("")
        if not found[-1].startswith("http"):
            raise BadInput(f"SERVE_ORIGINS: {name!r} names no site; write https://docs.example.org")
    return found


class Tokens:
    """Tokens for forms: each for one client and one deed, good today and tomorrow, until the server ends.

    A page of another site cannot read ours, and a token that it gets itself is for another client.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def give(self, client: str, deed: str, days_ago: int = 0) -> str:
        day = int(clock.now() // DAY_SECONDS) - days_ago
        text = f"{day}\n{client}\n{deed}".encode("utf-8", "surrogatepass")
        return hmac.new(self._key, text, sha256).hexdigest()

    def is_good(self, token: str, client: str, deed: str) -> bool:
        given = token.encode("utf-8", "surrogatepass")
        return any(hmac.compare_digest(given, self.give(client, deed, days).encode()) for days in (0, 1))

    def check(self, request: Request, token: str, deed: str) -> None:
        """Raises HTTPException: the form was not sent from our page by who loaded it."""
        if is_foreign(request) or not self.is_good(token, client_of(request), deed):
            raise HTTPException(403, STALE)


def check_sender(request: Request, token: str, off: str) -> None:
    """Let pass who has the token of those that hand pages over; before the body is read.

    Args:
        token: "" lets nobody pass.
        off: what is said then.
    """
    if not token:
        raise HTTPException(403, off)
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    is_good = hmac.compare_digest(given.strip().encode("latin-1", "replace"), token.encode())
    if scheme.lower() != "bearer" or not is_good:
        raise HTTPException(401, NOT_YOU, {"WWW-Authenticate": "Bearer"})


def is_foreign(request: Request) -> bool:
    """Does the browser say that another site's page sent this form?

    It says so by Sec-Fetch-Site, which no page can forge, or by Origin over plain HTTP, where that is not
    sent. Origin is "null" for our own pages, as their policy is no-referrer: then the token alone decides.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site != "same-origin"
    origin = request.headers.get("origin", "null")
    return origin != "null" and origin.partition("://")[2] != request.headers.get("host", "")
