"""Answers that send elsewhere, and headers that want to be obeyed."""

from __future__ import annotations

from zoo.exchange import Exchange, page
from zoo.server import Kind

hostile = Kind()
MOVED = "done/redirect"
NOWHERE = "failed/server-error"  # an answer 302 that leads to no URL


async def send_to(it: Exchange, location: str, *lines: str) -> None:
    await it.answer("", f"Location: {location}", *lines, status="302 Found")


hostile.each("N12", "failed/redirect-loop")(
    a_redirect_to_itself=lambda it: send_to(it, "/"),
    an_empty_location=lambda it: send_to(it, ""),
)
hostile.each("N12", MOVED)(
    a_redirect_there_and_back=lambda it: send_to(it, "/there" if it.path == "/" else "/"),
    a_redirect_there_and_back_with_a_cookie=lambda it: send_to(
        it, "/login" if it.path == "/" else "/", "Set-Cookie: visited=1"
    ),
    a_location_of_15_kilobytes=lambda it: send_to(it, "/" + "a" * 15_000),
)
hostile.each("N12", NOWHERE)(a_redirect_without_a_location=lambda it: it.answer("", status="302 Found"))


@hostile("N12", MOVED, finds=["/found"])
async def a_chain_of_fifty(it: Exchange) -> None:
    number = int(it.path[1:] or 0)
    await send_to(it, f"/{number + 1}" if number < 50 else "/found")


@hostile("N12", NOWHERE, "failed/unreachable")
async def a_location_of_64_kilobytes(it: Exchange) -> None:
    await send_to(it, "/" + "a" * 65_536)


hostile.each("S6", NOWHERE)(
    a_redirect_to_a_file=lambda it: send_to(it, "file:///etc/passwd"),
    a_redirect_to_javascript=lambda it: send_to(it, "javascript:alert(1)"),
)
hostile.each("S3", MOVED)(
    a_redirect_to_a_private_address=lambda it: send_to(it, "http://169.254.169.254/latest/meta-data/")
)
hostile.each("C9", NOWHERE)(a_location_that_is_no_url=lambda it: send_to(it, "http://[bad:99999/"))
hostile.each("C9", MOVED)(
    a_location_of_binary_data=lambda it: send_to(it, "/\xff\xfe\x01 x", "Location: /second")
)


@hostile("N17", "done/document", finds=["/found"])
async def headers_that_name_code(it: Exchange) -> None:
    names = ["Referrer-Policy", "Content-Type-Options", "X-Frame-Options", "Refresh", "Link", "Server", "Via"]
    calls = [f"{name}: {call}" for name in names for call in ("sys.exit", "os.abort", "builtins.exit")]
    await it.answer(page("Headers that name code", "/found"), *calls)


@hostile("N12", "done/document")
async def a_refresh_header(it: Exchange) -> None:
    await it.answer(page("Refreshed"), "Refresh: 0; url=javascript:alert(1)")


@hostile("N12", "failed/not-indexable")
async def a_part_that_nobody_asked_for(it: Exchange) -> None:
    await it.answer(page("A part"), "Content-Range: bytes 0-10/1000", status="206 Partial Content")
