"""What a stranger's link must never reach: reliability table S1, S2, S5."""

from __future__ import annotations

import ipaddress
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.address import IPv4Address, IPv6Address

from webcrawler import urls
from webcrawler.crawl.peers import (
    KEPT_MAX,
    KEPT_SECONDS,
    NOT_FOUND_SECONDS,
    GuardedResolver,
    RememberingResolver,
)
from webcrawler.errors import BadInput
from webcrawler.settings import DOWNLOAD_HANDLERS
from webcrawler.urls import AddressRules

PUBLIC = ["8.8.8.8", "1.1.1.1", "93.184.216.34", "192.0.1.1", "172.32.0.1", "100.128.0.1", "223.255.255.255"]
PUBLIC_IPV6 = ["2001:4860:4860::8888", "2606:4700::1111", "2a00:1450::1"]

SPECIAL_IPV4 = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.9",
    "192.0.0.170",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
]
SPECIAL_IPV6 = [
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b:1::7f00:1",
    "100::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "5f00::1",
    "4000::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "2606:4700::1111%lo",
]


@pytest.mark.parametrize("ip", PUBLIC + PUBLIC_IPV6)
def test_public_unicast_is_permitted(ip: str) -> None:
    assert AddressRules().permits(ip)


@pytest.mark.parametrize("ip", SPECIAL_IPV4 + SPECIAL_IPV6)
def test_special_addresses_are_refused(ip: str) -> None:
    """CVE-2024-4032: `is_private` is wrong about some of them. GHSA-j2hp-6m75-v4j4: 0.0.0.0 is here, too."""
    assert not AddressRules().permits(ip)


@pytest.mark.parametrize("ip", SPECIAL_IPV4)
def test_ipv6_does_not_hide_a_special_ipv4_address(ip: str) -> None:
    number = int(ipaddress.IPv4Address(ip))
    mapped = [f"{prefix}{ip}" for prefix in ("::ffff:", "::", "64:ff9b::", "64:ff9b:1::")]

    for inside in (*mapped, f"2002:{number >> 16:x}:{number & 0xFFFF:x}::"):
        assert not AddressRules().permits(inside), inside


@pytest.mark.parametrize("text", ["", "h", "1.2", "8.8.8.8:80", "8.8.8.8 ", "[::1]", "0x8080808", "08.8.8.8"])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert not AddressRules().permits(text)


@given(st.ip_addresses())
def test_nothing_is_permitted_that_the_standard_library_calls_private(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if AddressRules().permits(str(address)):
        assert address.is_global and not address.is_multicast and not address.is_reserved


# --- what the operator names ---


def test_named_networks_are_permitted_and_no_others() -> None:
    rules = AddressRules(["127.0.0.1/32", " fd00::/8 "])

    assert all(map(rules.permits, ("127.0.0.1", "fd12::1", "8.8.8.8")))
    assert not any(map(rules.permits, ("127.0.0.2", "::1")))


@pytest.mark.parametrize(
    "ip", ["::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::"]
)
def test_named_network_holds_inside_ipv6(ip: str) -> None:
    assert AddressRules(["127.0.0.0/8"]).permits(ip)
    assert not AddressRules(["10.0.0.0/8"]).permits(ip)


@pytest.mark.parametrize(
    "text", ["", "localhost", "127.0.0.1/33", "127.0.0.1/8", "1.2.3", "http://127.0.0.1/"]
)
def test_bad_network_gets_one_clear_line(text: str) -> None:
    with pytest.raises(BadInput, match=r"^ADDRESSES_ALLOWED: .*127\.0\.0\.1/32") as caught:
        AddressRules([text])

    assert "\n" not in str(caught.value)


# --- hosts, where a proxy connects ---

LOOPBACK_SPELLINGS = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "0x7f.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "127.0.0.1.",
    "127。0。0。1",
    "①②⑦.⓪.⓪.①",
    "%31%32%37.0.0.1",
    "127.0\n.0.1",
    "[::1]",
    "::1",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:7f00:1]",
    "[::ffff:127.0.0.1]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "a.b.localhost",
    "ｌｏｃａｌｈｏｓｔ",
    "localhost.localdomain",
    "ip6-localhost",
    "ip6-loopback",
    "localhost6",
]


