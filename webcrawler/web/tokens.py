"""Tokens of forms, which show that our own page was sent, by the client that loaded it; and of senders."""

from __future__ import annotations

import hmac
import os
import secrets
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request

from webcrawler import clock

KEY_BYTES = 32
DAY_SECONDS = 86_400
NOT_YOU = "that needs the token of this server: Authorization: Bearer TOKEN"


class Tokens:
    """Tokens for forms: each for one client and one query, good today and tomorrow.

    A page of another site cannot read ours, and a token that it gets itself is for another client.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def give(self, client: str, query: str, days_ago: int = 0) -> str:
        day = int(clock.now() // DAY_SECONDS) - days_ago
        text = f"{day}\n{client}\n{query}".encode("utf-8", "surrogatepass")
        return hmac.new(self._key, text, sha256).hexdigest()

    def is_good(self, token: str, client: str, query: str) -> bool:
        given = token.encode("utf-8", "surrogatepass")
        return any(hmac.compare_digest(given, self.give(client, query, days).encode()) for days in (0, 1))


def key_of(path: Path) -> bytes:
    """The key in a file that only its owner may read, made if it is missing. Of several processes one wins.

    Raises:
        OSError: it can neither be read nor made.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        if len(key := path.read_bytes()) == KEY_BYTES:
            return key
        path.unlink()  # cut off by a power failure; tokens given before are void
    aside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(descriptor)
        with suppress(FileExistsError):
            os.link(aside, path)
    finally:
        aside.unlink()
    return path.read_bytes()


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
