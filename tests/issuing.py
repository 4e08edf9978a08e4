"""Certificates on loopback: a root, an intermediate that it has signed, and leaves of servers."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from webcrawler.urls import is_address

PEM = serialization.Encoding.PEM


@dataclass
class Issued:
    """A certificate with its key, and those between it and the root."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    chain: tuple[x509.Certificate, ...] = ()

    def issue(
        self,
        *names: str,
        days: tuple[int, int] = (-1, 30),
        is_authority: bool = False,
        links: tuple[x509.Certificate, ...] | None = None,
    ) -> Issued:
        """A certificate for these hosts, signed with this key.

        Args:
            days: from today, that it is valid from and until.
            links: what the server sends with it; None: all below the root.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        made = _sign(names, key, self.certificate.subject, self.key, days, is_authority)
        is_root = self.certificate.subject == self.certificate.issuer
        above = () if is_root else (self.certificate, *self.chain)
        return Issued(made, key, above if links is None else links)

    def write(self, path: Path) -> Path:
        """The certificate alone, as a file of what is trusted."""
        path.write_bytes(self.certificate.public_bytes(PEM))
        return path

    def context(self, folder: Path) -> ssl.SSLContext:
        """What a server speaks TLS with."""
        key = self.key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        path = folder / f"{self.certificate.serial_number}.pem"
        path.write_bytes(key + b"".join(one.public_bytes(PEM) for one in (self.certificate, *self.chain)))
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(path)
        return made


def self_signed(*names: str, is_authority: bool = False) -> Issued:
    key = ec.generate_private_key(ec.SECP256R1())
    return Issued(_sign(names, key, _named(names), key, (-1, 30), is_authority), key)


def _named(names: tuple[str, ...]) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])


def _sign(
    names: tuple[str, ...],
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Name,
    signing: ec.EllipticCurvePrivateKey,
    days: tuple[int, int],
    is_authority: bool,
) -> x509.Certificate:
    hosts: list[x509.GeneralName] = [
        x509.IPAddress(ipaddress.ip_address(name)) if is_address(name) else x509.DNSName(name)
        for name in names
    ]
    today = datetime.now(UTC)  # noqa: TID251 - certificates are verified by the machine's clock
    return (
        x509.CertificateBuilder()
        .subject_name(_named(names))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today + timedelta(days=days[0]))
        .not_valid_after(today + timedelta(days=days[1]))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .sign(signing, hashes.SHA256())
    )
