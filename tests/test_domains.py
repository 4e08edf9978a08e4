"""Who answers for a server: registrable domains by the public suffix list."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webcrawler.urls import UnfetchableUrl, canonical, registrable_domain, resolve, server


@pytest.mark.parametrize(
    ("of", "domain"),
    [
        # one label below a public suffix, whatever the scheme and port
        ("http://example.com", "example.com"),
        ("https://www.example.com", "example.com"),
        ("http://a.b.example.co.uk:8080", "example.co.uk"),
        ("http://a.b.example.com.br", "example.com.br"),
        # rules with a wildcard, and exceptions to them
        ("http://a.b.c.kawasaki.jp", "b.c.kawasaki.jp"),
        ("http://a.city.kawasaki.jp", "city.kawasaki.jp"),
        ("http://a.b.c.ck", "b.c.ck"),
        ("http://a.www.ck", "www.ck"),
        # the private section: two blogs of a shared host are two domains
        ("https://alice.github.io", "alice.github.io"),
        ("https://www.bob.github.io", "bob.github.io"),
        ("https://a.carol.blogspot.com", "carol.blogspot.com"),
        ("https://blog.github.com", "github.com"),
        # a public suffix is itself
        ("http://co.uk", "co.uk"),
        ("http://github.io", "github.io"),
        ("http://com", "com"),
        # internationalised names are written in ASCII by then
        ("http://www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("http://www.xn--fiqs8s", "www.xn--fiqs8s"),
        # not on the list: the last label is the suffix
        ("http://a.b.test", "b.test"),
        ("http://a.b.example.internal", "example.internal"),
        # no domain at all
        ("http://localhost:8800", "localhost"),
        ("http://10.0.0.1:8080", "10.0.0.1"),
        ("http://[2001:db8::1]:8080", "2001:db8::1"),
        # dots too many
        ("http://www.example.com.", "example.com"),
        ("http://a..example.com", "example.com"),
        ("http://..", ".."),
    ],
)
def test_a_server_has_one_registrable_domain(of: str, domain: str) -> None:
    assert registrable_domain(of) == domain


_LABELS = st.text(alphabet="ab.-é中\u200b😀0", min_size=1, max_size=12)
_SUFFIXES = st.sampled_from(["com", "co.uk", "github.io", "ck", "kawasaki.jp", "test", "1", "公司.cn", ""])


@given(_LABELS, _SUFFIXES)
@example("0x7f", "1")
@example("0.", "")
def test_a_domain_is_the_end_of_its_server_and_the_domain_of_itself(label: str, suffix: str) -> None:
    try:
        of = server(canonical(resolve(f"http://{label}.{suffix}:81/")))
    except UnfetchableUrl:
        return

    domain = registrable_domain(of)

    assert domain
    assert registrable_domain(f"http://{domain}") == domain
    host = ".".join(filter(None, of.removeprefix("http://").removesuffix(":81").split(".")))
    assert host == domain or host.endswith("." + domain) or not host


@given(st.ip_addresses())
def test_an_address_is_a_domain_of_its_own(address: IPv4Address | IPv6Address) -> None:
    host = f"[{address}]" if address.version == 6 else str(address)
    of = server(resolve(f"http://{host}:81/"))

    assert ip_address(registrable_domain(of)) == address
