"""Which servers are connected to? Names are resolved with a memory and a guard, certificates verified."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from OpenSSL import SSL
from OpenSSL.crypto import X509
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from twisted.internet._resolver import GAIResolver, HostResolution
from twisted.internet.interfaces import (
    IAddress,
    IHostnameResolver,
    IHostResolution,
    IOpenSSLClientConnectionCreator,
    IResolutionReceiver,
)
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer

from webcrawler.urls import AddressRules, host_and_port, is_address, resolve, server

REFUSED_MAX = 100_000  # hosts that are remembered
# How long an address holds: the system's resolver does not tell the TTL of a record, and this is a usual one.
KEPT_SECONDS = 300.0
NOT_FOUND_SECONDS = 1.0  # for the download that waited for a look-up to fail
KEPT_MAX = 10_000  # answers
Answers = tuple[Any, ...]  # of IPv4Address and IPv6Address


def of_system(reactor: Any) -> GAIResolver:
    """Return the reactor's usual resolver: all addresses of a name, looked up in the reactor's threads."""
    return GAIResolver(reactor, getaddrinfo=_look_up)  # type: ignore[arg-type]  # no keywords are given


def _look_up(*question: Any) -> Any:
    """Raises gaierror, whatever is wrong: Twisted's resolver never ends after an error of another kind."""
    try:
        return socket.getaddrinfo(*question)
    except (OSError, UnicodeError) as error:
        raise socket.gaierror(str(error)) from error


@implementer(IHostnameResolver)
class RememberingResolver:
    """Asks another resolver, once in five minutes for each name, or again when it was not reached.

    In place of Scrapy's cache, which keeps an address as long as the process lives (DNSCACHE_ENABLED).

    Args:
        clock: seconds.
    """

    def __init__(self, resolver: Any, clock: Callable[[], float] = monotonic) -> None:
        self._resolver, self._clock = resolver, clock
        # By name and the rest of the question, the oldest answer first.
        self._known: dict[tuple[str, str], tuple[float, Answers]] = {}

    def resolveHostName(
        self, resolutionReceiver: Any, hostName: str, portNumber: int = 0, *arguments: Any, **options: Any
    ) -> Any:
        question = hostName, repr((arguments, options))  # types and lists among them
        until, addresses = self._known.get(question, (0.0, ()))
        resolution = HostResolution(hostName)
        if self._clock() >= until:

            def note(found: Answers) -> None:
                self._note(question, found)
                _give(resolutionReceiver, resolution, found)

            return self._resolver.resolveHostName(
                _Collected(note), hostName, portNumber, *arguments, **options
            )
        here = tuple(type(address)(address.type, address.host, portNumber) for address in addresses)
        _give(resolutionReceiver, resolution, here)
        return resolution

    def forget(self, host: str) -> None:
        for question in [question for question in self._known if question[0] == host]:
            del self._known[question]

    def _note(self, question: tuple[str, str], found: Answers) -> None:
        self._known.pop(question, None)
        self._known[question] = self._clock() + (KEPT_SECONDS if found else NOT_FOUND_SECONDS), found
        if len(self._known) > KEPT_MAX:
            del self._known[next(iter(self._known))]


@implementer(IHostnameResolver)
class GuardedResolver:
    """Asks another resolver and lets permitted addresses through; the operator's own proxies are trusted.

    The addresses that it passes on are those that are connected to: there is no second look-up.
    """

    def __init__(self, resolver: Any, rules: AddressRules) -> None:
        self.resolver, self.rules = resolver, rules
        # Hosts of the proxies that the operator names, with or without a scheme before them.
        named = (proxy for scheme, proxy in getproxies().items() if scheme in ("http", "https"))
        self._proxies = {urlsplit(proxy if "//" in proxy else f"//{proxy}").hostname for proxy in named}
        self._proxy_names = {host for host in self._proxies if host and not is_address(host)}
        self._refused: set[str] = set()  # hosts of which no address was let through, the last time

    def resolveHostName(self, resolutionReceiver: Any, hostName: str, *arguments: Any, **options: Any) -> Any:
        if not hostName.isascii():  # Twisted decodes names, and the system would encode faß.de as fass.de
            hostName = host_and_port(server(resolve(f"http://{hostName}/")))[0]

        def guard(found: Answers) -> None:
            if hostName not in self._proxies:
                passed = tuple(address for address in found if self.rules.permits(address.host))
                if passed:
                    self._refused.discard(hostName)
                elif found and len(self._refused) < REFUSED_MAX:
                    self._refused.add(hostName)
                found = passed
            _give(resolutionReceiver, HostResolution(hostName), found)

        return self.resolver.resolveHostName(_Collected(guard), hostName, *arguments, **options)

    def permits(self, url: str) -> bool:
        """Are host and port of this URL permitted, as far as they say so? A name is known when resolved."""
        host, port = host_and_port(server(url))
        scheme, host = url.partition(":")[0], host.rstrip(".")
        # Connections to a proxy's name are let through: no page may lead there.
        is_proxy = host in self._proxy_names
        return not is_proxy and self.rules.permits_host(host) and self.rules.permits_port(port, scheme)

    def has_refused(self, url: str) -> bool:
        """Was no address of this URL's host let through?"""
        return host_and_port(server(url))[0] in self._refused

    def forget(self, host: str) -> None:
        """Have this name looked up again when it is asked for."""
        self.resolver.forget(host)


