"""Under which name, below which path, and from which machine is this server asked?

Known names are against DNS rebinding: a page of evil.example, when that name is made to resolve to this
server, could read our answers as its own.

Starlette's TrustedHostMiddleware takes the first of two Host headers, and any text where all are allowed.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import unquote

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from webcrawler.errors import BadInput
from webcrawler.web.config import Config
from webcrawler.web.render import refusal

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
# RFC 9110, 7.2, and RFC 3986, 3.2.2: a name or IPv4 address, or an IPv6 address; and a port
_HOST = re.compile(r"([a-z0-9_](?:[a-z0-9_.-]{0,253})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?")
_ROOT = re.compile(r"(?:/[\w~%-][\w.~%-]*)*", re.ASCII)
FORWARDING = ("x-forwarded-for", "forwarded", "x-real-ip", "via")  # headers of proxies


class KnownHosts:
    """Answers for the configured hosts only; for any where none is configured and other machines can ask."""

    def __init__(self, app: ASGIApp, config: Config) -> None:
        self._app = app
        self._known = known_hosts(config)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        named = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        host = host_of(named[0]) if len(named) == 1 else ""
        if not host:
            answer = refusal(scope, 400, "the Host header names no host")
        elif self._known and host not in self._known:
            answer = refusal(scope, 421, "unknown host name: add it to SERVE_HOSTS")
        else:
            return await self._app(scope, receive, send)
        await answer(scope, receive, send)


def known_hosts(config: Config) -> frozenset[str]:
    """The names to answer for; none stands for any. Raises BadInput: one is not a host."""
    for host in config.hosts:
        if host_of(host) != host.lower():
            raise BadInput(f"SERVE_HOSTS: {host[:100]!r} is not a host name; write search.example.org")
    scheme, _, rest = config.url.partition("://")
    public = host_of(rest.partition("/")[0])
    if config.url and not (public and scheme.lower() in ("http", "https") and _ROOT.fullmatch(config.root)):
        raise BadInput(
            f"SERVE_URL: {config.url[:100]!r} is no address that the page can have; "
            "write https://search.example.org/ or https://example.org/find/"
        )
    if not config.hosts and not is_loopback(config.host):
        return frozenset()
    own = f"[{config.host}]" if ":" in config.host else config.host.lower()
    return LOOPBACK | {host.lower() for host in config.hosts} | {own, public} - {""}


def host_of(header: str) -> str:
    """The host of a Host header without port and final dot, lower case; "" where it is none."""
    found = _HOST.fullmatch(header.lower())
    return found[1].rstrip(".") if found else ""


def is_loopback(host: str) -> bool:
    """Can only this machine reach a server that listens there?"""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host.lower() == "localhost"
    mapped = getattr(address, "ipv4_mapped", None)  # as a server that listens at :: sees one of IPv4
    return (mapped or address).is_loopback


def client_of(request: Request) -> str:
    """The address that asks, or for which a proxy of this machine does; "" where nobody can tell."""
    return request.client.host if request.client else ""


def is_local(request: Request) -> bool:
    """Does this machine ask, and no proxy that may forward requests of others?"""
    return is_loopback(client_of(request)) and not any(name in request.headers for name in FORWARDING)


class BelowRoot:
    """Takes the path of SERVE_URL off, so that nothing else needs to know it.

    Proxies take it off or leave it: both are served. Links begin with it (`root` in templates).
    """

    def __init__(self, app: ASGIApp, config: Config) -> None:
        self._app = app
        self._root = unquote(config.root)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._root and scope["type"] == "http" and scope["path"].startswith(f"{self._root}/"):
            scope = {**scope, "path": scope["path"].removeprefix(self._root)}
        await self._app(scope, receive, send)
