"""Which addresses and ports are off limits: what a stranger's link must never make us connect to.

`permits` judges the address of a connection, whoever named it; `permits_host` a name or a literal where a
proxy does the connecting; `permits_port` both. An operator's `allowed` networks come before the tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from webcrawler.errors import BadInput, BadUrl
from webcrawler.urls._resolve import DEFAULT_PORTS, host_and_port, resolve, server

_Address = IPv4Address | IPv6Address

# IANA's IPv4 special-purpose registry (RFC 6890), all of it, and a platform's own. `ipaddress.is_global`
# passes several of them: 192.0.0.192, 224.0.0.1, and IPv6 addresses that hold an IPv4 one.
SPECIAL_IPV4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT; a cloud's metadata at 100.100.100.200
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's host, a public address that only its guests reach
        "169.254.0.0/16",  # link-local; the clouds' metadata at 169.254.169.254
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; a cloud's metadata at 192.0.0.192
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # multicast tunnels
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
# All unicast that is handed out lies in one eighth of IPv6; the rest is special or nobody's.
GLOBAL_IPV6 = IPv6Network("2000::/3")
SPECIAL_IPV6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: holds an IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # 6bone, given back
        "3fff::/20",  # documentation
    )
)
# Networks whose last 32 bits are an IPv4 address: mapped, compatible, NAT64 (RFC 6052, RFC 8215).
_HOLDS_IPV4 = tuple(map(IPv6Network, ("::ffff:0:0/96", "::/96", "64:ff9b::/96", "64:ff9b:1::/48")))

# "Bad ports" of the WHATWG Fetch standard, 2.9: protocols that would understand a request as their own.
_BAD_PORTS = """0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110
    111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548
    554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665
    6666 6667 6668 6669 6679 6697 10080"""
# Data stores and remote control, which no browser guards because it sits outside: Docker, etcd, SQL servers,
# X.Org, AMQP, CouchDB, VNC, Redis, Cassandra, Elasticsearch, kubelet, Memcached, MongoDB; 65535 is reserved.
_STORE_PORTS = """445 873 1433 1521 2375 2376 2379 2380 3306 3389 5432 5672 5900 5984 6379 6380 9042
    9200 9300 10250 11211 16379 26379 27017 27018 65535"""
BAD_PORTS = frozenset(map(int, f"{_BAD_PORTS} {_STORE_PORTS}".split()))

# Names that mean this machine without asking any DNS (RFC 6761, 6.3, and /etc/hosts of Debian and Red Hat).
_LOCAL_NAMES = ("localhost", "localdomain", "localhost4", "localhost6", "localdomain4", "localdomain6")
_IP6_NAMES = ("ip6-localhost", "ip6-loopback", "ip6-localnet", "ip6-allnodes", "ip6-allrouters")


class AddressRules:
    """What may be connected to: public unicast, and the networks that the operator names.

    Args:
        allowed: networks in CIDR notation, "127.0.0.1/32"; they hold for IPv4 addresses inside IPv6 too.
    Raises:
        BadInput: one of them is not a network.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        try:
            self._allowed = [ip_network(network.strip()) for network in allowed]
        except ValueError as error:
            raise BadInput(
                f"ADDRESSES_ALLOWED: {error}; write networks like 127.0.0.1/32 or fd00::/8"
            ) from None

    def permits(self, ip: str) -> bool:
        """Say whether an address may be connected to; what is not an address may not."""
        try:
            address = ip_address(ip)
        except ValueError:
            return False
        return self._names(address) or _is_public(address)

    def permits_host(self, host: str) -> bool:
        """Say the same of a URL's host (no port), not resolved: only literals and localhost are judged.

        For use behind a proxy, which resolves by itself and must be trusted to guard its own network.
        """
        name = _canonical_host(host)
        if name is None:
            return False
        if name.rpartition(".")[2] in _LOCAL_NAMES or name in _IP6_NAMES:
            return self.permits("127.0.0.1") or self.permits("::1")
        return not is_address(name) or self.permits(name)

    def permits_port(self, port: int, scheme: str = "http") -> bool:
        """Say whether a port may speak a protocol; `allowed` networks do not change that.

        A Gopher server is told any line of text, so of the ports below 1024 it has its own alone, as has FTP.
        """
        if scheme in ("ftp", "gopher") and port < 1024:
            return port == DEFAULT_PORTS[scheme]
        return 0 < port < 65_536 and port not in BAD_PORTS

    def _names(self, address: _Address) -> bool:
        """Say whether the operator allowed it, or the IPv4 address that it stands for."""
        meant = {address, _held_ipv4(address)}
        return any(one in network for one in meant if one for network in self._allowed)


def _is_public(address: _Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in SPECIAL_IPV4)
    if address.scope_id or address not in GLOBAL_IPV6:
        return False
    return not any(address in network for network in SPECIAL_IPV6)


def _held_ipv4(address: _Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to, where the operator could have meant that."""
    if isinstance(address, IPv4Address):
        return None
    if address.sixtofour:
        return address.sixtofour
    if any(address in network for network in _HOLDS_IPV4):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


@lru_cache(4096)
def _canonical_host(host: str) -> str | None:
    """Return a host as a URL parser reads it (`127.1` is `127.0.0.1`), or None where it reads none."""
    if set(host) & set("/\\?#@"):
        return None
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    try:
        return host_and_port(server(resolve(f"http://{host}/")))[0].rstrip(".")
    except BadUrl:
        return None


def is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
