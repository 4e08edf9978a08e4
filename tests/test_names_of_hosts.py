"""Hosts are reached by any of their addresses, whatever their names say first."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import inprocess
import pytest
from localweb import Site, crawl, page

ADDRESSES = {
    "by-ipv6.test": ["::1"],
    "one-dead.test": ["127.0.0.9", "127.0.0.1"],  # nobody listens at the first
    "dead-by-ipv4.test": ["127.0.0.9", "::1"],
}


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's resolver knows these hosts."""
    system = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *rest: Any, **options: Any) -> Any:
        found = [system(ip, port, *rest, **options) for ip in ADDRESSES.get(host, [host])]
        return [one for answers in found for one in answers]

    monkeypatch.setattr(inprocess._reactor()[0].nameResolver, "_getaddrinfo", getaddrinfo)


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_host_is_reached_by_any_of_its_addresses(tmp_path: Path, named: None, name: str) -> None:
    site = Site({"/": page("/a", "/b"), "*": page()}, host=ADDRESSES[name][-1]).start()
    seed = f"http://{name}:{site.server.server_port}/"

    crawled = crawl(tmp_path, "index", "-a", f"seeds={seed}", ADDRESSES_ALLOWED="127.0.0.0/8,::1/128")

    site.stop()
    assert crawled.documents() == {seed, f"{seed}a", f"{seed}b"}
