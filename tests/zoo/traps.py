"""Sites without an end, or with many names for one page."""

from __future__ import annotations

import itertools
import random
from urllib.parse import quote

from zoo.exchange import Exchange, page
from zoo.server import Kind

hostile = Kind()
PAGE = "done/document"
HOSTS = 60


@hostile("T1", PAGE)
async def a_calendar(it: Exchange) -> None:
    day = int(it.path.rpartition("=")[2]) if "=" in it.path else 0
    links = () if it.is_deep else (f"/?day={day + 1}", f"/?day={day - 1}", f"/month?day={day + 30}")
    await it.answer(page(f"Day {it.path}", *links, text=f"nothing planned on day {day}"))


@hostile("T2", PAGE)
async def session_ids_in_the_path(it: Exchange) -> None:
    session = random.randbytes(16).hex()
    links = () if it.is_deep else [f"/{session}/{name}" for name in ("cart", "shop", "help")]
    await it.answer(page(it.path.rpartition("/")[2] or "home", *links))


@hostile("T2", PAGE)
async def session_ids_after_a_semicolon(it: Exchange) -> None:
    links = [f"/{name};jsessionid={random.randbytes(16).hex()}" for name in ("cart", "shop", "help")]
    await it.answer(page(it.path.partition(";")[0], *links))


@hostile("T3", PAGE, addresses=HOSTS)
async def hosts_without_end(it: Exchange) -> None:
    """As wildcard DNS does it; here each host is an address, a server to the crawler all the same."""
    start, _, port = it.home.rpartition(".")
    port = port.partition(":")[2]
    links = () if it.is_deep else [f"{start}.{random.randint(1, HOSTS)}:{port}/" for _ in range(5)]
    await it.answer(page(f"Host {it.number}", *links))


@hostile("T4", PAGE)
async def a_directory_in_itself(it: Exchange) -> None:
    links = () if it.is_deep else ("a/", "b/a/")
    await it.answer(page(f"Directory {it.path}", *links))


@hostile("T4", PAGE)
async def a_link_of_64_kilobytes(it: Exchange) -> None:
    await it.answer(page("A long link", "/" + "x" * 65_500, "/" + "y" * 2_000))


@hostile("T5", PAGE)
async def filters_in_every_order(it: Exchange) -> None:
    orders = itertools.islice(itertools.permutations("abcdefgh"), it.number, it.number + 4)
    links = () if it.is_deep else ["/?" + "&".join(f"{name}=1" for name in order) for order in orders]
    await it.answer(page(f"Filtered {it.number}", *links))


@hostile("T6", PAGE)
async def one_page_under_a_hundred_spellings(it: Exchange) -> None:
    dots = [f"/x{number}/%2e%2E/~me/p#part{number}" for number in range(50)]
    tracked = [f"/%7eme/./%70?utm_source=a&gclid={number}" for number in range(50)]
    await it.answer(page(f"Page {quote(it.path)}", *dots, *tracked))


@hostile("T8", PAGE)
async def one_page_without_end(it: Exchange) -> None:
    await it.answer(page("The same everywhere", *(() if it.is_deep else ("next/", "other/"))))


@hostile("N13", PAGE)
async def a_page_for_every_url(it: Exchange) -> None:
    words = " ".join(random.choice(("red", "blue", "round", "old", "cheap")) for _ in range(100))
    links = () if it.is_deep else [f"/{random.randbytes(4).hex()}" for _ in range(10)]
    await it.answer(page(f"You wanted {it.path}", *links, text=words))