@pytest.mark.parametrize("host", LOOPBACK_SPELLINGS)
def test_loopback_is_refused_in_every_spelling(host: str) -> None:
    assert not AddressRules().permits_host(host)
    assert AddressRules(["127.0.0.0/8", "::1/128"]).permits_host(host)


@pytest.mark.parametrize(
    "host", ["0", "[::1%25lo]", "[::1", "a/b", "x@127.0.0.1", "127.0.0.1#", "a b", "", "1.2.3.999"]
)
def test_what_is_no_host_or_nowhere_is_refused(host: str) -> None:
    assert not AddressRules().permits_host(host)


@pytest.mark.parametrize("ip", SPECIAL_IPV4)
def test_special_literal_is_refused_as_a_host_however_it_is_written(ip: str) -> None:
    number = int(ipaddress.IPv4Address(ip))

    for host in (ip, str(number), hex(number), f"0{number:o}", f"{ip}.", f"[::ffff:{ip}]"):
        assert not AddressRules().permits_host(host), host


@pytest.mark.parametrize(
    "host",
    [
        "directory.test",
        "example.org",
        "localhost.example",
        "notlocalhost",
        "8.8.8.8",
        "[2606:4700::1111]",
        "日本.jp",
        "a_b.example",
    ],
)
def test_other_names_pass_without_being_resolved(host: str) -> None:
    assert AddressRules().permits_host(host)


# --- ports ---


@pytest.mark.parametrize(
    "port", [0, 1, 22, 25, 53, 445, 587, 3306, 6000, 6379, 6667, 9200, 11211, 65_535, 65_536, -1]
)
def test_ports_of_other_protocols_are_refused(port: int) -> None:
    assert not AddressRules().permits_port(port)
    assert not AddressRules(["127.0.0.1/32"]).permits_port(port)


@pytest.mark.parametrize("port", [80, 443, 81, 1024, 3000, 5000, 8000, 8080, 8443, 8800, 49_152, 65_534])
def test_ports_of_the_web_are_permitted(port: int) -> None:
    assert AddressRules().permits_port(port)


# --- names: S4, at the moment they are connected to ---


class Dns:
    """A name server that never says the same twice, and who asks it and would connect to the answer."""

    def __init__(self) -> None:
        self.answers: list[str] = []
        self.asked: list[str] = []
        self.passed: list[str] = []
        self.ports: list[int] = []

    def resolveHostName(self, receiver: Any, host: str, *_: Any, **__: Any) -> None:
        self.asked.append(host)
        receiver.resolutionBegan(None)
        for ip in self.answers:
            kind = IPv6Address if ":" in ip else IPv4Address
            receiver.addressResolved(kind("TCP", ip, 80))
        receiver.resolutionComplete()

    def resolutionBegan(self, _: object) -> None: ...

    def addressResolved(self, address: Any) -> None:
        self.passed.append(address.host)
        self.ports.append(address.port)

    def resolutionComplete(self) -> None: ...

    def reached(self, by: Any, host: str, *answers: str, port: int = 80) -> list[str]:
        """The addresses that a resolver passes on; the name server would give these answers."""
        self.answers, self.passed = list(answers), []
        by.resolveHostName(self, host, port)
        return self.passed


def test_name_that_is_bound_anew_at_each_question_never_leads_to_a_special_address() -> None:
    """DNS rebinding: there is no check before, whose answer could be another one."""
    dns, chance = Dns(), random.Random(4)
    guard = GuardedResolver(dns, AddressRules())
    public = {*PUBLIC, *PUBLIC_IPV6}

    for number in range(1_000):
        answers = chance.sample([*public, *SPECIAL_IPV4, *SPECIAL_IPV6], chance.randrange(4))

        assert dns.reached(guard, f"h{number}.example", *answers) == [ip for ip in answers if ip in public]
        assert guard.has_refused(f"http://h{number}.example/") is (dns.answers != [] and dns.passed == [])


# --- how long an address holds ---


def test_an_address_holds_for_five_minutes_and_is_asked_for_again_then() -> None:
    dns, now = Dns(), [0.0]
    remembering = RememberingResolver(dns, clock=lambda: now[0])
    first = dns.reached(remembering, "a.example", "93.184.216.34", "93.184.216.35")

    now[0] = KEPT_SECONDS - 1
    again = dns.reached(remembering, "a.example", "93.184.216.99")
    assert again == first == ["93.184.216.34", "93.184.216.35"]

    now[0] = KEPT_SECONDS
    assert dns.reached(remembering, "a.example", "93.184.216.99") == ["93.184.216.99"]


