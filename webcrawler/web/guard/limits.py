"""How many requests may one client send, and who is it?"""

from __future__ import annotations

import ipaddress
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from webcrawler.errors import BadInput
from webcrawler.web.config import Config
from webcrawler.web.failures import refusal

# Clients are hashed to this many counts, which bounds memory. Each process has its own hash, so that nobody
# can use up the rate of a client of their choice. Of a hundred clients, two or three share a count.
BUCKETS = 4_096
MAX_AT_ONCE = 60  # requests of one client under way
FREE = ("/static/", "/healthz")  # parts of a page; monitors
FORWARDING = (b"x-forwarded-for", b"forwarded", b"x-real-ip", b"via")  # headers of proxies
UNIX = "unix"  # a proxy on a Unix socket, which has no address

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
CLIENT = "webcrawler.client"  # key in the scope: the client, set by ClientLimits


class ClientLimits:
    """Answers 429 to a client that asks more often than `config.rate`, or has too many requests under way.

    The second keeps one client from filling the queue of searches. Without a rate neither holds.
    """

    def __init__(self, app: ASGIApp, config: Config) -> None:
        self._app = app
        self._proxies = Proxies(config.trusted_proxies)
        self._rate = rate(config.rate)
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._key = secrets.token_bytes(16)
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        client = scope[CLIENT] = client_network(self._proxies.client(scope))
        if self._rate is None or scope["path"].startswith(FREE):
            return await self._app(scope, receive, send)
        if refused := self._refusal(scope, client, self._rate):
            return await refused(scope, receive, send)
        self._under_way[client] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way[client] -= 1
            if not self._under_way[client]:
                del self._under_way[client]

    def _refusal(self, scope: Scope, client: str, rate: RateLimitItem) -> Response | None:
        bucket = self._bucket(client)
        if not self._limiter.hit(rate, bucket):
            # by the clock of the library, which nothing sets
            again = self._limiter.get_window_stats(rate, bucket).reset_time - time.time()  # noqa: TID251
            wait = str(max(1, round(again)))
            return refusal(scope, 429, "too many requests: wait a little", Retry_After=wait)
        if self._under_way[client] >= MAX_AT_ONCE:
            return refusal(scope, 429, "too many requests at once: wait for answers", Retry_After="1")
        return None

    def _bucket(self, client: str) -> str:
        digest = blake2b(client.encode(), key=self._key, digest_size=8).digest()
        return str(int.from_bytes(digest) % BUCKETS)


class Proxies:
    """The proxies whose X-Forwarded-For is believed. Raises BadInput: one that is not a network."""

    def __init__(self, trusted: Iterable[str]) -> None:
        named = list(trusted)
        self._unix = UNIX in named
        self._networks = networks("SERVE_TRUSTED_PROXIES", (name for name in named if name != UNIX))

    def client(self, scope: Scope) -> str:
        """Who sent it: the peer of the socket, or if that is trusted, the rightmost address that is not.

        "" where nobody can tell.
        """
        forwarded = [v for name, v in scope["headers"] if name == b"x-forwarded-for"]
        hops = [hop.strip() for value in forwarded for hop in value.decode("latin-1").split(",")]
        peer = scope["client"][0] if scope.get("client") else ""
        client = peer
        while hops and self._trusts(client):
            if address(hops[-1]) is None:  # what stands left of it was not written by a trusted proxy
                break
            client = hops.pop()
        return str(address(client) or client)

    def visitor(self, scope: Scope) -> Address | None:
        """Who certainly sent it; None if nobody can tell, as behind a proxy that is not configured."""
        forwarded = any(name in FORWARDING for name, _ in scope["headers"])
        client = self.client(scope)
        peer = scope["client"][0] if scope.get("client") else ""
        return None if forwarded and client == peer else address(client)

    def _trusts(self, client: str) -> bool:
        found = address(client)
        return self._unix if found is None else any(found in network for network in self._networks)


def client_network(client: str) -> str:
    """What counts as one client: an IPv4 address, or a /64 network of IPv6, as every customer gets one."""
    found = address(client)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False))
    return client


def rate(text: str) -> RateLimitItem | None:
    """Parse "600/minute"; "" gives None. Raises BadInput."""
    try:
        found = parse(text) if text.strip() else None
    except ValueError:
        raise BadInput(f"SERVE_RATE={text[:100]}: write 600/minute, or nothing for any number") from None
    if found and not found.amount:
        raise BadInput(f"SERVE_RATE={text[:100]} allows no requests: leave it empty for no limit")
    return found


def networks(setting: str, names: Iterable[str]) -> Sequence[Network]:
    """Raises BadInput, which names the setting."""
    try:
        return [ipaddress.ip_network(name) for name in names]
    except ValueError as error:
        raise BadInput(f"{setting}: {error}; write 127.0.0.1 or 10.0.0.0/8") from None


def address(text: str) -> Address | None:
    """An address as X-Forwarded-For has it, with or without brackets; IPv4 mapped into IPv6 becomes IPv4."""
    try:
        found = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found
