"""Is the certificate of a server good? Each handshake is verified, and what is wrong is remembered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from OpenSSL import SSL
from OpenSSL.crypto import X509
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer

from webcrawler.urls import host_and_port, is_address, server

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