async def addresses(host: str) -> list[str]:
    """Return the addresses of a host that the reactor's resolver lets through."""
    from twisted.internet import reactor

    resolver: Any = reactor
    answer: asyncio.Future[Answers] = asyncio.get_running_loop().create_future()
    # Who waited may have given up.
    receiver = _Collected(lambda found: None if answer.done() else answer.set_result(found))
    resolver.nameResolver.resolveHostName(receiver, host)
    return [address.host for address in await answer]


@implementer(IResolutionReceiver)
class _Collected:
    """Takes the addresses of a name, and calls `use` once there are all of them."""

    def __init__(self, use: Callable[[Answers], object]) -> None:
        self._use = use
        self._found: list[IAddress] = []

    def resolutionBegan(self, resolution: IHostResolution) -> None:
        pass

    def addressResolved(self, address: IAddress) -> None:
        self._found.append(address)

    def resolutionComplete(self) -> None:
        self._use(tuple(self._found))


def _give(receiver: Any, resolution: HostResolution, found: Answers) -> None:
    receiver.resolutionBegan(resolution)
    for address in found:
        receiver.addressResolved(address)
    receiver.resolutionComplete()


FAULTS_MAX = 100_000  # servers that are remembered

WRONG_HOST, INVALID = "certificate-wrong-host", "certificate-invalid"
_UNKNOWN_ISSUER = "certificate-unknown-issuer"
# By OpenSSL's number of the error (openssl-verification-options(1), X509_STORE_CTX_get_error(3)).
FAULTS = {
    2: _UNKNOWN_ISSUER,  # of an intermediate certificate
    9: "certificate-not-yet-valid",
    10: "certificate-expired",
    18: "certificate-self-signed",
    19: _UNKNOWN_ISSUER,  # the chain has its root, which nobody here trusts
    20: _UNKNOWN_ISSUER,  # or the server leaves its intermediate certificate out
    21: _UNKNOWN_ISSUER,
}
KINDS = (*dict.fromkeys(FAULTS.values()), WRONG_HOST, INVALID)  # each a reason of the table of states


class Certificates:
    """What was wrong with the certificates of servers, by their last handshakes.

    Args:
        refuses: does a fault end the handshake? Else it is noted, and the download goes on.
        is_secret: is something secret sent to this host? Then a fault always ends it.
    """

    def __init__(self, refuses: bool, is_secret: Callable[[str], bool] = lambda host: False) -> None:
        self._refuses, self._is_secret = refuses, is_secret
        self._faults: dict[tuple[str, int], str] = {}

    def fault(self, url: str) -> str:
        """One of `KINDS` for the server of a resolved URL; "": nothing is known to be wrong."""
        return self._faults.get(host_and_port(server(url)), "") if url.startswith("https:") else ""

    def refuses(self, host: str) -> bool:
        """Does a fault of this host's certificate end the handshake?"""
        return self._refuses or self._is_secret(host)

    def note(self, host: str, port: int, fault: str) -> None:
        """Remember the fault of a server's certificate; "" forgets an earlier one."""
        self._faults.pop((host, port), None)
        if fault:
            self._faults[host, port] = fault
        if len(self._faults) > FAULTS_MAX:
            del self._faults[next(iter(self._faults))]


@implementer(IPolicyForHTTPS)
class Verifying:
    """Verifies the certificate of each connection, and tells `certificates`.

    Args:
        context: with the certificates that are trusted; all connections share it, as reading them takes long.
    """

    def __init__(self, certificates: Certificates, context: Callable[[], SSL.Context]) -> None:
        self._certificates, self._context = certificates, context

    def creatorForNetloc(self, hostname: bytes, port: int) -> _Connecting:
        return _Connecting(self._certificates, self._context(), hostname.decode("ascii"), port)


@implementer(IOpenSSLClientConnectionCreator)
class _Connecting:
    """One handshake. OpenSSL calls `_check` at each error and for each certificate, the server's own last."""

    def __init__(self, certificates: Certificates, context: SSL.Context, host: str, port: int) -> None:
        self._certificates, self._context, self._host, self._port = certificates, context, host, port
        self._fault = ""

    def clientConnectionForTLS(self, tlsProtocol: Any) -> SSL.Connection:
        connection = SSL.Connection(self._context, None)
        if not is_address(self._host):
            connection.set_tlsext_host_name(self._host.rstrip(".").encode())  # RFC 6066, 3
        connection.set_verify(SSL.VERIFY_PEER, self._check)
        return connection

    def _check(self, connection: SSL.Connection, leaf: X509, error: int, depth: int, is_valid: int) -> bool:
        if not is_valid:
            self._fault = self._fault or FAULTS.get(error, INVALID)
        elif depth == 0 and not self._fault and not names(leaf, self._host):
            self._fault = WRONG_HOST
        if self._fault or depth == 0:
            self._certificates.note(self._host, self._port, self._fault)
        return not (self._fault and self._certificates.refuses(self._host))


def names(leaf: X509, host: str) -> bool:
    """Is it a certificate of this host? RFC 9525, 6: by its alternative names, never by its common name."""
    try:
        wanted = IPAddress_ID(host) if is_address(host) else DNS_ID(host.rstrip("."))
        verify_service_identity(extract_patterns(leaf), [wanted], [])
    except Exception:  # no such name, or a strange certificate: each library has errors of its own
        return False
    return True
