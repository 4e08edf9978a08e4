"""TLS that no browser would accept, or that never comes to an end."""

from __future__ import annotations

import ssl
import tempfile
import warnings
from datetime import UTC, datetime, timedelta
from functools import cache, partial

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from zoo.exchange import Exchange, page
from zoo.server import Kind

hostile = Kind("https")
READ = "done/document"
BROKEN = "failed/robots-unreachable"  # there is no way to its robots.txt either


@cache
def certificate(host: str, days: int = 30, names: int = 1) -> bytes:
    """A self-signed certificate and its key; valid from a year ago until in so many days."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    today = datetime.now(UTC)  # noqa: TID251 - certificates are verified by the machine's clock
    hosts = x509.SubjectAlternativeName([x509.DNSName(f"{'a' * 60}{n}.{host}") for n in range(names)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(today - timedelta(days=365))
        .not_valid_after(today + timedelta(days=days))
        .add_extension(hosts, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return private + made.public_bytes(pem)


def context(*arguments: object, old: bool = False) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if old:
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            made.minimum_version = made.maximum_version = ssl.TLSVersion.TLSv1
        made.set_ciphers("ALL:@SECLEVEL=0")
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:  # the module reads files only
        file.write(certificate(*arguments))  # type: ignore[arg-type]
        file.flush()
        made.load_cert_chain(file.name)
    return made


def behind(it: Exchange) -> str:
    return page(f"Behind TLS on {it.home}", "/found")


async def welcome(it: Exchange) -> None:
    await it.answer(behind(it))


hostile.each("N19", READ, certificate=partial(context, "zoo.test", -30), finds=["/found"])(
    an_expired_certificate=welcome
)
hostile.each("N19", READ, certificate=partial(context, "bank.test"), finds=["/found"])(
    a_certificate_of_somebody_else=welcome
)
hostile.each("N19", BROKEN, READ, certificate=partial(context, "zoo.test", old=True))(a_tls_of_1999=welcome)
hostile.each("N19", BROKEN, certificate=partial(context, "zoo.test", 30, 14_000))(
    a_certificate_of_a_megabyte=welcome
)


@hostile("N11", READ, certificate=partial(context, "zoo.test", 31))
async def a_tls_that_ends_without_a_goodbye(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + behind(it).encode())
    it.reset()


@hostile("N19", BROKEN, certificate=partial(context, "zoo.test", 32), raw=True)
async def a_tls_that_says_nothing(it: Exchange) -> None:
    await it.silence()


hostile.each("N19", BROKEN, raw=True)(a_handshake_without_an_answer=lambda it: it.silence())


@hostile("N19", BROKEN, raw=True)
async def an_endless_handshake(it: Exchange) -> None:
    """Handshake records with a server's hello of 16 MiB, a byte at a time."""
    await it.send(b"\x16\x03\x03\x40\x00\x02\xff\xff\xff")
    await it.trickle(b"\x00")


@hostile("N18", BROKEN, raw=True)
async def http_on_the_port_of_tls(it: Exchange) -> None:
    await it.answer("You are speaking plain HTTP to an HTTPS port", status="400 Bad Request")