def test_names_and_ports_have_no_part_in_the_answer_of_another_question() -> None:
    dns = Dns()
    remembering = RememberingResolver(dns)

    assert dns.reached(remembering, "a.example", "93.184.216.34") == ["93.184.216.34"]
    assert dns.reached(remembering, "b.example", "2a00:1450::1") == ["2a00:1450::1"]
    assert dns.reached(remembering, "a.example", port=81) == ["93.184.216.34"]
    assert dns.reached(remembering, "b.example", port=82) == ["2a00:1450::1"]
    assert dns.ports == [80, 80, 81, 82]
    assert dns.asked == ["a.example", "b.example"]


def test_what_was_not_found_is_soon_asked_for_again() -> None:
    dns, now = Dns(), [0.0]
    remembering = RememberingResolver(dns, clock=lambda: now[0])

    assert dns.reached(remembering, "a.example") == []
    assert dns.reached(remembering, "a.example", "93.184.216.34") == []  # by the download that waited for it

    now[0] = NOT_FOUND_SECONDS
    assert dns.reached(remembering, "a.example", "93.184.216.34") == ["93.184.216.34"]


def test_a_name_that_is_forgotten_is_asked_for_again_and_no_other() -> None:
    dns = Dns()
    guard = GuardedResolver(RememberingResolver(dns), AddressRules())
    for host in ("a.example", "b.example"):
        dns.reached(guard, host, "93.184.216.34")

    guard.forget("a.example")

    assert dns.reached(guard, "a.example", "93.184.216.35") == ["93.184.216.35"]
    assert dns.reached(guard, "b.example", "93.184.216.35") == ["93.184.216.34"]


def test_a_host_is_refused_by_the_addresses_that_it_has_now() -> None:
    dns = Dns()
    guard = GuardedResolver(dns, AddressRules())

    for answer, is_refused in (("10.0.0.1", True), ("8.8.8.8", False), ("10.0.0.1", True)):
        dns.reached(guard, "moves.example", answer)

        assert guard.has_refused("http://moves.example/") is is_refused


@pytest.mark.parametrize(
    ("decoded", "url"),
    [("faß.de", "http://faß.de/"), ("bücher.example", "http://xn--bcher-kva.example/")],
)
def test_a_name_is_looked_up_and_refused_as_its_url_spells_it(decoded: str, url: str) -> None:
    """Twisted decodes it, and the system's resolver would ask for that of fass.de, another site."""
    dns, resolved = Dns(), urls.resolve(url)
    guard = GuardedResolver(dns, AddressRules())

    dns.reached(guard, decoded, "10.0.0.1")

    assert dns.asked == [urls.host_and_port(urls.server(resolved))[0]]
    assert dns.asked[0].startswith("xn--")
    assert guard.has_refused(resolved)


def test_an_address_that_is_remembered_is_guarded_like_a_new_one() -> None:
    dns = Dns()
    guard = GuardedResolver(RememberingResolver(dns), AddressRules())

    for _ in range(2):
        assert dns.reached(guard, "a.example", "127.0.0.1") == []


def test_the_oldest_address_is_forgotten_for_the_newest() -> None:
    dns = Dns()
    remembering = RememberingResolver(dns)
    for number in range(KEPT_MAX + 1):
        dns.reached(remembering, f"h{number}.example", "93.184.216.34")

    found = [dns.reached(remembering, f"h{n}.example", "93.184.216.35") for n in (KEPT_MAX, 1, 0)]

    assert found == [["93.184.216.34"], ["93.184.216.34"], ["93.184.216.35"]]


# --- schemes: S6 ---


def test_there_is_no_way_to_a_file_or_another_protocol() -> None:
    """GHSA-23j4-mw76-5v7h, a redirect to file://, and links to it, which plain Scrapy follows."""
    from scrapy.settings import default_settings

    on = {**default_settings.DOWNLOAD_HANDLERS_BASE, **DOWNLOAD_HANDLERS}

    assert {scheme for scheme, handler in on.items() if handler} == {"http", "https"}
